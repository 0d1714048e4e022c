"""Read the hourly candles that distances such as `1.5a` are counted by: of the focus, open trades and orders.

They are read again when an hour is over. Between, the average true range stays the same: only complete candles count.
"""

from collections.abc import Iterator

from msgspec import Struct, field

from keydesk.calc.orders.average_range import CANDLES, GRANULARITY, average_range
from keydesk.feeds.account_feed import AccountFeed
from keydesk.store.candles import candle_of
from keydesk.store.state import AverageRange, Topic
from keydesk_client.account.values import readable
from keydesk_client.arithmetic.constants import HOUR
from keydesk_client.following.feeds import FAILURES

CHECK_EVERY = 5.0  # seconds: the broker's clock may run faster than ours
STOOD_STILL = (
    0.3  # seconds in focus before an instrument is requested: holding `j` down requests nothing
)
AGAIN_AFTER = 20.0  # seconds, after a failure
PUBLISHED_AFTER = 3_000_000_000  # ns: a complete candle is there some moments after its end
MAX_HELD = 30  # instruments of trades and orders that are read at most


class NextReads(Struct):
    """When instruments may be read."""

    focus: str = ""
    since: float = 0.0  # monotonic seconds when it came into focus
    not_before: dict[str, float] = field(default_factory=dict)  # after a failure


async def update_average_ranges(feed: AccountFeed) -> None:
    """Read the candles that are missing or an hour old, one instrument at a time."""
    await feed.priced.wait()
    due = NextReads()
    with feed.store.subscribed(Topic.FOCUS, Topic.TRADES, Topic.ORDERS) as changed:
        while True:
            await feed.wait(changed, await read_next(feed, due))


async def read_next(feed: AccountFeed, due: NextReads) -> float:
    """Read one instrument if one is due; return the seconds until the next check."""
    store, now = feed.store, feed.now()
    if store.focus != due.focus:
        due.focus, due.since = store.focus, now
    for instrument in _wanted_instruments(feed):
        if now < due.not_before.get(instrument, now) or not _is_missing(feed, instrument):
            continue
        if instrument == due.focus and now - due.since < STOOD_STILL:
            return STOOD_STILL - (now - due.since)
        if not await read_candles(feed, instrument):
            due.not_before[instrument] = feed.now() + AGAIN_AFTER
        return 0.0
    return CHECK_EVERY


def _wanted_instruments(feed: AccountFeed) -> Iterator[str]:
    """Yield the focus, then the instruments of trades and orders."""
    store = feed.store
    held = dict.fromkeys(trade.instrument for trade in store.trades.values())
    held |= dict.fromkeys(order.instrument for order in store.orders.values())
    for instrument in (store.focus, *list(held)[:MAX_HELD]):
        if instrument in store.instruments:
            yield instrument


def _is_missing(feed: AccountFeed, instrument: str) -> bool:
    known, clock = feed.store.average_ranges.get(instrument), feed.store.clock_ns
    if known is None or clock >= known.until_ns + PUBLISHED_AFTER:
        return True
    return clock < known.read_ns - HOUR  # read by a clock that was wrong


async def read_candles(feed: AccountFeed, instrument: str) -> bool:
    """Read the candles of an instrument; return False if there was no answer, and keep what was known."""
    store = feed.store
    precision = store.instruments[instrument].display_precision  # it may go while we wait
    try:
        answer = await feed.request(
            feed.client.candles.get(
                instrument, granularity=GRANULARITY, price="M", count=CANDLES + 1
            )
        )
    except FAILURES as error:
        feed.count_unreadable(error)
        return False
    candles = [each for each in readable(store, candle_of, answer.candles) if each is not None]
    complete = sorted((each for each in candles if each.complete), key=lambda each: each.time_ns)
    clock = store.clock_ns
    store.average_ranges[instrument] = AverageRange(
        average_range(complete, precision), clock - clock % HOUR + HOUR, clock
    )
    return True
