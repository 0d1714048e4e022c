"""Freed memory is given back; runs on any C library."""

import platform
import subprocess
import sys

import pytest

SCATTERED = """
from pathlib import Path
from keydesk.app.garbage_collection import limit_unused_memory

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4

assert limit_unused_memory()
before = resident()
kept = []
for _ in range(10):
    large = bytearray(30_000_000)  # by default this moves the thresholds
    del large
blocks = []
for _ in range(400):
    blocks.append(bytearray(90_000))
    kept.append(bytearray(600))  # in between, and not freed
del blocks
print(resident() - before)
"""

ENCLOSED = """
from pathlib import Path
from keydesk.app.garbage_collection import limit_unused_memory, return_unused_memory

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4

limit_unused_memory()
before = resident()
blocks = [bytearray(2_000) for _ in range(20_000)]
last = bytearray(2_000)
del blocks
unreturned = resident() - before
assert return_unused_memory()
print(unreturned, resident() - before)
"""

ON_GLIBC = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="another C library than glibc"
)


def printed_by(program: str) -> list[int]:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return [int(number) for number in done.stdout.split()]


@pytest.mark.e2e
@ON_GLIBC
def test_freed_memory_is_given_back() -> None:
    (kept,) = printed_by(SCATTERED)
    assert kept < 8_000  # kB; by default 36,000 stay


@pytest.mark.e2e
@ON_GLIBC
def test_free_memory_below_memory_in_use_is_given_back_when_that_is_asked_for() -> None:
    unreturned, kept = printed_by(ENCLOSED)
    assert unreturned > 30_000  # kB
    assert kept < 4_000


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    import ctypes  # noqa: PLC0415

    from keydesk.app import garbage_collection  # noqa: PLC0415

    class Without:
        def __init__(self, _name: None) -> None: ...

    monkeypatch.setattr(ctypes, "CDLL", Without)
    assert not garbage_collection.limit_unused_memory()
    assert not garbage_collection.return_unused_memory()
