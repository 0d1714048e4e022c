"""Read the hourly candles that distances such as `1.5a` are counted by: of the focus, open trades and orders.

They are read again when an hour is over. Between, the average true range stays the same: only complete candles count.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from keydesk.calc.orders.average_range import CANDLES, GRANULARITY, average_range
from keydesk.feeds.account_feed import FAILURES, Link
from keydesk.store.candles import HOUR, candle_of
from keydesk.store.state import AverageRange, Topic
from keydesk_client.account.values import readable

CHECK_EVERY = 5.0  # seconds: the broker's clock may run faster than ours
STOOD_STILL = 0.3  # seconds in focus before an instrument is asked about: a held `j` passes by
AGAIN_AFTER = 20.0  # seconds, after a failure
PUBLISHED_AFTER = 3_000_000_000  # ns: a complete candle is there some moments after its end
MOST_HELD = 30  # instruments of trades and orders that are read at most


@dataclass(slots=True)
class Due:
    """When instruments may be read."""

    focus: str = ""
    since: float = 0.0  # monotonic seconds when it came into focus
    not_before: dict[str, float] = field(default_factory=dict)  # after a failure


async def keep_ranges(link: Link) -> None:
    """Read the candles that are missing or an hour old, one instrument at a time."""
    await link.priced.wait()
    due = Due()
    with link.store.subscribed(Topic.FOCUS, Topic.TRADES, Topic.ORDERS) as changed:
        while True:
            await link.wait(changed, await read_next(link, due))


async def read_next(link: Link, due: Due) -> float:
    """Read one instrument if one is due; return the seconds until the next check."""
    store, now = link.store, link.now()
    if store.focus != due.focus:
        due.focus, due.since = store.focus, now
    for instrument in _wanted_instruments(link):
        if now < due.not_before.get(instrument, now) or not _is_missing(link, instrument):
            continue
        if instrument == due.focus and now - due.since < STOOD_STILL:
            return STOOD_STILL - (now - due.since)
        if not await read_candles(link, instrument):
            due.not_before[instrument] = link.now() + AGAIN_AFTER
        return 0.0
    return CHECK_EVERY


def _wanted_instruments(link: Link) -> Iterator[str]:
    """Yield the focus, then the instruments of trades and orders."""
    store = link.store
    held = dict.fromkeys(trade.instrument for trade in store.trades.values())
    held |= dict.fromkeys(order.instrument for order in store.orders.values())
    for instrument in (store.focus, *list(held)[:MOST_HELD]):
        if instrument in store.instruments:
            yield instrument


def _is_missing(link: Link, instrument: str) -> bool:
    known, clock = link.store.average_ranges.get(instrument), link.store.clock_ns
    if known is None or clock >= known.until_ns + PUBLISHED_AFTER:
        return True
    return clock < known.read_ns - HOUR  # read by a clock that was wrong


async def read_candles(link: Link, instrument: str) -> bool:
    """Read the candles of an instrument; return False if there was no answer, and keep what was known."""
    store = link.store
    precision = store.instruments[instrument].display_precision  # it may go while we wait
    try:
        answer = await link.ask(
            link.client.candles.get(
                instrument, granularity=GRANULARITY, price="M", count=CANDLES + 1
            )
        )
    except FAILURES as error:
        link.count_unreadable(error)
        return False
    candles = [each for each in readable(store, candle_of, answer.candles) if each is not None]
    complete = sorted((each for each in candles if each.complete), key=lambda each: each.time_ns)
    clock = store.clock_ns
    store.average_ranges[instrument] = AverageRange(
        average_range(complete, precision), clock - clock % HOUR + HOUR, clock
    )
    return True
