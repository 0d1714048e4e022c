"""The daily loss lock in the real desk: reached, held over a restart, released early, and by the clock at 17:00 New York.

The practice market's clock is moved on between two desks: a ledger that is ahead of the clock goes on from where it was.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from keydesk.calc.daily_loss import SENTENCE
from support.broker import practice_server
from support.confirming import confirm, see_a_form_that_can_be_sent, send
from support.terminal import Terminal, keydesk

SIZE = (120, 35)
NEW_YORK = ZoneInfo("America/New_York")


def move_clock(folder: Path, to: datetime) -> None:
    """Run the market of the desk from this time on for a moment, as the ledger's next broker does by itself."""

    async def move() -> None:
        served = ("--data", str(folder / "home" / "practice"), "--start", to.isoformat())
        async with practice_server(folder, *served):
            pass

    asyncio.run(move())


@contextmanager
def desk(folder: Path) -> Iterator[Terminal]:
    env = {"KEYDESK_HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(folder)}
    with Terminal(keydesk("--practice"), SIZE, env) as terminal:
        terminal.see("prices ok")
        yield terminal
        terminal.quit()
        assert terminal.wait_for_exit() == 0


def buy_100_000(terminal: Terminal) -> None:
    """Its spread costs more than the limit."""
    terminal.press("6")
    terminal.see("6: 100,000")  # keys that wait for a busy machine come too close together
    send(terminal, "B")


def see_a_ticket_that_can_be_sent(terminal: Terminal) -> None:
    """Nothing is said of the market's own doing: the trade may have been stopped out meanwhile."""
    terminal.see("While you were away")  # it comes when no key does, and takes the next one
    terminal.press("Escape")
    terminal.see_no_more("While you were away")
    terminal.press("B")
    terminal.until(lambda: any(text in terminal.text for text in ("y sends", "to send")))
    terminal.press("Escape")
    terminal.see_no_more("Esc drops")


SATURDAY = 5  # of `weekday`


def noon_of_a_day_with_a_rollover() -> datetime:
    """A later day than today, in New York; at the weekend the market rolls nothing, and an absence has nothing to say."""
    later = datetime.now(NEW_YORK) + timedelta(days=1)
    while later.weekday() >= SATURDAY:
        later += timedelta(days=1)
    return later.replace(hour=12, minute=0, second=0, microsecond=0)


def read_the_audit_log(terminal: Terminal) -> None:
    """Every step is in it; letters filter it."""
    terminal.press("g", "l", "a")
    for text in ("Audit log", "outcome   kd-", "confirm   y on CLOSE", "key       C"):
        terminal.see(text)
    terminal.type("limit")
    terminal.see("limit     EXIT-ONLY: the daily loss limit of 5.00 was reached")
    terminal.see_no_more("key       C")
    terminal.press("Escape")


def test_the_lock_is_reached_held_over_a_restart_and_released(practice_folder: Path) -> None:
    home = practice_folder / "home"
    home.mkdir(mode=0o700)
    (home / "templates.toml").write_text("[limits]\ndaily_loss = 5\n")
    noon = noon_of_a_day_with_a_rollover()
    move_clock(practice_folder, noon)

    with desk(practice_folder) as terminal:  # reached: the spread of 100,000 units costs more
        buy_100_000(terminal)
        terminal.see("EXIT-ONLY: the daily loss limit of 5.00 was reached")
        terminal.see("LOSS LOCK")
        terminal.press("Escape", "7")
        terminal.see("7: 250,000")
        terminal.press("S")
        terminal.see("✗ EXIT-ONLY: the daily loss limit")
        terminal.press("y")
        terminal.see("Esc drops")
        terminal.press("Escape", "C")  # exits work
        confirm(terminal)
        terminal.see("CLOSED 100,000")
        read_the_audit_log(terminal)

    with desk(practice_folder) as terminal:  # held, and an early unlock asked for
        terminal.see("LOSS LOCK")
        terminal.press("Escape", "A")
        terminal.see("Type it here")
        terminal.press("n", "o", "Enter")
        terminal.see("That is not the sentence above")
        terminal.press("Backspace", "Backspace")
        terminal.write(SENTENCE.encode())
        terminal.press("Enter")
        terminal.see("it is released in 10m")
        terminal.see("LOSS LOCK")

    move_clock(practice_folder, noon + timedelta(minutes=15))
    with desk(practice_folder) as terminal:  # released early; one limit more locks again
        terminal.see("The daily loss lock was released early")
        terminal.see_no_more("LOSS LOCK")
        terminal.press("Escape", "A")
        terminal.see("ARM the keyboard")
        confirm(terminal)
        terminal.see(" ARMED ")
        buy_100_000(terminal)
        terminal.see("LOSS LOCK")

    move_clock(practice_folder, noon.replace(hour=17, second=5))
    with desk(practice_folder) as terminal:  # released by the clock
        terminal.see("the daily loss lock is released")
        terminal.see(" ARMED ")
        see_a_ticket_that_can_be_sent(terminal)
    [audit] = (home / "orders").glob("*.audit")
    recorded = audit.read_text()
    for text in ("limit of 5.00 was reached", "Early unlock", "released early", "released"):
        assert text in recorded


def test_on_the_first_day_a_limit_in_per_cent_does_not_lock_after_the_first_spread(
    practice_folder: Path,
) -> None:
    """A fresh account had no money at 17:00; what was paid in today counts."""
    with desk(practice_folder) as terminal:
        terminal.press("g", "s")
        terminal.see("Your limits of the account")
        terminal.press("j", "2", "Enter")
        terminal.see("Limits in force: Loss of the day, exit-only: 2 % NAV")
        buy_100_000(terminal)
        terminal.see("FILLED 100,000")
        terminal.press("Escape", "g", "s")  # the page says where the limit stands, after the check
        terminal.see(" / 2 ")
        assert "LOSS LOCK" not in terminal.text
        terminal.press("Escape")
        terminal.see_no_more("Your limits of the account")
        terminal.press("S")
        see_a_form_that_can_be_sent(terminal)
        terminal.press("Escape")
        terminal.see_no_more("Esc drops")
        assert "EXIT-ONLY" not in terminal.text


def test_a_replay_has_no_lock_of_the_account_that_was_left(practice_folder: Path) -> None:
    home = practice_folder / "home"
    home.mkdir(mode=0o700)
    (home / "templates.toml").write_text("[limits]\ndaily_loss = 5\n")
    with desk(practice_folder) as terminal:
        buy_100_000(terminal)
        terminal.see("LOSS LOCK")
        terminal.press("Escape")
        terminal.see("loss lock, exits")  # "only" stands in the next line of its column
        assert "A arms" not in terminal.text
        terminal.press("A")
        terminal.see(SENTENCE)
        explained = (
            terminal.text.index(text) for text in ("Lost today", SENTENCE, "Enter requests")
        )
        assert next(explained) < next(explained) < next(explained), "over the field"
        terminal.press("Escape", ":")
        terminal.see("Command  ")
        terminal.type("replay franc")
        terminal.press("Enter")
        terminal.see("y starts it")
        terminal.pause()
        terminal.press("y")
        terminal.see("Thu 15 Jan 2015 09:00:00 UTC")
        terminal.see("exit only, A arms")
        terminal.see("the account was ")  # "replaced" stands in the next line of its column
        assert "LOSS LOCK" not in terminal.text
        terminal.see_no_more("EXIT-ONLY")
        terminal.press("A")
        terminal.see("ARM the keyboard")
        confirm(terminal)
        terminal.see(" ARMED ")
        terminal.press("B")
        see_a_form_that_can_be_sent(terminal)
        terminal.press("Escape")
        terminal.see_no_more("Esc drops")
        assert "LOSS LOCK" not in terminal.text
