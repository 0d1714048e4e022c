"""A year of trades over SSH and a line of 20 kB/s: the journal, its statistics and the log answer, and say what they read."""

from pathlib import Path

import pytest

from support.fakes.slow_terminal import SlowTerminal
from support.journal_home import fill_journal
from support.proxies.slow_line import SlowLine
from support.ssh_server import SshServer
from support.terminal import Terminal, keydesk

pytestmark = pytest.mark.soak

RATE = 20_000  # bytes a second
MAX_BEHIND = (
    RATE * 1.5
)  # usually under one; a busy machine takes its time to see that the line is full
SIZE = (120, 35)
HELD, TURN = 60, 20  # repeats of a held key, thirty a second
DESK = ("--practice", "--price-rate", "14")
VIEWS = {
    "2": "By instrument",
    "3": "drawdown now",
    "4": "median",
    "5": "MAE in R",
    "6": "hour and weekday",
    "7": "each trading day",
    "8": "What if",
}


def fill_year(home: Path) -> None:
    """Have the journal's files made, then put a year of trades in them."""
    with Terminal(keydesk("--practice"), SIZE, {"KEYDESK_HOME": str(home)}) as desk:
        desk.see("prices ok")
        desk.press("g", "j")
        desk.see("No trade was opened")
        desk.press("Escape")
        desk.quit()
        assert desk.wait_for_exit() == 0
    fill_journal(home, 260, 20)


def test_a_year_of_trades_is_read_over_a_slow_line(ssh: SshServer, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    fill_year(home)
    with SlowLine(ssh.port) as line:
        command = ssh.command(ssh.keydesk(*DESK), env={"KEYDESK_HOME": str(home)}, port=line.port)
        with SlowTerminal(command, SIZE, {}) as desk:
            desk.see("prices ok")
            line.bytes_a_second = RATE
            desk.press("g", "j")
            desk.see("5,200 trades")
            for number in range(HELD):
                desk.write(b"j" if number % (2 * TURN) < TURN else b"k")
                desk.pause(1 / 30)
            before = len(desk.raw)
            desk.write(b"v")
            desk.see("trades, net ▼")
            assert len(desk.raw) - before <= MAX_BEHIND
            desk.press("Escape")
            desk.see("Deal EUR/USD")
            desk.press("g", "k")
            desk.see("5,200 closed trades")
            for key, text in VIEWS.items():
                desk.press(key)
                desk.see(text)
            desk.press("Escape")
            desk.see("Deal EUR/USD")
            desk.press("g", "d")
            desk.see("Result:")
            desk.press("Escape")
            desk.see("Deal EUR/USD")
            desk.press("g", "l", "g", "e")
            desk.see("The first transaction")
            line.bytes_a_second = float("inf")
            desk.quit()
            assert desk.wait_for_exit() == 0
