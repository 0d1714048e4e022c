"""An account of thousands of trades as a file of transactions in the wire's form, and a client that reads it.

python -m support.large_history FILE FOLDER    opens the journal of such an account, and prints what that costs
"""

import asyncio
import json
import random
import resource
import sys
from array import array
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from time import process_time
from types import SimpleNamespace
from typing import cast

from msgspec.structs import replace

from keydesk.app.garbage_collection import return_unused_memory
from keydesk.calc.trade_journal.excursions import length_of
from keydesk_client.client import Client
from keydesk_client.models import DateTime, Transaction
from keydesk_client.models._core.decoder import Reader
from keydesk_practice.engine.commands import CloseTrade, MarketRequest, StopLossDetails
from keydesk_practice.engine.transactions import to_wire
from support.practised_account import ID, PractisedAccount

D = Decimal
NAMES = {"EUR_USD": D("0.0020"), "USD_JPY": D("0.30"), "EUR_GBP": D("0.0015")}
CREATED_NS = 7
_reader: Reader[Transaction] = Reader(Transaction)


def write_history(path: Path, trades: int) -> int:
    """Write an account of so many trades, each with a stop; return the number of its transactions."""
    account, names = PractisedAccount(deposit="1000000"), list(NAMES)
    written = 0
    with path.open("w") as file:
        for number in range(trades):
            account.market.wait(600)
            name = names[number % len(names)]
            units = D(1000 * (1 + number % 7)) * (-1 if number % 2 else 1)
            order = MarketRequest(instrument=name, units=units)
            stop = StopLossDetails(distance=NAMES[name])
            account.place(replace(order, stop_loss_on_fill=stop))
            _move(account, name, number)
            account.market.wait(600)
            for trade_id in list(account.state.trades):
                account.do(CloseTrade(specifier=str(trade_id)))
            for each in account.transactions:
                file.write(f"{json.dumps(to_wire(each))}\n")
            written += len(account.transactions)
            account.events.clear()
    return written


def _move(account: PractisedAccount, name: str, number: int) -> None:
    quote, pip = account.market.quote(name), NAMES[name] / 20
    step = pip * ((number * 7919) % 19 - 9)
    account.market.price(name, str(quote.bid + step), str(quote.bid + step + pip / 10))


class WrittenAccount:
    """Answers as a client does, from a file of transactions that it does not hold in memory."""

    def __init__(self, path: Path) -> None:
        self.path, self.starts = path, array("Q", [0])
        with path.open("rb") as file:
            for line in file:
                self.starts.append(self.starts[-1] + len(line))

    @property
    def last(self) -> int:
        """The newest transaction."""
        return len(self.starts) - 1

    @property
    def client(self) -> Client:
        candles = SimpleNamespace(iterate=self._candles)
        own = SimpleNamespace(account_id=ID, accounts=self, transactions=self, candles=candles)
        return cast("Client", own)

    async def summary(self) -> SimpleNamespace:
        created = SimpleNamespace(ns=CREATED_NS)
        last = str(self.last)
        return SimpleNamespace(
            account=SimpleNamespace(id=ID, created_time=created, last_transaction_id=last)
        )

    async def iterate_since(self, last: int) -> AsyncIterator[Transaction]:
        for each in self.read(last + 1, self.last):
            yield each

    async def range(self, first: int, last: int) -> SimpleNamespace:
        await asyncio.sleep(0)
        return SimpleNamespace(transactions=self.read(max(first, 1), last))

    def read(self, first: int, last: int) -> list[Transaction]:
        """Return the transactions from one to another, both included."""
        with self.path.open("rb") as file:
            file.seek(self.starts[first - 1])
            lines = file.read(self.starts[last] - self.starts[first - 1]).splitlines()
        return [_reader.read(each) for each in lines]

    async def _candles(
        self, _: str, *, from_: DateTime, to: DateTime, granularity: str, **__: object
    ) -> AsyncIterator[object]:
        """Yield a random way of the price, the same for each range of candles."""
        rng = random.Random(from_.ns)
        length, price = length_of(granularity), 100_000
        for start in range(from_.ns, to.ns, length):
            price += rng.randint(-30, 30)
            high, low = D(price + 20).scaleb(-5), D(price - 20).scaleb(-5)
            side = SimpleNamespace(h=high, l=low, c=D(price).scaleb(-5))
            time = SimpleNamespace(ns=start)
            yield SimpleNamespace(time=time, complete=True, bid=side, ask=side)


def resident_mb() -> float:
    """Return the memory of this process that is in RAM."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


async def cost_of_opening(history: Path, folder: Path) -> dict[str, float]:
    """Open the list and the statistics in a desk without other panes; return processor seconds and megabytes."""
    from support.fakes.journal_app import JournalApp, settle  # noqa: PLC0415 - draws

    app = JournalApp(folder)
    app.service = WrittenAccount(history)  # type: ignore[assignment]
    found: dict[str, float] = {}
    async with app.run_test(size=(120, 35)) as pilot:
        await settle(app, pilot)
        app.open()
        before, began = resident_mb(), process_time()

        def note(what: str) -> None:
            found[f"{what}_s"], found[f"{what}_mb"] = process_time() - began, resident_mb() - before

        app.journal.show()
        await settle(app, pilot)
        note("open")
        await pilot.press("v", "v", "v", "end", "home", "escape")
        await settle(app, pilot)
        note("sorted")
        app.statistics.show()
        for key in "12345678":
            await pilot.press(key)
            await settle(app, pilot)
        note("statistics")
        await pilot.press("escape")
        await settle(app, pilot)
        return_unused_memory()
        note("after")
        assert app.journal.live is not None
        assert not app.journal.live.trouble, app.journal.live.trouble
    return found


if __name__ == "__main__":
    found = asyncio.run(cost_of_opening(Path(sys.argv[1]), Path(sys.argv[2])))
    print(json.dumps({name: round(each, 2) for name, each in found.items()}))  # noqa: T201
