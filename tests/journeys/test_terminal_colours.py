"""The terminal is asked for its colours when the desk starts; whatever it answers and whenever, no key is pressed."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.terminal import Terminal, keydesk

NO_COLORTERM = {"TERM": "xterm-256color", "COLORTERM": ""}
OF_XTERM, NO_COLOR = {"TERM": "xterm", "COLORTERM": ""}, {"NO_COLOR": "1"}
RGB = b"\x1bP1+r524742=382F382F38\x1b\\"
LIGHT = b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\"
DEVICE = b"\x1b[?62;22c"
TRUECOLOR, OF_256, OF_16 = b"38;2;", b"38;5;", b"\x1b[36"


@contextmanager
def start_desk(folder: Path, env: Mapping[str, str], *arguments: str) -> Iterator[Terminal]:
    own = {"KEYDESK_HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(folder), **env}
    with Terminal(keydesk("--practice", *arguments), (120, 35), own) as terminal:
        yield terminal


def ready(terminal: Terminal) -> None:
    terminal.see("prices ok")
    terminal.see("No trades.")


def test_a_terminal_that_says_so_is_drawn_in_all_its_colours(practice_folder: Path) -> None:
    with start_desk(practice_folder, NO_COLORTERM) as terminal:
        terminal.until(lambda: b"\x1b[c" in terminal.raw, what="the question")
        terminal.write(RGB + LIGHT + DEVICE)
        ready(terminal)
        assert TRUECOLOR in terminal.raw
        assert OF_256 not in terminal.raw


@pytest.mark.parametrize("pieces", [pytest.param(1, marks=pytest.mark.soak), 3])
def test_a_silent_terminal_has_the_colours_of_its_name_and_its_late_answer_presses_no_key(
    pieces: int, practice_folder: Path
) -> None:
    with start_desk(practice_folder, NO_COLORTERM) as terminal:
        terminal.see("Watch")
        assert OF_256 in terminal.raw
        late = RGB + LIGHT + DEVICE
        size = -(-len(late) // pieces)
        for start in range(0, len(late), size):
            terminal.write(late[start : start + size])
            terminal.pause(0.03)
        ready(terminal)
        terminal.pause()
        assert "Tour 1/5" in terminal.text  # which Esc would have ended
        assert "Esc and" not in terminal.text
        assert "no key here" not in terminal.text
        assert "Keys dropped" not in terminal.text
        assert TRUECOLOR not in terminal.raw
        terminal.press("B")
        terminal.see("BUY 10,000")


@pytest.mark.parametrize(
    "term",
    [
        "xterm-kitty",
        pytest.param("alacritty", marks=pytest.mark.soak),
        pytest.param("foot", marks=pytest.mark.soak),
        pytest.param("xterm-ghostty", marks=pytest.mark.soak),
    ],
)
def test_a_terminal_known_by_its_name_is_drawn_in_all_its_colours_unasked(
    term: str, practice_folder: Path
) -> None:
    with start_desk(practice_folder, {"TERM": term, "COLORTERM": ""}) as terminal:
        terminal.see("Watch")
        assert TRUECOLOR in terminal.raw
        assert OF_256 not in terminal.raw
        assert b"\x1bP+q" not in terminal.raw


@pytest.mark.parametrize(
    ("env", "arguments"),
    [
        pytest.param(OF_XTERM, (), id="16 colours", marks=pytest.mark.soak),
        pytest.param(OF_XTERM, ("--ascii",), id="16 colours, ascii", marks=pytest.mark.soak),
        pytest.param(NO_COLOR, (), id="NO_COLOR", marks=pytest.mark.soak),
        pytest.param(NO_COLOR, ("--ascii",), id="NO_COLOR, ascii", marks=pytest.mark.soak),
    ],
)
def test_the_desk_stays_in_sight_behind_a_form_in_few_colours(
    env: Mapping[str, str], arguments: tuple[str, ...], practice_folder: Path
) -> None:
    with start_desk(practice_folder, env, *arguments) as terminal:
        ready(terminal)
        terminal.press("B")
        terminal.see("BUY 10,000")
        for text in ("NAV", "uPL", "prices ok", "GBP/USD"):
            terminal.see(text)
