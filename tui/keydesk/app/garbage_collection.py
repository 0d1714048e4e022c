"""Memory settings after start-up: garbage collection without long pauses, and unused memory returned to the system."""

import gc
from contextlib import suppress

THRESHOLDS = (10_000, 20, 50)  # with 50,000, garbage took up 5 MB
# Parameters of glibc's mallopt(3), and what the desk sets them to.
TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8
LIMITS = {TRIM_THRESHOLD: 128 * 1024, MMAP_THRESHOLD: 64 * 1024, ARENA_MAX: 1}


def settle() -> None:
    """Exclude start-up objects from garbage collection, whose pauses took 100 ms and more; limit unused memory.

    They are not collected before: that is such a pause itself, at the moment of the first keys, and finds little.
    """
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    limit_unused_memory()


def limit_unused_memory() -> bool:
    """Fix the thresholds of glibc's malloc; return False where the C library is another one.

    By default they grow with the largest block that was freed. In 15 minutes of keys and sizes the heap then kept 6 MB more
    than it used, and grew on; with fixed thresholds it kept 1 MB.
    """
    with suppress(ImportError, OSError, AttributeError):
        from ctypes import CDLL  # noqa: PLC0415 - after the first picture

        mallopt = CDLL(None).mallopt
        return all(mallopt(parameter, value) == 1 for parameter, value in LIMITS.items())
    return False


def return_unused_memory() -> bool:
    """Return free memory inside the heap to the system, in 1 ms; return False where the C library has no such function.

    The thresholds of `limit_unused_memory` return it only at the heap's end.
    """
    with suppress(ImportError, OSError, AttributeError):
        from ctypes import CDLL  # noqa: PLC0415 - after the first picture

        CDLL(None).malloc_trim(0)
        return True
    return False
