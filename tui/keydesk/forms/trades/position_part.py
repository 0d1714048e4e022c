"""The form that closes a part of one side of a position, by percent or by units."""

from collections.abc import Sequence
from decimal import Decimal
from typing import ClassVar, Literal

from keydesk.calc.orders.field_draft import (
    MAX_LENGTH,
    UnreadableText,
    above_zero,
    is_number_key,
    read_number,
)
from keydesk.calc.orders.instructions import CloseParts, ClosePosition, CloseSide
from keydesk.calc.orders.position_effect import (
    CLOSE_ORDER_WORDS,
    CLOSE_ORDERS,
    CloseOrder,
    in_close_order,
    parts_of,
    realized_by,
)
from keydesk.calc.risk.sizing import part
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.modal_form import BLANK, FormContext, TextLine, figure, signed_money
from keydesk.forms.text_fields import edited_text
from keydesk.forms.ticket_lines import choices_line, labelled
from keydesk.forms.trades.close_position import (
    OpenSide,
    PositionForm,
    SideName,
    dependents_line,
)
from keydesk.forms.trades.close_trade import (
    NO_PRICE,
    PART_CHOICES,
    PRESET_PARTS,
    part_lines,
)
from keydesk.keys.confirm import Action
from keydesk.keys.keymap import PART_SIDES, POSITION_PART
from keydesk.text.format import pair, price, units
from keydesk.text.sanitize import clean_name, safe
from keydesk.values import TradeRow
from keydesk_client.arithmetic.constants import PERCENT, ZERO
from keydesk_client.arithmetic.profit import whole_units

UNITS = ("digits u", "units")


class PositionPartForm(PositionForm):
    """Closes a part of one side of a position, by percent or by units, rounded down to whole units."""

    ACTION: ClassVar[Action] = Action.SCALE_OUT
    KEY_CONTEXT: ClassVar[str] = POSITION_PART
    WIDTH: ClassVar[int] = 76

    def __init__(self, context: FormContext, instrument: str) -> None:
        super().__init__(context, instrument)
        self.choice: SideName | None = None
        self.percent: Decimal | None = None
        self.typed_units: Decimal | None = None
        self.digits = ""
        self.order: CloseOrder = "oldest"
        self.picked: frozenset[str] = frozenset()
        self.cursor = 0

    @property
    def side(self) -> OpenSide | None:
        """Return the side chosen, or the only one; None while it has to be chosen."""
        sides = self.open_sides()
        if len(sides) == 1 and self.choice in {None, sides[0].name}:
            return sides[0]
        return next((side for side in sides if side.name == self.choice), None)

    def units(self) -> Decimal:
        """Return the magnitude that would be closed; 0 while no part is chosen."""
        side = self.side
        if side is None:
            return ZERO
        if self.order == "picked":
            return sum((abs(trade.units) for trade in self.picked_trades(side)), ZERO)
        known = self.context.store.instruments.get(self.instrument)
        precision = known.trade_units_precision if known is not None else 0
        if self.typed_units is not None:
            return whole_units(self.typed_units, precision)
        if self.percent is None:
            return ZERO
        return side.units if self.percent == PERCENT else part(side.units, self.percent, precision)

    def picked_trades(self, side: OpenSide) -> Sequence[TradeRow]:
        """Return the trades that were picked and are still open."""
        return [trade for trade in side.trades if trade.id in self.picked]

    def parts(self, side: OpenSide) -> tuple[tuple[TradeRow, Decimal], ...]:
        """Return the trades to close, each with its units."""
        if self.order == "picked":
            return tuple((trade, abs(trade.units)) for trade in self.picked_trades(side))
        return parts_of(in_close_order(side.trades, self.order), self.units())

    def headline(self) -> TextLine:
        """Return the part and the side of the position."""
        side = self.side
        name = side.text if side else " and ".join(each.text for each in self.open_sides())
        chosen = self._chosen_text()
        return (
            (safe(f"CLOSE {chosen} of position {pair(self.instrument)} {name or '–'}"), "bright"),
        )

    def _chosen_text(self) -> str:
        if self.order == "picked":
            return f"{units(self.units())} units"
        if self.typed_units is not None:
            return f"{units(self.typed_units)} units"
        return "–" if self.percent is None else f"{self.percent:f} %"

    def effect(self) -> Sequence[TextLine]:
        """Show the sides, the profit of the chosen part and the remainder."""
        context, sides = self.trading_context(), self.open_sides()
        lines: list[TextLine] = [NO_PRICE]
        if context is not None:
            lines = [line for side in sides for line in self.side_lines(side, context)]
        side, closing = self.side, self.units()
        if side is not None and ZERO < closing <= side.units:
            lines += [BLANK, *self._remainder(side, closing, context)]
        return lines

    def field_lines(self) -> Sequence[TextLine]:
        """Return the side, the part and the order of closing, as chosen or typed."""
        lines: list[TextLine] = []
        if len(self.open_sides()) > 1:
            lines.append(choices_line(labelled(PART_SIDES)))
        if self.order != "picked":
            lines += part_lines((*PART_CHOICES[:-1], ("digits %", "or"), UNITS), self.digits)
        side = self.side
        if side is not None and len(side.trades) > 1:
            lines.append(choices_line((("o", CLOSE_ORDER_WORDS[self.order]),)))
            if self.order == "picked":
                lines += self._pick_lines(side, self.trading_context())
        return lines

    def _remainder(
        self, side: OpenSide, closing: Decimal, context: TradingContext | None
    ) -> Sequence[TextLine]:
        parts = self.parts(side)
        won = None
        if context is not None:
            signed = closing if side.name == "long" else -closing
            at = context.closing_average(signed)
            won = realized_by(parts, at, context.factors)
        cash: Sequence[TextLine] = ()
        if won is not None and context is not None:
            cash = (figure("realizes", signed_money(won), context.funds.currency),)
        closed = [trade for trade, part_units in parts if part_units == abs(trade.units)]
        return [
            figure("closes", (units(closing), "bright")),
            *cash,
            *self._parts_line(side, parts),
            figure("remains", (units(side.units - closing), "plain")),
            *dependents_line(closed),
        ]

    def _pick_lines(self, side: OpenSide, context: TradingContext | None) -> Sequence[TextLine]:
        """Return the trades to pick from, the one under the cursor marked."""
        lines: list[TextLine] = []
        for number, trade in enumerate(side.trades):
            mark = "[x]" if trade.id in self.picked else "[ ]"
            here = "▶" if number == self.cursor % len(side.trades) else " "
            text = safe(f"{here} {mark} #{clean_name(trade.id)} {units(abs(trade.units))}  ")
            digits = 5 if context is None else context.rules.price_precision
            lines.append(
                (
                    (text, "bright" if here != " " else "plain"),
                    (price(trade.price, digits), "muted"),
                )
            )
        return [*lines, choices_line(((self.key_words("↑ ↓"), "trade"), ("Space", "picks it")))]

    def _parts_line(
        self, side: OpenSide, parts: Sequence[tuple[TradeRow, Decimal]]
    ) -> Sequence[TextLine]:
        """Return which trades lose how many units, where there is more than one to lose them."""
        if len(side.trades) == 1 or self.order == "picked":
            return ()
        shown = [f"#{clean_name(trade.id)} {units(part_units)}" for trade, part_units in parts]
        return (((safe(f"of {', '.join(shown)}"), "muted"),),)

    def refusals(self) -> Sequence[str]:
        """Refuse without a side or a part, and a part that is nothing or more than all."""
        if not self.open_sides():
            return ["The position is closed already"]
        side = self.side
        if side is None and self.choice is not None:
            return [f"The {self.choice} side is closed already"]
        if side is None:
            return ["Hedged: choose the side with l long or s short"]
        return self._unchosen() or self._part_refusals(side)

    def _unchosen(self) -> Sequence[str]:
        """Return what has to be chosen yet."""
        side = self.side
        if self.order == "picked":
            there = side is not None and self.picked_trades(side)
            return () if there else ["Pick a trade: ↑ ↓ and Space"]
        if self.percent is not None or self.typed_units is not None:
            return ()
        if self.digits:
            return [self._choice_text()]
        return ["Choose: 2 5 7 = 25, 50, 75 %, or digits and %, or digits and u for units"]

    def _choice_text(self) -> str:
        typed = above_zero(read_number(self.digits))
        if isinstance(typed, UnreadableText):
            return f"part: {typed.text} {typed.reason}; Backspace erases, % or u sets it"
        return f"% or u takes the {self.digits} typed; Esc drops"

    def _part_refusals(self, side: OpenSide) -> Sequence[str]:
        all_of_it = f"{self.context.keymap.name('close')} closes the whole position"
        closing = self.units()
        if self.order == "picked":
            return ()
        if self.percent is not None and self.percent > PERCENT:
            return [f"{self.percent:f} % is more than the whole position: {all_of_it}"]
        if self.typed_units is not None and closing != self.typed_units:
            return [
                f"{self.typed_units:f} units have more decimals than {pair(self.instrument)} takes"
            ]
        if closing > side.units:
            return [f"{units(closing)} is more than the {units(side.units)} open: {all_of_it}"]
        if not closing:
            return [f"{self._chosen_text()} of the position is less than one unit: {all_of_it}"]
        return ()

    def request(self) -> ClosePosition | CloseParts | None:
        """Return the units of that side; by trades where the order is not the broker's, which is the oldest first."""
        side = self.side
        if side is None:
            return None
        closing = self.units()
        if self.order != "oldest" and closing != side.units:
            parts = self.parts(side)
            return CloseParts(
                self.instrument,
                tuple(
                    (trade.id, None if part_units == abs(trade.units) else part_units)
                    for trade, part_units in parts
                ),
            )
        size: CloseSide = "ALL" if closing == side.units else closing
        if side.name == "long":
            return ClosePosition(self.instrument, long_units=size)
        return ClosePosition(self.instrument, short_units=size)

    # The keys.

    def typed(self, key: str) -> bool:
        """Collect digits for an own percentage or for units; a part chosen before is dropped."""
        if key != "backspace" and not is_number_key(key):
            return False
        self._collect(edited_text(self.digits, key, key, MAX_LENGTH + 1))
        return True

    def _collect(self, digits: str) -> None:
        self.percent = self.typed_units = None
        self.digits = digits

    def action_part(self, key: int) -> None:
        """Choose a quarter, a half, three quarters; the digits also begin an own part."""
        self._collect(edited_text(self.digits, str(key), str(key), MAX_LENGTH + 1))
        self.percent = PRESET_PARTS.get(self.digits)
        self.redraw()

    def action_next_order(self) -> None:
        """Turn to the next order in which trades are closed."""
        at = CLOSE_ORDERS.index(self.order) + 1
        self.order = CLOSE_ORDERS[at % len(CLOSE_ORDERS)]
        self.redraw()

    def action_cursor(self, step: int) -> None:
        self.cursor += step
        self.redraw()

    def action_pick(self) -> None:
        """Pick the trade under the cursor, or drop it again."""
        side = self.side
        if side is not None and side.trades and self.order == "picked":
            self.picked ^= {side.trades[self.cursor % len(side.trades)].id}
        self.redraw()

    def action_percent(self) -> None:
        """Take the typed digits as the percentage."""
        self._take("percent")

    def action_units(self) -> None:
        """Take the typed digits as units."""
        self._take("units")

    def _take(self, what: Literal["percent", "units"]) -> None:
        value = above_zero(read_number(self.digits))
        if isinstance(value, Decimal):
            self.percent = value if what == "percent" else None
            self.typed_units = value if what == "units" else None
            self.digits = ""
        self.redraw()

    def action_side(self, name: SideName) -> None:
        """Choose the side; a position with one side has no choice."""
        if len(self.open_sides()) > 1:
            self.choice = name
        self.redraw()
