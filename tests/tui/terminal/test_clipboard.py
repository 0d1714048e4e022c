"""Text reaches the clipboard of the terminal, also around tmux and screen, and nothing in it ends the sequence."""

import os
import re
import shutil
import subprocess
import sys
from base64 import b64decode
from contextlib import ExitStack
from pathlib import Path

import pytest

from keydesk.terminal.clipboard import (
    MAX_BYTES,
    TmuxOptions,
    clipboard_sequence,
    fitting,
    parse_options,
)
from support.terminal import Terminal

COPIED = re.compile(rb"\x1b\]52;c?;([A-Za-z0-9+/=]+)(?:\x07|\x1b\\)")
PROGRAM = """
import os, sys
from keydesk.terminal.clipboard import clipboard_sequence, tmux_options
sequence = clipboard_sequence({text!r}, os.environ, tmux_options(os.environ))
sys.stdout.write(sequence or "kept from the terminal")
sys.stdout.write("\\r\\nsaid it\\r\\n")
sys.stdout.flush()
sys.stdin.readline()
"""
TEXT = "EUR/USD\t1.1350\nUSD/JPY\t161.20\n" * 20


def copied_in(raw: bytes) -> str:
    """What the terminal was given for its clipboard."""
    return b64decode(COPIED.findall(raw)[-1]).decode()


def program(text: str) -> list[str]:
    return [sys.executable, "-c", PROGRAM.format(text=text)]


@pytest.mark.parametrize("text", ["EUR/USD", "\x1b]52;c;?\x07\x1b\\ −70 €", ""])
def test_a_terminal_decodes_what_was_copied_and_nothing_ends_the_sequence(text: str) -> None:
    sequence = clipboard_sequence(text, {}).encode()
    assert sequence.count(b"\x1b") == sequence.count(b"\x07") == 1
    match = re.fullmatch(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07", sequence)
    assert match is not None
    assert b64decode(match[1]).decode() == text


def test_tmux_gets_it_wrapped_or_as_its_own_or_not_at_all() -> None:
    inside = {"TMUX": "server,1,0"}
    whole = clipboard_sequence("1", {})
    passed = clipboard_sequence("1", inside, TmuxOptions(takes_own=True, passes_wrapped=True))
    assert passed == f"\x1bPtmux;\x1b{whole}\x1b\\"
    assert clipboard_sequence("1", inside, TmuxOptions(takes_own=True)) == whole
    assert clipboard_sequence("1", inside, TmuxOptions()) == ""


@pytest.mark.parametrize(
    ("answer", "options"),
    [
        ("external|0\n", TmuxOptions()),
        ("on|0\n", TmuxOptions(takes_own=True)),
        ("off|all\n", TmuxOptions(passes_wrapped=True)),
        ("", TmuxOptions()),
    ],
)
def test_the_options_of_tmux(answer: str, options: TmuxOptions) -> None:
    assert parse_options(answer) == options


def test_a_text_that_is_too_long_keeps_its_whole_lines() -> None:
    row = "x" * 999
    kept = fitting("\n".join([row] * 100))
    assert len(kept) <= MAX_BYTES
    assert set(kept.split("\n")) == {row}
    assert fitting("€" * MAX_BYTES).count("€") == MAX_BYTES // 3


@pytest.mark.e2e
@pytest.mark.skipif(not shutil.which("screen"), reason="GNU screen is not installed")
def test_it_reaches_the_terminal_around_screen(practice_folder: Path) -> None:
    (practice_folder / "screens").mkdir(mode=0o700)
    rules = practice_folder / "screenrc"
    rules.write_text("startup_message off\n", encoding="utf-8")
    env = {"SCREENDIR": str(practice_folder / "screens"), "LANG": "C.UTF-8"}
    screen = ["screen", "-U", "-c", str(rules), "-S", practice_folder.name, *program(TEXT)]
    leave = ["screen", "-S", practice_folder.name, "-X", "quit"]
    with ExitStack() as stack, Terminal(screen, (100, 30), env) as terminal:
        stack.callback(subprocess.run, leave, env={**os.environ, **env}, check=False)
        terminal.see("said it")
        assert copied_in(bytes(terminal.raw)) == TEXT
        terminal.write(b"\r")
        terminal.wait_for_exit()


@pytest.mark.e2e
@pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")
@pytest.mark.parametrize(
    "setting",
    ["set -s set-clipboard on", "set -g allow-passthrough on", "set -s set-clipboard external"],
)
def test_it_reaches_the_terminal_around_tmux_or_the_option_is_named(
    practice_folder: Path, setting: str
) -> None:
    env = {"TMUX_TMPDIR": str(practice_folder), "LANG": "C.UTF-8", "TERM": "xterm-256color"}
    rules = practice_folder / "tmux.conf"
    rules.write_text(f"{setting}\n", encoding="utf-8")
    tmux = ["tmux", "-u", "-f", str(rules), "new-session", *program(TEXT)]
    leave = ["tmux", "kill-server"]
    with ExitStack() as stack, Terminal(tmux, (100, 30), env) as terminal:
        stack.callback(subprocess.run, leave, env={**os.environ, **env}, check=False)
        terminal.see("said it")
        if setting.endswith("external"):
            assert "kept from the terminal" in terminal.text
        else:
            terminal.until(lambda: COPIED.search(bytes(terminal.raw)) is not None)
            assert copied_in(bytes(terminal.raw)) == TEXT
        terminal.write(b"\r")
        terminal.wait_for_exit()
