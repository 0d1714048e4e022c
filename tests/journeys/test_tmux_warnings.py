"""Keys that come from elsewhere: synchronized panes and a second client of tmux are said at the start."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.ssh_server import end_programs_of
from support.terminal import Terminal, keydesk

SIZE = (130, 40)
pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")


@pytest.fixture
def env(practice_folder: Path) -> Iterator[dict[str, str]]:
    home = str(practice_folder / "home")
    yield {"KEYDESK_HOME": home, "TMUX_TMPDIR": str(practice_folder)}
    end_programs_of(home)  # the server of tmux outlives a test that fails


def tmux(*words: str) -> list[str]:
    return ["tmux", "-u", "-f", "/dev/null", *words]


def type_slowly(terminal: Terminal, line: str) -> None:
    terminal.write(line.encode() + b"\n")


def test_synchronized_panes_are_warned_of(env: dict[str, str]) -> None:
    # The other pane gets every key too: a program that reads them and does nothing, or it would start a desk as well.
    other = ["split-window", "-d", "-l", "3", "cat"]
    inside = [*other, ";", "setw", "synchronize-panes", "on"]
    with Terminal(tmux("new-session", "sh", ";", *inside), SIZE, env) as terminal:
        terminal.pause()
        type_slowly(terminal, " ".join(keydesk("--practice")))
        terminal.see("synchronize-panes is on")
        terminal.wait_and_kill(tmux("kill-server"), env)
