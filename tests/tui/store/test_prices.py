"""Prices become quotes."""

from decimal import Decimal

import pytest

from keydesk.store.prices import apply_conversions, apply_price, forget_ages
from keydesk.store.state import Topic
from keydesk.values import Day
from support.data.account_history import conversions, fresh_store, price

EARLY, LATE = "2026-03-02T10:00:00.000000001Z", "2026-03-02T10:00:00.250000002Z"


def test_the_first_price_makes_a_quote() -> None:
    store = fresh_store()
    apply_price(store, price("EUR_USD", "1.08490", "1.08500", EARLY), 5.0)
    quote = store.quotes["EUR_USD"]
    assert (quote.bid, quote.ask) == (Decimal("1.08490"), Decimal("1.08500"))
    assert quote.time_ns % 1000 == 1
    assert quote.received == 5.0
    assert store.dirty_keys(Topic.PRICES) == {"EUR_USD"}


def test_a_move_is_remembered_by_side() -> None:
    store = fresh_store()
    apply_price(store, price("EUR_USD", "1.08490", "1.08500", EARLY), 5.0)
    apply_price(store, price("EUR_USD", "1.08495", "1.08498", LATE), 6.0)
    quote = store.quotes["EUR_USD"]
    assert (quote.bid_move, quote.ask_move, quote.moved_at) == (1, -1, 6.0)


def test_the_same_price_again_is_fresh_but_no_move() -> None:
    store = fresh_store()
    apply_price(store, price("EUR_USD", "1.08490", "1.08500", EARLY), 5.0)
    apply_price(store, price("EUR_USD", "1.08490", "1.08500", LATE), 6.0)
    quote = store.quotes["EUR_USD"]
    assert (quote.received, quote.moved_at) == (6.0, 0.0)


def test_the_same_price_again_is_not_drawn_again() -> None:
    store = fresh_store()
    apply_price(store, price("EUR_USD", "1.08490", "1.08500", EARLY), 5.0)
    store.pop_dirty()
    apply_price(store, price("EUR_USD", "1.08490", "1.08500", LATE), 5.25)
    assert not store.dirty_keys(Topic.PRICES)


def test_the_same_price_after_a_silence_is_drawn_again() -> None:
    store = fresh_store()
    apply_price(store, price("EUR_USD", "1.08490", "1.08500", EARLY), 5.0)
    store.pop_dirty()
    apply_price(store, price("EUR_USD", "1.08490", "1.08500", LATE), 70.0)
    assert store.dirty_keys(Topic.PRICES) == {"EUR_USD"}


def test_a_halt_at_the_same_price_is_drawn() -> None:
    store = fresh_store()
    apply_price(store, price("EUR_USD", "1.08490", "1.08500", EARLY), 5.0)
    store.pop_dirty()
    apply_price(store, price("EUR_USD", "1.08490", "1.08500", LATE, tradeable=False), 5.25)
    assert store.dirty_keys(Topic.PRICES) == {"EUR_USD"}


def test_an_older_price_is_dropped() -> None:
    store = fresh_store()
    apply_price(store, price("EUR_USD", "1.08490", "1.08500", LATE), 5.0)
    apply_price(store, price("EUR_USD", "1.00000", "1.00010", EARLY), 6.0)
    assert store.quotes["EUR_USD"].bid == Decimal("1.08490")


def test_after_a_reconnect_the_next_price_counts_whatever_its_time() -> None:
    store = fresh_store()
    apply_price(store, price("EUR_USD", "1.08490", "1.08500", LATE), 5.0)
    forget_ages(store)
    apply_price(store, price("EUR_USD", "1.00000", "1.00010", EARLY), 6.0)
    assert store.quotes["EUR_USD"].bid == Decimal("1.00000")


def test_a_side_without_depth_shows_its_closeout_price() -> None:
    store = fresh_store()
    apply_price(store, price("EUR_USD", "1.08490", "1.08500", bids=[], tradeable=False), 5.0)
    quote = store.quotes["EUR_USD"]
    assert quote.bid == Decimal("1.08490")
    assert not quote.tradeable


@pytest.mark.parametrize(
    ("bid", "high", "low"), [("1.09", "1.09005", "1.08"), ("1.07", "1.085", "1.07005")]
)
def test_the_days_range_widens_with_the_mid(bid: str, high: str, low: str) -> None:
    store = fresh_store()
    store.days["EUR_USD"] = Day(Decimal("1.082"), Decimal("1.085"), Decimal("1.080"))
    ask = str(Decimal(bid) + Decimal("0.0001"))
    apply_price(store, price("EUR_USD", bid, ask), 5.0)
    day = store.days["EUR_USD"]
    assert (day.high, day.low) == (Decimal(high), Decimal(low))


def test_new_conversions_are_marked_and_the_same_ones_are_not() -> None:
    store = fresh_store()
    yen = conversions("JPY", "0.00641", "0.00648", "0.00644")
    store.pop_dirty()
    apply_conversions(store, [yen])
    assert store.pop_dirty()
    apply_conversions(store, [conversions("JPY", "0.00641", "0.00648", "0.00644")])
    assert not store.pop_dirty()
    assert store.conversions["JPY"] == yen
