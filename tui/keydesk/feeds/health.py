"""How fresh the desk's knowledge is, judged twice a second."""

from keydesk.feeds.link import Link, reason
from keydesk.feeds.round_trips import RoundTrips
from keydesk.store.state import Health, LinkState, Topic
from keydesk_client.streams.health import StreamHealth

LOOK_EVERY = 0.5
STALE_AFTER = 6.0  # seconds without any line: heartbeats come every five
SLOW_MS = 1000.0


async def watch_health(link: Link) -> None:
    """Judge again and again; a change reaches the panes at once, ages with the next frame."""
    while True:
        look(link)
        await link.pause(LOOK_EVERY)


def look(link: Link) -> None:
    """Judge once."""
    note_losses(link)
    judge(link.store.health, link.round_trips, link.now())
    link.store.health.throttled = link.client.throttled
    link.store.mark(Topic.HEALTH)


def note_losses(link: Link) -> None:
    """Say of a stream that lost its connection that it is down, and why, as soon as it is known."""
    health = link.store.health
    if health.prices != "DOWN" and _lost(link.price_health):
        health.prices = "DOWN"
        link.write(f"The price stream is down: {_trouble(link.price_health)}")
    if health.events != "DOWN" and _lost(link.event_health):
        health.events = "DOWN"
        health.event_losses += 1
        link.write(f"The transaction stream is down: {_trouble(link.event_health)}")
        link.poll_wanted.set()


def judge(health: Health, round_trips: RoundTrips, now: float) -> None:
    """Say of both streams whether what they told is still to be trusted."""
    health.rtt_ms, health.rtt_p95_ms = round_trips.last_ms, round_trips.p95_ms
    slow = health.rtt_p95_ms is not None and health.rtt_p95_ms > SLOW_MS
    health.prices = _judged(health.prices, health.prices_heard, now, slow=slow)
    health.events = _judged(health.events, health.events_heard, now, slow=slow)


def _judged(state: LinkState, heard: float | None, now: float, *, slow: bool) -> LinkState:
    if state in {"CONNECTING", "DOWN"} or heard is None:
        return state
    if now - heard > STALE_AFTER:
        return "STALE"
    return "SLOW" if slow else "OK"


def _lost(stream: StreamHealth | None) -> bool:
    """Whether a stream's connection broke and no other was made yet."""
    return stream is not None and not stream.connected and stream.trouble is not None


def _trouble(stream: StreamHealth | None) -> str:
    trouble = None if stream is None else stream.trouble
    return "no reason given" if trouble is None else reason(trouble)
