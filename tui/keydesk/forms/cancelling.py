"""Cancel one order, or the entry orders of an instrument or of the account."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from keydesk.calc.instructions import CancelOrders
from keydesk.forms.form import Form
from keydesk.forms.sheet import BLANK, Line
from keydesk.forms.situation import Situation
from keydesk.keys.confirm import Deed
from keydesk.keys.keymap import CANCEL_ENTRIES, KEYMAP
from keydesk.records import OrderRow
from keydesk.text.format import pair
from keydesk.text.sanitize import safe
from keydesk.trading.instruction_words import order_name

ENTRY_TYPES = frozenset({"MARKET", "LIMIT", "STOP", "MARKET_IF_TOUCHED"})
STOP_TYPES = frozenset({"STOP_LOSS", "TRAILING_STOP_LOSS", "GUARANTEED_STOP_LOSS"})
SHOWN_ORDERS = 10


class CancelForm(Form[CancelOrders]):
    """Cancels the selected order; one that protects a trade asks for a letter."""

    WIDTH: ClassVar[int] = 68

    def __init__(self, situation: Situation, order_id: str) -> None:
        super().__init__(situation)
        self.order_id = order_id

    @property
    def order(self) -> OrderRow | None:
        """Return the order, None once it is gone."""
        return self.situation.store.orders.get(self.order_id)

    def headline(self) -> Line:
        """Say which order."""
        order = self.order
        return (
            ("CANCEL ", "bright"),
            (order_name(order) if order else safe(f"#{self.order_id}"), "bright"),
        )

    def deed(self) -> Deed:
        """Name it: a stop taken away loosens."""
        order = self.order
        if order is not None and order.type in STOP_TYPES:
            return Deed.LOOSEN
        return Deed.CANCEL_ORDER

    def warnings(self) -> Sequence[str]:
        """Say what loses its protection."""
        order = self.order
        if order is None or order.type not in STOP_TYPES:
            return ()
        return [f"Trade #{order.trade_id} loses this stop"]

    def refusals(self) -> Sequence[str]:
        """Refuse only what is gone already."""
        return () if self.order else ["It is filled or cancelled already"]

    def result(self) -> CancelOrders | None:
        """Return the order to cancel."""
        order = self.order
        return CancelOrders((self.order_id,), order_name(order)) if order else None


class CancelEntriesForm(Form[CancelOrders]):
    """Cancels entry orders of the instrument, or of the account; what protects trades is left alone."""

    KEY_CONTEXT: ClassVar[str] = CANCEL_ENTRIES
    BINDINGS = KEYMAP.bindings(CANCEL_ENTRIES)
    WIDTH: ClassVar[int] = 68

    def __init__(self, situation: Situation, instrument: str) -> None:
        super().__init__(situation)
        self.instrument = instrument
        self.everywhere = False

    @property
    def orders(self) -> Sequence[OrderRow]:
        """Return the entry orders in the scope."""
        return [order for order in self._in_scope() if order.type in ENTRY_TYPES]

    def headline(self) -> Line:
        """Say how many and where."""
        where = "of the whole account" if self.everywhere else f"of {pair(self.instrument)}"
        count = len(self.orders)
        return (
            (safe(f"CANCEL {count} entry {'order' if count == 1 else 'orders'} {where}"), "bright"),
        )

    def body(self) -> Sequence[Line]:
        """List them, and what stays."""
        orders = self.orders
        lines: list[Line] = [((order_name(order), "plain"),) for order in orders[:SHOWN_ORDERS]]
        if len(orders) > SHOWN_ORDERS:
            lines.append(((safe(f"and {len(orders) - SHOWN_ORDERS} more"), "muted"),))
        staying = sum(order.type not in ENTRY_TYPES for order in self._in_scope())
        if staying:
            lines.append(((safe(f"{staying} protective orders stay"), "muted"),))
        scope: Line = (
            ("a", "bright"),
            (" whole account   ", "muted"),
            ("i", "bright"),
            (" instrument", "muted"),
        )
        return [*lines, BLANK, scope]

    def deed(self) -> Deed:
        """Name it for the matrix."""
        return Deed.CANCEL_ENTRIES

    def refusals(self) -> Sequence[str]:
        """Say when there is nothing to cancel."""
        return () if self.orders else ["No entry orders there"]

    def result(self) -> CancelOrders:
        """Return the orders listed."""
        ids = tuple(order.id for order in self.orders)
        return CancelOrders(ids, f"{len(ids)} entry orders")

    def action_scope(self, scope: Literal["all", "one"]) -> None:
        """Turn between account and instrument."""
        self.everywhere = scope == "all"
        self.redraw()

    def _in_scope(self) -> Sequence[OrderRow]:
        orders = self.situation.store.orders.values()
        return [order for order in orders if self.everywhere or order.instrument == self.instrument]
