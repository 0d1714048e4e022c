"""Run all feeds of an account, restart a feed that fails, and assess the health of streams and requests.

The price stream opens when the instruments are known, beside the snapshot, so that prices are painted early. Everything else
starts once they are. What happens between the snapshot and the opening of the transaction stream is a gap, which is filled as any
other; until the snapshot is applied, the transaction gate holds what the stream brings.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import TypeAlias

from keydesk.calc.market.price_age import STALE_STREAM
from keydesk.feeds.account_feed import AccountFeed, reason
from keydesk.feeds.alerts import update_alerts
from keydesk.feeds.average_ranges import update_average_ranges
from keydesk.feeds.candles import update_chart
from keydesk.feeds.client_books import update_books
from keydesk.feeds.conversions import update_conversions, watch_names
from keydesk.feeds.days import update_day_lines, update_days
from keydesk.feeds.history import update_history
from keydesk.feeds.instruments import list_instruments, update_instruments
from keydesk.feeds.past_log import update_past_log
from keydesk.feeds.round_trips import RoundTrips
from keydesk.store.state import Health, LinkState, Topic
from keydesk_client.following import feeds as following
from keydesk_client.following.events import Source
from keydesk_client.streams.settings import StreamHealth

HEALTH_CHECK_EVERY = 0.5
SLOW_MS = 1000.0
UNANSWERED_AFTER = 2.0  # seconds after which the age of a request without an answer is shown
SLOW_AFTER = 5.0
DOWN_AFTER = 10.0
STREAM_WORDS: Mapping[Source, str] = {"prices": "prices", "transactions": "events"}
Feed: TypeAlias = Callable[[AccountFeed], Coroutine[None, None, None]]
SETTLED_AFTER = 60.0  # seconds of running after which the next failure is the first again


async def watch_health(feed: AccountFeed) -> None:
    """Judge the health twice a second."""
    while True:
        check(feed)
        await feed.pause(HEALTH_CHECK_EVERY)


def check(feed: AccountFeed) -> None:
    """Judge the health once."""
    note_losses(feed)
    note_unreadable(feed)
    before = feed.store.health.requests
    assess_streams(feed.store.health, feed.round_trips, feed.now())
    log_silence(feed, before)
    if feed.store.health.requests == "DOWN":
        feed.note_silence(DOWN_AFTER)
    feed.store.health.throttled = feed.client.throttled
    feed.store.mark(Topic.HEALTH)


def note_losses(feed: AccountFeed) -> None:
    """Mark a stream DOWN and log the reason as soon as its connection is lost."""
    health, streams = feed.store.health, feed.follower.streams
    prices, transactions = streams.get("prices"), streams.get("transactions")
    if health.prices != "DOWN" and _lost(prices):
        health.prices = "DOWN"
        feed.write(f"The price stream is down: {_trouble(prices)}")
    if health.events != "DOWN" and _lost(transactions):
        health.events = "DOWN"
        health.event_losses += 1
        feed.write(f"The transaction stream is down: {_trouble(transactions)}")
        feed.follower.check_wanted.set()


def note_unreadable(feed: AccountFeed) -> None:
    """Count unreadable lines of both streams, and note the time of new ones."""
    for source, stream in feed.follower.streams.items():
        of, counted = feed.lines_unreadable.get(source, (None, 0))
        if stream.unreadable > (counted if of is stream else 0):
            text = f"a line of the stream of {STREAM_WORDS[source]}"
            feed.store.note_unreadable(text, stream.unreadable - (counted if of is stream else 0))
        feed.lines_unreadable[source] = stream, stream.unreadable
    health = feed.store.health
    if health.unreadable > feed.unreadable_noted:
        feed.unreadable_noted, health.unreadable_at = health.unreadable, feed.now()


def assess_streams(health: Health, round_trips: RoundTrips, now: float) -> None:
    """Judge whether the data of both streams is current."""
    health.rtt_ms, health.rtt_p95_ms = round_trips.last_ms, round_trips.p95_ms
    assess_requests(health, round_trips, now)
    slow = health.rtt_p95_ms is not None and health.rtt_p95_ms > SLOW_MS
    health.prices = _state_by_silence(health.prices, health.prices_at, now, slow=slow)
    health.events = _state_by_silence(health.events, health.events_at, now, slow=slow)


def assess_requests(health: Health, round_trips: RoundTrips, now: float) -> None:
    """Set the age of the oldest unanswered request; DOWN if no other request is answered either."""
    since = round_trips.unanswered_since
    age = 0.0 if since is None else now - since
    health.unanswered_since = since if age >= UNANSWERED_AFTER else None
    if age >= UNANSWERED_AFTER:
        health.rtt_ms = max(age * 1000, health.rtt_ms or 0.0)
    if round_trips.silence(now) >= DOWN_AFTER:
        health.requests = "DOWN"
    else:
        health.requests = "SLOW" if age >= SLOW_AFTER else "OK"


def log_silence(feed: AccountFeed, before: LinkState) -> None:
    """Log that the broker stopped or resumed answering requests."""
    now = feed.store.health.requests
    if now == "DOWN" != before:
        feed.write(f"The broker has not answered any request for {DOWN_AFTER:.0f} s")
    elif before == "DOWN" != now:
        feed.write("The broker answers requests again")


def _state_by_silence(
    state: LinkState, received_at: float | None, now: float, *, slow: bool
) -> LinkState:
    if state in {"CONNECTING", "DOWN"} or received_at is None:
        return state
    if now - received_at > STALE_STREAM:
        return "STALE"
    return "SLOW" if slow else "OK"


def _lost(stream: StreamHealth | None) -> bool:
    """Return whether the connection was lost and not yet restored."""
    return stream is not None and not stream.connected and stream.last_error is not None


def _trouble(stream: StreamHealth | None) -> str:
    trouble = None if stream is None else stream.last_error
    return "no reason given" if trouble is None else reason(trouble)


def _of_follower(worker: following.Feed) -> Feed:
    return lambda feed: worker(feed.follower)


FEEDS: Mapping[str, Feed] = {
    "instruments": list_instruments,
    "instrument changes": update_instruments,
    "transaction stream": _of_follower(following.stream_transactions),
    "account": _of_follower(following.update_snapshot),
    "price stream": _of_follower(following.stream_prices),
    "watched instruments": watch_names,
    "conversions": update_conversions,
    "changes": _of_follower(following.check_changes),
    "gaps": _of_follower(following.fill_gaps),
    "chart": update_chart,
    **{f"chart {place}": partial(update_chart, place=place) for place in (2, 3, 4)},
    "days": update_days,
    "day lines": update_day_lines,
    "average ranges": update_average_ranges,
    "alerts": update_alerts,
    "history": update_history,
    "past log": update_past_log,
    "books": update_books,
    "health": watch_health,
}
"""Every feed by name, in starting order."""
BEFORE_PRICES = frozenset(
    ("instruments", "account", "price stream", "watched instruments", "conversions", "health")
)
"""What the account, its net asset value and the first prices need."""


async def run(feed: AccountFeed, shown: asyncio.Event | None = None) -> None:
    """Run every feed until cancelled; those that the first prices do not need, once these are shown."""
    async with asyncio.TaskGroup() as group:

        def start(name: str) -> None:
            group.create_task(supervise(feed, name, FEEDS[name]), name=name)

        for name in FEEDS:
            if name in BEFORE_PRICES:
                start(name)
        if shown is not None:
            await shown.wait()
        for name in FEEDS:
            if name not in BEFORE_PRICES:
                start(name)


async def supervise(feed: AccountFeed, name: str, worker: Feed) -> None:
    """Run a feed; restart it after a growing pause when it fails."""
    failures = 0
    while True:
        began = feed.now()
        try:
            return await worker(feed)
        except Exception as error:  # noqa: BLE001 - the edge of a task: the error is reported, and the feed restarted
            failures = 0 if feed.now() - began > SETTLED_AFTER else failures
            feed.failed(name, error)
        await feed.backoff(failures)
        failures += 1
