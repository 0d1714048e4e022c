"""The base of the forms about one trade; where the instrument has several, a key turns to the next one."""

from collections.abc import Sequence
from typing import ClassVar, Generic

from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.form import Form
from keydesk.forms.modal_form import FormContext, TextLine
from keydesk.forms.ticket_lines import quote_line
from keydesk.keys.keymap import ONE_TRADE
from keydesk.keys.textual_bindings import bindings_of
from keydesk.text.format import side_and_size
from keydesk.text.sanitize import Printable, SafeText, clean_name, safe
from keydesk.values import TradeRow
from keydesk.widgets.overlay import Result


def trade_name(trade: TradeRow) -> SafeText:
    """Return the trade in words: LONG 20,000 EUR/USD #6411."""
    return safe(f"{side_and_size(trade.units, trade.instrument)} #{clean_name(trade.id)}")


class TradeForm(Form[Result], Generic[Result]):
    """A form about one trade."""

    BINDINGS = bindings_of(ONE_TRADE)
    VERB: ClassVar[str] = ""  # what there is nothing to do with where no trade is open

    def __init__(self, context: FormContext, trade_id: str) -> None:
        self.trade_id = trade_id
        self._siblings: tuple[str, ...] = ()
        super().__init__(context)

    @property
    def trade(self) -> TradeRow | None:
        """Return the trade, None once it is closed."""
        return self.context.store.trades.get(self.trade_id)

    @property
    def instrument(self) -> str:
        """The trade's; "" once it is closed."""
        return self.trade.instrument if self.trade else ""

    def gone(self) -> str:
        """Return that the trade is closed, "" while it is open."""
        return "" if self.trade else "The trade is closed already"

    def headline_of(self, action: Printable) -> TextLine:
        """Return the headline of an action on the trade."""
        name = trade_name(self.trade) if self.trade else safe(f"#{self.trade_id}")
        return ((action, "bright"), (name, "bright"))

    def trading_context(self, trade: TradeRow) -> TradingContext | None:
        """Return rules, price and funds for its instrument, None while one is missing."""
        return self.trading_context_about(trade.instrument)

    def trade_and_context(self) -> tuple[TradeRow, TradingContext] | None:
        """Return the trade with rules, price and funds; None once it is closed, and while one of them is missing."""
        trade = self.trade
        context = self.trading_context(trade) if trade else None
        return None if trade is None or context is None else (trade, context)

    def price_line(self) -> TextLine:
        """Return the price that it goes by."""
        known = self.trade_and_context()
        return () if known is None else quote_line(known[1])

    def choose_among(self, trade_ids: Sequence[str]) -> None:
        """Say which of several trades the form is about; the key of the next one turns to it."""
        self._siblings = tuple(trade_ids)
        self._say_which()

    def _say_which(self) -> None:
        at, count = self._siblings.index(self.trade_id) + 1, len(self._siblings)
        self.subject = f"trade {at} of {count}: n turns to the next"

    def action_next_trade(self) -> None:
        """Turn to the next trade of the instrument that is still open."""
        known = self.context.store.trades
        there = [each for each in self._siblings if each in known or each == self.trade_id]
        if len(there) > 1:
            self._siblings = tuple(there)
            self.trade_id = there[(there.index(self.trade_id) + 1) % len(there)]
            self._say_which()
            self.begin()
        self.redraw()
