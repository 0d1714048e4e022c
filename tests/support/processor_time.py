"""What a process has cost so far, and how long it only waited, as the system counts it (Linux)."""

import contextlib
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

LOOK = 0.004  # seconds
LONGEST = 90.0  # seconds that processes may take to end


def cpu_of(pid: int) -> float:
    """Return the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_alive(pid: int) -> bool:
    """Whether it runs; one that ended and whose parent did not ask is a zombie until init does."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _sleep() -> None:
    time.sleep(LOOK)


def seconds_waited(pids: Iterable[int], meanwhile: Callable[[], object] = _sleep) -> float:
    """Return how long processes take to end, without the time that the machine's speed and its load are to blame for.

    `meanwhile` is called again and again, and takes `LOOK` seconds each time.
    """
    pids = list(pids)
    began = looked = time.monotonic()
    before = _held_up(pids)
    held, own = dict(before), 0.0
    while any(map(is_alive, pids)):
        assert time.monotonic() - began < LONGEST
        held |= _held_up(pids)
        meanwhile()
        own, looked = own + max(0.0, time.monotonic() - looked - 2 * LOOK), time.monotonic()
    taken = time.monotonic() - began
    return taken - own - sum(held[each] - before.get(each, 0.0) for each in held)


def _held_up(pids: Iterable[int]) -> dict[str, float]:
    """How long each thread was running, or ready to and kept waiting for a processor, in seconds (Linux, schedstat)."""
    held = {}
    for pid in pids:
        for thread in Path(f"/proc/{pid}/task").glob("*"):
            with contextlib.suppress(OSError, IndexError):
                ran, ready = (thread / "schedstat").read_text().split()[:2]
                held[thread.name] = (int(ran) + int(ready)) / 1e9
    return held
