"""Accidents at the keyboard of the real program in a real terminal: nothing is sent, the keys come back."""

import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.broker import PracticeServer
from support.confirming import confirm, form_text, send, take_as_seen
from support.order_evidence import kinds_in
from support.signing_in import Home
from support.terminal import Terminal, keydesk

ALONE = 0.1  # seconds after which a key is no burst with the one before, and before its form counts as read
USUAL = (100, 30)
DWELL = 0.25  # seconds; a confirm before it does not count
PASTE, END = b"\x1b[200~", b"\x1b[201~"


@contextmanager
def desk(folder: Path, size: tuple[int, int]) -> Iterator[Terminal]:
    env = {"KEYDESK_HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(folder)}
    with Terminal(keydesk("--practice"), size, env) as terminal:
        terminal.see("prices ok")
        terminal.see("EUR/USD")
        terminal.see("No trades.")
        yield terminal


@pytest.fixture
def terminal(practice_folder: Path) -> Iterator[Terminal]:
    """The desk on the practice market, prices on the screen."""
    with desk(practice_folder, USUAL) as terminal:
        yield terminal


@pytest.fixture(scope="module")
def shared_desk() -> Iterator[Terminal]:
    """One desk for the tests that send nothing: a start takes seconds."""
    with (
        tempfile.TemporaryDirectory(prefix="kd-", ignore_cleanup_errors=True) as folder,
        desk(Path(folder), USUAL) as terminal,
    ):
        yield terminal


@pytest.fixture
def reset_desk(shared_desk: Terminal) -> Iterator[Terminal]:
    """The shared desk; afterwards its forms are closed, it is armed again and its messages are seen."""
    yield shared_desk
    shared_desk.resize(*USUAL)
    shared_desk.press("Escape", "Escape")
    shared_desk.see_no_more("Esc drops")
    if "exit only" in shared_desk.text:
        shared_desk.press("A")
        shared_desk.see("ARM the keyboard")
        confirm(shared_desk)
        shared_desk.see_no_more("exit only")
        shared_desk.press("Escape")  # the notice has been there for longer than it takes to read it
    if "Keys dropped" in shared_desk.text:
        take_as_seen(shared_desk, "Keys dropped")
    shared_desk.see("No trades.")


@pytest.fixture(
    params=[(80, 24), pytest.param((120, 35), marks=pytest.mark.soak)], ids=["80x24", "120x35"]
)
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    """The least size and a usual one."""
    columns, rows = request.param
    return columns, rows


@pytest.fixture
def any_terminal(practice_folder: Path, size: tuple[int, int]) -> Iterator[Terminal]:
    """The desk on the practice market at the least size and at a usual one."""
    with desk(practice_folder, size) as terminal:
        yield terminal


def nothing_was_sent(terminal: Terminal) -> None:
    terminal.pause(0.8)
    if (
        "Esc drops" in terminal.text
    ):  # on a busy machine the last keys are read apart, and open the form again
        terminal.press("Escape")
    terminal.see("No trades")
    assert "FILLED" not in terminal.text


@pytest.mark.parametrize(
    "burst",
    [
        b"By",
        pytest.param(b"B\ry", marks=pytest.mark.soak),
        pytest.param(b"ByByByBy", marks=pytest.mark.soak),
    ],
)
def test_keys_of_one_read_are_dropped_and_disarm(reset_desk: Terminal, burst: bytes) -> None:
    reset_desk.write(burst)
    reset_desk.see("Keys dropped")
    reset_desk.see("exit only")
    nothing_was_sent(reset_desk)


def test_a_field_typed_ahead_is_in_the_ticket_but_not_in_one_burst_with_its_capital(
    reset_desk: Terminal,
) -> None:
    reset_desk.see("size 3: 10,000")
    reset_desk.write(b"Bs25")
    reset_desk.see("Keys dropped")
    nothing_was_sent(reset_desk)
    assert "size 3: 10,000" in reset_desk.text, "2 and 5 chose no size on the desk beneath"
    reset_desk.write(b"B")
    reset_desk.wait_until_read(ALONE)  # no look at the screen: the ticket may not be open yet
    reset_desk.write(b"s25")
    reset_desk.see("25  pips")


def test_a_burst_in_the_help_reaches_nothing_beneath_it(reset_desk: Terminal) -> None:
    reset_desk.press("?")
    reset_desk.see("Esc closes")
    reset_desk.write(b"qBcSc .AjySy.y")
    reset_desk.see("Keys dropped")
    nothing_was_sent(reset_desk)


def test_a_bracketed_paste_is_swallowed(reset_desk: Terminal) -> None:
    reset_desk.write(PASTE + b"By\r" + END)
    reset_desk.see("pasted")
    nothing_was_sent(reset_desk)


def test_a_paste_with_an_end_in_it_sends_nothing(reset_desk: Terminal) -> None:
    reset_desk.write(PASTE + b"harmless" + END + b"By\r" + END)
    reset_desk.see("Keys dropped")
    nothing_was_sent(reset_desk)


def test_a_paste_that_never_ends_gives_the_keys_back(reset_desk: Terminal) -> None:
    reset_desk.write(PASTE + b"B")
    reset_desk.see("pasted")
    nothing_was_sent(reset_desk)
    reset_desk.press("X")
    reset_desk.see("FLATTEN EVERYTHING")


def repeat(terminal: Terminal, key: bytes, times: int, gap: float = 0.033) -> None:
    """Hold a key down: the keyboard repeats it at 30 Hz."""
    for _ in range(times):
        terminal.write(key)
        terminal.pause(gap)


def test_capitals_of_one_read_and_then_send_keys_of_one_read_send_nothing(
    reset_desk: Terminal,
) -> None:
    reset_desk.write(b"BBBB")
    reset_desk.pause()
    reset_desk.write(b"yyyy")
    reset_desk.see("Keys dropped")
    nothing_was_sent(reset_desk)


def test_a_held_capital_and_then_the_send_key_send_nothing(reset_desk: Terminal) -> None:
    reset_desk.write(b"B")
    reset_desk.pause(0.5)
    repeat(reset_desk, b"B", 10)
    reset_desk.write(b"y")
    reset_desk.see("Keys dropped")
    nothing_was_sent(reset_desk)


def test_a_confirm_on_the_heels_of_its_form_is_too_early_and_the_form_says_so(
    any_terminal: Terminal,
) -> None:
    terminal = any_terminal
    began = time.monotonic()
    terminal.write(b"B")
    terminal.wait_until_read(ALONE)
    terminal.see("Esc drops")
    terminal.write(b"y")
    terminal.wait_until_read(0)
    # About the rollover the form asks for a letter.
    outcomes = ["Too early: read the form", "Keys dropped", "NOT SENT: the letter"]
    if time.monotonic() - began > DWELL:  # a busy machine: it may have come when the form was read
        outcomes += ["FILLED", " 1 trade "]  # the words may be gone already, the trade stays
    terminal.until(lambda: any(each in terminal.text for each in outcomes), what="a refusal")
    if outcomes[0] not in terminal.text:
        return
    terminal.pause(0.8)
    assert "FILLED" not in terminal.text
    confirm(terminal)
    terminal.see("FILLED")


def test_a_held_arrow_in_a_field_nudges_it_and_disarms_nothing(any_terminal: Terminal) -> None:
    terminal = any_terminal
    terminal.press(
        "B", "s", "Backspace", *"20"
    )  # by itself it is as wide as the hour's spread asks
    for _ in range(20):
        repeat(terminal, b"\x1b[A", 1)
        terminal.wait_until_read(pause=0.033)
    terminal.until(lambda: "s stop 40 pips" in form_text(terminal), what="a stop of 40 pips")
    assert "Keys dropped" not in terminal.text
    assert "exit only" not in terminal.text
    terminal.pause()
    confirm(terminal)
    terminal.see("FILLED")


def test_escape_and_a_capital_behind_it_open_the_next_form_armed(
    reset_desk: Terminal, size: tuple[int, int]
) -> None:
    terminal = reset_desk
    terminal.resize(*size)
    terminal.press("B")
    terminal.see("BUY 10,000")
    terminal.write(b"\x1b")
    terminal.pause(0.12)
    terminal.write(b"S")
    terminal.until(
        lambda: "SELL 10,000" in terminal.text or "only Esc counted" in terminal.text,
        what="the next form, or the word that a slow machine read both keys as one",
    )
    assert "Keys dropped" not in terminal.text
    assert "exit only" not in terminal.text


def test_a_wrong_letter_keeps_the_ticket_and_asks_another_one(any_terminal: Terminal) -> None:
    terminal = any_terminal
    terminal.press("B", "u", *"12345", "s", "Backspace", "t", "Backspace")
    terminal.see("to send")
    first = asked_for(terminal)
    terminal.pause()
    terminal.press("y")
    told = f"NOT SENT: the letter was {first}, not y"
    terminal.until(lambda: told in form_text(terminal), what=told)
    terminal.until(lambda: asked_for(terminal) not in {"", first}, what="another letter")
    assert "BUY 12,345 EUR/USD" in form_text(terminal)
    confirm(terminal)
    terminal.see("FILLED 12,345")


def asked_for(terminal: Terminal) -> str:
    letter = re.search(r"type\s+(\w)\s+to send", terminal.text)
    return "" if letter is None else letter.group(1)


def test_a_mistyped_stop_is_named_and_nothing_is_sent(
    reset_desk: Terminal, size: tuple[int, int]
) -> None:
    terminal = reset_desk
    terminal.resize(*size)
    terminal.press("B", "s", *"1.2.3", "t", "Backspace")
    refusal = "stop: 1.2.3 has more than one decimal point"
    terminal.until(lambda: refusal in form_text(terminal), what=refusal)
    terminal.press("y", "c", "d", "f", "v", "z")
    assert refusal in form_text(terminal)
    terminal.press("Escape")
    nothing_was_sent(terminal)


def test_below_the_least_size_no_ticket_opens_and_exits_do(reset_desk: Terminal) -> None:
    terminal = reset_desk
    terminal.resize(79, 23)
    terminal.see("X flatten")
    terminal.press("B")
    terminal.see("No new trade below 80×24")
    terminal.press("S")
    assert "Esc drops" not in terminal.text
    terminal.press("X")
    terminal.see("FLATTEN EVERYTHING")


def test_escape_and_a_key_in_one_drop_the_ticket(reset_desk: Terminal) -> None:
    reset_desk.press("B")
    reset_desk.see("Esc drops")
    reset_desk.pause()
    reset_desk.write(b"\x1by")
    reset_desk.see_no_more("Esc drops")
    nothing_was_sent(reset_desk)


@pytest.mark.soak  # every other journey sends, too
def test_a_hand_sends(terminal: Terminal) -> None:
    send(terminal, "B")
    terminal.see("FILLED")


FOCUS_OUT = b"\x1b[O"


def test_a_live_desk_is_armed_by_digits_that_it_answers_and_disarmed_by_a_blurred_window(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    home = Home(tmp_path / "home")
    home.signed_in("main", desk_of_my_own)
    right = desk_of_my_own.account_id[-3:]
    wrong = "999" if right != "999" else "888"
    with Terminal(keydesk("--profile", "main", *home.unlocked), (80, 24), home.env) as terminal:
        terminal.see("prices ok")
        terminal.press("A")
        terminal.see("ARM the keyboard")
        terminal.press(*wrong)
        terminal.see(f"NOT ARMED: {wrong} is not the end")
        assert "Esc drops" in terminal.text
        terminal.press(*right)
        terminal.see_no_more("Esc drops")
        terminal.see("ARMED")
        terminal.see_no_more("exit only")
        terminal.write(FOCUS_OUT)
        terminal.see("Exit only: the window lost the focus; A arms again")
        terminal.see("exit only")
        terminal.press("B")
        terminal.see("A arms")
        terminal.press("y")
        terminal.pause(0.8)
        assert "FILLED" not in terminal.text
    assert kinds_in(home.folder) >= {"arm", "disarm", "refused"}
    shown_or_kept = [bytes(terminal.raw), *home.files().values()]
    assert not any(desk_of_my_own.token.encode() in each for each in shown_or_kept)
