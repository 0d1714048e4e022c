"""At the end of a line of 20 kB/s the desk shows fewer pictures, never older ones, and says what helps."""

import time
from pathlib import Path

import pytest

from support.broker import practice_server
from support.fakes.slow_terminal import ATTRIBUTES, STATUS, SlowTerminal
from support.proxies.slow_line import SlowLine
from support.ssh_server import SshServer
from support.terminal import keydesk

RATE = 20_000  # bytes a second
HELD = 90  # repeats, thirty a second
TURN = 15  # repeats, then the other way: every one of them moves the cursor
HELP = 3_000  # bytes
MAX_BEHIND = 1.0  # seconds of the line's rate; usually 0.5
TRIES = 3
SLOWNESS = 4  # so many times as long as the help takes on a fast line may come on top: a busy machine is slow to read a key
SIZE = (200, 50)  # one repeat costs about a kilobyte
DESK = ("--practice", "--price-rate", "14")
REPLIES = {"both": {ATTRIBUTES, STATUS}, "DSR alone": {STATUS}, "none": set[bytes]()}


def wait_until_open(terminal: SlowTerminal) -> None:
    terminal.see("prices ok")
    terminal.see("No trades.")
    terminal.see("M5")


def move(terminal: SlowTerminal) -> None:
    """Hold a key for three seconds."""
    for number in range(HELD):
        terminal.write(b"j" if number % (2 * TURN) < TURN else b"k")
        terminal.pause(1 / 30)


def help_takes(terminal: SlowTerminal) -> float:
    """Open and close the help on a line that is not slow yet; returns the seconds until it was shown."""
    terminal.pause(2)
    began = time.monotonic()
    terminal.write(b"?")
    terminal.see("Esc closes")
    taken = time.monotonic() - began
    terminal.press("Escape")
    terminal.see_no_more("Esc closes")
    return taken


def most_behind(taken: float) -> float:
    """Bytes that may come before the help, by the time that it takes where no line is slow."""
    return RATE * (MAX_BEHIND + SLOWNESS * taken) + HELP


def check_held_key(terminal: SlowTerminal, line: SlowTerminal | SlowLine) -> None:
    """Hold a key on the slow line, where the help must not wait behind old pictures; leaves the line slow.

    A machine that is busy at the moment reads keys late, and pictures go on meanwhile: one of a few tries has to do, where
    a desk that queues old pictures fails in every one.
    """
    for left in reversed(range(TRIES)):
        taken = help_takes(terminal)
        line.bytes_a_second = RATE
        came = hold(terminal)
        line.bytes_a_second = float("inf")
        terminal.press("Escape")
        terminal.see_no_more("Esc closes")
        taken = max(taken, help_takes(terminal))  # other programs may have begun meanwhile
        if came <= most_behind(taken):
            break
        assert left, (
            f"{came} bytes came before the help, {most_behind(taken)} at most are asked for"
        )
    line.bytes_a_second = RATE


def hold(terminal: SlowTerminal) -> int:
    """Hold a key, then open the help; returns how many bytes came before it."""
    terminal.pause(2)
    move(terminal)
    before = len(terminal.raw)
    terminal.write(b"?")
    terminal.see("Esc closes")
    return bytes(terminal.raw[before:]).find(b"Esc closes")


def see_the_last_picture(terminal: SlowTerminal) -> None:
    """Move at once as far as a held key would, then touch nothing: the row that was reached is shown."""
    terminal.press("Escape", "g", "g")  # to the first row, from wherever a busy machine has left it
    terminal.see("Deal EUR/USD")
    terminal.pause(1)
    terminal.write(b"j" * TURN)
    terminal.see("Deal AUD/NZD")


@pytest.mark.parametrize(
    "replies",
    [
        pytest.param(replies, marks=() if replies == "both" else pytest.mark.soak)
        for replies in REPLIES
    ],
)
def test_a_held_key_leaves_no_old_pictures_behind_over_ssh(ssh: SshServer, replies: str) -> None:
    with (
        SlowLine(ssh.port) as line,
        SlowTerminal(ssh.command(ssh.keydesk(*DESK), port=line.port), SIZE, {}) as terminal,
    ):
        terminal.replies_to = frozenset(REPLIES[replies])
        wait_until_open(terminal)
        check_held_key(terminal, line)
        see_the_last_picture(terminal)


@pytest.mark.soak
@pytest.mark.parametrize("replies", ["none", "both"])
def test_a_held_key_leaves_no_old_pictures_behind_on_this_machine_and_the_line_is_reported(
    practice_folder: Path, replies: str
) -> None:
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    with SlowTerminal(keydesk(*DESK), SIZE, env) as terminal:
        terminal.replies_to = frozenset(REPLIES[replies])
        wait_until_open(terminal)
        check_held_key(terminal, terminal)
        see_the_last_picture(terminal)
        terminal.bytes_a_second = RATE / 10  # which also a busy machine fills
        move(terminal)
        terminal.bytes_a_second = float("inf")
        terminal.press(":", *"messages", "Enter")
        terminal.see("ssh -C")


TRADES = (("EUR_USD", 12), ("GBP_USD", 6), ("USD_JPY", 6))  # instrument, number
COLUMN = 8  # of the P/L, from the first one on


@pytest.mark.soak
async def test_tables_are_sorted_filtered_and_read_by_held_keys_over_ssh(
    ssh: SshServer, practice_folder: Path
) -> None:
    home = practice_folder / "home"
    home.mkdir(mode=0o700)
    served = ("--data", str(home / "practice"), "--rate-limit", "100000")
    async with practice_server(practice_folder, *served) as server:
        for instrument, number in TRADES:
            for units in range(1000, 1000 + number):
                order = {"type": "MARKET", "instrument": instrument, "timeInForce": "FOK"}
                body = {"order": order | {"units": str(units)}}
                await server.send("POST", "{a}/orders", body)
    with (
        SlowLine(ssh.port) as line,
        SlowTerminal(ssh.command(ssh.keydesk(*DESK), port=line.port), SIZE, {}) as terminal,
    ):
        terminal.see("prices ok")
        terminal.see("Trades 24")
        terminal.press("g", "t")
        check_held_key(terminal, line)
        terminal.press("Escape", "w", "f")
        terminal.see("only rows with these words")
        terminal.write(b"usdjpy")
        terminal.see("usdjpy")
        terminal.press("Enter")
        terminal.see("6 of 24")
        terminal.press("w", "e")
        terminal.see_no_more("6 of 24")
        terminal.write(b"l" * COLUMN)
        terminal.see("P/L ▼ held")
        terminal.press("v")
        terminal.see("P/L ▲ held")
