"""Read what alerts need beside prices: candles of a time when no prices were watched, of indicators, and position books."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal

from msgspec import Struct, field

from keydesk.alerts.readings import candles_needed
from keydesk.alerts.watch import AlertWatch
from keydesk.calc.alerts.alert import Alert
from keydesk.calc.alerts.candle_conditions import CandleCondition
from keydesk.calc.alerts.engine import PriceHistory, PriceRange
from keydesk.calc.alerts.fact_conditions import ClientLongPercent
from keydesk.calc.alerts.price_conditions import PriceCondition
from keydesk.feeds.account_feed import AccountFeed
from keydesk.feeds.client_books import ask
from keydesk.store.candles import candle_of, period_end
from keydesk.store.state import CURRENT, Topic
from keydesk_client.account.values import LAST_NS, readable
from keydesk_client.arithmetic.constants import DAY, HOUR, SECOND
from keydesk_client.following.feeds import FAILURES
from keydesk_client.models import Candlestick, granularity_of
from keydesk_client.models._core.scalars import DateTime

CHECK_EVERY = 1.0  # seconds
AGAIN_AFTER = 10.0  # seconds, after a failure
LIVE_AFTER = 10.0  # seconds of trying: prices are evaluated again although candles are missing
PUBLISHED_AFTER = 3 * SECOND  # a complete candle is there some moments after its end
PERIODS = ((2 * HOUR, "S5"), (3 * DAY, "M1"), (14 * DAY, "M5"), (200 * DAY, "H1"))
"""The longest gap that is worked out from candles of a length: an answer has at most 5,000."""
MAX_COUNT = 5000
LETTERS = {"mid": "M", "bid": "B", "ask": "A"}  # of candles, by side
TOGETHER = 10  # alerts whose gap is worked out between two turns of the event loop
BOOK_EVERY = 300.0  # seconds


class NextReads(Struct):
    """When candles and books may be read, in monotonic seconds; ends in nanoseconds of the broker's time."""

    not_before: dict[tuple[str, str], float] = field(default_factory=dict)
    next_end: dict[tuple[str, str], int] = field(default_factory=dict)
    read_for: dict[tuple[str, str], frozenset[CandleCondition]] = field(default_factory=dict)
    gap_since: float | None = None  # since when a gap is being worked out
    market: int = 0  # what was read is of this one

    def forget(self, market: int) -> None:
        """Discard what was read of an earlier market."""
        if market != self.market:
            self.market, self.gap_since = market, None
            for held in (self.not_before, self.next_end, self.read_for):
                held.clear()


async def update_alerts(feed: AccountFeed) -> None:
    """Read what alerts need, as it falls due."""
    if feed.alerts is None:
        return
    await feed.follower.ready.wait()
    await feed.priced.wait()
    due = NextReads()
    with feed.store.subscribed(Topic.ALERTS) as changed:
        while True:
            due.forget(feed.alerts.restart_count)
            await fill_gap(feed, feed.alerts, due)
            await read_candles(feed, feed.alerts, due)
            await read_books(feed, due)
            await feed.wait(changed, CHECK_EVERY)


async def fill_gap(feed: AccountFeed, alerts: AlertWatch, due: NextReads) -> None:
    """Work out what alerts on prices missed; after some seconds of failures prices are evaluated again without that."""
    if alerts.gap is None or feed.store.health.prices not in CURRENT:
        return  # what comes until the stream is back belongs to it
    due.gap_since = feed.now() if due.gap_since is None else due.gap_since
    if feed.store.health.unchecked and feed.now() - due.gap_since <= LIVE_AFTER:
        return  # the broker may have another account, and another time
    if alerts.clock_went_back():
        alerts.restart_market()
        return
    since, until = alerts.gap, feed.store.clock_ns or feed.wall_ns()
    complete = True
    for instrument, watching in alerts.price_alerts().items():
        if instrument not in feed.store.instruments or since >= until:
            continue
        try:
            sides = {
                each.condition.side
                for each in watching
                if isinstance(each.condition, PriceCondition)
            }
            periods = await _periods(feed, instrument, sides, since, until)
        except FAILURES as error:
            feed.count_unreadable(error)
            complete = False
        else:
            await _work_out(alerts, watching, periods)
    if complete or feed.now() - due.gap_since > LIVE_AFTER:
        if not complete:
            feed.write("Alerts: the prices of the interruption could not be read")
        due.gap_since = None
        alerts.end_gap()


async def _work_out(
    alerts: AlertWatch, watching: Sequence[Alert], periods: Mapping[str, Sequence[PriceRange]]
) -> None:
    """Judge the prices of a gap, some alerts at a time; not to the end where another market begins meanwhile."""
    histories = {side: PriceHistory.of(candles) for side, candles in periods.items()}
    for start in range(0, len(watching), TOGETHER):
        if alerts.gap is not None:
            alerts.evaluate_periods(watching[start : start + TOGETHER], histories)
            await asyncio.sleep(0)


async def _periods(
    feed: AccountFeed, instrument: str, wanted: Collection[str], since_ns: int, until_ns: int
) -> Mapping[str, Sequence[PriceRange]]:
    """Return the prices of a time by side: "bid", "ask", "mid", those that alerts watch."""
    length = until_ns - since_ns
    granularity = next((name for most, name in PERIODS if length <= most), PERIODS[-1][1])
    begin = max(since_ns, until_ns - PERIODS[-1][0])
    answer = await feed.request(
        feed.client.candles.get(
            instrument,
            granularity=granularity_of(granularity),
            price="".join(LETTERS[side] for side in LETTERS if side in wanted),
            from_=DateTime.from_ns(begin),
            count=MAX_COUNT,
        )
    )
    sides: dict[str, list[PriceRange]] = {side: [] for side in LETTERS if side in wanted}
    for candle in answer.candles:
        for side, found in sides.items():
            if (period := _period(candle, side, granularity)) is not None:
                found.append(period)
    return {side: sorted(found, key=lambda each: each.time_ns) for side, found in sides.items()}


def _period(candle: Candlestick, side: str, granularity: str) -> PriceRange | None:
    prices = getattr(candle, side)
    if prices is None or not 0 < candle.time.ns < LAST_NS:
        return None
    four = (Decimal(prices.o), Decimal(prices.h), Decimal(prices.l), Decimal(prices.c))
    if not all(each.is_finite() for each in four):
        return None
    first, _, _, last = four
    start = candle.time.ns
    return PriceRange(
        start, period_end(start, granularity) or start, first, max(four), min(four), last
    )


async def read_candles(feed: AccountFeed, alerts: AlertWatch, due: NextReads) -> None:
    """Read the candles of indicators that have one more complete candle."""
    now, clock = feed.now(), feed.store.clock_ns
    for key, conditions in _by_candles(feed.store.alerts.values()).items():
        fresh = due.read_for.get(key) != frozenset(conditions)
        if now < due.not_before.get(key, now):
            continue
        if not fresh and clock < due.next_end.get(key, 0) + PUBLISHED_AFTER:
            continue
        try:
            answer = await feed.request(
                feed.client.candles.get(
                    key[0],
                    granularity=granularity_of(key[1]),
                    price="M",
                    count=min(MAX_COUNT, candles_needed(conditions)),
                )
            )
        except FAILURES as error:
            feed.count_unreadable(error)
            due.not_before[key] = now + AGAIN_AFTER
            continue
        loaded = [each for each in readable(feed.store, candle_of, answer.candles) if each]
        loaded.sort(key=lambda each: each.time_ns)
        complete = [each for each in loaded if each.complete]
        due.read_for[key] = frozenset(conditions)
        due.next_end[key] = (period_end(loaded[-1].time_ns, key[1]) or 0) if loaded else 0
        due.not_before[key] = now + CHECK_EVERY
        alerts.apply_candles(conditions, complete)


def _by_candles(alerts: Iterable[Alert]) -> Mapping[tuple[str, str], list[CandleCondition]]:
    """Return the conditions on candles by instrument and candle length."""
    conditions_by_candles: dict[tuple[str, str], list[CandleCondition]] = {}
    for alert in alerts:
        condition = alert.condition
        if alert.state == "on" and isinstance(condition, CandleCondition):
            conditions_by_candles.setdefault(
                (condition.instrument, condition.granularity), []
            ).append(condition)
    return conditions_by_candles


async def read_books(feed: AccountFeed, due: NextReads) -> None:
    """Read the position books that alerts are about; also that of the focus, which without a desk nothing else reads."""
    for alert in list(feed.store.alerts.values()):
        condition = alert.condition
        if alert.state != "on" or not isinstance(condition, ClientLongPercent):
            continue
        key = (condition.instrument, "positions")
        if feed.now() < due.not_before.get(key, 0.0):
            continue
        due.not_before[key] = feed.now() + BOOK_EVERY
        await ask(feed, condition.instrument, "positions")
