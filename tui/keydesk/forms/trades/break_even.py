"""The form that moves a trade's stop to the price where closing costs nothing, financing included."""

from collections.abc import Sequence
from decimal import Decimal
from typing import ClassVar

from keydesk.calc.orders import protection
from keydesk.calc.orders.field_draft import Entry, FieldDraft, UnreadableText, shown_number
from keydesk.calc.orders.instructions import SetProtection
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.modal_form import TextLine, figure, signed_money
from keydesk.forms.number_fields import NumberFields
from keydesk.forms.trades.close_trade import entry_and_now
from keydesk.forms.trades.trade_form import TradeForm
from keydesk.keys.confirm import Action
from keydesk.keys.keymap import BREAK_EVEN, BREAK_EVEN_FIELDS, Offset
from keydesk.store.risk import costs_until_closed
from keydesk.text.format import price
from keydesk.text.sanitize import safe
from keydesk.values import TradeRow
from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.arithmetic.profit import closing_price
from keydesk_client.arithmetic.risk import break_even_stop


class BreakEvenForm(TradeForm[SetProtection], NumberFields[SetProtection, Offset]):
    """Moves the stop to break-even or so many pips beyond; refuses what would fire at once or loosen the stop."""

    VERB: ClassVar[str] = "move to break-even"
    ACTION: ClassVar[Action] = Action.BREAK_EVEN
    KEY_CONTEXT: ClassVar[str] = BREAK_EVEN
    FIELDS = BREAK_EVEN_FIELDS

    def first_draft(self) -> FieldDraft[Offset]:
        """Return the offset of the template."""
        template = self.context.template_of(self.instrument)
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

    def effect(self) -> Sequence[TextLine]:
        """Show the trade, and what the price has to earn back."""
        known = self.trade_and_context()
        return () if known is None else [*entry_and_now(*known), *self._cost_lines(*known)]

    def field_lines(self) -> Sequence[TextLine]:
        """Return the offset as typed, and where the stop goes: what a small window shows first."""
        return [*super().field_lines(), *self._stop_lines()]

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

    def unread_text(self, _: Offset, unread: UnreadableText) -> str:
        """Refuse an offset that cannot be read: it has no key."""
        return f"The offset {unread.text} {unread.reason}: type a number"

    def problems(self) -> Sequence[str]:
        """Refuse a stop that would fire at once or protect less than the present one."""
        known = self.trade_and_context()
        if known is None:
            return ()
        trade, context = known
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

    def request(self) -> SetProtection | None:
        """Return the new stop; target and trailing stop stay untouched."""
        known = self.trade_and_context()
        if known is None:
            return None
        trade, context = known
        stop = self.stop(trade, context)
        if trade.guaranteed_stop is not None:  # no other stop may stand beside it
            return SetProtection(trade.id, trade.instrument, guaranteed=stop)
        return SetProtection(trade.id, trade.instrument, stop=stop)
