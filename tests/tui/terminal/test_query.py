"""Questions to the terminal: the replies come back in order, in bounded time, and none is left for the keys."""

import os
import sys
from pathlib import Path

import pytest

from support.terminal import Terminal

ASKS = """
import sys, termios, os
from keydesk.terminal.check import CURSOR_POSITION
from keydesk.terminal.query import ask
replies = ask([CURSOR_POSITION, b"\\x1b]11;?\\x1b\\\\"], float(sys.argv[1]))
flags = termios.tcgetattr(0)[3]
sane = bool(flags & termios.ECHO and flags & termios.ICANON)
print(f"|{list(replies)!r} {replies.cursor_positions} {replies.is_complete} {sane}|")
line = input()
print(f"typed {line!r} end")
"""
BACKGROUND = b"\x1b]11;rgb:0000/0000/0000\x1b\\"


def start_query(tmp_path: Path, seconds: float) -> Terminal:
    return Terminal([sys.executable, "-c", ASKS, str(seconds)], (120, 24), {}, str(tmp_path))


def wait_for_requests(terminal: Terminal) -> None:
    terminal.until(lambda: b"\x1b[c" in terminal.raw, what="the requests")


@pytest.mark.e2e
def test_replies_come_back_in_the_order_of_the_requests(tmp_path: Path) -> None:
    with start_query(tmp_path, 20) as terminal:
        wait_for_requests(terminal)
        terminal.write(b"\x1b[3;7R" + BACKGROUND + b"\x1b[?62;22c")
        row = terminal.see("True True|")
        assert "((3, 7),)" in row
        assert "rgb:0000/0000/0000" in row


@pytest.mark.e2e
def test_keys_typed_meanwhile_and_rests_of_replies_are_no_input(tmp_path: Path) -> None:
    with start_query(tmp_path, 20) as terminal:
        wait_for_requests(terminal)
        terminal.write(b"By\x1b[3;7Ry" + BACKGROUND + b"\x1b[?62cyy")
        terminal.see("True True|")
        terminal.write(b"later\n")
        terminal.see("typed 'later' end")


@pytest.mark.e2e
def test_a_reply_in_pieces_is_put_together(tmp_path: Path) -> None:
    with start_query(tmp_path, 20) as terminal:
        wait_for_requests(terminal)
        for byte in b"\x1b[3;7R" + BACKGROUND + b"\x1b[?62c":
            terminal.write(bytes([byte]))
            terminal.pause(0.005)
        assert "((3, 7),)" in terminal.see("True True|")


@pytest.mark.e2e
def test_a_terminal_that_answers_nothing_costs_the_time_limit_and_no_more(tmp_path: Path) -> None:
    with start_query(tmp_path, 0.1) as terminal:
        assert "|[] () False True|" in terminal.see("False True|")


@pytest.mark.e2e
def test_part_of_the_answers_is_kept(tmp_path: Path) -> None:
    with start_query(tmp_path, 1.0) as terminal:
        wait_for_requests(terminal)
        terminal.write(b"\x1b[3;7R\x1b]11;rgb:")
        assert "((3, 7),)" in terminal.see("False True|")


def test_without_a_terminal_nothing_is_asked() -> None:
    from keydesk.terminal.query import ask  # noqa: PLC0415 - beside the real terminals

    here = os.dup(0)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(nowhere, 0)
        assert list(ask([b"\x1b[6n"], 5)) == []
    finally:
        os.dup2(here, 0)
        os.close(here)
        os.close(nowhere)
