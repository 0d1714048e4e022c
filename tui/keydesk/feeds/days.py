"""Load the trading days of instruments: today and yesterday of watched ones, the line of the day and the average true range of rows in sight.

Prices and the account never wait for these requests; what rows in sight lack is loaded one request at a time, and seldom again.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from math import isfinite
from typing import Literal

from msgspec import Struct, field

from keydesk.calc.market import day_shape
from keydesk.calc.market.indicator_specs import IndicatorSpec
from keydesk.calc.market.indicators import compute
from keydesk.calc.market.trading_day import day_start
from keydesk.feeds.account_feed import AccountFeed
from keydesk.store.candles import apply_day, candle_of
from keydesk.store.state import Candle, Topic
from keydesk.store.store import Store
from keydesk.values import DayLine
from keydesk_client.account.values import readable, try_to
from keydesk_client.errors import HttpStatusError, RateLimited
from keydesk_client.following.feeds import FAILURES
from keydesk_client.models import Candlestick, CandlestickResponse, Granularity

Kind = Literal["line", "average"]
STOOD_STILL = (
    0.5  # seconds in sight before the figures of a row are requested: scrolling requests nothing
)
BETWEEN_FIGURES = 0.06  # seconds from request to request: orders and the chart never wait for these
LINE_EVERY = 1800.0  # seconds: the length of a candle of the line
AVERAGE_EVERY = 6 * 3600.0
AGAIN_AFTER = 60.0  # seconds after a failure
LINE_CANDLES = 50  # of half an hour: a day of 25 hours
AVERAGE_CANDLES = 60  # days: Wilder's average has forgotten its first value
CHECK_EVERY = 10.0
ATR = IndicatorSpec("atr", (14,))
DAYS_EVERY = 60.0  # new instruments, a new day, what ticks did not show us
DAYS_PAUSE = 2.0  # seconds between two readings, however fast a practice market runs
AT_ONCE = 10  # trading days of a request
BETWEEN_DAYS = 0.15


async def update_days(feed: AccountFeed) -> None:
    """Read the trading days of watched instruments, and again every minute, when others are watched, and after a jump of the time."""
    await feed.priced.wait()
    with feed.store.subscribed(Topic.INSTRUMENTS, Topic.CLOCK) as changed:
        while True:
            changed.clear()
            for names in _portions(feed.wanted()):
                await days_once(feed, names)
                await feed.pause(BETWEEN_DAYS)
            await feed.pause(DAYS_PAUSE)
            await feed.wait(changed, DAYS_EVERY)


async def days_once(feed: AccountFeed, names: Sequence[str]) -> bool:
    """Read the trading days of some instruments; return False if there was no answer."""
    try:
        await _latest(feed, names)
    except HttpStatusError:  # a service without that operation
        return await _one_by_one(feed, names)
    except FAILURES as error:
        feed.count_unreadable(error)
        return False
    return True


async def _latest(feed: AccountFeed, names: Sequence[str]) -> None:
    specifications = [f"{name}:D:M" for name in names]
    answer = await feed.request(feed.client.candles.latest(specifications))
    for each in answer.latest_candles:
        try_to(feed.store, partial(_store_latest, feed, each, names))


async def _one_by_one(feed: AccountFeed, names: Sequence[str]) -> bool:
    for name in names:
        try:
            answer = await feed.request(
                feed.client.candles.get(name, granularity="D", price="M", count=2)
            )
            _store_day(feed, name, answer.candles)
        except FAILURES as error:
            feed.count_unreadable(error)
            return False
        await feed.pause(BETWEEN_DAYS)
    return True


def _store_latest(feed: AccountFeed, latest: CandlestickResponse, names: Sequence[str]) -> None:
    if latest.instrument not in names:
        raise ValueError("candles of an instrument that was not asked for")
    _store_day(feed, latest.instrument, latest.candles)


def _store_day(feed: AccountFeed, name: str, candles: Sequence[Candlestick]) -> None:
    if len(candles) > 1:
        apply_day(feed.store, name, candles[-2], candles[-1])


def _portions(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), AT_ONCE):
        yield names[start : start + AT_ONCE]


class DueTimes(Struct):
    """When each figure may be requested again, and of which trading day it is."""

    not_before: dict[tuple[str, Kind], float] = field(default_factory=dict)
    day_ns: int = 0


async def update_day_lines(feed: AccountFeed) -> None:
    """Load the missing and outdated figures of the rows in sight, as long as the desk is open."""
    await feed.priced.wait()
    due_times = DueTimes()
    with feed.store.subscribed(Topic.DAY_LINES) as wanted:
        while True:
            if await load_next(feed, due_times):
                await feed.pause(BETWEEN_FIGURES)
            else:
                await feed.wait(wanted, CHECK_EVERY)
                await feed.pause(STOOD_STILL)


async def load_next(feed: AccountFeed, due_times: DueTimes) -> bool:
    """Request the first figure that is due; return False if none is."""
    today = day_start(feed.store.clock_ns or feed.wall_ns())
    if (
        today != due_times.day_ns
    ):  # the line begins anew, and yesterday has become a complete candle
        due_times.not_before.clear()
        due_times.day_ns = today
    now = feed.now()
    due = (each for each in _wanted_figures(feed) if now >= due_times.not_before.get(each, now))
    first = next(due, None)
    if first is None:
        return False
    pause = await _ask(feed, *first)
    due_times.not_before[first] = feed.now() + pause
    return True


def _wanted_figures(feed: AccountFeed) -> Iterator[tuple[str, Kind]]:
    store = feed.store
    for name in store.day_lines_wanted:
        if name in store.instruments:
            yield name, "line"
    for name in store.averages_wanted:
        if name in store.instruments:
            yield name, "average"
    if (
        store.focus in store.instruments
    ):  # clusters lie within a range, and entries are measured by it
        yield store.focus, "average"


async def _ask(feed: AccountFeed, name: str, kind: Kind) -> float:
    """Request one figure; return the seconds until it may be requested again."""
    granularity: Granularity = "M30" if kind == "line" else "D"
    count = LINE_CANDLES if kind == "line" else AVERAGE_CANDLES
    try:
        call = feed.client.candles.get(name, granularity=granularity, price="M", count=count)
        answer = await feed.request(call)
        if kind == "line":
            _store_day_line(feed.store, name, answer.candles)
            return LINE_EVERY
        _store_daily_range(feed.store, name, answer.candles)
    except RateLimited:
        return AGAIN_AFTER
    except FAILURES as error:
        feed.count_unreadable(error)
        return AGAIN_AFTER
    return AVERAGE_EVERY


def _store_daily_range(store: Store, instrument: str, loaded: Iterable[Candlestick]) -> None:
    """Store the average true range of the complete daily candles."""
    complete = [each for each in _candles(store, loaded) if each.complete]
    values = compute(ATR, complete).lines[0].values
    store.daily_ranges[instrument] = values[-1] if values and isfinite(values[-1]) else None
    store.mark(Topic.DAY_LINES, instrument)


def _store_day_line(store: Store, instrument: str, loaded: Iterable[Candlestick]) -> None:
    """Store the line of the day that the newest candles belong to."""
    candles = _candles(store, loaded)
    start = day_start(store.clock_ns or (candles[-1].time_ns if candles else 0))
    path = day_shape.path_of(((each.time_ns, each.close) for each in candles), start)
    store.day_lines[instrument] = DayLine(start, path)
    store.mark(Topic.DAY_LINES, instrument)


def _candles(store: Store, loaded: Iterable[Candlestick]) -> list[Candle]:
    made = (each for each in readable(store, candle_of, loaded) if each is not None)
    return sorted(made, key=lambda each: each.time_ns)
