"""Rows are sorted by any column, live or held, and filtered; the heading says which, and no row jumps under the cursor."""

from decimal import Decimal

import pytest

from keydesk.calc.market.watchlists import ALL, Watchlists
from keydesk.calc.market.watchlists import Watchlist as WatchedList
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.tables.instrument_rows import InstrumentRows
from keydesk.tables.row_order import LIVE_EVERY, TableOrder
from keydesk.tables.watch_columns import BY_KEY, WATCH_COLUMNS, WatchColumn
from keydesk.tables.watchlist import RowFilter, Watchlist
from support.data.desk_data import NOW, desk_store, frame_of
from support.fakes.pane_app import heard, shown, text_of


def widen_spread(store: Store, name: str, pips: int) -> None:
    quote = store.quotes[name]
    step = Decimal(10) ** store.instruments[name].pip_location
    quote.ask = quote.bid + pips * step
    store.mark(Topic.PRICES, name)


@pytest.mark.parametrize("column", WATCH_COLUMNS, ids=lambda column: column.key)
@pytest.mark.parametrize("descending", [True, False])
async def test_every_column_sorts_and_the_unknown_stays_last(
    column: WatchColumn, descending: bool
) -> None:
    pane, store = Watchlist(), desk_store()
    del store.quotes["GBP_USD"], store.days["GBP_USD"]
    async with shown(pane, store):
        pane.sort(TableOrder(column.key, descending))
    values = [column.value(store, name) for name in pane.keys]
    known = [value for value in values if value is not None]
    assert values[: len(known)] == known
    assert known == sorted(known, key=lambda value: value, reverse=descending)
    assert sorted(pane.keys) == sorted(store.watchlist)


@pytest.mark.parametrize("column", ["bid", "ask", "spread", "day", "own", "pl", "pips", "atr"])
async def test_a_column_sorts_by_the_number_that_it_shows(column: str) -> None:
    pane, store = Watchlist(), desk_store()
    store.lists = Watchlists((WatchedList(ALL, (), (column,)),))
    for number, name in enumerate(store.watchlist):
        widen_spread(store, name, number * 7 % 5 + 1)
        store.daily_ranges[name] = 0.01
    async with shown(pane, store, size=(60, 20)):
        pane.sort(TableOrder(column))
        cells = [
            "".join(text for text, _ in pane.cell(each, column, frame_of(store)))
            for each in pane.keys
        ]
    said = [each.strip().replace("−", "-").replace(",", "").removesuffix("!") for each in cells]
    numbers = [float(each.removesuffix("k")) for each in said if each not in {"", "–", "?"}]
    assert len(set(numbers)) > 1
    assert numbers == sorted(numbers, reverse=True)


@pytest.mark.parametrize(
    "order",
    [TableOrder(), TableOrder("spread"), TableOrder("pair", descending=False, live=True)],
)
def test_an_order_is_read_as_it_was_saved(order: TableOrder) -> None:
    assert TableOrder.read(order.saved, BY_KEY) == order


@pytest.mark.parametrize("text", ["fame", "spread sideways", "\x1b[2J", "", "live"])
def test_words_that_are_no_order_are_the_lists_own(text: str) -> None:
    assert TableOrder.read(text, BY_KEY) == TableOrder()


@pytest.mark.parametrize(
    "rows", [RowFilter(), RowFilter("gj", held=True), RowFilter("", True, True)]
)
def test_a_filter_is_read_as_it_was_saved(rows: RowFilter) -> None:
    assert RowFilter.read(rows.saved) == rows


async def test_keys_choose_the_column_the_direction_and_the_lists_own_order() -> None:
    pane = Watchlist()
    said = []
    async with shown(pane, desk_store()) as pilot:
        for key in ("l", "l", "v", "v", "h", "v", "v"):
            await pilot.press(key)
            said.append(str(pane.heading().right).partition(",")[0])
    assert said == [
        *("pair ▲ held", "bid ▼ held", "bid ▲ held", "14 in all"),
        *("P/L ▼ held", "P/L ▲ held", "14 in all"),
    ]


async def test_held_rows_stay_and_are_sorted_again_when_asked() -> None:
    pane, store = Watchlist(), desk_store()
    pane.order = TableOrder("spread")
    async with shown(pane, store):
        before = list(pane.keys)
        widen_spread(store, before[-1], 500)
        for later in (1, 10, 100):
            pane.on_frame(frame_of(store, now=NOW + later))
        assert pane.keys == before
        pane.action_sort_again()
        assert pane.keys[0] == before[-1]


async def test_live_rows_follow_and_the_row_under_the_cursor_keeps_its_line() -> None:
    pane, store = Watchlist(), desk_store()
    pane.order = TableOrder("spread", live=True)
    async with shown(pane, store):
        assert str(pane.heading().right).startswith("spread ▼ live")
        line, last = pane.cursor, pane.keys[-1]
        widen_spread(store, last, 500)
        pane.on_frame(frame_of(store, now=NOW + LIVE_EVERY / 2))
        assert pane.keys[-1] == last, "not more often than every two seconds"
        pane.on_frame(frame_of(store, now=NOW + LIVE_EVERY))
        assert pane.keys[0 if line else 1] == last
        assert (pane.cursor, pane.selected) == (line, "EUR_USD")


async def test_live_rows_rest_after_a_key() -> None:
    pane, store = Watchlist(), desk_store()
    pane.order = TableOrder("spread", live=True)
    async with shown(pane, store) as pilot:
        await pilot.press("j")
        widen_spread(store, pane.keys[-1], 500)
        before = list(pane.keys)
        pane.on_frame(frame_of(store, now=NOW + LIVE_EVERY))
        pane.on_frame(frame_of(store, now=NOW + 2 * LIVE_EVERY - 0.1))
        assert pane.keys == before
        pane.on_frame(frame_of(store, now=NOW + 2 * LIVE_EVERY))
        assert pane.keys != before


async def test_rows_are_filtered_by_letters_by_position_and_by_what_trades() -> None:
    pane, store = Watchlist(), desk_store()
    store.quotes["USD_JPY"].tradeable = False
    async with shown(pane, store) as pilot:
        pane.show_only(RowFilter("gj"))
        assert pane.keys == ["GBP_JPY"]
        assert pane.heading().right == "only /gj, 1 of 14"
        await pilot.press("escape")
        pane.action_show_only("")
        pane.action_show_only("held")
        assert pane.keys == ["EUR_USD", "USD_JPY"]
        pane.action_show_only("tradeable")
        assert pane.keys == ["EUR_USD"]
        assert pane.heading().right == "only own trading, 1 of 14"
        del store.positions["EUR_USD"]
        store.mark(Topic.POSITIONS)
        pane.on_frame(frame_of(store))
        assert text_of(pane)[1].strip() == "No row: only own trading. w e shows all."


async def test_a_narrow_heading_says_how_rows_are_sorted_before_all_else() -> None:
    pane, store = Watchlist(), desk_store()
    pane.order, pane.filter = TableOrder("spread"), RowFilter("u")
    async with shown(pane, store, size=(34, 8)):
        assert pane.heading().right == "spread ▼ held, only /u"
    narrow = Watchlist()
    narrow.order = TableOrder("spread")
    async with shown(narrow, store, size=(32, 8)):
        assert narrow.heading().right == "spread ▼ held"


async def test_the_header_lights_the_column_that_rows_are_sorted_by() -> None:
    pane, store = Watchlist(), desk_store()
    pane.order = TableOrder("spread")
    async with shown(pane, store):
        styles = {segment.text: segment.style for segment in pane.render_line(0)}
    assert styles[BY_KEY["spread"].title] == pane.palette["bright"]
    assert styles[BY_KEY["bid"].title] == pane.palette["muted"]


async def test_a_row_is_moved_past_its_neighbour_and_not_past_the_end() -> None:
    pane = Watchlist()
    async with shown(pane, desk_store()) as pilot:
        pane.action_move_row(1)
        pane.action_move_row(-1)
        await pilot.pause()
        asked = heard(pilot, Watchlist.ChangeWanted)
    assert [(each.change, each.row, each.past) for each in asked] == [
        ("move", "EUR_USD", "GBP_USD"),
        ("move", "EUR_USD", ""),
    ]


def turn_to_the_next(store: Store, choices: list[InstrumentRows.Chosen]) -> None:
    """The desk turns to the first of the rows that were chosen."""
    choice = choices.pop(0)
    store.set_focus(choice.instrument)
    choice.settle()


async def test_a_frame_before_the_desk_has_followed_leaves_the_cursor_where_the_key_put_it() -> (
    None
):
    pane, store = Watchlist(), desk_store()
    async with shown(pane, store) as pilot:
        await pilot.press("j", "j")
        choices = heard(pilot, InstrumentRows.Chosen)
        pane.on_frame(frame_of(store))
        assert pane.selected == pane.pending_choice == "USD_JPY"
        turn_to_the_next(store, choices)
        pane.on_frame(frame_of(store))
        assert pane.selected == pane.pending_choice == "USD_JPY"
        turn_to_the_next(store, choices)
        pane.on_frame(frame_of(store))
        assert (pane.selected, pane.pending_choice) == ("USD_JPY", "")
        store.set_focus("USD_CHF")
        pane.on_frame(frame_of(store))
        assert pane.selected == "USD_CHF"


async def test_what_is_found_after_keys_without_a_frame_is_what_the_next_key_acts_on() -> None:
    pane, store = Watchlist(), desk_store()
    async with shown(pane, store) as pilot:
        await pilot.press("j", "k", "j")
        choices = heard(pilot, InstrumentRows.Chosen)
        while choices:
            turn_to_the_next(store, choices)
        store.set_focus("EUR_USD")  # found by its name, before the terminal took a frame
        assert pane.pending_choice == ""
        pane.on_frame(frame_of(store))
        assert (pane.selected, pane.pending_choice) == ("EUR_USD", "")


async def test_the_only_row_can_be_chosen() -> None:
    pane, store = Watchlist(), desk_store()
    store.watchlist = ["USD_CHF"]
    async with shown(pane, store) as pilot:
        assert not pane.is_selected(1)
        await pilot.press("j")
        await pilot.pause()
        assert [each.instrument for each in heard(pilot, Watchlist.Chosen)] == ["USD_CHF"]
