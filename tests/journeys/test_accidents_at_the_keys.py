"""Accidents at the keyboard of the real program in a real terminal: nothing is sent, the keys come back."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.broker import PracticeServer
from support.confirming import confirm, take_as_seen
from support.order_evidence import kinds_in
from support.signing_in import Home
from support.terminal import Terminal, keydesk

USUAL = (100, 30)
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


def close_form_of_late_keys(terminal: Terminal) -> None:
    """Close the form that the last keys open again where a busy machine reads them apart."""
    if "Esc drops" in terminal.text:
        terminal.press("Escape")


def nothing_was_sent(terminal: Terminal) -> None:
    terminal.pause(0.8)
    close_form_of_late_keys(terminal)
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


def test_a_held_capital_and_then_the_send_key_send_nothing(reset_desk: Terminal) -> None:
    reset_desk.write(b"B")
    reset_desk.pause(0.5)
    repeat(reset_desk, b"B", 10)
    reset_desk.write(b"y")
    reset_desk.wait_until_read()
    close_form_of_late_keys(reset_desk)  # it covers the notice
    reset_desk.see("Keys dropped")
    nothing_was_sent(reset_desk)


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
