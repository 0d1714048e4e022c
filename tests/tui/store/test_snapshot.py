"""The poll checks what was folded and brings the service's own figures."""

from decimal import Decimal

import pytest

from keydesk.store.prices import apply_price
from keydesk.store.store import Store
from keydesk.store.transactions.fold import apply
from keydesk.store.valuation import revalue
from keydesk_client.account.snapshot import apply_account_state, compare
from support.data.account_history import (
    TIME,
    changes,
    fresh_store,
    open_trade,
    opening,
    price,
    state,
    transaction,
)

OPEN_NOW = {"id": "5", "unrealizedPL": "-4.0000", "marginUsed": "1900.0000"}
HELD_NOW = {
    "instrument": "EUR_USD",
    "netUnrealizedPL": "-4.0000",
    "longUnrealizedPL": "-4.0000",
    "shortUnrealizedPL": "0.0000",
    "marginUsed": "1900.0000",
}


def desk_with_a_long() -> Store:
    store = fresh_store()
    apply(store, opening(5, "50000", "1.08500"))
    apply_price(store, price("EUR_USD", "1.08490", "1.08500"), 1.0)
    revalue(store, 1.0)
    return store


def test_the_services_figures_are_taken() -> None:
    store = desk_with_a_long()
    apply_account_state(store, state(unrealizedPL="-4.0000", NAV="9996.0000", trades=[OPEN_NOW]))
    assert store.account is not None
    assert store.account.nav == Decimal(9996)
    assert store.trades["5"].margin_used == Decimal(1900)


def test_margin_keeps_the_services_measure_while_prices_move() -> None:
    store = desk_with_a_long()
    apply_account_state(store, state(positions=[HELD_NOW], marginUsed="1900.0000"))
    revalue(store, 2.0)
    assert store.account is not None
    assert abs(store.account.margin_used - 1900) < Decimal("1e-20")
    later = "2026-03-02T10:00:01.000000000Z"
    apply_price(store, price("EUR_USD", "1.08491", "1.08501", later), 2.0)
    revalue(store, 2.0)
    assert 1900 < store.account.margin_used < Decimal("1900.1")


def test_a_trailing_stop_stands_where_the_service_says() -> None:
    store = desk_with_a_long()
    trail = {"tradeID": "5", "timeInForce": "GTC", "reason": "CLIENT_ORDER", "distance": "0.00150"}
    apply(store, transaction(6, "TRAILING_STOP_LOSS_ORDER", **trail))
    apply_account_state(store, state(orders=[{"id": "6", "trailingStopValue": "1.08340"}]))
    stop = store.trades["5"].trailing_stop
    assert stop is not None
    assert stop.price == store.orders["6"].price == Decimal("1.08340")
    revalue(store, 2.0)
    assert store.trades["5"].risk == Decimal(80)


def test_agreement_is_silent() -> None:
    store = desk_with_a_long()
    changed = changes(tradesOpened=[open_trade(5)])
    assert compare(store, changed, state(trades=[OPEN_NOW], balance="10000.0000")).differences == ()


@pytest.mark.parametrize(
    ("change", "now", "said"),
    [
        ({}, {"balance": "9000.0000"}, "balance 10000.0000 here, 9000.0000 at the broker"),
        ({}, {"trades": []}, "trade 5 is open here, not at the broker"),
        (
            {},
            {"trades": [OPEN_NOW, OPEN_NOW | {"id": "9"}]},
            "trade 9 is open at the broker, unknown here",
        ),
        (
            {"tradesReduced": [open_trade(5, currentUnits="20000")]},
            {},
            "trade 5 has 50000 units here, 20000 at the broker",
        ),
        (
            {"tradesReduced": [open_trade(5, realizedPL="1.0000")]},
            {},
            "trade 5 realized 0 here, 1.0000 at the broker",
        ),
        (
            {"tradesOpened": [open_trade(5, stopLossOrderID="6")]},
            {},
            "stop of trade 5 is none here, 6 at the broker",
        ),
    ],
)
def test_a_difference_is_said_in_words(
    change: dict[str, object], now: dict[str, object], said: str
) -> None:
    store = desk_with_a_long()
    found = compare(store, changes(**change), state(**({"trades": [OPEN_NOW]} | now))).differences
    assert found == (said,)


def test_an_order_on_one_side_only_is_said() -> None:
    store = desk_with_a_long()
    limit = {"instrument": "EUR_USD", "units": "1", "price": "1.08", "timeInForce": "GTC"}
    order = limit | {"createTime": TIME, "type": "LIMIT"}
    apply(store, transaction(6, "LIMIT_ORDER", reason="CLIENT_ORDER", **limit))
    changed = changes(
        ordersCreated=[order | {"id": "7", "state": "PENDING"}],
        ordersCancelled=[order | {"id": "6", "state": "CANCELLED"}],
    )
    assert compare(store, changed, state(trades=[OPEN_NOW])).differences == (
        "order 7 is pending at the broker, unknown here",
        "order 6 is pending here, ended at the broker",
    )
