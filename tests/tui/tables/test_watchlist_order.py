"""Rows are sorted by any column, live or held, and filtered; the heading says which, and no row jumps under the cursor."""

from decimal import Decimal

import pytest

from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.tables.instrument_rows import InstrumentRows
from keydesk.tables.row_order import TableOrder
from keydesk.tables.watch_columns import BY_KEY
from keydesk.tables.watchlist import RowFilter, Watchlist
from support.data.desk_data import desk_store, frame_of
from support.fakes.pane_app import heard, shown, text_of


def widen_spread(store: Store, name: str, pips: int) -> None:
    quote = store.quotes[name]
    step = Decimal(10) ** store.instruments[name].pip_location
    quote.ask = quote.bid + pips * step
    store.mark(Topic.PRICES, name)


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
