"""How old a price may be, in seconds: every limit on the age of a price, and why it is what it is."""

from typing import Final

FRESH: Final = 3.0
"""An older price is requested again before anything opens on it."""
STALE_STREAM: Final = 6.0
"""Without any line for so long the price stream counts as stale: heartbeats come every five seconds."""
TOO_OLD_TO_OPEN: Final = 10.0
"""On an older price, or after so long without any line, nothing new is opened; exits go on."""
QUIET_INSTRUMENT: Final = 60.0
"""Without a price for so long an instrument's own price is drawn as old, though the stream is alive: it may be quiet."""
