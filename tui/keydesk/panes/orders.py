"""The pending orders: entry orders first, then the orders of open trades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import ClassVar

from keydesk.keys.keymap import ORDERS
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.tables.column import Column, Measured, number_of_id
from keydesk.tables.instrument_rows import InstrumentRows
from keydesk.tables.sorted_table import SortedTable
from keydesk.tables.trades import counted_unread, unread_count, why_no_rows
from keydesk.text import format as show
from keydesk.text.sanitize import Printable, clean_name, safe
from keydesk.values import OrderRow, id_order
from keydesk.widgets.lines import Heading, Run, Tab
from keydesk.widgets.price_cells import price_format_of
from keydesk.widgets.theme import ColourRole, Palette
from keydesk_client.arithmetic.constants import SECOND

KINDS = {
    "LIMIT": "LIMIT",
    "STOP": "STOP",
    "MARKET_IF_TOUCHED": "TOUCHED",
    "TAKE_PROFIT": "target",
    "STOP_LOSS": "stop",
    "GUARANTEED_STOP_LOSS": "guaranteed",
    "TRAILING_STOP_LOSS": "trailing",
}


class Orders(InstrumentRows, SortedTable):
    """One row per order."""

    KEY_CONTEXT: ClassVar[str] = ORDERS
    NAME: ClassVar[str] = "Orders"
    FIRST: ClassVar[str] = "away"
    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("id", "id", 6, rank=5, right=False),
        Column("pair", "pair", 7, right=False, ascending=True),
        Column("side", "side", 5, rank=0, right=False, ascending=True),
        Column("kind", "kind", 10, rank=1, right=False, ascending=True),
        Column("units", "units", 10, rank=1),
        Column("price", "price", 9),
        Column("away", "away pips", 9, rank=1),
        Column("stop", "stop", 9, rank=3),
        Column("target", "target", 9, rank=4),
        Column("force", "until", 11, rank=2, right=False, ascending=True),
        Column("age", "age", 6, rank=6),
    )

    def __init__(self, *, id: str | None = "orders") -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)

    def heading(self) -> Heading:
        """Return how many orders are listed, and how many of them are entries."""
        if self.frame is None or self.frame.store.account is None:
            return Heading((Tab("Orders"),))
        orders = self.frame.store.orders.values()
        entries = sum(order.trade_id is None for order in orders)
        counts = (
            f"{entries} {'entry' if entries == 1 else 'entries'}" if entries else "",
            f"{len(orders) - entries} on trades" if len(orders) > entries else "",
        )
        unread = self.frame.store.unread.orders
        said = ", ".join(filter(None, (counted_unread(unread), *counts)))
        return self.titled(len(orders), usual=said, unread=unread_count(unread))

    def instrument_of(self, key: str, store: Store) -> str:
        """Return the instrument of a row."""
        order = store.orders.get(key)
        return order.instrument if order is not None else ""

    def empty(self, frame: Frame) -> Printable:
        """Return how to place a pending order, or how to see those that there are."""
        nothing: Printable = "No pending orders."
        buy, sell = self.keymap.name("buy"), self.keymap.name("sell")
        how = f"{buy} or {sell}, then o: a limit or stop order waits here."
        return why_no_rows(self, frame, nothing) or safe(f"{nothing} {how}")

    def changed(self, frame: Frame) -> None:
        """Redraw the rows whose distance moved."""
        dirty = frame.keys(Topic.ORDERS)
        self.show_rows(_entries_first(frame.store), frame)
        if None in dirty:
            self.redraw()
        for key in dirty:
            self.redraw_row(str(key))

    def cell(self, key: str, column: str, frame: Frame) -> Sequence[Run]:
        """Return one cell of an order."""
        order = frame.store.orders.get(key)
        if order is None:
            return []
        entry = order.trade_id is None
        if column == "side":
            return [_side(order, self.palette)]
        weight: ColourRole = (
            "plain" if entry and column in ("pair", "kind", "units", "price") else "muted"
        )
        return [(safe(self._text(order, column, frame)), self.palette[weight])]

    # Sorting and filtering.

    def measure(self, key: str, column: str, store: Store) -> Measured:
        """Return what a column measures of an order."""
        order = store.orders.get(key)
        return None if order is None else _measure(order, column)

    def text_of(self, key: str, store: Store) -> str:
        """Return instrument, side, kind, ids, its tag and that of its trade."""
        order = store.orders.get(key)
        if order is None:
            return ""
        side = "" if order.units is None else "buy" if order.units > 0 else "sell"
        kind = KINDS.get(order.type, "")
        trade = store.trades.get(order.trade_id or "")
        tag = order.tag if trade is None else f"{order.tag} {trade.tag}"
        ids = f"{order.id} {order.trade_id or ''} {order.client_id or ''}"
        return f"{order.instrument} {side} {kind} {order.type} {order.time_in_force} {ids} {tag}"

    def _text(self, order: OrderRow, column: str, frame: Frame) -> str:
        shape = price_format_of(frame.store, order.instrument)
        distance = shape.pips(order.distance) if order.distance is not None else None
        own = f"of {clean_name(order.trade_id) if order.trade_id else show.EMPTY}"
        texts = {
            "id": clean_name(order.id),
            "pair": show.pair(order.instrument),
            "kind": KINDS.get(order.type) or clean_name(order.type),
            "units": own if order.units is None else show.units(abs(order.units)),
            "price": shape.write(order.price)
            if order.price is not None
            else show.pips(distance, signed=False),
            "away": show.pips(order.pips_away, signed=False),
            "stop": "reduces" if order.reduces else shape.write(order.stop_loss),
            "target": shape.write(order.take_profit),
            "force": _until(order, frame.time_ns),
            "age": show.age(order.create_time_ns, frame.time_ns),
        }
        return texts[column]


def _measure(order: OrderRow, column: str) -> Measured:
    size = None if order.units is None else abs(order.units)
    side = None if order.units is None else "BUY" if order.units > 0 else "SELL"
    measured: Mapping[str, Measured] = {
        "id": number_of_id(order.id),
        "pair": order.instrument,
        "side": side,
        "kind": KINDS.get(order.type, order.type),
        "units": size,
        "price": order.price,
        "away": order.pips_away,
        "stop": order.stop_loss,
        "target": order.take_profit,
        "force": order.time_in_force,
        "age": -Decimal(order.create_time_ns),
    }
    return measured.get(column)


def _entries_first(store: Store) -> list[str]:
    newest_first = sorted(store.orders.values(), key=lambda order: id_order(order.id), reverse=True)

    def rank(order: OrderRow) -> tuple[bool, str]:
        return order.trade_id is not None, order.trade_id or ""

    return [order.id for order in sorted(newest_first, key=rank)]


def _side(order: OrderRow, palette: Palette) -> Run:
    if order.units is None:
        return ("", palette["muted"])
    return ("BUY", palette["buy"]) if order.units > 0 else ("SELL", palette["sell"])


def _until(order: OrderRow, now_ns: int) -> str:
    if order.gtd_ns is None:
        return clean_name(order.time_in_force)
    left = (order.gtd_ns - now_ns) / SECOND
    return f"GTD {show.duration(left)}"
