"""Alerts at a real terminal: made at the crosshair, they ring, also inside tmux, and are found after a restart and a kill."""

import json
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.ssh_server import end_programs_of
from support.terminal import Terminal, keydesk

SIZE = (120, 35)
OSC = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
NOTIFIED = b"\x1b]777;notify;ALERT"


@pytest.fixture
def env(practice_folder: Path) -> Iterator[dict[str, str]]:
    home = str(practice_folder / "home")
    yield {
        "KEYDESK_HOME": home,
        "XDG_RUNTIME_DIR": str(practice_folder),
        "TMUX_TMPDIR": str(practice_folder),
    }
    end_programs_of(home)  # the server of tmux outlives a test that fails


def ready(terminal: Terminal) -> None:
    terminal.see("prices ok")
    terminal.see("EUR/USD M5")


def command(terminal: Terminal, line: str) -> None:
    terminal.press(":")
    terminal.see("Command  ")
    terminal.write(line.encode())
    terminal.see("alerts once when")
    terminal.press("Enter")
    terminal.see("Alert once:")


def gap(terminal: Terminal, env: dict[str, str]) -> None:
    """Let the price of EUR_USD jump up by a percent."""
    shock = keydesk("practice", "shock", "gap", "EUR_USD", "--size", "0.01")
    running = subprocess.Popen(shock, env={**env, "PATH": ""}, stdout=subprocess.DEVNULL)
    terminal.until(lambda: running.poll() is not None, what="the shock")
    assert running.returncode == 0


def has_rung(terminal: Terminal) -> bool:
    return b"\x07" in OSC.sub(b"", bytes(terminal.raw))


@pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")
def test_bell_and_notification_reach_the_terminal_around_tmux(env: dict[str, str]) -> None:
    tmux = ["tmux", "-u", "-f", "/dev/null"]
    inside = [*tmux, "new-session", *keydesk("--practice"), ";", "set", "allow-passthrough", "on"]
    with Terminal(inside, (130, 40), env) as terminal:
        ready(terminal)
        command(terminal, "alert +20p")
        gap(terminal, env)
        terminal.see("ALERT")
        terminal.until(lambda: has_rung(terminal) and NOTIFIED in terminal.raw, what="the bell")
        terminal.wait_and_kill([*tmux, "kill-server"], env)


def test_without_the_desk_alerts_are_watched_and_given_to_the_traders_command(
    env: dict[str, str], practice_folder: Path
) -> None:
    home = practice_folder / "home"
    home.mkdir(mode=0o700)
    out = practice_folder / "told.json"
    notify = f'[alerts]\nnotify = ["/bin/sh", "-c", "cat >> {out}"]\n'
    (home / "config.toml").write_text(notify, encoding="utf-8")
    with Terminal(keydesk("--practice"), SIZE, env) as terminal:
        ready(terminal)
        command(terminal, "alert eurusd > 9 once")
        command(terminal, "alert +20p note the move")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
    with Terminal(keydesk("watch", "--alerts", "--practice"), (130, 20), env) as watch:
        watch.see("Watching 2 alerts")
        watch.see("Prices are arriving")
        gap(watch, env)
        watch.see("the move")
        watch.until(lambda: has_rung(watch) and NOTIFIED in watch.raw, what="the bell")
        watch.until(out.exists, what="the command")
        watch.signal(signal.SIGINT)
        assert watch.wait_for_exit() == 130
    said = json.loads(out.read_text(encoding="utf-8").splitlines()[0])
    assert (said["kind"], said["alert"]) == ("alert", "2")
    with Terminal(keydesk("watch", "--alerts", "--practice"), (130, 20), env) as watch:
        watch.see("Watching 1 alert of")
        watch.signal(signal.SIGTERM)
        assert watch.wait_for_exit() == 0
