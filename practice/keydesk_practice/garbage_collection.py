"""Limit the pauses of the event loop that thread switches and garbage collection cause."""

import gc
import sys

SWITCH_SECONDS = 0.0005  # for which the candle thread may hold the GIL
# A large answer makes some 30,000 objects; by the usual thresholds every third one was followed by a full collection. With these
# the young objects are scanned some thousands at a time, in 1 to 3 ms, and all of them after 30 such answers.
THRESHOLDS = (2_000, 5, 100)


def limit_pauses() -> None:
    """Shorten the thread switch interval and raise the thresholds of garbage collection; call it before anything is loaded."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*THRESHOLDS)


def exclude_long_lived() -> None:
    """Exclude the objects loaded so far from garbage collection: each full collection would scan all of them."""
    gc.freeze()


def collect_everything() -> None:
    """Collect garbage among all objects, those of before included: a broker that has become a standby is full of it."""
    gc.unfreeze()
    gc.collect()
