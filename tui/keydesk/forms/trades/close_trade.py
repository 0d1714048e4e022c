"""Forms that close a trade or a part of it, and the lines about an open trade that other forms share."""

from collections.abc import Sequence
from decimal import Decimal
from typing import ClassVar

from keydesk.calc.orders.field_draft import (
    MAX_LENGTH,
    UnreadableText,
    above_zero,
    is_number_key,
    read_number,
)
from keydesk.calc.orders.instructions import CloseTrades
from keydesk.calc.risk.sizing import part
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.form import Form
from keydesk.forms.modal_form import (
    ACTIVE_FIELD,
    BLANK,
    FormContext,
    TextLine,
    Words,
    figure,
    signed_money,
)
from keydesk.forms.text_fields import edited_text
from keydesk.forms.ticket_lines import FIELD_WIDTH, choices_line, quote_line
from keydesk.forms.trades.trade_form import TradeForm, trade_name
from keydesk.keys.confirm import Action
from keydesk.keys.keymap import SCALE_OUT
from keydesk.text.format import EMPTY, money, pair, pips, price, side_word, units
from keydesk.text.sanitize import clean_name, safe
from keydesk.values import TradeRow
from keydesk_client.arithmetic.constants import PERCENT, ZERO
from keydesk_client.arithmetic.profit import profit, profit_in_pips


def entry_and_now(trade: TradeRow, context: TradingContext) -> Sequence[TextLine]:
    """Return the entry price, the average price at which it would close, and the profit there."""
    digits = context.rules.price_precision
    close = context.closing_average(trade.units)
    moved = profit_in_pips(trade.units, trade.price, close, context.rules.pip)
    notes: Sequence[Words] = (
        (safe(f"{pips(moved)} pips  "), "plain"),
        signed_money(result_of(trade, abs(trade.units), context)),
        (safe(f" {context.funds.currency}"), "muted"),
    )
    return (
        figure("entry", (price(trade.price, digits), "plain")),
        figure("now", (price(close, digits), "bright"), "", *notes),
    )


def result_of(trade: TradeRow, magnitude: Decimal, context: TradingContext) -> Decimal:
    """Return what closing that many units now would realize."""
    signed = magnitude.copy_sign(trade.units)
    return profit(signed, trade.price, context.closing_average(signed), context.factors)


SHOWN_TRADES = 8
PART_LABEL = 13  # as in the forms with several fields
NO_PRICE: TextLine = (("No price seen yet: the broker closes at its own", "warn"),)
PRESET_PARTS = {"2": Decimal(25), "5": Decimal(50), "7": Decimal(75)}
PART_CHOICES = (("2", "25 %"), ("5", "50 %"), ("7", "75 %"), ("digits %", "a percentage"))


def part_lines(choices: Sequence[tuple[str, str]], typed: str) -> list[TextLine]:
    """Return the parts to choose from, and the digits typed in their field."""
    shown = (safe(f" {typed:>{FIELD_WIDTH}} "), ACTIVE_FIELD)
    return [choices_line(choices), ((safe(f"{'part':<{PART_LABEL}}"), "focus"), shown)]


class CloseForm(Form[CloseTrades]):
    """Closes a trade, or all trades of a position."""

    ACTION: ClassVar[Action] = Action.CLOSE

    def __init__(self, context: FormContext, instrument: str, trade_ids: Sequence[str]) -> None:
        super().__init__(context)
        self.instrument = instrument
        self.trade_ids = tuple(trade_ids)

    @property
    def trades(self) -> Sequence[TradeRow]:
        """Return those that are still open."""
        known = self.context.store.trades
        return [known[trade_id] for trade_id in self.trade_ids if trade_id in known]

    def trading_context(self) -> TradingContext | None:
        """Return rules, price and funds for the instrument, None while one is missing."""
        return self.trading_context_about(self.instrument)

    def headline(self) -> TextLine:
        """Return the trades to close."""
        trades = self.trades
        if len(trades) == 1:
            text = safe(f"CLOSE {trade_name(trades[0])}")
        elif trades:
            text = safe(f"CLOSE all {len(trades)} trades of {pair(self.instrument)}")
        else:
            named = " ".join(f"#{clean_name(each)}" for each in self.trade_ids[:SHOWN_TRADES])
            return ((safe(f"CLOSE {pair(self.instrument)} {named}"), "bright"),)
        return ((text, "bright"), (" at market", "plain"))

    def effect(self) -> Sequence[TextLine]:
        """Show each trade and what closing realizes."""
        context = self.trading_context()
        if not self.trades:
            return ()
        if context is None:
            return (NO_PRICE,)
        lines: list[TextLine] = []
        if len(self.trades) == 1:
            lines += entry_and_now(self.trades[0], context)
        else:
            lines += [_trade_line(trade, context) for trade in self.trades[:SHOWN_TRADES]]
        if len(self.trades) > SHOWN_TRADES:
            lines.append(((safe(f"and {len(self.trades) - SHOWN_TRADES} more"), "muted"),))
        return [self._realized(context), *self._dependents(), BLANK, *lines]

    def price_line(self) -> TextLine:
        """Return the price that it goes by."""
        context = self.trading_context()
        return () if context is None or not self.trades else quote_line(context)

    def refusals(self) -> Sequence[str]:
        """Refuse only when there is nothing left to close."""
        return () if self.trades else ["It is closed already"]

    def request(self) -> CloseTrades | None:
        """Return the trades that are still open."""
        return CloseTrades(self.instrument, tuple(trade.id for trade in self.trades))

    def _realized(self, context: TradingContext) -> TextLine:
        total = sum((result_of(trade, abs(trade.units), context) for trade in self.trades), ZERO)
        return figure(
            "realizes", signed_money(total), context.funds.currency, ("at the price seen", "muted")
        )

    def _dependents(self) -> Sequence[TextLine]:
        going = sum(_dependents_of(trade) for trade in self.trades)
        if not going:
            return ()
        text = "order is" if going == 1 else "orders are"
        return (((safe(f"{going} protective {text} cancelled too"), "muted"),),)


def _trade_line(trade: TradeRow, context: TradingContext) -> TextLine:
    side = side_word(trade.units)
    name = safe(f"#{clean_name(trade.id)} {side} {units(abs(trade.units))}  ")
    return ((name, "plain"), signed_money(result_of(trade, abs(trade.units), context)))


def _dependents_of(trade: TradeRow) -> int:
    orders = (trade.take_profit, trade.stop_loss, trade.trailing_stop, trade.guaranteed_stop)
    return sum(order is not None for order in orders)


class ScaleOutForm(TradeForm[CloseTrades]):
    """Closes a part of one trade, rounded down to whole units."""

    VERB: ClassVar[str] = "close a part of"
    ACTION: ClassVar[Action] = Action.SCALE_OUT
    KEY_CONTEXT: ClassVar[str] = SCALE_OUT

    def begin(self) -> None:
        self.percent: Decimal | None = None  # chosen: a preset, or typed and taken by %
        self.text = ""  # typed since

    def units(self) -> Decimal:
        """Return the magnitude that would be closed; 0 while no part is chosen."""
        trade = self.trade
        if trade is None or self.percent is None:
            return ZERO
        known = self.context.store.instruments.get(trade.instrument)
        precision = known.trade_units_precision if known is not None else 0
        return part(trade.units, self.percent, precision)

    def headline(self) -> TextLine:
        """Return the part and the trade."""
        trade = self.trade
        name = trade_name(trade) if trade else safe(f"#{self.trade_id}")
        chosen = EMPTY if self.percent is None else f"{self.percent:f} %"
        return ((safe(f"CLOSE {chosen} of "), "bright"), (name, "bright"))

    def effect(self) -> Sequence[TextLine]:
        """Show the trade, the profit of the chosen part and the remainder."""
        trade = self.trade
        if trade is None:
            return ()
        context, closing = self.trading_context(trade), self.units()
        now = (NO_PRICE,) if context is None else entry_and_now(trade, context)
        return [*now, BLANK, *self._remainder(trade, closing, context)] if closing else now

    def field_lines(self) -> Sequence[TextLine]:
        """Return the parts to choose from, and an own percentage as typed."""
        return () if self.gone() else part_lines(PART_CHOICES, self.text)

    def _remainder(
        self, trade: TradeRow, closing: Decimal, context: TradingContext | None
    ) -> Sequence[TextLine]:
        left = abs(trade.units) - closing
        lines = [figure("closes", (units(closing), "bright"))]
        if context is not None:
            cash = signed_money(result_of(trade, closing, context))
            lines.append(figure("realizes", cash, context.funds.currency))
        stays: Words = ("its stop and target stay", "muted")
        return [*lines, figure("remains", (units(left), "plain"), "", stays)]

    def refusals(self) -> Sequence[str]:
        """Refuse without a part, and a part of less than one unit."""
        if gone := self.gone():
            return [gone]
        if self.percent is None:
            return [self._choice_text()]
        if self.percent > PERCENT:
            return [f"part: {self.percent:f} % is more than the whole trade; digits and % set it"]
        if not self.units():
            all_of_it = f"{self.context.keymap.name('close')} closes the whole trade"
            return [f"{money(self.percent, 0)} % of the trade is less than one unit: {all_of_it}"]
        return ()

    def _choice_text(self) -> str:
        typed = above_zero(read_number(self.text))
        if isinstance(typed, UnreadableText):
            how = "Backspace erases; 2 5 7, or digits and % set it"
            return f"part: {typed.text} {typed.reason}. {how}"
        if typed is not None:
            return f"% takes the {self.text} typed; Esc drops"
        return "Choose: 2 5 7 = 25, 50, 75 %, or digits and %"

    def request(self) -> CloseTrades | None:
        """Return the units of that trade."""
        trade = self.trade
        if trade is None:
            return None
        return CloseTrades(trade.instrument, (trade.id,), self.units())

    # The keys.

    def typed(self, key: str) -> bool:
        """Take a character of an own percentage; a preset chosen before no longer counts."""
        if not is_number_key(key):
            return False
        self._type(key)
        return True

    def action_part(self, key: int) -> None:
        """Choose a quarter, a half, three quarters; the digits also begin an own percentage."""
        self._type(str(key))

    def action_erase(self) -> None:
        self._type("backspace")

    def action_percent(self) -> None:
        """Take the typed text as the percentage; text that cannot be read stays for correction."""
        percent = above_zero(read_number(self.text))
        if isinstance(percent, Decimal):
            self.percent, self.text = percent, ""
        self.redraw()

    def _type(self, key: str) -> None:
        self.text = edited_text(self.text, key, key, MAX_LENGTH + 1)
        self.percent = PRESET_PARTS.get(self.text)
        self.redraw()
