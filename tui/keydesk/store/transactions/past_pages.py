"""Older lines of the transaction log in the store: requests for them, and pages that were read."""

from collections.abc import Iterable, Sequence

from keydesk.store.past_log import PAGE, PastLog
from keydesk.store.state import PastDirection, Topic
from keydesk.store.store import Store
from keydesk.words.log_line import LogLine
from keydesk.words.log_lines import line_of
from keydesk_client import models as m
from keydesk_client.account.values import number_of, readable

MAX_UNNAMED = 2000  # cancellations whose order was not read yet


def want_past(
    store: Store, direction: PastDirection, filter_text: str = "", *, from_followed: bool = True
) -> None:
    """Request lines beyond one end of the window; with another filter, or from the followed log again, a new one begins.

    Args:
        store: Has both.
        direction: "older", "newer", the "first" transactions, or "" to leave the window for the newest lines.
        filter_text: The words.
        from_followed: The reader sees the followed log, not a window that stands apart.
    """
    start = store.log_start
    past = store.past_log
    if start is None or not direction:
        store.past_log = None
    elif direction == "first" and start > PAGE + 1 and (past is None or past.oldest > PAGE + 1):
        store.past_log = PastLog(PAGE, filter_text)
    elif (
        past is None
        or past.filter_text != filter_text
        or (from_followed and not store.past_is_joined)
    ):
        store.past_log = PastLog(start - 1, filter_text)
    if store.past_log is not None:
        store.past_log.want("older" if direction == "first" else direction)
    store.mark(Topic.PAST_LOG)


def take_page(
    store: Store, past: PastLog, page: tuple[int, int], read: Sequence[m.Transaction]
) -> None:
    """Add the transactions of a page that adjoins the window; others, and those held, change nothing."""
    first, last = page
    if not past.extend(page):
        return
    inside = [each for each in readable(store, _numbered, read) if first <= each[0] <= last]
    transactions = [each for _, each in sorted(dict(inside).items())]
    for each in transactions:
        past.names.remember(each)
    made = list(readable(store, lambda each: _line(store, past, each), transactions))
    past.note_fills([*made, *store.log])
    past.add(made, older=last < past.newest)
    _name_cancellations(store, past, transactions)
    store.mark(Topic.PAST_LOG)


def _line(store: Store, past: PastLog, transaction: m.Transaction) -> LogLine:
    if isinstance(transaction, m.OrderCancelTransaction):
        order_id = transaction.order_id
        is_known = order_id in store.orders or order_id in past.names.orders
        if not is_known and len(past.unnamed) < MAX_UNNAMED:
            past.unnamed.setdefault(order_id, []).append(transaction)
    return line_of(transaction, store.orders, store.trades, past.names, store.instruments)


def _name_cancellations(store: Store, past: PastLog, transactions: Iterable[m.Transaction]) -> None:
    """Put cancellations into words again whose order is among these transactions."""
    for order in transactions:
        for cancel in past.unnamed.pop(order.id, ()):
            past.put(line_of(cancel, store.orders, store.trades, past.names, store.instruments))


def _numbered(transaction: m.Transaction) -> tuple[int, m.Transaction]:
    return number_of(transaction.id), transaction
