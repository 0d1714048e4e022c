"""Orders of the account in any state, in words, as the broker lists them: newest first, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from msgspec import Struct

from keydesk.store.store import Store
from keydesk.text.format import EMPTY, pair, units
from keydesk.text.sanitize import SafeText, clean_name, safe
from keydesk.words.order_text import ORDER_TYPES, order_name
from keydesk_client import models as m
from keydesk_client.account.rows import order_row
from keydesk_client.account.values import checked_time_ns, number_of, readable


class AccountOrder(Struct, frozen=True):
    """An order of the account, pending or ended."""

    id: str
    time_ns: int  # when it was made
    state: str  # as on the wire: FILLED
    instrument: str  # "" of a dependent order whose trade is closed
    text: SafeText


class OrderList(Struct, frozen=True):
    """A page of orders."""

    orders: Sequence[AccountOrder] = ()
    before_id: str = ""  # of the next page; "" after the last one
    trouble: str = ""  # why it could not be read


def order_list(orders: Sequence[m.Order], store: Store, *, more: bool) -> OrderList:
    """Return a page of orders; those that cannot be read are counted and left out.

    Raises:
        ValueError: an id is not a number, so that the next page is not known.
    """
    lowest = min((number_of(order.id) for order in orders), default=1)
    rows = tuple(readable(store, partial(account_order, store=store), orders))
    return OrderList(rows, str(lowest - 1) if more and lowest > 1 else "")


def account_order(order: m.Order, store: Store) -> AccountOrder:
    """Return an order in words."""
    row = order_row(order, store.trades, store.printable)
    instrument = getattr(order, "instrument", "") if row is None else row.instrument
    name = _name_of_one_that_never_rests(order) if row is None else order_name(row)
    end = ", ".join(_end(order))
    return AccountOrder(
        id=str(number_of(order.id)),
        time_ns=checked_time_ns(order.create_time),
        state=order.state,
        instrument=instrument,
        text=safe(f"{name}: {end}" if end else name),
    )


def _name_of_one_that_never_rests(order: m.Order) -> str:
    """Return a market order in words, or one of a type that this desk does not know."""
    type_ = clean_name(order.type.replace("_", " ").lower())
    kind, size = ORDER_TYPES.get(order.type) or type_, getattr(order, "units", None)
    side = "" if size is None else f"{'BUY' if size > 0 else 'SELL'} {units(abs(size))} "
    instrument = getattr(order, "instrument", None)
    name = EMPTY if instrument is None else pair(instrument)
    return f"{side}{name} {kind} #{clean_name(order.id)}"


def _end(order: m.Order) -> Iterator[str]:
    """Yield what the order did to trades, and its replacement."""
    opened = getattr(order, "trade_opened_id", None)
    reduced = getattr(order, "trade_reduced_id", None)
    closed = getattr(order, "trade_closed_ids", None)
    by = getattr(order, "replaced_by_order_id", None)
    named = (("opened", opened), ("reduced", reduced), ("replaced by", by))
    yield from (f"{what} #{clean_name(id_)}" for what, id_ in named if id_)
    if closed:
        yield f"closed {' '.join(f'#{clean_name(id_)}' for id_ in closed)}"
