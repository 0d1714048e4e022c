"""What a price costs on its way into the store, and a frame's arithmetic on what moved."""

import sys
from collections.abc import Callable, Sequence
from decimal import Decimal
from time import process_time

import pytest

from keydesk.store.prices import apply_conversions, apply_price
from keydesk.store.store import Store
from keydesk.store.transactions.fold import apply
from keydesk.store.valuation import revalue
from keydesk.values import Day
from keydesk_client.models import ClientPrice
from support.data.account_history import conversions, fresh_store, instrument, opening, price
from support.fakes.scripted_broker import ScriptedBroker, link_to

pytestmark = pytest.mark.bench

NAMES = tuple(f"EUR_X{number:02}" for number in range(70))
ROUNDS = 200


def ticks() -> list[ClientPrice]:
    made = []
    for number in range(ROUNDS):
        for name in NAMES:
            bid, ask = f"1.0{8000 + number}", f"1.0{8010 + number}"
            made.append(price(name, bid, ask, f"2026-03-02T10:00:{number % 60:02}.{number:09}Z"))
    return made


def microseconds(work: Callable[[ClientPrice], None], sent: Sequence[ClientPrice]) -> float:
    """Processor time a price."""
    began = process_time()
    for each in sent:
        work(each)
    return (process_time() - began) / len(sent) * 1e6


def report(what: str, cost: float, most: float) -> None:
    """Say a cost (pytest -s); it fails only when it is out of all proportion, for machines differ."""
    sys.stdout.write(f"{what}: {cost:.2f} µs\n")
    assert cost < most


def watching() -> Store:
    store = fresh_store()
    for name in NAMES:
        store.instruments[name] = instrument(name)
        store.days[name] = Day(Decimal("1.08"), Decimal("1.09"), Decimal("1.07"))
    return store


def test_a_price_into_the_store() -> None:
    store = watching()
    cost = microseconds(lambda each: apply_price(store, each, 1.0), ticks())
    report("a price into the store", cost, most=15)


def test_a_price_through_the_feed() -> None:
    feed = link_to(ScriptedBroker(), watching())
    report(
        "a price through the feed",
        microseconds(feed.take_price, ticks()),
        most=20,
    )


def test_a_frame_with_fifty_trades_on_moving_instruments() -> None:
    store = watching()
    for number in range(50):
        apply(store, opening(10 + number, "1000", "1.08000", NAMES[number % 25]))
    for name in NAMES:
        apply_conversions(store, [conversions(name.partition("_")[2], "0.99", "1.01", "1")])
    for each in ticks()[: len(NAMES)]:
        apply_price(store, each, 1.0)
    began = process_time()
    revalue(store, 1.0)
    store.pop_dirty()
    report("a frame: 70 prices, 50 trades", (process_time() - began) * 1e6, most=20_000)
