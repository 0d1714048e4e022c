"""The first trade, from an empty folder to the history of the next day, by the keyboard alone."""

import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from support.broker import practice_server
from support.confirming import send
from support.terminal import Terminal, keydesk

LARGE = (200, 50)
AMOUNT = r"[+−-]?[\d,]+\.\d{2}"


def number(text: str) -> Decimal:
    return Decimal(text.replace(",", "").replace("−", "-"))


def found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    assert match is not None, f"{pattern!r} is not in {text!r}"
    return match.group(1)


class Desk:
    """The desk in a terminal, and how a trader reads and drives it."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        terminal.see("prices ok")
        terminal.until(lambda: "bal " in terminal.text and "per pip" in terminal.text)

    def trade_row(self, trade_id: str) -> str:
        rows = [row for row in self.terminal.rows if row.startswith(f" {trade_id} ")]
        return rows[0].split("│")[0] if rows else ""

    def balance(self) -> Decimal:
        return number(found(rf"bal ({AMOUNT})", self.terminal.line_with("PRACTICE")))

    def wait_for_message(self, pattern: str) -> str:
        """Wait for a line of what was done, whole."""
        self.terminal.until(lambda: self._row(pattern) != "", what=pattern)
        return self._row(pattern)

    def _row(self, pattern: str) -> str:
        return next((row for row in self.terminal.rows if re.search(pattern, row)), "")

    def leave(self) -> None:
        self.terminal.quit()
        assert self.terminal.wait_for_exit() == 0


@dataclass(frozen=True)
class Story:
    """What a trader saw of one trade."""

    stops: list[str]  # as set, as moved
    realized: list[Decimal]
    balance: Decimal


def trade(desk: Desk) -> Story:
    """Buy with stop and target, see it live, move the stop, close half, close the rest."""
    terminal, before = desk.terminal, desk.balance()
    send(terminal, "B", "s", "3", "0", "t", "3")
    filled = desk.wait_for_message(r"FILLED 10,000 EUR/USD.* stop [\d.]+.*target")
    trade_id, stop = found(r"#(\d+)", filled), found(r"stop ([\d.]+)", filled)
    terminal.see("Bought 10,000")

    terminal.press("g", "t")
    terminal.until(lambda: "LONG" in desk.trade_row(trade_id), what="the trade's row")
    first = desk.trade_row(trade_id)
    terminal.until(lambda: desk.trade_row(trade_id) != first, 60, "a moving profit or loss")

    moved = str(Decimal(stop) + Decimal("0.0003"))
    send(terminal, "M", "s", "Down", "Down", "Down")  # pips, as the ticket counted
    terminal.until(lambda: moved in desk.trade_row(trade_id), what=f"the stop at {moved}")

    send(terminal, "O", "5")
    half = desk.wait_for_message(rf"CLOSED 5,000 of #{trade_id} EUR/USD.*realized {AMOUNT}")
    terminal.until(lambda: " 5,000 " in desk.trade_row(trade_id), what="half the units")
    send(terminal, "C")
    terminal.see("No trades.")
    rest = desk.wait_for_message(rf"CLOSED 5,000 EUR/USD.*realized {AMOUNT}")
    realized = [number(found(rf"realized ({AMOUNT})", row)) for row in (half, rest)]

    after = before + sum(realized)
    terminal.until(lambda: desk.balance() == after, what=f"the balance {after}")
    return Story([stop, moved], realized, after)


async def test_buy_protect_close_and_find_it_again(practice_folder: Path) -> None:
    home = practice_folder / "home"
    with Terminal(keydesk(), LARGE, {"KEYDESK_HOME": str(home)}) as terminal:
        desk = Desk(terminal)
        story = trade(desk)
        desk.leave()
    with Terminal(keydesk(), LARGE, {"KEYDESK_HOME": str(home)}) as terminal:
        desk = Desk(terminal)
        assert desk.balance() == story.balance
        terminal.until(lambda: terminal.text.count("CLOSE ") >= 2, what="both closes in the log")
        terminal.press("g", "l", "z")  # the log alone: all of it fits
        terminal.see("Bought 10,000")
        desk.leave()
    await assert_ledger_tells(story, practice_folder, home)


async def assert_ledger_tells(story: Story, folder: Path, home: Path) -> None:
    """The broker's own books say what the screen said."""
    async with practice_server(folder, "--data", str(home / "practice")) as practice:
        account = (await practice.get("{a}/summary")).json()["account"]
        transactions = (await practice.get("{a}/transactions/sinceid", id="1")).json()[
            "transactions"
        ]
    fills = [Decimal(each["pl"]) for each in transactions if each["type"] == "ORDER_FILL"]
    stops = [each["price"] for each in transactions if each["type"] == "STOP_LOSS_ORDER"]
    assert Decimal(account["balance"]) == story.balance
    assert fills == [0, *story.realized]
    assert stops == story.stops
    assert [each["id"] for each in transactions] == [
        str(id_) for id_ in range(2, len(transactions) + 2)
    ]
