"""What could not be read of the account is said on the first line and in every pane of it, and nothing is counted from it."""

from dataclasses import replace

import pytest

from keydesk.app.availability import Selection, is_available
from keydesk.calc.orders.instructions import Flatten
from keydesk.forms.account.leaving import LeaveForm
from keydesk.forms.trades.reverse_flatten import FlattenForm
from keydesk.panes.deal import Deal
from keydesk.panes.strips.account import AccountStrip
from keydesk.store.store import Store
from keydesk.tables.orders import Orders
from keydesk.tables.positions import Positions
from keydesk.tables.trades import Trades
from keydesk.values import CommandState
from keydesk.widgets.lines import LinePane
from keydesk_client.account.records import Unread
from support.data.desk_data import desk_store, frame_of
from support.data.in_flight import in_flight
from support.fakes.form_app import FormApp, example_context
from support.fakes.pane_app import shown, text_of

HERE = Selection("trades", None, None, None)
WORDS = "EUR_USD 1000 1.085"


def unread_store() -> Store:
    """Two trades of the desk are known; a third and an order could not be read."""
    store = desk_store()
    store.unread = Unread((WORDS,), ("LIMIT EUR_USD",))
    return store


def flat_store() -> Store:
    """Nothing could be read: no trade, no order."""
    store = unread_store()
    store.trades, store.positions, store.orders = {}, {}, {}
    return store


def known_flat() -> Store:
    store = flat_store()
    store.unread = Unread()
    return store


async def drawn(pane: LinePane, store: Store, width: int = 120) -> str:
    async with shown(pane, store, size=(width, 14)):
        pane.on_frame(frame_of(store))
        tabs = " ".join(str(tab.text) for tab in pane.heading().tabs)
        return " ".join([tabs, *(" ".join(line.split()) for line in text_of(pane))])


@pytest.mark.parametrize("width", [80, 120, 200])
async def test_the_first_line_says_what_is_not_known(width: int) -> None:
    text = await drawn(AccountStrip(), unread_store(), width)
    assert "NOT KNOWN: 1 trade, 1 order" in text


async def test_before_the_account_could_be_read_at_all_it_is_not_known() -> None:
    store = desk_store()
    store.account, store.unread = None, Unread(answer="NAV is missing")
    assert "NOT KNOWN: the account" in await drawn(AccountStrip(), store)


@pytest.mark.parametrize("pane", [Trades(), Positions(), Orders()])
async def test_no_pane_counts_what_is_not_known_as_none(pane: LinePane) -> None:
    text = await drawn(pane, flat_store())
    assert " 0" not in text
    assert "?" in text.split(".")[0]
    assert "Not known: 1 trade, 1 order could not be read." in text
    assert not any(f"No {word}" in text for word in ("trades", "positions", "pending"))


async def test_the_trades_say_what_could_be_read_of_one_without_a_row() -> None:
    text = await drawn(Trades(), unread_store())
    assert "+ 1 ?" in text
    assert f"1 could not be read: {WORDS}" in text


async def test_the_deal_pane_says_no_position_where_trades_are_not_known() -> None:
    text = await drawn(Deal(), flat_store())
    assert "position ?" in text
    assert "position none" not in text


async def test_no_sum_of_a_position_is_shown_while_a_trade_is_not_known() -> None:
    text = await drawn(Positions(), unread_store())
    assert "EUR/USD ? ? ?" in text


async def test_what_is_not_known_of_a_trade_is_a_question_mark() -> None:
    store = desk_store()
    for id_, trade in store.trades.items():
        store.trades[id_] = replace(trade, unread=frozenset({"current_units", "open_time"}))
    text = await drawn(Trades(), store)
    assert text.count("?") > 2 * len(store.trades)


async def test_what_is_not_known_can_be_flattened() -> None:
    """An exit is not refused on the strength of an answer that could not be read."""
    store = flat_store()
    store.arming.level = "DISARMED"
    assert is_available("flatten", store, HERE)
    assert not is_available("flatten", known_flat(), HERE)
    app = FormApp(lambda: FlattenForm(example_context(store), "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        words = " ".join(app.words.replace("┃", " ").split())
        await pilot.press("c")
    assert "1 trade, 1 order could not be read here" in words
    assert app.results == [Flatten(None)]


@pytest.mark.parametrize("state", ["sent", "unknown", "unconfirmed"])
async def test_a_flat_account_with_an_order_in_flight_is_not_called_flat(
    state: CommandState,
) -> None:
    """The order may have opened a trade that the desk has not heard of: an exit is not refused meanwhile."""
    store = known_flat()
    store.set_in_flight(in_flight("EUR_USD", state=state))
    assert is_available("flatten", store, HERE)
    app = FormApp(lambda: FlattenForm(example_context(store), "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        words = " ".join(app.words.replace("┃", " ").split())
        await pilot.press("c")
    assert "NOT KNOWN BUY 10,000 EUR/USD at market: it may still take effect" in words
    assert "FLAT: no position" not in words
    assert app.results == [Flatten(None)]


async def test_leaving_names_what_is_not_known() -> None:
    store = unread_store()
    app = FormApp(lambda: LeaveForm(store))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        words = " ".join(app.words.replace("┃", " ").split())
    assert "The account is not known" in words
    assert f"a trade: {WORDS}" in words
