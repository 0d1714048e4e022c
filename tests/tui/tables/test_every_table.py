"""What holds for every table of the desk: whole columns, sorting by what is shown, rows that stay where they are read."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

import pytest

from keydesk.calc.market.trading_day import day_start
from keydesk.calc.market.watchlists import ALL, COLUMN_NAMES, Watchlists
from keydesk.calc.market.watchlists import Watchlist as WatchedList
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.tables.column import Column
from keydesk.tables.instrument_rows import InstrumentRows
from keydesk.tables.log import Log
from keydesk.tables.orders import Orders
from keydesk.tables.positions import Positions
from keydesk.tables.row_order import LIVE_EVERY, TableOrder
from keydesk.tables.sorted_table import OrderedTable
from keydesk.tables.trades import Trades
from keydesk.tables.watchlist import Watchlist
from keydesk.text.format import EMPTY, UNKNOWN
from keydesk.text.sanitize import safe
from keydesk.values import DayLine, DependentOrder, PositionRow, TradeRow
from keydesk.words.log_line import LogLine
from support.data.desk_data import NOW, WALL_NS, desk_store, frame_of
from support.fakes.pane_app import heard, shown
from support.walks import crossed, sampled

D = Decimal
Table = type[OrderedTable]
TABLES: tuple[Table, ...] = (Watchlist, Trades, Positions, Orders, Log)
WITH_PRICES: tuple[Table, ...] = (Watchlist, Trades, Positions, Orders)
WIDE = (260, 30)
NUMBER = re.compile(r"[+-]?[0-9][0-9,]*(\.[0-9]+)?")
NOTHING = {"", EMPTY, UNKNOWN}


def _trade(like: TradeRow, number: int) -> TradeRow:
    """Return a trade whose numbers stand in another order in each column."""
    return replace(
        like,
        id=str(6500 + number),
        units=D(number * 7 % 5 + 1) * 1000,
        price=like.price + D(number * 3 % 5) / 1000,
        now=D("1.08000") + D(number * 2 % 5) / 1000,
        pips=D(number * 4 % 5),
        unrealized_pl=D(number * 11 % 7),
        r_multiple=D(number * 13 % 6) / 10,
        initial_risk=D(100),
        risk=D(number * 5 % 7) * 10,
        financing=-D(number * 17 % 9),
        margin_used=D(number * 19 % 8) * 100,
        open_time_ns=like.open_time_ns - number * 23 % 7 * 3_600_000_000_000,
        stop_loss=DependentOrder("1", D("1.07000") - D(number * 29 % 11) / 1000),
        take_profit=DependentOrder("2", D("1.09000") + D(number * 31 % 13) / 1000),
        tag="" if number == 1 else f"tag {number * 3 % 5}",
    )


def full_store() -> Store:
    """Return a desk with several rows in every table; columns sort unlike one another, and something is unknown."""
    store = desk_store()
    store.clock_ns = WALL_NS
    store.lists = Watchlists((WatchedList(ALL, (), COLUMN_NAMES),))
    for number, name in enumerate(store.watchlist):
        quote, pip = store.quotes[name], store.instruments[name].pip
        for second in range(12):
            store.spreads.note(name, pip, second * 10.0)
        quote.ask = quote.bid + (number * 7 % 5 + 1) * pip
        store.daily_ranges[name] = None if number == 1 else 0.001 * (number * 3 % 7 + 1)
        store.day_lines[name] = DayLine(day_start(WALL_NS), (1.0, 2.0))
    del store.quotes["GBP_USD"], store.days["AUD_USD"]
    long_euro, order = store.trades["6411"], store.orders["6415"]
    trades = [_trade(long_euro, number) for number in range(1, 6)]
    store.trades |= {trade.id: trade for trade in trades}
    for number in range(1, 6):
        name, id_ = store.watchlist[number + 2], str(6600 + number)
        ids = tuple(each.id for each in trades[: number * 3 % 4 + 1])
        store.positions[name] = _position(name, number, ids)
        store.orders[id_] = replace(
            order,
            id=id_,
            units=D(number * 7 % 5 + 1) * 1000,
            price=D("1.08") + D(number * 3 % 5) / 1000,
            pips_away=None if number == 2 else D(number * 4 % 5),
            stop_loss=D("1.07") - D(number * 29 % 11) / 1000,
            take_profit=None if number == 3 else D("1.09") + D(number * 31 % 13) / 1000,
        )
        text, profit = safe(f"line {number * 3 % 5}"), None if number == 4 else D(number * 11 % 7)
        line = LogLine(f"{number}", WALL_NS + number, "FILL", name, text, pl=profit)
        store.write_log(line)
    return store


def _position(name: str, number: int, trade_ids: tuple[str, ...]) -> PositionRow:
    units, price = D(number * 7 % 5 + 1) * 1000, D(number * 3 % 5 + 1)
    profit, margin = D(number * 11 % 7), D(number * 19 % 8)
    if number % 2:
        return PositionRow(name, units, price, D(0), None, profit, margin, trade_ids)
    return PositionRow(name, D(0), None, -units, price, profit, margin, trade_ids)


BY_SOMETHING_ELSE = {
    *((Watchlist, "spark"), (Watchlist, "range")),  # drawn
    *((Trades, "stop"), (Trades, "target")),  # by the pips from the price
    (Trades, "trail"),  # by the distance
    *((Trades, "age"), (Orders, "age"), (Log, "time")),  # shown in units of any size
}
"""Columns whose numbers are not what rows are sorted by."""
SIZES = {(Positions, "net"), (Positions, "long"), (Positions, "short")}  # without sign; none is 0


def number_in(cell: str) -> Decimal | None:
    """Return the number that a cell begins with, None without one."""
    said = NUMBER.match(cell.replace("−", "-"))
    if said is None or "none" in cell:
        return None
    thousands = 1000 if cell.rstrip("!").endswith("k") else 1
    return D(said[0].replace(",", "")) * thousands


def numbers_in(table: Table, column: Column, cells: Sequence[str]) -> list[Decimal | None]:
    """Return the numbers that a column shows, None for what is not known."""
    numbers = [number_in(cell) for cell in cells]
    if (table, column.key) in SIZES:
        return [abs(number or D(0)) for number in numbers]
    return numbers


@pytest.mark.parametrize(("table", "descending"), crossed(TABLES, [True, False]))
async def test_a_column_sorts_by_what_it_shows_and_the_unknown_is_last(
    table: Table, descending: bool
) -> None:
    pane = table()
    async with shown(pane, full_store(), size=WIDE):
        rows = sorted(pane.keys)
        for at, column in enumerate(pane.columns()):
            pane.sort(TableOrder(column.key, descending))
            assert sorted(pane.keys) == rows
            cells = [pane.text_row(row)[at] for row in pane.keys]
            if column.ascending:
                said = [cell for cell in cells if cell not in NOTHING]
                assert said == sorted(said, reverse=descending), column.key
            elif (table, column.key) not in BY_SOMETHING_ELSE:
                numbers = numbers_in(table, column, cells)
                known = [number for number in numbers if number is not None]
                assert len(set(known)) > 1, f"{column.key}: the rows differ"
                assert known == sorted(known, reverse=descending), column.key
                assert numbers[: len(known)] == known, f"{column.key}: the unknown is last"


@pytest.mark.parametrize("table", sampled(TABLES, 2))
async def test_keys_sort_by_each_shown_column_and_the_header_says_which(table: Table) -> None:
    pane, seen = table(), set[str]()
    async with shown(pane, full_store(), size=WIDE) as pilot:
        rows = list(pane.keys)
        while pane.order.column not in seen:
            seen.add(pane.order.column)
            await pilot.press("l")
            title = next((each.title for each in pane.fitted if each.key == pane.order.column), "")
            assert f"{title} " in f"{pane.heading().right} "
            header = {segment.text: segment.style for segment in pane.render_line(0)}
            for column in pane.fitted:
                is_sorted = column.key == pane.order.column
                if column.title:
                    assert header[column.title] == pane.palette["bright" if is_sorted else "muted"]
        assert seen == {"", *(column.key for column in pane.fitted)}
        await pilot.press("v", "v", "v")
        assert (pane.order, pane.keys) == (TableOrder(), rows), "the table's own order again"


@pytest.mark.parametrize("table", sampled(WITH_PRICES, 2))
async def test_a_table_is_copied_with_every_column_also_those_without_room(table: Table) -> None:
    pane = table()
    async with shown(pane, full_store(), size=(30, 6)):
        titles, *rows = pane.text_rows()
    assert titles == [column.title for column in pane.COLUMNS]
    assert len(rows) == len(pane.keys)
    assert {len(row) for row in rows} == {len(titles)}


# Rows that stay where they are read.


def _widen_spread(store: Store, name: str) -> None:
    quote = store.quotes[name]
    quote.ask = quote.bid + 500 * store.instruments[name].pip


RAISES: Mapping[Table, Callable[[Store, str], None]] = {
    Watchlist: _widen_spread,
    Trades: lambda store, key: setattr(store.trades[key], "unrealized_pl", D(500)),
    Positions: lambda store, key: setattr(store.positions[key], "unrealized_pl", D(500)),
    Orders: lambda store, key: setattr(store.orders[key], "pips_away", D(500)),
}
"""Make a row the largest of the column that these tests sort by."""
SORTED_BY: Mapping[Table, str] = {
    Watchlist: "spread",
    Trades: "pl",
    Positions: "pl",
    Orders: "away",
}
TOPICS = (Topic.PRICES, Topic.TRADES, Topic.POSITIONS, Topic.ORDERS)


def raise_row(pane: OrderedTable, store: Store, key: str) -> None:
    """Make a row the largest; the frame that shows it comes later."""
    RAISES[type(pane)](store, key)
    for topic in TOPICS:
        store.mark(topic, key)


def last_known(pane: OrderedTable) -> str:
    """Return the last row whose value is known, but for that of the cursor."""
    at = [column.key for column in pane.columns()].index(pane.order.column)
    known = [key for key in pane.keys if number_in(pane.text_row(key)[at]) is not None]
    return [key for key in known if key != pane.selected][-1]


@pytest.mark.parametrize("table", sampled(RAISES, 2))
async def test_held_rows_do_not_move_until_they_are_sorted_again(table: Table) -> None:
    pane, store = table(), full_store()
    async with shown(pane, store, size=WIDE):
        pane.sort(TableOrder(SORTED_BY[table]))
        before, raised = list(pane.keys), last_known(pane)
        raise_row(pane, store, raised)
        for later in (1, 10, 100):
            pane.on_frame(frame_of(store, now=NOW + later))
        assert pane.keys == before
        pane.action_sort_again()
        assert pane.keys[0] == raised


@pytest.mark.parametrize("table", sampled(RAISES, 2))
async def test_live_rows_follow_after_two_seconds_and_the_cursors_row_keeps_its_line(
    table: Table,
) -> None:
    pane, store = table(), full_store()
    async with shown(pane, store, size=WIDE):
        pane.sort(TableOrder(SORTED_BY[table], live=True))
        assert " ▼ live" in pane.heading().right
        held, line, raised = pane.selected, pane.cursor, last_known(pane)
        rows = sorted(pane.keys)
        raise_row(pane, store, raised)
        pane.on_frame(frame_of(store, now=NOW + LIVE_EVERY / 2))
        assert pane.keys[0 if line else 1] != raised, "not more often than every two seconds"
        pane.on_frame(frame_of(store, now=NOW + LIVE_EVERY))
        assert pane.keys[0 if line else 1] == raised
        assert (pane.selected, pane.cursor) == (held, line)
        assert sorted(pane.keys) == rows


@pytest.mark.parametrize("table", sampled(RAISES, 2))
async def test_live_rows_rest_after_a_key(table: Table) -> None:
    pane, store = table(), full_store()
    async with shown(pane, store, size=WIDE) as pilot:
        pane.sort(TableOrder(SORTED_BY[table], live=True))
        await pilot.press("j")
        raise_row(pane, store, last_known(pane))
        before = list(pane.keys)
        for later in (LIVE_EVERY, 2 * LIVE_EVERY - 0.1):
            pane.on_frame(frame_of(store, now=NOW + later))
            assert pane.keys == before
        pane.on_frame(frame_of(store, now=NOW + 2 * LIVE_EVERY))
        assert pane.keys != before


@pytest.mark.parametrize("table", sampled(TABLES, 2))
async def test_the_cursor_stays_on_its_row_whatever_the_order(table: Table) -> None:
    pane = table()
    async with shown(pane, full_store(), size=WIDE) as pilot:
        held = pane.selected
        for key in ("v", "v", "v", "l", "l", "h", "l", "v"):
            await pilot.press(key)
            assert pane.selected == held


@pytest.mark.parametrize("table", sampled(WITH_PRICES, 2))
async def test_the_desk_turns_to_the_instrument_of_the_row_under_the_cursor(table: Table) -> None:
    pane, store = table(), full_store()
    assert isinstance(pane, InstrumentRows)
    async with shown(pane, store, size=WIDE) as pilot:
        pane.entered()
        await pilot.pause()
        assert heard(pilot, InstrumentRows.Chosen) == [], "to come to a pane turns nothing"
        await pilot.press("j")
        turned = [message.instrument for message in heard(pilot, InstrumentRows.Chosen)]
    assert turned == [pane.instrument_of(pane.selected or "", store)]
