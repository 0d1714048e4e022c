"""Limits of the pauses in which the interpreter serves nobody: switches of threads, and garbage collection."""

import gc
import sys

SWITCH_SECONDS = 0.0005  # for which the candle thread may hold the GIL
# A large answer makes some 30,000 objects; by the usual thresholds every third one was followed by a full collection. With these
# the young objects are looked through some thousands at a time, in 1 to 3 ms, and all of them after 30 such answers.
THRESHOLDS = (2_000, 5, 100)


def limit_pauses() -> None:
    """Switch threads soon, and collect garbage seldom; before anything is loaded."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*THRESHOLDS)


def exclude_long_lived() -> None:
    """Exclude what is loaded, and stays, from garbage collection: each full one stood still for all of it."""
    gc.freeze()
