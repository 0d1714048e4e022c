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
