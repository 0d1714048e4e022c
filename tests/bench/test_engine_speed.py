"""CPU time of the engine: 1,000 orders a second must leave most of a core free."""

import time
from collections.abc import Callable
from decimal import Decimal

import pytest

from keydesk_practice.engine.commands import LimitRequest, MarketRequest, PlaceOrder, Tick
from keydesk_practice.engine.decide import decide
from support.practised_account import PractisedAccount

pytestmark = pytest.mark.bench
D = Decimal


def microseconds(work: Callable[[int], object], times: int) -> float:
    """Return the best of three runs."""
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        for number in range(times):
            work(number)
        best = min(best, (time.process_time() - began) / times * 1e6)
    return best


def busy_account() -> PractisedAccount:
    account = PractisedAccount(deposit="10000000")
    for step in range(50):
        price = D("1.05") + step * D("0.0001")
        account.place(LimitRequest(instrument="EUR_USD", units=D(1000), price=price))
    return account


def test_a_market_order_is_decided_and_applied_within_300_microseconds() -> None:
    account = busy_account()

    def trade(number: int) -> None:
        units = D(1000 if number % 2 else -1000)
        account.do(PlaceOrder(order=MarketRequest(instrument="USD_JPY", units=units)))

    found = microseconds(trade, 500)
    assert found < 300, f"{found:.0f} us"


def test_a_tick_over_50_resting_orders_takes_tens_of_microseconds() -> None:
    account = busy_account()
    tick = Tick(instruments=frozenset({"EUR_USD"}))
    found = microseconds(lambda _: decide(account.state, tick, account.market), 2000)
    assert found < 50, f"{found:.1f} us"
