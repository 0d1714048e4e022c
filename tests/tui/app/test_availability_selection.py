"""What a key acts on: never a row under the cursor of a pane that does not have the keys."""

from dataclasses import replace

import pytest

from keydesk.app.availability import Selection
from keydesk.store.store import Store
from keydesk_client.account.valuation import rebuild_position
from support.data.desk_store import example_store, limit_order, long_euro

ELSEWHERE = ("positions", "watchlist", "chart", "orders", "log", "books")


def two_longs() -> Store:
    """A store with two trades in EUR_USD."""
    store = example_store()
    store.trades["6420"] = replace(long_euro(), id="6420")
    rebuild_position(store, "EUR_USD")
    return store


@pytest.mark.parametrize("pane", ELSEWHERE)
def test_a_hidden_cursor_chooses_no_trade(pane: str) -> None:
    selection = Selection(pane, trade_row="6420", position_row="EUR_USD", order_row="6415")
    assert selection.trade(two_longs()) is None


@pytest.mark.parametrize("pane", ELSEWHERE)
def test_the_only_trade_of_the_instrument_is_the_one(pane: str) -> None:
    selection = Selection(pane, trade_row="6398", position_row="EUR_USD", order_row="6415")
    trade = selection.trade(example_store())
    assert trade is not None
    assert trade.id == "6411"


def test_in_the_trades_pane_the_row_under_the_cursor_is_the_one() -> None:
    selection = Selection("trades", trade_row="6420", position_row="USD_JPY", order_row=None)
    trade = selection.trade(two_longs())
    assert trade is not None
    assert trade.id == "6420"


def test_in_the_positions_pane_closing_means_the_position_even_of_one_trade() -> None:
    selection = Selection("positions", None, "EUR_USD", None)
    assert selection.means_position(example_store())
    assert selection.instrument(example_store()) == "EUR_USD"


@pytest.mark.parametrize("pane", ["watchlist", "chart", "orders"])
def test_elsewhere_closing_means_the_position_once_it_has_several_trades(pane: str) -> None:
    selection = Selection(pane, "6420", "USD_JPY", "6415")
    assert selection.means_position(two_longs())
    assert not selection.means_position(example_store())


def test_in_the_trades_pane_closing_never_means_the_position() -> None:
    assert not Selection("trades", "6420", "EUR_USD", None).means_position(two_longs())


def test_cancelling_in_the_positions_pane_is_of_the_row_that_has_the_cursor() -> None:
    store = example_store()
    store.orders["6400"] = replace(limit_order(), id="6400", instrument="USD_JPY")
    order = Selection("positions", None, "USD_JPY", "6415").order(store)
    assert order is not None
    assert order.id == "6400"
