"""The journal of an account in its records: trades, balances and sums, as the transactions up to one left them.

Transactions are taken in their order, each once, whichever desk reads them: a change begins with the last one that the records
have. So an interruption leaves whole transactions, and two desks that read at once go on from what the other has written.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import NamedTuple

from keydesk.calc.trade_journal.events import Event, Fill, OrderPrice, StopSet
from keydesk.calc.trade_journal.rebuild import BalancePoint, Journal, Rebuilder, trades_of
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.records import trades as trade_table
from keydesk.records.database import Database
from keydesk.records.errors import DamagedRecords
from keydesk.records.json_text import JsonText

RULES = 1
"""Raised when the same transactions make other trades: records of earlier rules are read from the broker anew."""
TABLES = ("accounts", "balances", "trades", "order_prices", "stops", "excursions", "price_paths")
_stops = JsonText(StopSet)


class KeptPart(NamedTuple):
    """Whose transactions the records have, and up to which."""

    account_id: str
    created_ns: int  # distinguishes a practice account that was reset
    last_id: int

    def is_of(self, account_id: str, created_ns: int) -> bool:
        """Return whether it is that of an account."""
        return (self.account_id, self.created_ns) == (account_id, created_ns)


class JournalRecords:
    """The records of an account's journal.

    Args:
        path: The file; None: memory alone. Raise as `Database`.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.database = Database(path)

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection of the event loop."""
        return self.database.connection

    def kept(self) -> KeptPart:
        """Return whose transactions there are, and up to which; called in a thread."""
        with self.database.snapshot() as connection:
            return _kept(connection)

    def begin(self, account_id: str, created_ns: int) -> None:
        """Begin anew for an account, unless the records are its own; called in a thread."""
        with self.database.change() as connection:
            if not _kept(connection).is_of(account_id, created_ns):
                _begin(connection, account_id, created_ns)

    def begin_part(self, account_id: str, created_ns: int, before: int) -> None:
        """Begin after a transaction; those up to it are not known."""
        with self.database.change() as connection:
            _begin(connection, account_id, created_ns)
            connection.execute("UPDATE accounts SET last_id = ?", (before,))

    def add(self, kept: KeptPart, last_id: int, events: Sequence[Event]) -> None:
        """Add the events after those that were kept; nothing if another desk added some meanwhile. Called in a thread.

        Args:
            kept: What was kept when the events were read.
            last_id: The last transaction of the events.
            events: Of all transactions after `kept.last_id`, oldest first.
        """
        with self.database.change() as connection:
            _add(connection, kept, last_id, events)

    def add_now(self, kept: KeptPart, last_id: int, events: Sequence[Event]) -> None:
        """Add the events of a transaction in the event loop; raise BlockingIOError while another thread or desk writes."""
        with self.database.change_now() as connection:
            _add(connection, kept, last_id, events)

    def journal(self) -> Journal:
        """Return the whole journal; called in a thread."""
        with self.database.snapshot() as connection:
            balances = tuple(_balances(connection, "ORDER BY number"))
            return _sums(connection, tuple(trade_table.all_trades(connection)), balances)

    def trades(self, ids: Iterable[str]) -> list[JournalTrade]:
        """Return the trades with these ids; called in a thread."""
        with self.database.snapshot() as connection:
            return [each.as_it_is for each in trade_table.trades_of(connection, ids)]

    def stops(self, trade_id: str) -> tuple[StopSet, ...]:
        """Return the stops of a trade in the order in which they were set."""
        query = "SELECT stop FROM stops WHERE trade = ? ORDER BY number"
        found = self.connection.execute(query, (trade_id,))
        return tuple(_stops.read(text) for (text,) in found)


def _begin(connection: sqlite3.Connection, account_id: str, created_ns: int) -> None:
    for table in TABLES:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names of ours
    connection.execute(
        "INSERT INTO accounts VALUES (1, ?, ?, ?, 0, '0', '0', '0')",
        (RULES, account_id, created_ns),
    )


def _kept(connection: sqlite3.Connection) -> KeptPart:
    query = "SELECT account_id, created_ns, last_id FROM accounts WHERE rules = ?"
    found = connection.execute(query, (RULES,)).fetchone()
    return KeptPart("", 0, 0) if found is None else KeptPart(*found)


def _add(
    connection: sqlite3.Connection, kept: KeptPart, last_id: int, events: Sequence[Event]
) -> None:
    if _kept(connection) != kept:
        return
    touched = dict.fromkeys(id_ for each in events for id_ in trades_of(each))
    before = _sums(connection, (), tuple(_balances(connection, "ORDER BY number DESC LIMIT 1")))
    trades = trade_table.trades_of(connection, touched, with_open=True)
    rebuilder = Rebuilder.resume(before, trades, _order_prices(connection, events))
    for each in events:
        rebuilder.apply(each)
    changed = [found for id_ in touched if (found := rebuilder.trade(id_)) is not None]
    trade_table.put_trades(connection, changed)
    _put_orders(connection, events)
    _put_stops(connection, (e for e in events if isinstance(e, StopSet)), rebuilder)
    _put_sums(connection, last_id, rebuilder.journal(), len(before.balances))


def _put_orders(connection: sqlite3.Connection, events: Iterable[Event]) -> None:
    """Keep the prices of orders that are not filled yet."""
    for each in events:
        if isinstance(each, OrderPrice):
            connection.execute(
                "INSERT OR REPLACE INTO order_prices VALUES (?, ?)", (each.id, str(each.price))
            )
        elif isinstance(each, Fill):
            connection.execute("DELETE FROM order_prices WHERE id = ?", (each.order_id,))


def _order_prices(connection: sqlite3.Connection, events: Iterable[Event]) -> dict[str, Decimal]:
    """Return the prices of the orders that events fill."""
    found = {}
    for each in events:
        if isinstance(each, Fill):
            query = "SELECT price FROM order_prices WHERE id = ?"
            for (price,) in connection.execute(query, (each.order_id,)):
                found[each.order_id] = _number(price)
    return found


def _put_stops(
    connection: sqlite3.Connection, stops: Iterable[StopSet], rebuilder: Rebuilder
) -> None:
    connection.executemany(
        "INSERT INTO stops (trade, stop) VALUES (?, ?)",
        [
            (each.trade_id, _stops.write(each))
            for each in stops
            if rebuilder.trade(each.trade_id) is not None
        ],
    )


def _put_sums(
    connection: sqlite3.Connection, last_id: int, after: Journal, kept_balances: int
) -> None:
    points = after.balances[kept_balances:]
    connection.executemany(
        "INSERT INTO balances (time_ns, balance, transfer) VALUES (?, ?, ?)",
        [(each.time_ns, str(each.balance), str(each.transfer)) for each in points],
    )
    sums = (after.start_balance, after.transfers, after.unattributed)
    connection.execute(
        "UPDATE accounts SET last_id = ?, start_balance = ?, transfers = ?, unattributed = ?",
        (last_id, *map(str, sums)),
    )


def _balances(connection: sqlite3.Connection, rows: str) -> Iterator[BalancePoint]:
    query = f"SELECT time_ns, balance, transfer FROM balances {rows}"  # noqa: S608 - ours
    for time_ns, balance, transfer in connection.execute(query):
        yield BalancePoint(time_ns, _number(balance), _number(transfer))


def _sums(
    connection: sqlite3.Connection,
    trades: tuple[JournalTrade, ...],
    balances: tuple[BalancePoint, ...],
) -> Journal:
    query = "SELECT start_balance, transfers, unattributed FROM accounts"
    found = connection.execute(query).fetchone()
    return Journal(trades, balances, *map(_number, found or ()))


def _number(text: str) -> Decimal:
    """Return a number that was written as text; raise DamagedRecords if it is not a finite number."""
    try:
        number = Decimal(text)
    except (InvalidOperation, TypeError, ValueError) as error:
        raise DamagedRecords(f"not a number: {text!r}") from error
    if not number.is_finite():
        raise DamagedRecords(f"not a finite number: {text!r}")
    return number
