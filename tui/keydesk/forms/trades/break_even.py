"""The form that moves a trade's stop to the price where closing costs nothing, financing included."""

from collections.abc import Sequence
from decimal import Decimal

from keydesk.calc.orders import protection
from keydesk.calc.orders.instructions import SetProtection
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.sheet import TextLine
from keydesk.forms.ticket_sheet import quote_line
from keydesk.forms.trades.close_trade import entry_and_now, trade_name
from keydesk.forms.trades.trade_form import TRADE_BINDINGS, TradeForm
from keydesk.keys.confirm import Action
from keydesk.records import TradeRow
from keydesk.store.risk import costs_until_closed
from keydesk.text.format import money, price
from keydesk.text.sanitize import safe
from keydesk_client.arithmetic.profit import closing_price
from keydesk_client.arithmetic.risk import break_even_stop


class BreakEvenForm(TradeForm[SetProtection]):
    """Moves the stop to break-even; refuses what would fire at once or loosen the stop."""

    BINDINGS = TRADE_BINDINGS

    def stop(self, trade: TradeRow, context: TradingContext) -> Decimal:
        """Return the break-even price, with the template's offset."""
        return break_even_stop(
            entry=trade.price,
            units=trade.units,
            costs=costs_until_closed(self.context.store, trade),
            factors=context.factors,
            precision=context.rules.price_precision,
            offset=self.context.template_of(trade.instrument).break_even_offset_pips
            * context.rules.pip,
        )

    def headline(self) -> TextLine:
        """Return the trade that it is about."""
        trade = self.trade
        name = trade_name(trade) if trade else safe(f"#{self.trade_id}")
        return (("STOP TO BREAK-EVEN ", "bright"), (name, "bright"))

    def body(self) -> Sequence[TextLine]:
        """Show where the stop is and where it goes."""
        trade = self.trade
        context = self.trading_context(trade) if trade else None
        if trade is None or context is None:
            return ()
        digits = context.rules.price_precision
        now = protection.protection_of(trade).stop
        old = "none" if now is None else price(now, digits)
        return [
            quote_line(context),
            entry_and_now(trade, context),
            (
                ("stop  ", "muted"),
                (safe(f"{old} → "), "plain"),
                (price(self.stop(trade, context), digits), "bright"),
            ),
            ((safe(self._costs_words(trade)), "muted"),),
        ]

    def _costs_words(self, trade: TradeRow) -> str:
        """Return what the price has to earn back."""
        financing, costs = trade.financing, costs_until_closed(self.context.store, trade)
        words = f"financing so far {money(financing, signed=True)}"
        if costs == financing:
            return words
        return f"{words}, commission and fees {money(costs - financing, signed=True)}"

    def action(self) -> Action:
        """Return the row of the confirmation matrix."""
        return Action.BREAK_EVEN

    def refusals(self) -> Sequence[str]:
        """Refuse a stop that would fire at once or protect less than the present one."""
        trade = self.trade
        if trade is None:
            return ["The trade is closed already"]
        context = self.trading_context(trade)
        if context is None:
            return ["Waiting for a price"]
        stop, close = (
            self.stop(trade, context),
            closing_price(trade.units, context.bid, context.ask),
        )
        direction = 1 if trade.units > 0 else -1
        if direction * (close - stop) <= 0:
            return [f"It would fire now: the price is {close}, break-even is {stop}"]
        now = protection.protection_of(trade).stop
        if now is not None and direction * (stop - now) <= 0:
            return [f"The stop at {now} protects more than break-even at {stop}"]
        return ()

    def result(self) -> SetProtection | None:
        """Return the new stop; target and trailing stop stay untouched."""
        trade = self.trade
        context = self.trading_context(trade) if trade else None
        if trade is None or context is None:
            return None
        return SetProtection(trade.id, trade.instrument, stop=self.stop(trade, context))
