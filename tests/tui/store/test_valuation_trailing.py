"""A trailing stop follows the price at every tick, only the trade's way; the poll corrects it."""

from decimal import Decimal

import pytest

from keydesk.store.prices import apply_price
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.transactions.fold import apply
from keydesk.store.valuation import revalue
from support.data.account_history import fresh_store, opening, price, transaction

D = Decimal


def trailing_trade(units: str, entry: str) -> Store:
    """A trade with a trailing stop 15 pips behind; nobody has said yet where that stands."""
    store = fresh_store()
    apply(store, opening(5, units, entry))
    stop = {"tradeID": "5", "timeInForce": "GTC", "reason": "ON_FILL", "distance": "0.00150"}
    apply(store, transaction(6, "TRAILING_STOP_LOSS_ORDER", **stop))
    return store


def at(store: Store, bid: str, ask: str, second: int) -> Decimal | None:
    """Where the stop stands after a tick, on the trade; the order among the orders says the same."""
    store.pop_dirty()
    apply_price(store, price("EUR_USD", bid, ask, f"2026-03-02T10:00:{second:02}.000000000Z"), 2.0)
    revalue(store, 2.0)
    stop = store.trades["5"].trailing_stop
    assert stop is not None
    assert store.orders["6"].price == stop.price
    return stop.price


def test_the_worked_number_a_long_locks_what_the_high_bid_left() -> None:
    store = trailing_trade("50000", "1.08500")
    assert at(store, "1.08490", "1.08500", 1) == D("1.08340")
    assert at(store, "1.08720", "1.08730", 2) == D("1.08570")
    assert at(store, "1.08600", "1.08610", 3) == D("1.08570"), "it never goes back"
    assert store.trades["5"].locked == D("35.00")


def test_the_mirror_a_short_follows_the_ask_down() -> None:
    store = trailing_trade("-50000", "1.08500")
    assert at(store, "1.08490", "1.08500", 1) == D("1.08650")
    assert at(store, "1.08280", "1.08290", 2) == D("1.08440")
    assert at(store, "1.08400", "1.08410", 3) == D("1.08440")


def test_what_the_service_says_stands_until_the_price_passes_it() -> None:
    store = trailing_trade("50000", "1.08500")
    at(store, "1.08490", "1.08500", 1)
    stop = store.trades["5"].trailing_stop
    assert stop is not None
    stop.price = store.orders["6"].price = D("1.08400")  # as a poll writes it
    assert at(store, "1.08500", "1.08510", 2) == D("1.08400")
    assert at(store, "1.08560", "1.08570", 3) == D("1.08410")


@pytest.mark.parametrize(("bid", "marked"), [("1.08720", True), ("1.08400", False)])
def test_the_orders_are_drawn_again_only_when_it_moved(bid: str, *, marked: bool) -> None:
    store = trailing_trade("50000", "1.08500")
    at(store, "1.08490", "1.08500", 1)
    order_before = store.orders["6"].price
    at(store, bid, str(D(bid) + D("0.00010")), 2)
    assert (store.orders["6"].price != order_before) is marked
    assert "6" in store.dirty_keys(Topic.ORDERS), "its distance to the price changes at any rate"
