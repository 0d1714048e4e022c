"""Candle series: loaded, moved by ticks, rolled over."""

from decimal import Decimal

from keydesk.calc.market.indicators import PreviousDay
from keydesk.store.candles import (
    apply_candles,
    apply_day,
    apply_older_candles,
    begin_day,
    close_series,
    loading_failed,
    open_series,
    want_history,
)
from keydesk.store.prices import apply_price
from keydesk.store.state import Topic
from support.data.account_history import candle, fresh_store, price

AT = "2026-03-02T10:0{}:{:02}.000000000Z"


def test_ticks_move_the_forming_candle() -> None:
    store = fresh_store()
    series = open_series(store, "EUR_USD", "M1")
    apply_candles(store, series, [candle(AT.format(0, 0), "1.0 1.1 0.9 1.05", complete=False)])
    store.pop_dirty()
    apply_price(store, price("EUR_USD", "1.19", "1.21", AT.format(0, 30)), 1.0)
    (forming,) = series.candles
    assert (forming.open, forming.high, forming.low, forming.close) == (1.0, 1.2, 0.9, 1.2)
    assert not forming.complete
    assert store.dirty_keys(Topic.CANDLES) == {("EUR_USD", "M1")}


def test_a_tick_after_the_end_begins_the_next_candle() -> None:
    store = fresh_store()
    series = open_series(store, "EUR_USD", "M1")
    apply_candles(store, series, [candle(AT.format(0, 0), "1.0 1.1 0.9 1.05", complete=False)])
    apply_price(store, price("EUR_USD", "1.19", "1.21", AT.format(3, 5)), 1.0)
    done, forming = series.candles
    assert done.complete
    assert forming.time_ns - done.time_ns == 180 * 1_000_000_000  # empty minutes are left out
    assert forming.open == forming.close == 1.2


def test_what_the_service_says_replaces_what_ticks_made() -> None:
    store = fresh_store()
    series = open_series(store, "EUR_USD", "M1")
    first = candle(AT.format(0, 0), "1.0 1.1 0.9 1.05", complete=False)
    apply_candles(store, series, [first])
    apply_price(store, price("EUR_USD", "1.19", "1.21", AT.format(1, 5)), 1.0)
    apply_candles(store, series, [candle(AT.format(0, 0), "1.0 1.3 0.8 1.06")])
    assert [each.high for each in series.candles] == [1.3, 1.2]
    apply_candles(store, series, [candle(AT.format(1, 0), "1.06 1.25 1.0 1.2", complete=False)])
    assert [each.high for each in series.candles] == [1.3, 1.25]


def test_a_failed_load_keeps_the_candles_and_says_why() -> None:
    store = fresh_store()
    series = open_series(store, "EUR_USD", "M1")
    apply_candles(store, series, [candle(AT.format(0, 0), "1.0 1.1 0.9 1.05")])
    loading_failed(store, series, "no answer")
    assert (len(series.candles), series.error, series.loading) == (1, "no answer", False)


def test_ticks_leave_a_closed_series_alone() -> None:
    store = fresh_store()
    open_series(store, "EUR_USD", "M1")
    kept = open_series(store, "EUR_USD", "H1")
    close_series(store, "EUR_USD", "M1")
    assert store.charted == {"EUR_USD": (kept,)}
    close_series(store, "EUR_USD", "H1")
    assert not store.charted
    assert not store.series


def test_a_day_holds_its_range_and_the_close_before() -> None:
    store = fresh_store()
    apply_price(store, price("EUR_USD", "1.19", "1.21"), 1.0)
    yesterday = candle("2026-02-26T22:00:00.000000000Z", "1.0 1.1 0.9 1.05")
    today = candle("2026-03-01T22:00:00.000000000Z", "1.05 1.08 1.01 1.02", complete=False)
    apply_day(store, "EUR_USD", yesterday, today)
    day = store.days["EUR_USD"]
    assert day.previous_close == Decimal("1.05")
    assert (day.high, day.low) == (Decimal("1.20"), Decimal("1.01"))
    assert store.previous_day("EUR_USD") == PreviousDay(high=1.1, low=0.9, close=1.05)


def test_a_new_day_begins_where_the_last_one_ended() -> None:
    store = fresh_store()
    apply_price(store, price("EUR_USD", "1.19", "1.21"), 1.0)
    yesterday = candle("2026-02-26T22:00:00.000000000Z", "1.0 1.1 0.9 1.05")
    apply_day(store, "EUR_USD", yesterday, candle(AT.format(0, 0), "1.05 1.08 1.01 1.02"))
    begin_day(store)
    day = store.days["EUR_USD"]
    assert day.previous_close == day.high == day.low == Decimal("1.20")
    assert store.previous_day("EUR_USD") == PreviousDay(high=1.20, low=1.01, close=1.20)


def test_the_previous_day_is_unknown_before_it_was_read() -> None:
    assert fresh_store().previous_day("EUR_USD") is None


def test_scrolling_past_the_oldest_candle_puts_older_ones_before_it() -> None:
    store = fresh_store()
    series = open_series(store, "EUR_USD", "M1")
    apply_candles(store, series, [candle(AT.format(5, 0), "1.0 1.1 0.9 1.05")])
    want_history(store, "EUR_USD", "M1", "older")
    assert series.wants_older
    older = [candle(AT.format(minute, 0), "1.2 1.3 1.1 1.25") for minute in (3, 4, 5)]
    apply_older_candles(store, series, older)
    assert [each.open for each in series.candles] == [1.2, 1.2, 1.0]
    assert not series.wants_older


def test_where_history_begins_nothing_older_is_asked_for_again() -> None:
    store = fresh_store()
    series = open_series(store, "EUR_USD", "M1")
    apply_candles(store, series, [candle(AT.format(5, 0), "1.0 1.1 0.9 1.05")])
    apply_older_candles(store, series, [])
    want_history(store, "EUR_USD", "M1", "older")
    assert not series.wants_older
