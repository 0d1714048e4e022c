"""Actions that open a ticket: buy, sell, and a limit order at the crosshair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keydesk import forms
from keydesk.app.actions.context import ActionContext
from keydesk.calc.orders.order_parser import ParsedOrder
from keydesk.calc.orders.ticket_draft import Entry, kind_at, limit_side
from keydesk.text.format import pair

if TYPE_CHECKING:
    from keydesk.calc.orders.ticket_draft import Side


class TicketActions:
    """Opens tickets, at the price of the crosshair while it is on."""

    def __init__(self, context: ActionContext) -> None:
        self._context, self._desk, self._store = context, context.desk, context.store

    def action_buy(self) -> None:
        """Open a buy ticket, at the price of the crosshair while it is on."""
        self._ticket_here("BUY")

    def action_sell(self) -> None:
        """Open a sell ticket, at the price of the crosshair while it is on."""
        self._ticket_here("SELL")

    def action_limit(self) -> None:
        """Open a limit ticket at the price of the crosshair: bought below the market, sold above it."""
        pointed = self._context.pointed_at()
        quote = None if pointed is None else self._store.quotes.get(pointed[0])
        if pointed is None:
            chart, crosshair = (
                self._context.keymap.name("go-chart"),
                self._context.keymap.name("crosshair"),
            )
            self._desk.tell("info", f"Point at a price first: {chart}, then {crosshair}")
        elif quote is None:
            self._say_no_price(pointed[0])
        else:
            self._ticket_here(limit_side(pointed[1], quote.bid, quote.ask))

    def _ticket_here(self, side: Side) -> None:
        pointed = self._context.pointed_at()
        if pointed is None:
            self.open_ticket(side, self._store.focus)
            return
        instrument, price = pointed
        quote = self._store.quotes.get(instrument)
        if quote is None:
            self._say_no_price(instrument)
            return
        kind = kind_at(side, price, quote.bid, quote.ask)
        self._context.turn_to(instrument)  # a chart may be pinned to another than the desk's
        self.open_ticket(
            side, instrument, ParsedOrder(kind=kind, price=Entry(f"{price:f}", "price"))
        )

    def _say_no_price(self, instrument: str) -> None:
        self._desk.tell("info", f"Waiting for a price of {pair(instrument)}")

    def open_ticket(self, side: Side, instrument: str, fields: ParsedOrder | None = None) -> None:
        """Open a ticket for an instrument, with what was typed for it."""
        if self._context.screen.is_too_small:
            self._context.say_too_small()
            return
        if instrument:
            self._context.ask(forms.TicketForm(self._desk.form_context(), side, instrument, fields))
        else:
            self._desk.tell("info", "The account's instruments are still being read")
