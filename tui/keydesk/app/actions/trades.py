"""Actions that open the forms that trade: tickets; close, protect, move, cancel, reverse and flatten."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.ticket_draft import kind_at, limit_side
from keydesk.panes.chart_marks import OwnLine, nearest_line
from keydesk.parse.orders import ParsedOrder
from keydesk.text.format import pair

if TYPE_CHECKING:
    from keydesk.app.desk import Decided, TradingDesk
    from keydesk.calc.orders.ticket_draft import Side
    from keydesk.forms.trades.trade_form import TradeForm


class TicketActions:
    """Opens tickets, at the price of the crosshair while it is on."""

    def __init__(self, desk: TradingDesk) -> None:
        self._desk, self._window, self._store = desk, desk.window, desk.store

    def action_buy(self) -> None:
        """Open a buy ticket, at the price of the crosshair while it is on."""
        self._ticket_here("BUY")

    def action_sell(self) -> None:
        """Open a sell ticket, at the price of the crosshair while it is on."""
        self._ticket_here("SELL")

    def action_limit(self) -> None:
        """Open a limit ticket at the price of the crosshair: bought below the market, sold above it."""
        pointed = self._window.pointed_at()
        quote = None if pointed is None else self._store.quotes.get(pointed[0])
        if pointed is None:
            chart, crosshair = (
                self._window.keymap.name("go-chart"),
                self._window.keymap.name("crosshair"),
            )
            self._store.notify("info", f"Point at a price first: {chart}, then {crosshair}")
        elif quote is None:
            self._say_no_price(pointed[0])
        else:
            self._ticket_here(limit_side(pointed[1], quote.bid, quote.ask))

    def _ticket_here(self, side: Side) -> None:
        pointed = self._window.pointed_at()
        if pointed is None:
            self.open_ticket(side, self._store.focus)
            return
        instrument, price = pointed
        quote = self._store.quotes.get(instrument)
        if quote is None:
            self._say_no_price(instrument)
            return
        kind = kind_at(side, price, quote.bid, quote.ask)
        self._window.select(instrument)  # a chart may be pinned to another than the desk's
        self.open_ticket(
            side, instrument, ParsedOrder(kind=kind, price=Entry(f"{price:f}", "price"))
        )

    def _say_no_price(self, instrument: str) -> None:
        self._store.notify("info", f"Waiting for a price of {pair(instrument)}")

    def open_ticket(self, side: Side, instrument: str, fields: ParsedOrder | None = None) -> None:
        """Open a ticket for an instrument, with what was typed for it."""
        from keydesk.forms.ticket.ticket_form import TicketForm  # noqa: PLC0415 - with the first form

        if self._window.screen.is_too_small:
            self._window.say_too_small()
            return
        if instrument:
            self._desk.ask(TicketForm(self._desk.form_context(), side, instrument, fields))
        else:
            self._store.notify("info", "The account's instruments are still being read")


class TradeActions:
    """Opens the forms for the selected trade, position or order."""

    def __init__(self, desk: TradingDesk) -> None:
        self._desk, self._window, self._store = desk, desk.window, desk.store

    def action_close(self) -> None:
        """Close the selected trade, or the position."""
        from keydesk.forms.trades.close_position import ClosePositionForm  # noqa: PLC0415 - with the first form
        from keydesk.forms.trades.close_trade import CloseForm  # noqa: PLC0415 - with the first form

        selection = self._window.selection()
        trade = selection.trade(self._store)
        if selection.means_position(self._store) and selection.trades(self._store):
            instrument = selection.instrument(self._store)
            form = ClosePositionForm(self._desk.form_context(), instrument)
            self._window.app.push_screen(form, self._desk.account_requests.execute)
        elif trade is not None:
            self._desk.ask(CloseForm(self._desk.form_context(), trade.instrument, [trade.id]))
        else:
            self._nothing_to("close")

    def action_scale_out(self) -> None:
        """Close a part of the selected trade, or of the position."""
        from keydesk.forms.trades.close_trade import ScaleOutForm  # noqa: PLC0415 - with the first form
        from keydesk.forms.trades.position_part import PositionPartForm  # noqa: PLC0415 - with the first form

        selection = self._window.selection()
        if selection.means_position(self._store) and selection.trades(self._store):
            instrument = selection.instrument(self._store)
            form = PositionPartForm(self._desk.form_context(), instrument)
            self._window.app.push_screen(form, self._desk.account_requests.execute)
        else:
            self._on_trade(ScaleOutForm)

    def action_on_trade(self, name: str) -> None:
        """Open a form of a module of `forms/trades/` for the selected trade."""
        module, _, form = name.partition(".")
        self._on_trade(getattr(import_module(f"keydesk.forms.trades.{module}"), form))

    def action_labels(self) -> None:
        """Edit tag and comment of the selected order, or trade."""
        from keydesk.forms.trades.labels import LabelsForm, OrderLabelsForm  # noqa: PLC0415 - with the first form

        selection = self._window.selection()
        order = selection.order(self._store) if selection.pane == "orders" else None
        if order is None:
            self._on_trade(LabelsForm)
        else:
            self._desk.ask(OrderLabelsForm(self._desk.form_context(), order.id))

    def action_note(self) -> None:
        """Write about the selected trade; of several, the one that was opened last."""
        selection = self._window.selection()
        trade, held = selection.trade(self._store), selection.trades(self._store)
        if trade is not None or held:
            self._desk.journal.write_note(held[0].id if trade is None else trade.id)
        else:
            self._store.notify("info", "No open trade is selected: the journal has the closed ones")

    def action_modify(self) -> None:
        """Move stop and target of the selected trade, or the selected order itself."""
        from keydesk.forms.trades.move_order import MoveForm  # noqa: PLC0415 - with the first form
        from keydesk.forms.trades.protection import ProtectionForm  # noqa: PLC0415 - with the first form

        selection, pointed = self._window.selection(), self._window.pointed_at()
        line = None if pointed is None else nearest_line(self._store, *pointed)
        if line is not None:
            self._modify_line(line)
            return
        order = selection.order(self._store) if selection.pane == "orders" else None
        if order is None:
            self._on_trade(ProtectionForm)
        elif order.trade_id is None:
            self._desk.ask(MoveForm(self._desk.form_context(), order.id))
        else:
            self._desk.ask(ProtectionForm(self._desk.form_context(), order.trade_id))

    def _modify_line(self, line: OwnLine) -> None:
        """Move the line nearest to the crosshair: an entry order, or a level of a trade."""
        from keydesk.forms.trades.move_order import MoveForm  # noqa: PLC0415 - with the first form
        from keydesk.forms.trades.protection import ProtectionForm  # noqa: PLC0415 - with the first form

        context = self._desk.form_context()
        if line.trade_id is None or line.name is None:
            self._desk.ask(MoveForm(context, line.order_id))
            return
        form = ProtectionForm(context, line.trade_id)
        form.subject = f"the {line.name} nearest to the crosshair"
        form.start_on(line.name)
        self._desk.ask(form)

    def _on_trade(self, form: type[TradeForm[Decided]]) -> None:
        selection = self._window.selection()
        trade, held = selection.trade(self._store), selection.trades(self._store)
        if trade is not None:
            opened = form(self._desk.form_context(), trade.id)
            if selection.pane == "positions":
                opened.subject = "the only trade of the position"
            self._window.app.push_screen(opened, self._desk.account_requests.execute)
        elif held:
            opened = form(self._desk.form_context(), held[0].id)
            opened.choose_among([each.id for each in held])
            self._window.app.push_screen(opened, self._desk.account_requests.execute)
        else:
            self._nothing_to(form.VERB.lower())

    def _nothing_to(self, verb: str) -> None:
        instrument = self._window.selection().instrument(self._store)
        self._store.notify("info", f"Nothing to {verb}: no open trade in {pair(instrument)}")

    def action_cancel_order(self) -> None:
        from keydesk.forms.trades.cancel_orders import CancelForm  # noqa: PLC0415 - with the first form

        order = self._window.selection().order(self._store)
        if order is not None:
            self._desk.ask(CancelForm(self._desk.form_context(), order.id))
        else:
            orders = self._window.keymap.name("go-orders")
            self._store.notify("info", f"Nothing to cancel: select an order with {orders}")

    def action_cancel_entries(self) -> None:
        """Cancel entry orders, of the instrument or of all."""
        from keydesk.forms.trades.cancel_orders import CancelEntriesForm  # noqa: PLC0415 - with the first form

        self._desk.ask(
            CancelEntriesForm(
                self._desk.form_context(), self._window.selection().instrument(self._store)
            )
        )

    def action_reverse(self) -> None:
        from keydesk.forms.trades.reverse_flatten import ReverseForm  # noqa: PLC0415 - with the first form

        instrument = self._window.selection().instrument(self._store)
        if self._window.screen.is_too_small:
            self._window.say_too_small()
            return
        if instrument in self._store.positions:
            self._desk.ask(ReverseForm(self._desk.form_context(), instrument))
        else:
            self._nothing_to("reverse")

    def action_flatten(self) -> None:
        """Close everything, or everything in the instrument."""
        from keydesk.forms.trades.reverse_flatten import FlattenForm  # noqa: PLC0415 - with the first form

        self._desk.ask(
            FlattenForm(self._desk.form_context(), self._window.selection().instrument(self._store))
        )
