"""Whether the programs of a terminal have taken the keys typed at it: those in its own pty, and those behind ssh or tmux.

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
AT_WORK = frozenset("RD")  # states of a thread: it runs or could, it waits for a disk
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


def readers_of(mark: str) -> set[tuple[str, int]]:
    """Return the ptys that programs with this mark read from, and the programs."""
    wanted, found = f"{MARK}={mark}".encode(), set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended, or is another user's
            pty = str((process / "fd" / "0").readlink())
            environment = (process / "environ").read_bytes().split(b"\0")
            if pty.startswith("/dev/pts/") and wanted in environment:
                found.add((pty, int(process.name)))
    return found


def is_at_work(pid: int) -> bool:
    """Whether a thread of a process runs or waits for a processor: what it has read may not be parsed yet.

    On a busy machine a third of a second lay between the two.
    """
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError):
            if (thread / "stat").read_text().rpartition(")")[2].split()[0] in AT_WORK:
                return True
    return False
