"""The form that closes a position: its long side, its short side, or both; and the base of the forms about a position."""

from collections.abc import Sequence
from decimal import Decimal
from typing import ClassVar, Literal

from msgspec import Struct

from keydesk.calc.orders.instructions import CloseParts, ClosePosition
from keydesk.calc.risk.trading_context import Lot, TradingContext, realized_profit
from keydesk.forms.form import Form
from keydesk.forms.modal_form import BLANK, FormContext, TextLine, Words, figure, signed_money
from keydesk.forms.ticket_lines import choices_line, labelled, quote_line
from keydesk.forms.trades.close_trade import NO_PRICE
from keydesk.keys.confirm import Action
from keydesk.keys.keymap import CLOSE_POSITION, CLOSE_SIDES
from keydesk.text.format import counted, pair, price, units
from keydesk.text.sanitize import safe
from keydesk.values import PositionRow, TradeRow
from keydesk_client.arithmetic.constants import ZERO

SideName = Literal["long", "short"]


class OpenSide(Struct, frozen=True):
    """The long or the short side of a position, if it is open."""

    name: SideName
    units: Decimal  # magnitude
    average: Decimal | None
    trades: tuple[TradeRow, ...]  # oldest first

    @property
    def text(self) -> str:
        """Return the side and its size: LONG 20,000."""
        return f"{self.name.upper()} {units(self.units)}"

    def realized(self, closing: Decimal, context: TradingContext) -> Decimal | None:
        """Return what closing so many units now makes, the oldest trade first; None: not known."""
        signed = closing if self.name == "long" else -closing
        at = context.closing_average(signed)
        lots = (Lot(trade.units, trade.price) for trade in self.trades)
        return realized_profit(lots, closing, at, context.factors)


class PositionForm(Form[ClosePosition | CloseParts]):
    """The base of the forms that close a position or a part of it."""

    def __init__(self, context: FormContext, instrument: str) -> None:
        super().__init__(context)
        self.instrument = instrument

    def trading_context(self) -> TradingContext | None:
        """Return rules, price and funds for the instrument, None while one is missing."""
        return self.trading_context_about(self.instrument)

    def open_sides(self) -> tuple[OpenSide, ...]:
        """Return the sides that are open now."""
        position = self.context.store.positions.get(self.instrument)
        if position is None:
            return ()
        sides = (self._side(position, "long"), self._side(position, "short"))
        return tuple(side for side in sides if side.units)

    def _side(self, position: PositionRow, name: SideName) -> OpenSide:
        held, average = (
            (position.long_units, position.long_average)
            if name == "long"
            else (position.short_units, position.short_average)
        )
        known = self.context.store.trades
        ids = sorted(position.trade_ids, key=int)
        trades = (known[trade_id] for trade_id in ids if trade_id in known)
        return OpenSide(
            name, abs(held), average, tuple(each for each in trades if each.units * held > 0)
        )

    def price_line(self) -> TextLine:
        """Return the price that it goes by."""
        context = self.trading_context()
        return () if context is None else quote_line(context)

    def side_lines(self, side: OpenSide, context: TradingContext) -> Sequence[TextLine]:
        """Return a side with its average, the price that closes it, and its profit."""
        digits = context.rules.price_precision
        signed = side.units if side.name == "long" else -side.units
        total = side.realized(side.units, context)
        now = price(context.closing_average(signed), digits)
        trades: Words = (counted(len(side.trades), "trade"), "muted")
        profit: Sequence[Words] = ()
        if total is not None:
            profit = (signed_money(total), (safe(f" {context.funds.currency}"), "muted"))
        return [
            figure(side.name.upper(), (units(side.units), "bright"), "", trades),
            figure("average", (price(side.average, digits), "plain")),
            figure("now", (now, "bright"), "", *profit),
        ]


class ClosePositionForm(PositionForm):
    """Closes a position at market: its side, or both sides where it is hedged."""

    ACTION: ClassVar[Action] = Action.CLOSE
    KEY_CONTEXT: ClassVar[str] = CLOSE_POSITION
    WIDTH: ClassVar[int] = 76

    def __init__(self, context: FormContext, instrument: str) -> None:
        super().__init__(context, instrument)
        self.choice: SideName | Literal["both"] = "both"

    def closing(self) -> tuple[OpenSide, ...]:
        """Return the sides that would be closed."""
        return tuple(side for side in self.open_sides() if self.choice in {"both", side.name})

    def headline(self) -> TextLine:
        """Return the position and the sides to close."""
        sides = " and ".join(side.text for side in self.closing()) or "–"
        return (
            (safe(f"CLOSE position {pair(self.instrument)} {sides}"), "bright"),
            (" at market", "plain"),
        )

    def effect(self) -> Sequence[TextLine]:
        """Show each side, what closing realizes, and the orders that are cancelled with it."""
        context, sides = self.trading_context(), self.open_sides()
        lines: list[TextLine] = []
        if context is not None:
            lines = [line for side in sides for line in self.side_lines(side, context)]
        choice: Sequence[TextLine] = ()
        if len(sides) > 1:
            choice = (choices_line(labelled(CLOSE_SIDES)),)
        closed = [trade for side in self.closing() for trade in side.trades]
        return [*choice, *self._realized(context), *dependents_line(closed), BLANK, *lines]

    def _realized(self, context: TradingContext | None) -> Sequence[TextLine]:
        if context is None:
            return (NO_PRICE,)
        parts = [side.realized(side.units, context) for side in self.closing()]
        return _realized_line(parts, context)

    def refusals(self) -> Sequence[str]:
        """Refuse only when there is nothing left to close."""
        if self.closing():
            return ()
        if self.open_sides():
            return [f"The {self.choice} side is closed already"]
        return ["It is closed already"]

    def request(self) -> ClosePosition | None:
        """Return the sides that are open; an empty side is never named."""
        closing = {side.name for side in self.closing()}
        return ClosePosition(
            self.instrument,
            long_units="ALL" if "long" in closing else None,
            short_units="ALL" if "short" in closing else None,
        )

    def action_side(self, name: SideName | Literal["both"]) -> None:
        """Choose one side or both; a position with one side has no choice."""
        if len(self.open_sides()) > 1:
            self.choice = name
        self.redraw()


def _realized_line(parts: Sequence[Decimal | None], context: TradingContext) -> Sequence[TextLine]:
    known = [each for each in parts if each is not None]
    if not known or len(known) < len(parts):
        return ()
    total = signed_money(sum(known, ZERO))
    return (figure("realizes", total, context.funds.currency, ("at the price seen", "muted")),)


def dependents_line(trades: Sequence[TradeRow]) -> Sequence[TextLine]:
    """Return how many protective orders end with the trades; no line for none."""
    going = sum(
        order is not None
        for trade in trades
        for order in (
            trade.take_profit,
            trade.stop_loss,
            trade.trailing_stop,
            trade.guaranteed_stop,
        )
    )
    if not going:
        return ()
    text = "order is" if going == 1 else "orders are"
    return (((safe(f"{going} protective {text} cancelled too"), "muted"),),)
