"""The store's arithmetic with combinations that no honest service sends: nothing raises, whatever was let in."""

from decimal import Decimal
from random import Random
from typing import Any

import pytest

from keydesk.store.candles import apply_candles, apply_older_candles
from keydesk.store.prices import apply_conversions, apply_price
from keydesk.store.state import CandleSeries, Topic
from keydesk.store.store import Store
from keydesk.store.trading_context import trading_context_of
from keydesk.store.valuation import revalue
from keydesk_client.account.snapshot import apply_account_state, apply_snapshot, compare
from keydesk_client.account.values import MAX_VALUE, READ_ERRORS
from support.data.account_history import (
    account,
    changes,
    conversions,
    instrument,
    open_trade,
    price,
    state,
)
from support.data.desk_store import NOW, example_store

NUMBERS = (
    "0",
    "-0",
    "0.00001",
    "1.085",
    "-1.085",
    "1",
    "999999999999999",
    "-999999999999999",
    "9" * 30,
)
TIME_NS = 1_772_445_600_000_000_000


def odd_store(rng: Random) -> Store:
    """An account of odd trades and orders; numbers beyond reason are left out with their records."""
    store = Store()
    names = ("EUR_USD", "USD_JPY", "EUR_GBP")
    store.instruments = {name: instrument(name) for name in names}
    trades, orders = [], []
    for each in range(1, 12):
        odd = {
            name: rng.choice(NUMBERS)
            for name in ("price", "currentUnits", "initialUnits", "realizedPL", "financing")
        }
        trades.append(open_trade(each, instrument=rng.choice(names), **odd))
        order = {
            "id": str(100 + each),
            "createTime": "2026-03-02T10:00:00.000000000Z",
            "state": "PENDING",
            "type": rng.choice(["STOP_LOSS", "TAKE_PROFIT", "TRAILING_STOP_LOSS", "LIMIT"]),
            "tradeID": str(rng.randint(1, 15)),
            "price": rng.choice(NUMBERS),
            "distance": rng.choice(NUMBERS),
            "units": rng.choice(NUMBERS),
            "instrument": rng.choice(names),
            "timeInForce": "GTC",
            "triggerCondition": "DEFAULT",
            "positionFill": "DEFAULT",
        }
        orders.append(order)
    apply_snapshot(store, account(trades=trades, orders=orders))
    return store


def odd_price(store: Store, rng: Random, number: int) -> None:
    first, second = rng.choice(NUMBERS), rng.choice(NUMBERS)
    sides: dict[str, Any] = {
        "bids": rng.choice([[], [{"price": first, "liquidity": 0}]]),
        "asks": [],
    }
    made = price(rng.choice(list(store.instruments)), first, second, **sides)
    try:
        apply_price(store, made, float(number))
    except READ_ERRORS as error:
        store.note_unreadable(str(error))


@pytest.mark.parametrize("seed", range(8))
def test_no_combination_of_numbers_breaks_the_valuation(seed: int) -> None:
    rng = Random(seed)
    store = odd_store(rng)
    for number in range(60):
        odd_price(store, rng, number)
        factors = [rng.choice(NUMBERS) for _ in range(3)]
        apply_conversions(store, [conversions(rng.choice(["JPY", "GBP"]), *factors)])
        figures = {"id": str(rng.randint(1, 15)), "unrealizedPL": rng.choice(NUMBERS)}
        now = state(trades=[figures | {"marginUsed": rng.choice(NUMBERS)}], NAV=rng.choice(NUMBERS))
        compare(store, changes(), now)
        apply_account_state(store, now)
        store.mark(Topic.ORDERS)
        revalue(store, float(number))
    assert store.health.unreadable > 0
    assert all(abs(trade.units) < MAX_VALUE for trade in store.trades.values())


def test_a_price_of_another_century_holds_nobody_up_for_long() -> None:
    store = Store()
    store.instruments = {"EUR_USD": instrument("EUR_USD")}
    apply_price(store, price("EUR_USD", "1.1", "1.2", "2099-01-01T00:00:00.000000000Z"), 0.0)
    apply_price(store, price("EUR_USD", "1.3", "1.4"), 1.0)
    assert store.quotes["EUR_USD"].bid == Decimal("1.1")
    assert store.clock_ns > TIME_NS
    apply_price(store, price("EUR_USD", "1.3", "1.4"), 6.0)
    assert store.quotes["EUR_USD"].bid == Decimal("1.3")
    assert store.clock_ns == TIME_NS


def test_a_late_answer_beside_the_stream_is_still_dropped() -> None:
    store = Store()
    apply_price(store, price("EUR_USD", "1.1", "1.2", "2026-03-02T10:00:30.000000000Z"), 0.0)
    apply_price(store, price("EUR_USD", "1.3", "1.4"), 20.0)
    assert store.quotes["EUR_USD"].bid == Decimal("1.1")


def test_an_unreadable_account_leaves_everything_as_it_was() -> None:
    store = odd_store(Random(1))
    before = dict(store.trades), dict(store.orders), store.account
    broken = account(balance="NaN", trades=[])
    with pytest.raises(READ_ERRORS):
        apply_snapshot(store, broken)
    assert (store.trades, store.orders, store.account) == before


def test_older_candles_of_an_empty_series_are_no_trouble() -> None:
    store, series = Store(), CandleSeries("EUR_USD", "M5")
    apply_older_candles(store, series, ())
    apply_candles(store, series, ())
    assert series.candles == []


@pytest.mark.parametrize(
    "second",
    [
        {"liquidity": 500000},
        {"price": "1.08510"},
        {"price": "NaN", "liquidity": 500000},
        {"price": "-1", "liquidity": 500000},
        {"price": "1.08510", "liquidity": None},
        {"price": "1.08490", "liquidity": 500000},
    ],
)
def test_a_level_of_depth_that_cannot_be_read_ends_the_depth_and_not_the_ticket(
    second: dict[str, object],
) -> None:
    store = example_store()
    store.quotes.clear()
    first = {"price": "1.08500", "liquidity": 100000}
    newest = price("EUR_USD", "1.08490", "1.08500", asks=[first, second])
    apply_price(store, newest, NOW)
    context = trading_context_of(store, "EUR_USD", NOW)
    assert context is not None
    assert [level.units for level in context.asks] == [Decimal(100000)]
