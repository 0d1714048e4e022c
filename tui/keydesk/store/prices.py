"""A price becomes a quote: the hottest path of the desk, so it only compares, writes and marks."""

from collections.abc import Iterable

from keydesk.store.candles import move_last
from keydesk.store.state import Quote, Topic
from keydesk.store.store import Store
from keydesk_client.models import ClientPrice, HomeConversions


def take_price(store: Store, price: ClientPrice, received: float) -> None:
    """Write one price; an older one than is shown (a slow answer beside the stream) is dropped.

    Args:
        store: Where to.
        price: As it came.
        received: Monotonic seconds when it came.
    """
    instrument, moment = price.instrument, price.time
    if instrument is None or moment is None:
        return
    bid = price.bids[0].price if price.bids else price.closeout_bid
    ask = price.asks[0].price if price.asks else price.closeout_ask
    tradeable = price.tradeable is not False
    quote = store.quotes.get(instrument)
    if quote is None:
        store.quotes[instrument] = Quote(instrument, bid, ask, moment.ns, tradeable, received)
    else:
        if moment.ns < quote.time_ns:
            return
        if bid != quote.bid or ask != quote.ask:
            quote.bid_move = (bid > quote.bid) - (bid < quote.bid)
            quote.ask_move = (ask > quote.ask) - (ask < quote.ask)
            quote.bid, quote.ask = bid, ask
            quote.moved_at = received
        quote.time_ns = moment.ns
        quote.tradeable = tradeable
        quote.received = received
    store.mark(Topic.PRICES, instrument)
    store.clock_ns = max(store.clock_ns, moment.ns)
    _widen_day(store, instrument)
    if instrument in store.charted:
        _move_candles(store, instrument)


def take_conversions(store: Store, conversions: Iterable[HomeConversions]) -> None:
    """Write what currencies are worth at home; everything held in them is worth something else now."""
    for each in conversions:
        if store.conversions.get(each.currency) != each:
            store.conversions[each.currency] = each
            store.mark(Topic.POSITIONS)


def forget_ages(store: Store) -> None:
    """Accept the next price of every instrument whatever its time: the broker may be another one."""
    for quote in store.quotes.values():
        quote.time_ns = 0
    store.clock_ns = 0


def _widen_day(store: Store, instrument: str) -> None:
    day = store.days.get(instrument)
    if day is None:
        return
    quote = store.quotes[instrument]
    mid = (quote.bid + quote.ask) / 2
    if mid > day.high:
        day.high = mid
    elif mid < day.low:
        day.low = mid


def _move_candles(store: Store, instrument: str) -> None:
    quote = store.quotes[instrument]
    mid = float(quote.bid + quote.ask) / 2
    for series in store.charted[instrument]:
        if move_last(series, mid, quote.time_ns):
            store.mark(Topic.CANDLES, (instrument, series.granularity))
