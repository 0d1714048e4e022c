"""Forms that cancel pending orders: one, or the entry orders of an instrument or of the account."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from keydesk.calc.orders.instructions import CancelOrders
from keydesk.forms.form import Form
from keydesk.forms.modal_form import BLANK, FormContext, TextLine
from keydesk.forms.ticket_lines import choices_line, labelled
from keydesk.keys.confirm import Action
from keydesk.keys.keymap import CANCEL_ENTRIES, CANCEL_SCOPES
from keydesk.store.trading_context import LISTED
from keydesk.text.format import pair
from keydesk.text.sanitize import safe
from keydesk.values import OrderRow
from keydesk.words.order_text import order_name

ENTRY_TYPES = frozenset({"MARKET", "LIMIT", "STOP", "MARKET_IF_TOUCHED"})
STOP_TYPES = frozenset({"STOP_LOSS", "TRAILING_STOP_LOSS", "GUARANTEED_STOP_LOSS"})
SHOWN_ORDERS = 10


class CancelForm(Form[CancelOrders]):
    """Cancels the selected order; one that protects a trade asks for a letter."""

    TWO_COLUMNS: ClassVar[bool] = False
    WIDTH: ClassVar[int] = 68

    def __init__(self, context: FormContext, order_id: str) -> None:
        super().__init__(context)
        self.order_id = order_id

    @property
    def order(self) -> OrderRow | None:
        """Return the order, None once it is gone."""
        return self.context.store.orders.get(self.order_id)

    def headline(self) -> TextLine:
        """Return the order that it is about."""
        order = self.order
        return (
            ("CANCEL ", "bright"),
            (order_name(order) if order else safe(f"#{self.order_id}"), "bright"),
        )

    def action(self) -> Action:
        """Return LOOSEN for a stop, which needs a letter, CANCEL_ORDER for others."""
        order = self.order
        if order is not None and order.type in STOP_TYPES:
            return Action.LOOSEN
        return Action.CANCEL_ORDER

    def warnings(self) -> Sequence[str]:
        """Warn that a trade loses its stop."""
        order = self.order
        if order is None or order.type not in STOP_TYPES:
            return ()
        return [f"Trade #{order.trade_id} loses this stop"]

    def refusals(self) -> Sequence[str]:
        """Refuse only an order that is gone already."""
        return () if self.order else ["It is filled or cancelled already"]

    def request(self) -> CancelOrders | None:
        """Return the order to cancel."""
        order = self.order
        return CancelOrders((self.order_id,), order_name(order)) if order else None


class CancelEntriesForm(Form[CancelOrders]):
    """Cancels entry orders of the instrument, or of the account; what protects trades is left alone."""

    ACTION: ClassVar[Action] = Action.CANCEL_ENTRIES
    TWO_COLUMNS: ClassVar[bool] = False
    KEY_CONTEXT: ClassVar[str] = CANCEL_ENTRIES
    WIDTH: ClassVar[int] = 68

    def __init__(self, context: FormContext, instrument: str) -> None:
        super().__init__(context)
        self.instrument = instrument
        self.everywhere = False

    @property
    def orders(self) -> Sequence[OrderRow]:
        """Return the entry orders in the scope."""
        return self.once((LISTED, self.everywhere), self._entries)

    def _entries(self) -> Sequence[OrderRow]:
        return [order for order in self._in_scope() if order.type in ENTRY_TYPES]

    def headline(self) -> TextLine:
        """Return how many orders and their scope."""
        where = "of the whole account" if self.everywhere else f"of {pair(self.instrument)}"
        count = len(self.orders)
        return (
            (safe(f"CANCEL {count} entry {'order' if count == 1 else 'orders'} {where}"), "bright"),
        )

    def effect(self) -> Sequence[TextLine]:
        """List them, and what stays."""
        orders = self.orders
        lines: list[TextLine] = [((order_name(order), "plain"),) for order in orders[:SHOWN_ORDERS]]
        if len(orders) > SHOWN_ORDERS:
            lines.append(((safe(f"and {len(orders) - SHOWN_ORDERS} more"), "muted"),))
        staying = sum(order.type not in ENTRY_TYPES for order in self._in_scope())
        if staying:
            lines.append(
                (
                    (
                        safe(
                            f"{staying} protective {'order stays' if staying == 1 else 'orders stay'}"
                        ),
                        "muted",
                    ),
                )
            )
        return [*lines, BLANK, choices_line(labelled(CANCEL_SCOPES))]

    def refusals(self) -> Sequence[str]:
        """Refuse when there is nothing to cancel."""
        return () if self.orders else ["No entry orders there"]

    def request(self) -> CancelOrders | None:
        """Return the orders listed on the screen that are still there."""
        known = self.context.store.orders
        ids = tuple(order.id for order in self.orders if order.id in known)
        return CancelOrders(ids, f"{len(ids)} entry orders") if ids else None

    def action_scope(self, scope: Literal["all", "one"]) -> None:
        """Turn between account and instrument."""
        self.everywhere = scope == "all"
        self.redraw()

    def _in_scope(self) -> Sequence[OrderRow]:
        orders = self.context.store.orders.values()
        return [order for order in orders if self.everywhere or order.instrument == self.instrument]
