"""The queue of events: prices are replaced by newer ones, everything else waits in order."""

from decimal import Decimal

import pytest

from keydesk_client import (
    DateTime,
    LatestPrice,
    PriceUpdated,
    SnapshotReloaded,
    StreamInterrupted,
    StreamRestored,
)
from keydesk_client.following import events
from keydesk_client.following.events import EventQueue


def priced(instrument: str, bid: str) -> PriceUpdated:
    time = DateTime("2026-01-01T00:00:00Z")
    return PriceUpdated(LatestPrice(instrument, Decimal(bid), Decimal(2), time, True, 0.0))


def queue(*, prices: bool = True) -> EventQueue:
    return EventQueue(lambda _: None, prices=prices)


async def taken(events: EventQueue) -> list[object]:
    events.close()
    return [each async for each in events]


async def test_only_the_newest_price_of_an_instrument_waits() -> None:
    waiting = queue()
    for each in (priced("A", "1"), priced("B", "1"), priced("A", "1.5")):
        waiting.put(each)
    assert await taken(waiting) == [priced("A", "1.5"), priced("B", "1")]


async def test_other_events_come_before_prices_and_in_order() -> None:
    waiting = queue()
    down, up = StreamInterrupted("prices", "lost"), StreamRestored("prices")
    for each in (priced("A", "1"), down, up):
        waiting.put(each)
    assert await taken(waiting) == [down, up, priced("A", "1")]


async def test_prices_are_left_out_unless_asked_for() -> None:
    waiting = queue(prices=False)
    waiting.put(priced("A", "1"))
    assert await taken(waiting) == []


async def test_an_iteration_that_is_too_slow_is_told_to_look_at_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(events, "MAX_WAITING", 2)
    waiting = queue()
    for _ in range(3):
        waiting.put(StreamRestored("prices"))
    assert await taken(waiting) == [
        SnapshotReloaded("the iteration was too slow: events were dropped")
    ]


async def test_an_error_ends_the_iteration_after_the_last_event() -> None:
    waiting = queue()
    waiting.put(StreamRestored("account"))
    waiting.end(ValueError("broken"))
    assert await anext(waiting) == StreamRestored("account")
    with pytest.raises(ValueError, match="broken"):
        await anext(waiting)


def test_a_price_has_its_mid_and_spread() -> None:
    price = priced("A", "1").price
    assert (price.mid, price.spread) == (Decimal("1.5"), Decimal(1))
