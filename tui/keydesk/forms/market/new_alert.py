"""Forms of a new alert: where the trader points (crosshair, watchlist, trade), or typed as a line. They send nothing."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace
from textual.widgets import Input

from keydesk.alerts.readings import standing_hint, trouble_of
from keydesk.calc.alerts.alert import USUAL_PAUSE_S, AlertLine, repeat_text
from keydesk.calc.alerts.condition_base import AlertSyntaxError, Direction, PriceSide
from keydesk.calc.alerts.fact_conditions import TradeResult
from keydesk.calc.alerts.price_conditions import PriceCross
from keydesk.forms.field_form import FieldForm
from keydesk.forms.info_form import InfoForm
from keydesk.forms.modal_form import BLANK, TextLine, Words, fold_line, wrap_text
from keydesk.keys.keymap import KEYMAP, NAME, NEW_ALERT, KeyMap
from keydesk.keys.textual_bindings import bindings_of
from keydesk.parse.alerts import parse_alert
from keydesk.store.frame import Frame
from keydesk.store.store import Store
from keydesk.text.format import pips, price, r_multiple
from keydesk.text.sanitize import Printable, clean, safe
from keydesk.widgets.theme import ColourRole

NEXT_DIRECTION: Mapping[Direction, Direction] = {"up": "down", "down": "touch", "touch": "up"}
NEXT_SIDE: Mapping[PriceSide, PriceSide] = {"mid": "bid", "bid": "ask", "ask": "mid"}
PAUSES = (None, USUAL_PAUSE_S, 3600, 0)
TENTH = Decimal("0.1")
LABEL = 11  # columns
MAX_LENGTH = 200  # characters of a line


class EditAsText(Struct, frozen=True):
    """The trader wants to type the line of the alert."""

    line: AlertLine


class TakeAlert(Struct, frozen=True):
    """The alert is to be made."""

    line: AlertLine


AlertChoice = EditAsText | TakeAlert


class NewAlertForm(InfoForm[AlertChoice]):
    """Shows an alert on a price or a trade, which keys change.

    Args:
        store: Has the prices.
        condition: To begin with.
        standing: Returns a hint if the price is already beyond the level.
        keymap: The keys, as the foot names them.
    """

    KEY_CONTEXT: ClassVar[str] = NEW_ALERT
    BINDINGS = bindings_of(NEW_ALERT)
    WIDTH: ClassVar[int] = 72
    IS_PAGE: ClassVar[bool] = False

    def __init__(
        self,
        store: Store,
        condition: PriceCross | TradeResult,
        keymap: KeyMap = KEYMAP,
    ) -> None:
        self.store, self.condition, self.keymap = store, condition, keymap
        self.repeat_s: int | None = None
        self._turned = False  # the direction was chosen; else it follows the level
        super().__init__()

    @property
    def line(self) -> AlertLine:
        """The alert as it is now."""
        return AlertLine(self.condition, self.repeat_s)

    def on_frame(self, frame: Frame) -> None:
        if frame.dirty:
            self.redraw()

    def title_text(self) -> Printable:
        return "New alert"

    def foot_text(self) -> Printable:
        """Return the keys."""
        take, text = self.keymap.name("alert-take"), self.keymap.name("alert-text")
        return safe(f"{take} makes it  {text} types it  Esc drops")

    def lines(self) -> Sequence[TextLine]:
        """Return condition, level and distance, and what the keys change."""
        condition = self.condition
        rows: list[tuple[str, str, ColourRole]] = [("tells when", condition.text, "bright")]
        rows.append(("now", self._now(condition), "plain"))
        rows.append(("how often", _often(self.repeat_s), "plain"))
        lines: list[TextLine] = []
        for name, text, role in rows:
            label: Words = (safe(f"{name:<{LABEL}}"), "muted")
            first, *more = wrap_text(clean(text), role, max(1, self.inside - LABEL)) or [BLANK]
            indent: Words = (" " * LABEL, "muted")
            lines.append((label, *first))
            lines += [(indent, *line) for line in more]
        if hint := standing_hint(self.store, self.condition):
            lines += wrap_text(clean(hint), "warn", self.inside)
        return [*lines, BLANK, *fold_line(((self._keys(), "muted"),), self.inside)]

    def _keys(self) -> Printable:
        name = self.keymap.name
        side = (
            f"{name('alert-side')} bid/ask/mid  " if isinstance(self.condition, PriceCross) else ""
        )
        unit = f"{name('alert-side')} R/money  " if isinstance(self.condition, TradeResult) else ""
        ways = f"{name('alert-direction')} up/down/touch  {side}{unit}{name('alert-often')} once/repeat"
        return safe(f"↑ ↓ level  . , by ten  {ways}")

    def _now(self, condition: PriceCross | TradeResult) -> str:
        if isinstance(condition, TradeResult):
            trade = self.store.trades.get(condition.trade_id)
            if trade is None:
                return "closed"
            return f"{r_multiple(trade.r_multiple)} R"
        quote, known = self.store.quotes.get(condition.instrument), self._known(condition)
        if quote is None or known is None:
            return "no price yet"
        digits, pip_at = known
        mid = (quote.bid + quote.ask) / 2
        now = {"bid": quote.bid, "ask": quote.ask, "mid": mid}[condition.side]
        distance_pips = (condition.level - now).scaleb(-pip_at)
        return f"{price(now, digits)}, {pips(distance_pips)} pips away"

    def _known(self, condition: PriceCross) -> tuple[int, int] | None:
        known = self.store.instruments.get(condition.instrument)
        return None if known is None else (known.display_precision, known.pip_location)

    # Keys.

    def action_take(self) -> None:
        self.dismiss(TakeAlert(self.line))

    def action_text(self) -> None:
        self.dismiss(EditAsText(self.line))

    def action_level(self, steps: int) -> None:
        """Move the level by pips, or by tenths of R."""
        condition = self.condition
        if isinstance(condition, TradeResult):
            step = TENTH if condition.unit == "R" else Decimal(1)
            self.condition = replace(condition, level=condition.level + steps * step)
        elif (known := self._known(condition)) is not None:
            level = condition.level + steps * Decimal(1).scaleb(known[1])
            level = max(level, Decimal(1).scaleb(known[1]))
            direction = condition.direction if self._turned else self._towards(condition, level)
            self.condition = replace(condition, level=level, direction=direction)
        self.redraw()

    def _towards(self, condition: PriceCross, level: Decimal) -> Direction:
        """Return the direction in which the price reaches a level."""
        quote = self.store.quotes.get(condition.instrument)
        if quote is None:
            return condition.direction
        return "up" if level >= (quote.bid + quote.ask) / 2 else "down"

    def action_direction(self) -> None:
        self._turned = True
        direction = NEXT_DIRECTION[self.condition.direction]
        if isinstance(self.condition, TradeResult):
            direction = "down" if self.condition.direction == "up" else "up"
        self.condition = replace(self.condition, direction=direction)
        self.redraw()

    def action_side(self) -> None:
        """Watch another side of the price, or count a trade in money."""
        condition = self.condition
        if isinstance(condition, TradeResult):
            self.condition = replace(condition, unit="money" if condition.unit == "R" else "R")
        else:
            self.condition = replace(condition, side=NEXT_SIDE[condition.side])
        self.redraw()

    def action_often(self) -> None:
        self.repeat_s = PAUSES[(PAUSES.index(self.repeat_s) + 1) % len(PAUSES)]
        self.redraw()


def _often(repeat_s: int | None) -> str:
    if repeat_s is None:
        return "once"
    fresh = "at every fresh crossing" if not repeat_s else "at a fresh crossing after that"
    return f"{repeat_text(repeat_s)}, {fresh}"


class AlertLineForm(FieldForm[AlertLine]):
    """Returns the alert that was typed.

    Args:
        store: Has the instruments, and the one in focus.
        before: The line to begin with.
    """

    BINDINGS = bindings_of(NAME)
    WIDTH: ClassVar[int] = 72
    IS_PAGE: ClassVar[bool] = False

    def __init__(self, store: Store, before: str, title: Printable) -> None:
        super().__init__()
        self.store, self.text = store, before
        self._title: Printable = title
        self.refused = False  # Enter was pressed on a line that cannot be read

    def new_field(self) -> Input:
        return Input(
            self.text,
            placeholder="eurusd > 1.12 once note breakout",
            max_length=MAX_LENGTH,
            select_on_focus=False,
        )

    def title_text(self) -> Printable:
        return self._title

    def foot_text(self) -> Printable:
        """Return the keys that end it."""
        return "Enter takes it  Esc closes"

    def read(self) -> AlertLine | str:
        """Return the alert of the line, or why the line cannot be read."""
        try:
            line = parse_alert(
                self.text, self.store.instruments, self.store.focus, self.store.levels
            )
        except AlertSyntaxError as error:
            return str(error)
        return trouble_of(self.store, line) or line

    def lines(self) -> Sequence[TextLine]:
        """Return what the line means."""
        alert = self.read()
        if isinstance(alert, AlertLine):
            return wrap_text(clean(alert.text), "bright", self.inside)
        return wrap_text(clean(alert), "warn" if self.refused else "muted", self.inside)

    def on_input_changed(self, event: Input.Changed) -> None:
        self.text, self.refused = event.value, False
        self.redraw()

    def on_input_submitted(self, _event: Input.Submitted) -> None:
        """Close with the alert; a line that cannot be read stays open for correction."""
        alert = self.read()
        if isinstance(alert, AlertLine):
            self.dismiss(alert)
        else:
            self.refused = True
            self.redraw()
