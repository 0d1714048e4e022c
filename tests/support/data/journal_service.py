"""A broker for the trade journal: the history of a practised account, and no candles."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import cast

from keydesk.calc.trade_journal.excursions import Excursion
from keydesk.calc.trade_journal.rebuild import RebuiltTrade
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.records import trades as trade_table
from keydesk.store.store import Store
from keydesk.trade_journal.files import JournalFiles
from keydesk.trade_journal.live import NEWEST, LiveJournal
from keydesk_client.client import Client
from keydesk_client.errors import KeydeskClientError
from keydesk_client.models import Transaction
from support.data.desk_store import example_instrument
from support.journal_history import PIP, transactions_of
from support.practised_account import ID, PractisedAccount

PIPS = {**PIP, "GBP_USD": Decimal("0.0001")}


@dataclass
class JournalService:
    """Answers as a client does; `between` is called before each answer of transactions."""

    account: PractisedAccount
    created_ns: int = 7
    error: KeydeskClientError | None = None
    between: Callable[[], None] = lambda: None
    candle_error: KeydeskClientError | None = None
    candles_asked: int = 0
    clock: Callable[[], float] = monotonic
    asked_since: list[int] = field(default_factory=list)

    @property
    def client(self) -> Client:
        return cast(
            "Client",
            SimpleNamespace(
                account_id=ID,
                accounts=self,
                transactions=self,
                candles=SimpleNamespace(iterate=self._candles),
            ),
        )

    @property
    def history(self) -> list[Transaction]:
        return transactions_of(self.account)

    async def summary(self) -> SimpleNamespace:
        if self.error is not None:
            raise self.error
        last = self.history[-1].id
        created = SimpleNamespace(ns=self.created_ns)
        return SimpleNamespace(
            account=SimpleNamespace(id=ID, created_time=created, last_transaction_id=last)
        )

    async def iterate_since(self, last: int) -> AsyncIterator[Transaction]:
        self.asked_since.append(last)
        found = [each for each in self.history if int(each.id) > last]
        await asyncio.sleep(0)
        self.between()
        for each in found:
            yield each

    async def range(self, first: int, last: int) -> SimpleNamespace:
        self.asked_since.append(first - 1)
        found = [each for each in self.history if first <= int(each.id) <= last]
        await asyncio.sleep(0)
        self.between()
        return SimpleNamespace(transactions=found)

    async def _candles(self, *_: object, **__: object) -> AsyncIterator[object]:
        self.candles_asked += 1
        if self.candle_error is not None:
            raise self.candle_error
        nothing: tuple[object, ...] = ()
        for each in nothing:
            yield each

    def journal(self, folder: Path, newest: int = NEWEST) -> LiveJournal:
        """Return the journal of the account, not read yet."""
        files = JournalFiles.of(folder / "journal", "main")
        return LiveJournal(self.client, files, journal_store(), self.clock, newest=newest)


def journal_store() -> Store:
    """Return a store that has the instruments of the journal, and no trades."""
    store = Store()
    terms = example_instrument("EUR_USD")
    for name, pip in PIPS.items():
        store.instruments[name] = terms.model_copy(
            update={"name": name, "pip_location": pip.adjusted()}
        )
    return store


def read_journal(trades: list[JournalTrade], folder: Path, newest: int = NEWEST) -> LiveJournal:
    """Return a journal that has these trades."""
    journal = JournalService(PractisedAccount()).journal(folder, newest)
    journal.pips, journal.is_read = PIPS, True
    put_trades(journal, trades)
    return journal


def put_trades(journal: LiveJournal, trades: list[JournalTrade]) -> None:
    """Have trades in the journal, as transactions would leave them."""
    with journal.records.database.change() as connection:
        trade_table.put_trades(connection, map(RebuiltTrade.of, trades))
    journal._changes += 1
    journal.version += 1


def keep_excursion(journal: LiveJournal, trade: JournalTrade, *, is_final: bool) -> None:
    """Have the excursion of a closed trade known: a pip against it, two for it."""
    pip = PIPS[trade.instrument]
    journal.excursions.record(trade, Excursion(pip, 2 * pip), is_final=is_final)
    journal.excursions_read += 1
