"""Whatever bytes a terminal sends, the desk stays, says what it dropped, and sends no order."""

import random
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.confirming import confirm, see_a_form_that_can_be_sent, take_as_seen
from support.terminal import PATIENCE, Terminal, keydesk

SIZE = (120, 35)
# Ctrl-C twice leaves, and so does `:q` and Enter; with the other bytes there is no way out by accident.
LEAVING = b"\x03:"
SEARCHING = b"?"  # opens the help, which searches for what follows at any pace and drops nothing


def desk(folder: Path) -> Terminal:
    return Terminal(keydesk("--practice"), SIZE, {"KEYDESK_HOME": str(folder / "home")})


def leave(terminal: Terminal) -> None:
    """Leave as a person does, past whatever form the bytes have opened."""
    terminal.press("Escape", "Escape", "Escape")
    terminal.quit()
    assert terminal.wait_for_exit() == 0
    assert "Traceback" not in terminal.text


@pytest.fixture(scope="module")
def open_desk() -> Iterator[Terminal]:
    """A desk that several tests write to, and leave without form and notice."""
    folder = Path(tempfile.mkdtemp(prefix="kd-"))
    with desk(folder) as terminal:
        terminal.see("prices ok")
        yield terminal
        leave(terminal)
    shutil.rmtree(folder, ignore_errors=True)


def test_all_bytes_one_after_the_other_leave_the_desk_as_it_is(open_desk: Terminal) -> None:
    every = bytes(set(range(256)) - set(LEAVING + SEARCHING))
    for data in (every, every[::-1]):
        open_desk.write(data)
        open_desk.see("Keys dropped")
        open_desk.pause(1.0)
    open_desk.press("Escape", "Escape", "g", "t")
    open_desk.see("Trades 0")
    take_as_seen(open_desk, "Keys dropped")


def pour(terminal: Terminal, data: bytes, seconds: float, notice: str) -> None:
    """Send the bytes again and again, as fast as the program takes them, and until it has said so."""
    begun = time.monotonic()
    while (spent := time.monotonic() - begun) < seconds or notice not in terminal.text:
        assert spent < PATIENCE, terminal.text
        terminal.write_some(data)
        terminal.pause(0.002)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"jk" * 2000, marks=pytest.mark.soak),
        b"By" * 2000,
        pytest.param(b"\xa3a" * 2000, marks=pytest.mark.soak),
    ],
    ids=["keys", "orders", "unreadable"],
)
def test_a_flood_is_over_when_it_ends_and_no_key_of_it_counts_later(
    open_desk: Terminal, data: bytes
) -> None:
    pour(open_desk, data, 0.8, "Keys dropped")
    open_desk.pause(1.0)
    open_desk.press("Escape", "Escape", "g", "t")
    open_desk.see("Trades 0")
    take_as_seen(open_desk, "Keys dropped")


@pytest.mark.soak
def test_a_flood_of_three_seconds_is_over_when_it_ends(open_desk: Terminal) -> None:
    pour(open_desk, b"By" * 2000, 3.0, "Keys dropped")
    open_desk.pause(1.0)
    open_desk.press("Escape", "Escape", "g", "t")
    open_desk.see("Trades 0")
    take_as_seen(open_desk, "Keys dropped")


LETTERS_IN_REPLIES = (
    (b"\x1b[?62;22;4", b"c"),
    (b"\x1b]11;rgb:cccc/dddd/", b"ffff\x1b\\"),
    (b"\x1b[12;40", b"R"),
)


def see_no_answer_in_replies_of_two_pieces(terminal: Terminal) -> None:
    terminal.press("B", "s", "Backspace", "t", "Backspace")
    for begun, rest in LETTERS_IN_REPLIES:
        terminal.see("to send")
        terminal.write(begun)
        terminal.pause(0.8)
        terminal.write(rest)
        terminal.pause(0.8)
    assert "NOT SENT" not in terminal.text  # a wrong letter
    assert "FILLED" not in terminal.text
    assert "cannot" not in terminal.text  # digits of a reply in a field
    terminal.press("Escape")
    terminal.see_no_more("Esc drops")


def test_a_desk_that_was_stopped_without_being_asked_goes_on_with_one_reader_of_keys(
    open_desk: Terminal,
) -> None:
    threads = Path(f"/proc/{open_desk.pid}/task")
    before = len(list(threads.iterdir()))
    for size in ((80, 24), (200, 50), SIZE):
        open_desk.signal(signal.SIGSTOP)
        open_desk.resize(*size)
        open_desk.signal(signal.SIGCONT)
        open_desk.pause(1.0)
    open_desk.see("prices ok")
    assert len(list(threads.iterdir())) <= before


def test_no_reply_in_two_pieces_and_no_send_key_of_a_stopped_desk_sends_and_the_next_key_does(
    practice_folder: Path,
) -> None:
    """While it was stopped the screen stood still: what it showed is not the price that the order would meet."""
    with desk(practice_folder) as terminal:
        terminal.see("prices ok")
        terminal.see("No trades.")
        terminal.see("EUR/USD")
        see_no_answer_in_replies_of_two_pieces(terminal)
        terminal.press("B")
        for stopped_first in (True, False):
            key = see_a_form_that_can_be_sent(terminal).encode()
            terminal.pause(1.0)
            if not stopped_first:
                terminal.write(key)
            terminal.signal(signal.SIGSTOP)
            if stopped_first:
                terminal.write(key)
            terminal.pause(0.3)
            terminal.signal(signal.SIGCONT)
            terminal.see("Too early")
            terminal.pause()  # keys close together are a burst
            terminal.press("s")  # the form says what its keys mean again
            terminal.see_no_more("Too early")
        assert "FILLED" not in terminal.text
        confirm(terminal)
        terminal.see("FILLED")
        leave(terminal)


@pytest.mark.soak
def test_random_bytes_for_a_minute_leave_the_desk_as_it_is(practice_folder: Path) -> None:
    rng = random.Random(21)
    bytes_to_send = bytes(set(range(256)) - set(LEAVING))
    with desk(practice_folder) as terminal:
        terminal.see("prices ok")
        until = time.monotonic() + 60
        while time.monotonic() < until:
            terminal.write(bytes(rng.choices(bytes_to_send, k=rng.randint(1, 200))))
            terminal.pause(rng.choice((0.01, 0.1, 0.3)))
            assert terminal.is_running
        leave(terminal)
