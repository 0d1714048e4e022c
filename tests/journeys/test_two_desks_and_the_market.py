"""Two whole desks on one account of a practice market that jumps and begins anew: both show what the broker has."""

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from support.broker import PracticeServer
from support.confirming import send
from support.signing_in import Home
from support.terminal import Terminal, keydesk

SIZE = (120, 35)
DESKS = 2


@pytest.fixture
def desks(practice: PracticeServer, practice_folder: Path) -> Iterator[list[Terminal]]:
    """Two armed desks of one person at one account."""
    home = Home(practice_folder / "home")
    home.signed_in("main", practice)
    command = keydesk("--profile", "main", *home.unlocked)
    with ExitStack() as stack:
        opened = [stack.enter_context(Terminal(command, SIZE, home.env)) for _ in range(DESKS)]
        for terminal in opened:
            see(opened, terminal, "prices ok")
        yield opened


def see(desks: list[Terminal], terminal: Terminal, text: str) -> None:
    """Wait for words on one desk while the output of all is read."""

    def is_there() -> bool:
        for each in desks:
            each.pause(0.01)
        return text in terminal.text

    terminal.until(is_there, what=repr(text))


def arm(desks: list[Terminal], terminal: Terminal, account_id: str) -> None:
    terminal.press("A")
    see(desks, terminal, "ARM the keyboard")
    terminal.press(*account_id[-3:])
    terminal.see_no_more("exit only")


@pytest.mark.soak
def test_a_jump_and_a_replay_reach_both_desks_and_what_one_trades_the_other_shows(
    desks: list[Terminal], practice: PracticeServer, practice_folder: Path
) -> None:
    first, second = desks
    data = ("--data", str(practice.data))
    home = Home(practice_folder / "home")
    arm(desks, first, practice.account_id)
    send(first, "B")
    for each in desks:
        see(desks, each, "Trades 1")

    later = datetime.now(UTC) + timedelta(days=60)  # it takes the stop or the target
    jumped = home.run("practice", "jump", f"{later:%Y-%m-%dT%H:%MZ}", *data)
    assert jumped.returncode == 0, jumped.stderr
    for each in desks:
        see(desks, each, "Trades 0")
        see(desks, each, "prices ok")

    begun = home.run("practice", "replay", "--start", "2015-01-14T08:00Z", "--play", *data)
    assert begun.returncode == 0, begun.stderr
    for each in desks:
        see(desks, each, "NAV 100,000.00")
        see(desks, each, "prices ok")
    arm(desks, second, practice.account_id)
    send(second, "B")
    for each in desks:
        see(desks, each, "Trades 1")
    for each in desks:
        each.quit()
        assert each.wait_for_exit() == 0
