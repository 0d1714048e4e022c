"""The practice broker killed under an open desk: it comes back by itself, with every order that was acknowledged."""

import os
import signal
import subprocess
from pathlib import Path

from support.confirming import send
from support.terminal import Terminal, keydesk


def broker_of(pid: int) -> int:
    found = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
    )
    pairs = [line.split() for line in found.stdout.splitlines()]
    return next(int(child) for child, parent in pairs if int(parent) == pid)


def test_the_desk_starts_a_killed_broker_again_and_trades_on(practice_folder: Path) -> None:
    env = {"KEYDESK_HOME": str(practice_folder / "home")}
    with Terminal(keydesk(), (120, 35), env) as terminal:
        terminal.see("prices ok")
        terminal.until(lambda: "size" in terminal.text and "spread" in terminal.text)
        send(terminal, "B")
        terminal.see("FILLED")
        os.kill(broker_of(terminal.pid), signal.SIGKILL)
        terminal.see("is started again")
        terminal.see_no_more("prices ok")
        terminal.see("prices ok", 60)
        terminal.see("events ok", 60)
        terminal.see("Trades 1")
        send(terminal, "C")
        terminal.see("CLOSED")
        terminal.see("No trades.")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
