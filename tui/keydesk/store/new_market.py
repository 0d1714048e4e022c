"""Forget what belongs to the market before a replay began: prices, candles, books, the day and the log."""

from keydesk.calc.risk.sizing import TypicalSpreads
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.watchlists import fill_list


def forget_market(store: Store) -> None:
    """Empty what the market before told; trades and orders stay until the snapshot of the account replaces them."""
    for held in (
        *(store.quotes, store.days, store.day_lines, store.daily_ranges, store.average_ranges),
        *(store.conversions, store.books, store.log, store.closed, store.opening_costs),
        *(store.closed_parts, store.series, store.charted),
    ):
        held.clear()
    store.spreads = TypicalSpreads()
    store.today = store.past_log = None
    store.clock_ns = store.book_time_ns = 0
    store.instruments = {}
    fill_list(store)
    for topic in Topic:
        store.mark(topic)
