"""The watchlist's figures are loaded for the rows in sight, one at a time, seldom again, and never made up."""

from dataclasses import replace
from datetime import UTC, datetime

from keydesk.calc.market.trading_day import day_start
from keydesk.feeds.days import (
    AGAIN_AFTER,
    AVERAGE_EVERY,
    BETWEEN_FIGURES,
    LINE_EVERY,
    STOOD_STILL,
    DueTimes,
    load_next,
    update_day_lines,
)
from keydesk.feeds.instruments import list_instruments
from keydesk.store.watchlists import want_day_lines
from support.fakes.scripted_broker import Clock, ScriptedBroker, link_to, running, until

MORNING = 1_772_445_600_000_000_000  # 2026-03-02 10:00 UTC
HALF_AN_HOUR = 1_800_000_000_000
DAY = 48 * HALF_AN_HOUR


def candle(time_ns: int, close: str, *, complete: bool = True) -> dict[str, object]:
    price = float(close)
    prices = {"o": close, "h": f"{price + 0.01:.5f}", "l": f"{price - 0.01:.5f}", "c": close}
    moment = datetime.fromtimestamp(time_ns // 1_000_000_000, UTC)
    time = f"{moment:%Y-%m-%dT%H:%M:%S}.000000000Z"
    return {"complete": complete, "volume": 9, "time": time, "mid": prices}


def broker_with(*candles: dict[str, object]) -> ScriptedBroker:
    body = {"instrument": "EUR_USD", "granularity": "D", "candles": list(candles)}
    return ScriptedBroker(answers={"/candles": body})


def candles_asked(broker: ScriptedBroker) -> int:
    return broker.asked.count("candles")


async def test_rows_in_sight_get_their_line_and_their_average() -> None:
    start = day_start(MORNING)
    early = [candle(start + i * HALF_AN_HOUR, f"1.{10 + i}") for i in range(-2, 3)]
    broker = broker_with(*early)
    feed = link_to(broker)
    async with running(feed, list_instruments):
        await feed.instruments_known.wait()
        feed.store.clock_ns = MORNING
        want_day_lines(feed.store, ("EUR_USD",), ("EUR_USD",))
        due_times = DueTimes()
        assert await load_next(feed, due_times)
        assert await load_next(feed, due_times)
        assert not await load_next(feed, due_times)
    assert feed.store.day_lines["EUR_USD"].start_ns == start
    assert feed.store.day_lines["EUR_USD"].path == (1.10, 1.11)
    assert feed.store.daily_ranges == {"EUR_USD": None}, "too few days have no average"
    assert candles_asked(broker) == 2


async def test_the_average_is_of_complete_days_only() -> None:
    days = [candle(day_start(MORNING) - i * DAY, "1.50000") for i in range(20, 0, -1)]
    broker = broker_with(*days, candle(day_start(MORNING), "9.00000", complete=False))
    feed = link_to(broker)
    async with running(feed, list_instruments):
        await feed.instruments_known.wait()
        want_day_lines(feed.store, (), ("EUR_USD",))
        assert await load_next(feed, DueTimes())
    average = feed.store.daily_ranges["EUR_USD"]
    assert average is not None
    assert round(average, 6) == 0.02


async def test_what_is_not_in_sight_or_not_of_the_account_is_not_asked_for() -> None:
    broker = broker_with()
    feed = link_to(broker)
    async with running(feed, list_instruments):
        await feed.instruments_known.wait()
        want_day_lines(feed.store, ("XAU_USD",), ("XAU_USD",))
        feed.store.focus = ""
        assert not await load_next(feed, DueTimes())
    assert candles_asked(broker) == 0


async def test_a_figure_is_loaded_again_when_it_is_old_and_all_of_them_on_a_new_day() -> None:
    broker, clock = broker_with(), Clock()
    feed = link_to(broker, clock=clock)
    async with running(feed, list_instruments):
        await feed.instruments_known.wait()
        feed.store.clock_ns = MORNING
        want_day_lines(feed.store, ("EUR_USD",), ("EUR_USD",))
        due_times, counts = DueTimes(), list[int]()
        for later in (0.0, LINE_EVERY - 1, 1.0, AVERAGE_EVERY - LINE_EVERY, 1.0):
            clock.seconds += later
            while await load_next(feed, due_times):
                pass
            counts.append(candles_asked(broker))
        feed.store.clock_ns += DAY
        while await load_next(feed, due_times):
            pass
    assert counts == [2, 2, 3, 5, 5]
    assert candles_asked(broker) == 7


async def test_after_a_failure_the_others_go_on_and_it_waits() -> None:
    broker, clock = ScriptedBroker(statuses={"candles": 503}), Clock()
    feed = link_to(broker, clock=clock)
    async with running(feed, list_instruments):
        await feed.instruments_known.wait()
        want_day_lines(feed.store, ("EUR_USD", "USD_JPY"), ())
        feed.store.focus = ""
        due_times = DueTimes()
        assert await load_next(feed, due_times)
        assert await load_next(feed, due_times)
        assert not await load_next(feed, due_times)
        clock.seconds += AGAIN_AFTER + 1
        assert await load_next(feed, due_times)
    assert feed.store.day_lines == {}


async def test_requests_come_one_by_one_with_a_rest_between_them() -> None:
    broker, clock = broker_with(), Clock()
    feed = link_to(broker, clock=clock)
    rests: list[float] = []
    pause = feed.timing.sleep

    async def record_pause(seconds: float) -> None:
        rests.append(seconds)
        await pause(seconds)

    feed.timing = replace(feed.timing, sleep=record_pause)
    feed.priced.set()
    async with running(feed, list_instruments):
        await feed.instruments_known.wait()
        want_day_lines(feed.store, ("EUR_USD", "USD_JPY", "EUR_GBP"), ())
        feed.store.focus = ""
        async with running(feed, update_day_lines):
            await until(lambda: candles_asked(broker) == 3)
            await until(lambda: STOOD_STILL in rests)
    assert rests.count(BETWEEN_FIGURES) == 3


async def test_the_focus_gets_its_average_although_no_row_shows_it() -> None:
    days = [candle(day_start(MORNING) - i * DAY, "1.50000") for i in range(20, 0, -1)]
    feed = link_to(broker_with(*days))
    async with running(feed, list_instruments):
        await feed.instruments_known.wait()
        feed.store.focus = "EUR_USD"
        assert await load_next(feed, DueTimes())
    assert feed.store.daily_ranges["EUR_USD"] is not None
