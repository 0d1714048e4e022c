"""Constants of the arithmetic: zero, per cent, and lengths of time in nanoseconds, in which times are counted."""

from decimal import Decimal
from typing import Final

ZERO: Final = Decimal(0)
PERCENT: Final = Decimal(100)
SECOND: Final = 1_000_000_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
