"""What the limits look at beyond one ticket: open risk of trades and entry orders, and closed trades."""

from decimal import Decimal

from keydesk.store.risk import (
    costs_until_closed,
    count_closed,
    note_closed,
    note_opening,
    open_risk_of,
    usual_size,
)
from keydesk.store.store import Store
from keydesk_client.models import OrderFillTransaction
from support.data.account_history import fill as order_fill
from support.data.account_history import opening, reduction
from support.data.desk_store import example_store

D = Decimal


def test_open_risk_is_that_of_trades_and_of_entry_orders_as_if_they_filled() -> None:
    risk = open_risk_of(example_store())
    assert (risk.trades, risk.entries, risk.unprotected) == (2, 1, 1)  # the yen has no stop
    assert risk.cash == D("48.00") + D("40.00")


def test_a_reversal_leaves_out_the_trades_that_it_closes() -> None:
    risk = open_risk_of(example_store(), without="EUR_USD")
    assert (risk.trades, risk.cash) == (1, D("40.00"))


def test_an_entry_order_without_a_stop_is_unprotected_and_one_that_reduces_is_none() -> None:
    store = example_store()
    store.orders["6415"].stop_loss = None
    assert open_risk_of(store).unprotected == 2
    store.orders["6415"].reduces = True
    assert open_risk_of(store).entries == 0


def fill(number: int, **parts: object) -> OrderFillTransaction:
    """A fill that closes trade 7: all of it, or a part."""
    made = order_fill(number, "EUR_USD", **parts)
    assert isinstance(made, OrderFillTransaction)
    return made


def test_parts_closed_before_count_with_the_last_one() -> None:
    store = Store()
    note_closed(store, fill(1, tradeReduced=reduction(7, "-500", "1.1", "5", "-0.1")))
    assert store.closed == []
    note_closed(store, fill(2, tradesClosed=[reduction(7, "-500", "1.1", "-9", "-0.1")]))
    [closed] = store.closed
    assert (closed.trade_id, closed.result) == ("7", D("-4.20"))


def test_counting_anew_forgets_what_was_counted() -> None:
    store = Store()
    fills = [
        fill(1, tradeReduced=reduction(7, "-500", "1.1", "5", "-0.1")),
        fill(2, tradesClosed=[reduction(7, "-500", "1.1", "-9", "-0.1")]),
    ]
    count_closed(store, fills)
    count_closed(store, fills)
    assert [each.result for each in store.closed] == [D("-4.20")]


def test_a_break_even_counts_commission_both_ways_and_the_fee_of_a_guaranteed_stop() -> None:
    store = example_store()
    opened = {"tradeID": "6411", "units": "20000", "price": "1.0844", "initialMarginRequired": "1"}
    opened["guaranteedExecutionFee"] = "0.6"
    note_opening(store, fill(6411, units="20000", commission="1.5", tradeOpened=opened))
    trade = store.trades["6411"]
    assert costs_until_closed(store, trade) == D("-0.41") - 2 * D("1.5") - D("0.6")
    trade.units /= 4  # of a trade closed in part its share
    assert costs_until_closed(store, trade) == D("-0.41") - D("3.6") / 4
    assert costs_until_closed(store, store.trades["6398"]) == 0


def test_of_a_reversal_only_the_part_that_opened_counts() -> None:
    store = example_store()
    opened = {"tradeID": "6411", "units": "20000", "price": "1.0844", "initialMarginRequired": "1"}
    note_opening(store, fill(6411, units="40000", commission="2", tradeOpened=opened))
    assert store.opening_costs["6411"].commission == 1


def opened(store: Store, number: int, units: str, instrument: str = "EUR_USD") -> None:
    made = opening(number, units, "1.08500", instrument)
    assert isinstance(made, OrderFillTransaction)
    note_opening(store, made)


def test_the_usual_size_is_the_median_of_the_newest_trades() -> None:
    store = Store()
    for number, size in enumerate(("1000", "-2000"), start=5):
        opened(store, number, size)
    assert usual_size(store, "EUR_USD") is None, "two trades are no habit"
    opened(store, 7, "90000")
    opened(store, 8, "500000", "USD_JPY")
    opened(store, 7, "90000")  # read again with the history
    assert usual_size(store, "EUR_USD") == 2000
    for number in range(20, 40):
        opened(store, number, "5000")
    assert usual_size(store, "EUR_USD") == 5000
    assert usual_size(store, "USD_JPY") is None


def test_the_sizes_that_are_remembered_are_bounded() -> None:
    store = Store()
    for number in range(1, 1500):
        opened(store, number, "1000")
    assert len(store.opened) == 1000
    assert "1" not in store.opened
