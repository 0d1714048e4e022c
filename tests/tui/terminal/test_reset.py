"""A terminal that a killed desk left behind is recognised and repaired."""

import os
import pty
import termios
import tty
from collections.abc import Iterator

import pytest
from textual.drivers.linux_driver import LinuxDriver

from keydesk.terminal.reset import RESTORE, has_title, left_by_a_desk, sane


@pytest.fixture
def terminal() -> Iterator[int]:
    ours, theirs = pty.openpty()
    yield theirs
    os.close(ours)
    os.close(theirs)


def desk_mode(terminal: int) -> None:
    """Set the terminal as Textual's driver does."""
    attributes = termios.tcgetattr(terminal)
    attributes[tty.LFLAG] = LinuxDriver._patch_lflag(attributes[tty.LFLAG])
    attributes[tty.IFLAG] = LinuxDriver._patch_iflag(attributes[tty.IFLAG])
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)


def test_the_mode_of_a_desk_is_recognised(terminal: int) -> None:
    assert not left_by_a_desk(termios.tcgetattr(terminal))
    desk_mode(terminal)
    assert left_by_a_desk(termios.tcgetattr(terminal))


def test_another_programs_raw_mode_is_not_taken_for_it(terminal: int) -> None:
    tty.setraw(terminal)
    assert not left_by_a_desk(termios.tcgetattr(terminal))
    termios.tcsetattr(terminal, termios.TCSANOW, sane(termios.tcgetattr(terminal)))
    attributes = termios.tcgetattr(terminal)
    attributes[tty.LFLAG] &= ~termios.ECHO
    assert not left_by_a_desk(attributes)


def test_sane_is_what_a_new_terminal_has(terminal: int) -> None:
    new = termios.tcgetattr(terminal)
    desk_mode(terminal)
    mended = sane(termios.tcgetattr(terminal))
    flags = termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG
    assert mended[tty.LFLAG] & flags == flags
    assert mended[tty.IFLAG] & termios.ICRNL
    assert mended[tty.CC] == new[tty.CC]
    assert mended[tty.OSPEED] == new[tty.OSPEED]


def test_every_mode_that_a_desk_sets_is_reset() -> None:
    for mode in (1000, 1003, 1004, 1006, 1015, 1049, 2004, 2026, 2048):
        assert f"\x1b[?{mode}l".encode() in RESTORE
    for sequence in (b"\x1b[?25h", b"\x1b[?7h", b"\x1b[<u"):
        assert sequence in RESTORE


def test_a_title_is_for_windows() -> None:
    assert has_title("xterm-256color")
    assert has_title("tmux")
    assert not has_title("linux")
    assert not has_title("vt220")
    assert not has_title("")
