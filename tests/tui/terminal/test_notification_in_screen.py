"""Bell and desktop notifications reach the terminal around a real GNU screen, and never leave it in a half sequence."""

import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.terminal import Terminal

pytestmark = pytest.mark.e2e

PROGRAM = """
import os, sys
from keydesk.terminal.notification import BELL, OSC_KINDS, notification
sys.stdout.write(notification("ALERT", {text!r}, OSC_KINDS, os.environ))
sys.stdout.write(BELL + "said it\\r\\n")
sys.stdout.flush()
sys.stdin.readline()
"""
# Screen passes on the low byte of a character: an escape, an operating system command, its end.
HOSTILE = "\u061b\u061b]2;owned\u4e07 \u4e9d2;owned\u4e9c"


@pytest.mark.skipif(not shutil.which("screen"), reason="GNU screen is not installed")
@pytest.mark.parametrize("text", ["EUR/USD crosses up 1.12", "price " * 80, HOSTILE])
def test_bell_and_every_kind_of_notification_reach_the_terminal_around_screen(
    practice_folder: Path, text: str
) -> None:
    inside = [sys.executable, "-c", PROGRAM.format(text=text)]
    (practice_folder / "screens").mkdir(mode=0o700)
    rules = practice_folder / "screenrc"
    rules.write_text("startup_message off\nvbell off\n", encoding="utf-8")
    env = {"SCREENDIR": str(practice_folder / "screens"), "LANG": "C.UTF-8"}
    screen = ["screen", "-U", "-c", str(rules), "-S", practice_folder.name, *inside]
    leave = ["screen", "-S", practice_folder.name, "-X", "quit"]
    with ExitStack() as stack, Terminal(screen, (100, 30), env) as terminal:
        stack.callback(subprocess.run, leave, env={**os.environ, **env}, check=False)
        terminal.see("said it")
        for start in (b"\x1b]777;notify;ALERT;", b"\x1b]9;Keydesk: ALERT: ", b"\x1b]99;i=keydesk"):
            begun = terminal.raw.index(start)
            ended = terminal.raw.index(b"\x07", begun)
            assert b"\x1b" not in terminal.raw[begun + 1 : ended]
        assert text.encode("ascii", "replace")[:20] in terminal.raw
        assert b"\x1b]2;" not in terminal.raw
        terminal.write(b"\r")
        terminal.wait_for_exit()
