"""How fresh the desk's knowledge is, judged twice a second."""

from keydesk.feeds.link import Link
from keydesk.feeds.round_trips import RoundTrips
from keydesk.store.state import Health, LinkState, Topic

LOOK_EVERY = 0.5
STALE_AFTER = 6.0  # seconds without any line: heartbeats come every five
SLOW_MS = 1000.0


async def watch_health(link: Link) -> None:
    """Judge again and again; a change reaches the panes at once, ages with the next frame."""
    while True:
        judge(link.store.health, link.round_trips, link.now())
        if link.store.clock_ns:
            offset = (link.store.clock_ns - link.wall_ns()) / 1e6
            link.store.health.clock_offset_ms = offset
        link.store.mark(Topic.HEALTH)
        await link.pause(LOOK_EVERY)


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
