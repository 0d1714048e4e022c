"""The page of the account's orders by state: pending, filled, cancelled or triggered ones; newest first, older ones load."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from msgspec.structs import replace
from rich.cells import cell_len

from keydesk.forms.info_form import InfoForm
from keydesk.forms.modal_form import TextLine
from keydesk.keys.keymap import ACCOUNT_ORDERS
from keydesk.keys.textual_bindings import bindings_of
from keydesk.parse.pages import ORDER_STATES, OrdersIn
from keydesk.store.store import Store
from keydesk.store.transactions.account_orders import AccountOrder, OrderList
from keydesk.text.format import at, shorten_text
from keydesk.text.sanitize import Printable, clean, clean_name, safe
from keydesk.widgets.theme import ColourRole

STATE_WIDTH = 9  # columns of CANCELLED
ROLES: Mapping[str, ColourRole] = {
    "PENDING": "focus",
    "FILLED": "good",
    "CANCELLED": "muted",
    "TRIGGERED": "warn",
}
Take = Callable[[OrderList], None]


class AccountOrdersForm(InfoForm[None]):
    """Shows orders of the account; it sends nothing.

    Args:
        store: Has the trader's zone.
        state: Which orders it begins with.
        read: Reads a page of orders in a state, those up to an id ("": the newest), and hands it to its argument.
        show_order: Shows the transactions of an order.
    """

    KEY_CONTEXT: ClassVar[str] = ACCOUNT_ORDERS
    BINDINGS = bindings_of(ACCOUNT_ORDERS)
    WIDTH: ClassVar[int] = 176

    def __init__(
        self,
        store: Store,
        state: OrdersIn,
        read: Callable[[OrdersIn, str, Take], None],
        show_order: Callable[[AccountOrder], None] = lambda _: None,
    ) -> None:
        super().__init__()
        self.store, self._read, self._show_order = store, read, show_order
        self.state: OrdersIn = state
        self.listed = OrderList()
        self.cursor = 0
        self._request = 0  # number of the last request; answers to others are dropped
        self._is_reading = False

    def on_mount(self) -> None:
        super().on_mount()
        self._begin()

    def _begin(self) -> None:
        self.listed, self.cursor = OrderList(), 0
        self._ask("")

    def _ask(self, before_id: str) -> None:
        self._request += 1
        request, self._is_reading = self._request, True
        self._read(self.state, before_id, lambda page: self._add(request, page))
        self.redraw()

    def _add(self, request: int, page: OrderList) -> None:
        """Show a further page; one that repeats orders or could not be read leaves those that are shown."""
        if request != self._request:
            return
        self._is_reading = False
        known = {order.id for order in self.listed.orders}
        new = [order for order in page.orders if order.id not in known]
        if page.trouble:
            self.listed = replace(self.listed, trouble=page.trouble)
        else:
            self.listed = OrderList((*self.listed.orders, *new), page.before_id)
        self.redraw()

    # What is shown.

    def title_text(self) -> Printable:
        """Name the state, and the number of orders that were read."""
        state = "in every state" if self.state == "ALL" else self.state.lower()
        count = len(self.listed.orders)
        at_row = f"  {self.cursor + 1:,} of {count:,}" if count else ""
        older = ", older ones follow" if self.listed.before_id else ""
        return safe(f"Orders {state}{at_row}{older}")

    def foot_text(self) -> Printable:
        """Return the keys that fit."""
        rows = ("↑ ↓ choose", "Enter opens") if self.listed.orders else ()
        further = ("Space page",) if self.listed.orders else ()
        return self.keys_that_fit(*rows, "v next state", *further, "r reads again")

    def lines(self) -> Sequence[TextLine]:
        """Return the orders around the cursor, then what is being read or failed."""
        notice: list[TextLine] = []
        if self._is_reading:
            notice = [(("Reading …", "muted"),)]
        elif self.listed.trouble:
            text = clean(f"Could not be read: {self.listed.trouble}. r reads again")
            notice = [((shorten_text(text, self.inside), "warn"),)]
        elif not self.listed.orders:
            notice = [(("No such order", "muted"),)]
        orders = self.listed.orders
        rows = max(1, self.room - len(notice))
        first = max(0, min(self.cursor - rows // 2, len(orders) - rows))
        shown = list(enumerate(orders))[first : first + rows]
        return [*(self._line(each, chosen=row == self.cursor) for row, each in shown), *notice]

    def _line(self, order: AccountOrder, *, chosen: bool) -> TextLine:
        time = safe(f"{at(order.time_ns, self.store.zone):%Y-%m-%d %H:%M}")
        state = safe(f" {clean_name(order.state):<{STATE_WIDTH}} ")
        room = max(1, self.inside - cell_len(time) - cell_len(state) - 2)
        return (
            ("▶ " if chosen else "  ", "focus"),
            (time, "faint"),
            (state, ROLES.get(order.state, "muted")),
            (shorten_text(order.text, room), "bright" if chosen else "plain"),
        )

    # Keys.

    def action_choose(self, step: int) -> None:
        """Choose the next order, or the one before; past the last one the older ones are read."""
        last = len(self.listed.orders) - 1
        if self.cursor + step > last and self.listed.before_id and not self._is_reading:
            self._ask(self.listed.before_id)
        self.cursor = max(0, min(last, self.cursor + step))
        self.redraw()

    def action_page(self, step: int) -> None:
        """Go on by as many orders as are shown."""
        self.action_choose(step * max(1, self.room - 1))

    def action_open(self) -> None:
        """Show the transactions of the chosen order."""
        if self.listed.orders:
            self._show_order(self.listed.orders[self.cursor])

    def action_next_state(self) -> None:
        """Show the orders in the next state."""
        self.state = ORDER_STATES[(ORDER_STATES.index(self.state) + 1) % len(ORDER_STATES)]
        self._begin()

    def action_read(self) -> None:
        """Read the orders anew."""
        self._begin()
