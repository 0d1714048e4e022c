"""The store notes what changed until somebody takes it."""

import asyncio

from keydesk.calc.market.market_state import ControlledMarket, MarketState
from keydesk.store.state import Notice, Topic
from keydesk.store.store import LOG_LIMIT, NOTICE_LIMIT, Store
from keydesk.text.sanitize import safe
from keydesk.words.log_line import LogLine
from support.data.in_flight import in_flight


def test_what_was_marked_is_taken_once() -> None:
    store = Store()
    store.mark(Topic.PRICES, "EUR_USD")
    store.mark(Topic.PRICES, "EUR_USD")
    store.mark(Topic.TRADES)
    assert store.dirty_keys(Topic.PRICES) == {"EUR_USD"}
    assert store.pop_dirty() == {Topic.PRICES: {"EUR_USD"}, Topic.TRADES: {None}}
    assert store.pop_dirty() == {}


def test_turning_to_what_is_shown_already_changes_nothing() -> None:
    store = Store()
    store.set_focus("EUR_USD")
    store.set_granularity("H1")
    store.pop_dirty()
    store.set_focus("EUR_USD")
    store.set_granularity("H1")
    assert store.pop_dirty() == {}


def test_the_log_is_bounded_and_keeps_the_newest() -> None:
    store = Store()
    for number in range(LOG_LIMIT + 1):
        store.write_log(LogLine(str(number), 0, "NOTE", "", "x"))
    assert len(store.log) <= LOG_LIMIT
    assert store.log[-1].id == str(LOG_LIMIT)


def test_notices_are_bounded() -> None:
    store = Store()
    for _ in range(NOTICE_LIMIT + 1):
        store.add_notice(Notice("info", "x", 0))
    assert len(store.notices) <= NOTICE_LIMIT
    assert Topic.NOTICES in store.pop_dirty()


def test_a_notice_that_sums_up_replaces_the_one_before_about_the_same() -> None:
    store = Store()
    for text, commands in (("NOT FLAT", "flatten"), ("other", "flatten GBP"), ("FLAT", "flatten")):
        store.add_notice(Notice("bad", safe(text), 0, asks=True, sums_up=commands))
    assert [each.text for each in store.notices if each.waits] == ["other", "FLAT"]


def test_a_command_under_way_is_shown_until_settled() -> None:
    store = Store()
    record = in_flight("EUR_USD")
    store.set_in_flight(record)
    assert store.in_flight_of("EUR_USD") == (record,)
    assert store.in_flight_of("GBP_USD") == ()
    store.settle(record.id)
    store.pop_dirty()
    store.settle(record.id)
    assert not store.in_flight
    assert store.pop_dirty() == {}


async def test_a_change_of_a_whole_topic_wakes_who_waits_for_it() -> None:
    store = Store()
    waiting = asyncio.create_task(store.wait_for(lambda: store.focus == "EUR_USD", Topic.FOCUS))
    await asyncio.sleep(0)
    store.set_focus("USD_JPY")
    await asyncio.sleep(0)
    assert not waiting.done()
    store.set_focus("EUR_USD")
    assert await waiting


async def test_a_price_wakes_nobody() -> None:
    store = Store()
    with store.subscribed(Topic.PRICES) as changed:
        store.mark(Topic.PRICES, "EUR_USD")
        assert not changed.is_set()


async def test_waiting_ends_with_its_time() -> None:
    assert not await Store().wait_for(lambda: False, Topic.ACCOUNT, timeout_s=0.01)


DAY = 86_400 * 10**9


def test_everything_shows_the_time_of_a_market_that_is_controlled() -> None:
    """Two clocks a row apart differed during a fast replay, and messages had a third."""
    store = Store()
    store.clock_ns = 100 * DAY
    assert store.time_ns(5.0, 100 * DAY + 7) == 100 * DAY + 7  # the wall clock's
    fast = MarketState(time_ns=50 * DAY, speed=60.0, read_at=5.0)
    store.clock_ns = 50 * DAY
    store.set_market(ControlledMarket(fast))
    assert store.time_ns(6.0, 100 * DAY) == 50 * DAY + 60 * 10**9
    store.add_notice(Notice("info", safe("x"), 100 * DAY))
    store.date_notices(6.0)
    assert store.notices[-1].time_ns == 50 * DAY + 60 * 10**9


def test_a_market_of_another_day_that_is_not_controlled_has_the_time_of_its_streams() -> None:
    store = Store()
    store.clock_ns = 50 * DAY
    assert store.time_ns(5.0, 100 * DAY) == 50 * DAY


def test_a_market_has_a_time_of_its_own_when_it_is_not_the_wall_clocks() -> None:
    store = Store()
    store.clock_ns = 50 * DAY
    assert store.own_time_ns(100 * DAY) == 50 * DAY
    assert store.own_time_ns(50 * DAY + 10**9) is None
