"""A desk that is open, and the same person at a second prompt."""

import os
import subprocess
from contextlib import suppress
from pathlib import Path

from support.confirming import send
from support.forked import run_forked
from support.terminal import NeverSeen, Terminal, keydesk

SIZE = (120, 35)
LOOKS_EVERY = 3.0  # seconds, on a busy machine


def at_the_prompt(home: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return run_forked(words, {**os.environ, "KEYDESK_HOME": str(home)})


def asked_to_arm(terminal: Terminal) -> bool:
    """Ask until the desk, which looks once a second, has seen that the lock is off."""
    terminal.press("A")
    with suppress(NeverSeen):
        terminal.see("Esc drops", LOOKS_EVERY)
    return "Esc drops" in terminal.text


def test_status_flatten_and_lock_reach_the_market_of_the_open_desk(practice_folder: Path) -> None:
    home = practice_folder / "home"
    with Terminal(keydesk(), SIZE, {"KEYDESK_HOME": str(home)}) as terminal:
        terminal.see("prices ok")
        terminal.until(lambda: "size" in terminal.text and "spread" in terminal.text)
        send(terminal, "B")
        terminal.see("FILLED")
        terminal.see("Trades 1")

        status = at_the_prompt(home, "status", "--practice")
        assert "1 trade" in status.stdout.splitlines()

        flat = at_the_prompt(home, "flatten", "--practice", "--yes")
        assert flat.returncode == 0, flat.stderr
        assert "FLAT: PRACTICE" in flat.stdout
        terminal.see("Trades 0")

        assert at_the_prompt(home, "lock", "--practice", "--yes").returncode == 0
        terminal.see("exit only")
        terminal.press("A")
        terminal.see("Locked from another login")
        assert at_the_prompt(home, "lock", "--practice", "--release", "--yes").returncode == 0
        terminal.until(lambda: asked_to_arm(terminal), what="the form that arms")
        terminal.press("Escape")
        terminal.see_no_more("Esc drops")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
    assert not (home / "practice" / "open-broker.json").exists()
