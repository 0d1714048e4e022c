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


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library than glibc")
def test_freed_memory_is_given_back() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCATTERED], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 8_000  # kB; by default 36,000 stay


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    import ctypes  # noqa: PLC0415

    from keydesk.app import garbage_collection  # noqa: PLC0415

    class Without:
        def __init__(self, _name: None) -> None: ...

    monkeypatch.setattr(ctypes, "CDLL", Without)
    assert not garbage_collection.limit_unused_memory()
