"""The table of rebuilt trades and positions, as the journal's list shows, sorts and searches them.

A trade that is alone in its position is both; a position of several trades has a row of its own. What is sorted and summed by has
a column; the whole trade is in `rebuilt`, as JSON.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct

from keydesk.calc.trade_journal.excursions import known_excursion
from keydesk.calc.trade_journal.groups import session_of
from keydesk.calc.trade_journal.rebuild import RebuiltTrade
from keydesk.calc.trade_journal.trades import JournalTrade, roll_up
from keydesk.records.json_text import JsonText

Pips = Mapping[str, Decimal]
ONE, ZERO = Decimal(1), Decimal(0)
COLUMNS = (
    *("id", "is_trade", "is_position", "position", "is_open", "time_ns", "opened_ns"),
    *("instrument", "side", "units", "move", "r", "profit", "financing", "result", "session"),
    *("stop_distance", "words", "rebuilt"),
)
PUT = f"""
INSERT INTO trades ({", ".join(COLUMNS)}) VALUES ({", ".join("?" * len(COLUMNS))})
ON CONFLICT (id, is_trade) DO UPDATE SET {", ".join(f"{each} = excluded.{each}" for each in COLUMNS)}
"""  # noqa: S608 - names of columns
NEWEST_FIRST = "ORDER BY is_open DESC, time_ns DESC, number"
AT_ONCE = 500  # ids in a query
_rebuilt_trades = JsonText(RebuiltTrade)


class JournalLine(Struct, frozen=True):
    """A trade or a position; money is in home currency."""

    trade: JournalTrade
    time_ns: int  # of the closing, of an open one of the opening
    profit: Decimal  # price profit booked
    beside: Decimal  # financing, dividends and fees
    result: Decimal
    r: Decimal | None
    pips: Decimal | None
    session: str  # at the entry
    is_open: bool
    held_ns: int | None = None  # None while it is open
    text: str = ""  # of the trade itself, that letters are looked for in


def line_of(trade: JournalTrade, pips: Pips) -> JournalLine:
    """Return the line of a trade."""
    pip = pips.get(trade.instrument)
    profit, beside = trade.profit, trade.costs.booked
    is_closed = trade.is_closed
    return JournalLine(
        trade,
        trade.opened_ns if trade.closed_ns is None else trade.closed_ns,
        profit,
        beside,
        profit + beside,
        trade.r if is_closed else None,
        None if pip is None else trade.pips(pip),
        session_of(trade.opened_ns),
        not is_closed,
        trade.hold_ns,
        _words(trade, profit + beside),
    )


def _words(trade: JournalTrade, result: Decimal) -> str:
    outcome = "win" if result > 0 else "loss" if result < 0 else ""
    words = (
        *(f"#{trade.id}", trade.instrument, "long" if trade.is_long else "short"),
        *((outcome if trade.is_closed else "open"), session_of(trade.opened_ns)),
        *(trade.tag, trade.comment),
    )
    return " ".join(filter(None, words))


def of_kind(*, by_position: bool) -> str:
    """Return the condition of the rows of positions, or of trades."""
    return "is_position" if by_position else "is_trade"


def put_trades(connection: sqlite3.Connection, trades: Iterable[RebuiltTrade]) -> None:
    """Write trades that are new, in the order of their opening, or changed, and their positions."""
    positions = dict.fromkeys(_put(connection, each) for each in trades)
    for position in positions:
        _roll_up(connection, position)


def _put(connection: sqlite3.Connection, rebuilt: RebuiltTrade) -> str:
    trade = rebuilt.as_it_is
    connection.execute(PUT, _row(trade, rebuilt, is_trade=True, is_position=True))
    return trade.position_id


def _roll_up(connection: sqlite3.Connection, position: str) -> None:
    """Write the row of a position of several trades; a trade that is alone in it is its row, too."""
    query = "SELECT rebuilt FROM trades WHERE position = ? AND is_trade ORDER BY number"
    members = [_rebuilt_trades.read(text) for (text,) in connection.execute(query, (position,))]
    if len(members) > 1:
        change = "UPDATE trades SET is_position = 0 WHERE position = ? AND is_trade"
        connection.execute(change, (position,))
        [together] = roll_up(each.as_it_is for each in members)
        row = _row(together, RebuiltTrade.of(together), is_trade=False, is_position=True)
        connection.execute(PUT, row)


def _row(
    trade: JournalTrade, rebuilt: RebuiltTrade, *, is_trade: bool, is_position: bool
) -> Sequence[object]:
    line = line_of(trade, {trade.instrument: ONE})
    return (
        *(trade.id, is_trade, is_position, trade.position_id, line.is_open),
        *(line.time_ns, trade.opened_ns, trade.instrument, "long" if trade.is_long else "short"),
        *(str(abs(trade.units)), _text(line.pips), _text(line.r), str(line.profit)),
        *(str(trade.costs.financing), str(line.result), line.session),
        _text(known_excursion(trade, ZERO, ZERO).stop_distance),
        *(line.text, _rebuilt_trades.write(rebuilt)),
    )


def _text(number: Decimal | None) -> str | None:
    return None if number is None else str(number)


def trades_of(
    connection: sqlite3.Connection, ids: Iterable[str], *, with_open: bool = False
) -> list[RebuiltTrade]:
    """Return the trades with these ids, and all open ones if wanted, in the order of their opening."""
    found = dict(_rebuilt(connection, "is_trade AND is_open", ())) if with_open else {}
    for part in _parts(list(ids)):
        found |= dict(_rebuilt(connection, f"is_trade AND id IN ({_marks(part)})", part))
    return [found[number] for number in sorted(found)]


def _rebuilt(
    connection: sqlite3.Connection, condition: str, values: Sequence[str]
) -> Iterator[tuple[int, RebuiltTrade]]:
    query = f"SELECT number, rebuilt FROM trades WHERE {condition}"  # noqa: S608 - ours
    for number, text in connection.execute(query, values):
        yield number, _rebuilt_trades.read(text)


def _parts(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), AT_ONCE):
        yield ids[start : start + AT_ONCE]


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def all_trades(connection: sqlite3.Connection) -> Iterator[JournalTrade]:
    """Yield every trade in the order of their opening."""
    for (text,) in connection.execute("SELECT rebuilt FROM trades WHERE is_trade ORDER BY number"):
        yield _rebuilt_trades.read(text).as_it_is


def trade_of(
    connection: sqlite3.Connection, id_: str, *, by_position: bool = False
) -> JournalTrade | None:
    """Return a trade, or a position by the id of its first trade; None if there is none."""
    condition = f"id = ? AND {of_kind(by_position=by_position)}"
    query = f"SELECT rebuilt FROM trades WHERE {condition}"  # noqa: S608 - ours
    found = connection.execute(query, (id_,)).fetchone()
    return None if found is None else _rebuilt_trades.read(found[0]).as_it_is


def count(connection: sqlite3.Connection, *, by_position: bool = False) -> int:
    """Return how many trades or positions there are."""
    condition = of_kind(by_position=by_position)
    query = f"SELECT count(*) FROM trades WHERE {condition}"  # noqa: S608 - ours
    return int(connection.execute(query).fetchone()[0])


def columns_of(
    connection: sqlite3.Connection,
    columns: Sequence[str],
    *,
    by_position: bool = False,
    most: int = -1,
) -> Iterator[tuple[Any, ...]]:
    """Yield the id and some columns of trades or positions: open ones first, then the newest first.

    Args:
        connection: To the database.
        columns: Names of columns.
        by_position: Positions, not trades.
        most: How many; -1: all.
    """
    condition, names = of_kind(by_position=by_position), ", ".join(("id", *columns))
    query = f"SELECT {names} FROM trades WHERE {condition} {NEWEST_FIRST} LIMIT ?"  # noqa: S608
    yield from connection.execute(query, (most,))
