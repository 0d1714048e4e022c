"""How many of the keys typed at a terminal no program has read yet: in its own pty, and in those behind ssh or tmux.

A program that judges keys by when it reads them takes two that waited together for a burst, however long the pause
between them was at the keyboard.
"""

import fcntl
import os
import struct
import termios
from contextlib import suppress
from pathlib import Path

MARK = "KEYDESK_TEST_TERMINAL"  # in the environment of all programs of one terminal; the tests' ssh passes it on
BETWEEN = frozenset({"ssh", "tmux", "screen"})  # they read the keys for a pty of their own


def unread_in(pty: str) -> int:
    """Return how many bytes wait in a pty, named by its programs' side."""
    try:
        theirs = os.open(pty, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:  # the terminal is closed
        return 0
    try:
        waiting: int = struct.unpack("i", fcntl.ioctl(theirs, termios.FIONREAD, b"\0" * 4))[0]
    except OSError:
        return 0
    finally:
        os.close(theirs)
    return waiting


def ptys_of(mark: str) -> set[str]:
    """Return the ptys that programs with this mark read from."""
    wanted, found = f"{MARK}={mark}".encode(), set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended, or is another user's
            if wanted in (process / "environ").read_bytes().split(b"\0"):
                found.add(str((process / "fd" / "0").readlink()))
    return {each for each in found if each.startswith("/dev/pts/")}
