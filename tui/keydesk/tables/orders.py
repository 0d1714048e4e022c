"""The pending orders: entry orders first, then the orders of open trades."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar

from msgspec import Struct

from keydesk.keys.keymap import ORDERS
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.tables.column import ValueColumn, number_of_id
from keydesk.tables.column_table import ColumnTable
from keydesk.tables.instrument_rows import InstrumentRows
from keydesk.tables.trades import counted_unread, unread_count, why_no_rows
from keydesk.text import format as show
from keydesk.text.sanitize import Printable, clean_name, safe
from keydesk.values import OrderRow, id_order
from keydesk.widgets.lines import Heading, Tab
from keydesk.widgets.price_cells import PriceFormat, price_format_of
from keydesk.widgets.theme import ColourRole
from keydesk_client.arithmetic.constants import SECOND

UNITS_WIDTH = 10  # columns
MOST_DIGITS = UNITS_WIDTH - len("trade ")  # of a trade's id with that word
KINDS = {
    "LIMIT": "LIMIT",
    "STOP": "STOP",
    "MARKET_IF_TOUCHED": "TOUCHED",
    "TAKE_PROFIT": "target",
    "STOP_LOSS": "stop",
    "GUARANTEED_STOP_LOSS": "guaranteed",
    "TRAILING_STOP_LOSS": "trailing",
}


def _until(order: OrderRow, now_ns: int) -> str:
    if order.gtd_ns is None:
        return clean_name(order.time_in_force)
    left = (order.gtd_ns - now_ns) / SECOND
    return f"GTD {show.duration(left)}"


class OrderLine(Struct, frozen=True):
    """What the columns read of an order."""

    order: OrderRow
    store: Store
    now_ns: int

    @property
    def price_format(self) -> PriceFormat:
        """How the instrument's prices are written."""
        return price_format_of(self.store, self.order.instrument)

    @property
    def side(self) -> str:
        """The side in a word; "" of an order of a trade."""
        units = self.order.units
        return "" if units is None else "BUY" if units > 0 else "SELL"

    @property
    def kind_text(self) -> str:
        """The kind, and whether the order only reduces a position."""
        kind = KINDS.get(self.order.type) or clean_name(self.order.type)
        return f"{kind} reduce" if self.order.reduces else kind

    @property
    def size_text(self) -> str:
        """The units; of an order of a trade which one it is of."""
        order = self.order
        if order.units is not None:
            return show.units(abs(order.units))
        trade = clean_name(order.trade_id) if order.trade_id else show.EMPTY
        return f"trade {trade}" if len(trade) <= MOST_DIGITS else f"#{trade}"

    @property
    def price_text(self) -> str:
        """The price; of a trailing stop its distance in pips."""
        order, write = self.order, self.price_format
        if order.price is not None:
            return write.write(order.price)
        return show.pips(
            None if order.distance is None else write.pips(order.distance), signed=False
        )

    @property
    def tags(self) -> str:
        """Its tag and that of its trade."""
        trade = self.store.trades.get(self.order.trade_id or "")
        return self.order.tag if trade is None else f"{self.order.tag} {trade.tag}"


def _weight(line: OrderLine) -> ColourRole:
    return "plain" if line.order.trade_id is None else "muted"


def _words_of_kind(line: OrderLine) -> str:
    return f"{line.kind_text} {line.order.type}"


def _ids(line: OrderLine) -> str:
    order = line.order
    return f"{order.id} {order.trade_id or ''} {order.client_id or ''} {line.tags}"


OrderColumn = ValueColumn[OrderLine]
ORDER_COLUMNS: tuple[OrderColumn, ...] = (
    OrderColumn(
        *("id", "id", 6, 5),
        right=False,
        text=lambda line: clean_name(line.order.id),
        value=lambda line: number_of_id(line.order.id),
        search_text=_ids,
    ),
    OrderColumn(
        *("pair", "pair", 7),
        right=False,
        ascending=True,
        text=lambda line: show.pair(line.order.instrument),
        role=_weight,
        value=lambda line: line.order.instrument,
        search_text=lambda line: line.order.instrument,
    ),
    OrderColumn(
        *("side", "side", 5, 0),
        right=False,
        ascending=True,
        text=lambda line: line.side,
        role=lambda line: "buy" if line.side == "BUY" else "sell" if line.side else "muted",
        value=lambda line: line.side or None,
        search_text=lambda line: line.side.lower(),
    ),
    OrderColumn(
        *("kind", "kind", 10, 1),
        right=False,
        ascending=True,
        text=lambda line: line.kind_text,
        role=_weight,
        value=lambda line: KINDS.get(line.order.type, line.order.type),
        search_text=_words_of_kind,
    ),
    OrderColumn(
        *("units", "units", UNITS_WIDTH, 1),
        text=lambda line: line.size_text,
        role=_weight,
        value=lambda line: None if line.order.units is None else abs(line.order.units),
    ),
    OrderColumn(
        *("price", "price", 9),
        text=lambda line: line.price_text,
        role=_weight,
        value=lambda line: line.order.price,
    ),
    OrderColumn(
        *("away", "away pips", 9, 1),
        text=lambda line: show.pips(line.order.pips_away, signed=False),
        value=lambda line: line.order.pips_away,
    ),
    OrderColumn(
        *("stop", "stop", 9, 3),
        text=lambda line: line.price_format.write(line.order.stop_loss),
        value=lambda line: line.order.stop_loss,
    ),
    OrderColumn(
        *("target", "target", 9, 4),
        text=lambda line: line.price_format.write(line.order.take_profit),
        value=lambda line: line.order.take_profit,
    ),
    OrderColumn(
        *("force", "until", 9, 2),
        right=False,
        ascending=True,
        text=lambda line: _until(line.order, line.now_ns),
        value=lambda line: line.order.time_in_force,
        search_text=lambda line: line.order.time_in_force,
    ),
    OrderColumn(
        *("age", "age", 6, 6),
        text=lambda line: show.age(line.order.create_time_ns, line.now_ns),
        value=lambda line: -Decimal(line.order.create_time_ns),
    ),
)


class Orders(InstrumentRows, ColumnTable[OrderLine]):
    """One row per order."""

    KEY_CONTEXT: ClassVar[str] = ORDERS
    NAME: ClassVar[str] = "Orders"
    FIRST: ClassVar[str] = "away"
    COLUMNS: ClassVar[tuple[OrderColumn, ...]] = ORDER_COLUMNS

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

    def record(self, key: str, store: Store) -> OrderLine | None:
        """Return what the columns read of an order."""
        order = store.orders.get(key)
        return None if order is None else OrderLine(order, store, self.now_ns)


def _entries_first(store: Store) -> list[str]:
    newest_first = sorted(store.orders.values(), key=lambda order: id_order(order.id), reverse=True)

    def rank(order: OrderRow) -> tuple[bool, str]:
        return order.trade_id is not None, order.trade_id or ""

    return [order.id for order in sorted(newest_first, key=rank)]
