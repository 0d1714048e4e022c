"""The form that moves a trade's stop to the price where closing costs nothing, financing included."""

from collections.abc import Sequence
from decimal import Decimal
from typing import ClassVar, Literal

from keydesk.calc.orders import protection
from keydesk.calc.orders.field_draft import Entry, FieldDraft, UnreadableText, shown_number
from keydesk.calc.orders.instructions import SetProtection
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.form_lines import KEYS_HINT
from keydesk.forms.modal_form import BLANK, FormContext, TextLine, figure, signed_money
from keydesk.forms.number_fields import NumberFields
from keydesk.forms.ticket_lines import CANNOT_BE_READ, number_field, quote_line
from keydesk.forms.trades.close_trade import entry_and_now
from keydesk.forms.trades.trade_form import TRADE_BINDINGS, TradeForm
from keydesk.keys.confirm import Action
from keydesk.keys.keymap import BREAK_EVEN
from keydesk.keys.textual_bindings import bindings_of
from keydesk.store.risk import costs_until_closed
from keydesk.text.format import price
from keydesk.text.sanitize import safe
from keydesk.values import TradeRow
from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.arithmetic.profit import closing_price
from keydesk_client.arithmetic.risk import break_even_stop

Offset = Literal["beyond"]


class BreakEvenForm(TradeForm[SetProtection], NumberFields[SetProtection, Offset]):
    """Moves the stop to break-even or so many pips beyond; refuses what would fire at once or loosen the stop."""

    KEY_CONTEXT: ClassVar[str] = BREAK_EVEN
    HINTS: ClassVar[TextLine] = (
        ("↑ ↓", "plain"),
        (" ±1  ", "muted"),
        (", .", "plain"),
        (" ±10  ", "muted"),
        *KEYS_HINT,
    )
    BINDINGS = [*bindings_of(BREAK_EVEN), *TRADE_BINDINGS]  # noqa: RUF012 - as Textual has it

    def __init__(self, context: FormContext, trade_id: str) -> None:
        super().__init__(context, trade_id)
        self.draft = self._usual_offset()

    def on_trade_change(self) -> None:
        """Begin with the offset of the other trade's template."""
        self.draft = self._usual_offset()

    def _usual_offset(self) -> FieldDraft[Offset]:
        trade = self.trade
        template = self.context.template_of(trade.instrument if trade else "")
        offset = Entry(f"{template.break_even_offset_pips.normalize():f}", "pips")
        return FieldDraft({"beyond": offset}, "beyond")

    def stop(self, trade: TradeRow, context: TradingContext) -> Decimal:
        """Return the break-even price, with the offset; without it while that cannot be read."""
        return break_even_stop(
            entry=trade.price,
            units=trade.units,
            costs=costs_until_closed(self.context.store, trade),
            factors=context.factors,
            precision=context.rules.price_precision,
            offset=(shown_number(self.draft.current.value) or ZERO) * context.rules.pip,
        )

    def headline(self) -> TextLine:
        """Return the trade that it is about."""
        return self.headline_of("STOP TO BREAK-EVEN ")

    def body(self) -> Sequence[TextLine]:
        """Show where the stop is and where it goes."""
        known = self.trade_and_context()
        if known is None:
            return ()
        trade, context = known
        return [
            *self.field_lines(),
            BLANK,
            *entry_and_now(trade, context),
            *self._cost_lines(trade, context),
        ]

    def price_line(self) -> TextLine:
        """Return the price that it goes by."""
        known = self.trade_and_context()
        return () if known is None else quote_line(known[1])

    def field_lines(self) -> Sequence[TextLine]:
        """Return where the stop goes, and the offset as typed: what a small window shows first."""
        unreadable = isinstance(self.draft.current.value, UnreadableText)
        return [
            (
                *number_field(" ", "beyond", self.draft.current.text, "pips", active=True),
                (CANNOT_BE_READ if unreadable else "", "danger"),
            ),
            *self._stop_lines(),
        ]

    def _stop_lines(self) -> Sequence[TextLine]:
        known = self.trade_and_context()
        if known is None:
            return ()
        trade, context = known
        digits = context.rules.price_precision
        now = protection.protection_of(trade).fixed_stop
        old = "none" if now is None else price(now, digits)
        to = price(self.stop(trade, context), digits)
        return [figure("stop", (to, "bright"), "", (safe(f"from {old}"), "muted"))]

    def _cost_lines(self, trade: TradeRow, context: TradingContext) -> Sequence[TextLine]:
        """Return what the price has to earn back."""
        financing, costs = trade.financing, costs_until_closed(self.context.store, trade)
        currency = context.funds.currency
        lines = [figure("financing", signed_money(financing), currency, ("so far", "muted"))]
        if costs != financing:
            fees = signed_money(costs - financing)
            lines.append(figure("fees", fees, currency, ("with commission", "muted")))
        return lines

    def action(self) -> Action:
        """Return the row of the confirmation matrix."""
        return Action.BREAK_EVEN

    def refusals(self) -> Sequence[str]:
        """Refuse a stop that would fire at once or protect less than the present one."""
        trade = self.trade
        if trade is None:
            return ["The trade is closed already"]
        context, offset = self.trading_context(trade), self.draft.current.value
        if context is None:
            return ["Waiting for a price"]
        if isinstance(offset, UnreadableText):
            return [f"The offset {offset.text} {offset.reason}: type a number"]
        stop, close = (
            self.stop(trade, context),
            closing_price(trade.units, context.bid, context.ask),
        )
        direction = 1 if trade.units > 0 else -1
        if direction * (close - stop) <= 0:
            return [
                f"It would fire now: the price is {close}, break-even is {stop}; wait, or close it"
            ]
        now = protection.protection_of(trade).fixed_stop
        if now is not None and direction * (stop - now) <= 0:
            return [f"The stop at {now} protects more than break-even at {stop}"]
        return ()

    def nudged(self, entry: Entry, steps: int) -> Entry:
        """Return the offset moved by pips; one that cannot be read begins at 0."""
        return entry.set((shown_number(entry.value) or ZERO) + steps)

    def result(self) -> SetProtection | None:
        """Return the new stop; target and trailing stop stay untouched."""
        known = self.trade_and_context()
        if known is None:
            return None
        trade, context = known
        stop = self.stop(trade, context)
        if trade.guaranteed_stop is not None:  # no other stop may stand beside it
            return SetProtection(trade.id, trade.instrument, guaranteed=stop)
        return SetProtection(trade.id, trade.instrument, stop=stop)
