"""The deal pane: both prices of the focused instrument and what B and S would open with the size preset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from functools import partial
from itertools import zip_longest
from typing import ClassVar, Literal

from msgspec import Struct

from keydesk.calc.orders.ticket_settings import RISK_PRESET, Template
from keydesk.panes.strips.instrument import LOT, largest_text, pip_value
from keydesk.store.entry_obstacles import entry_obstacle
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.unknown import UNKNOWN, are_trades_known
from keydesk.tables.watch_figures import spread_pips
from keydesk.text import format as show
from keydesk.text.format import lines_of, pip_count
from keydesk.text.sanitize import Printable, safe
from keydesk.widgets.lines import Heading, LinePane, Run, Tab, width_of
from keydesk.widgets.price_cells import flash_of, price_format_of, price_runs, prices_are_old
from keydesk.widgets.theme import ColourRole, signed_role
from keydesk_client.arithmetic.constants import ZERO

TWO_COLUMNS = 42  # columns from which on two lists stand side by side
LOSS_LOCKED = "loss lock, exits only"


class Preset(Struct, frozen=True):
    """The size of a new ticket, in words and, when it is fixed, in units."""

    text: str
    units: Decimal | None = None
    bracket: Callable[[Decimal], Sequence[str]] = (
        lambda _spread_pips: ()
    )  # "stop 15 pips", "target 2R"


class Deal(LinePane, can_focus=False):
    """The prices, size, cost and position that matter before B or S is pressed."""

    KEY_CONTEXT: ClassVar[str] = "desk"

    def __init__(self, *, id: str | None = "ticket") -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.preset = Preset("")
        self._flash = 0
        self._rows: list[list[Run]] | None = None

    def heading(self) -> Heading:
        """Return the instrument that B and S would deal in."""
        name = show.pair(self.frame.store.focus) if self.frame else ""
        return Heading((Tab(safe(f"Deal {name}".strip())),))

    def show_preset(self, preset: Preset) -> None:
        """Show another size preset."""
        self.preset = preset
        self.redraw()

    def changed(self, frame: Frame) -> None:
        """Redraw when the price, the position or the arming level changed."""
        store = frame.store
        quote = store.quotes.get(store.focus)
        flash = flash_of(quote, frame.now) if quote else 0
        faded, self._flash = flash != self._flash, flash
        priced = store.focus in frame.keys(Topic.PRICES)
        if frame.touched(Topic.FOCUS, Topic.ARMING, Topic.HEALTH):
            self.redraw()
        elif priced or faded or frame.touched(Topic.POSITIONS, Topic.ACCOUNT):
            self._redraw_what_differs(frame)

    def redraw(self) -> None:
        """Draw everything again."""
        self._rows = None
        super().redraw()

    def _redraw_what_differs(self, frame: Frame) -> None:
        before, self._rows = self._rows or [], self._all_rows(frame)
        if len(before) != len(self._rows):
            super().redraw()
            return
        for y, (old, new) in enumerate(zip(before, self._rows, strict=True)):
            if old != new:
                self.redraw_line(y)

    def runs(self, y: int, frame: Frame) -> Iterable[Run]:
        """Return a row."""
        if self._rows is None:
            self._rows = self._all_rows(frame)
        return self._rows[y] if y < len(self._rows) else []

    def _all_rows(self, frame: Frame) -> list[list[Run]]:
        """Return all rows: prices, size, cost, position, arming level."""
        store = frame.store
        quote = store.quotes.get(store.focus)
        if quote is None:
            return [[("Waiting for a price …", self.palette["muted"])]]
        spread = show.pips(spread_pips(store, store.focus) or ZERO, signed=False)
        prices = [
            self._side("sell", quote.bid, quote.bid_move, frame),
            self._side("buy", quote.ask, quote.ask_move, frame),
            self._label("spread", safe(f"{spread} pips")),
        ]
        if not quote.tradeable:
            prices.append([("not tradeable now", self.palette["warn"])])
        cost, position = self._cost(store), self._position_lines(store)
        permission, terms = self._permission(store, self.inside), self._terms(store)
        height = self.outer_size.height
        spaced = [[], *prices, [], *cost, *terms, [], *position, [], *permission]
        if len(spaced) <= height:
            return spaced
        if self.inside >= TWO_COLUMNS:
            permission = self._permission(store, self.inside // 2 - 1)
            left, right = [*prices, *position, *permission], [*cost, *terms]
            return [self._beside(*each) for each in zip_longest(left, right, fillvalue=list[Run]())]
        return [*prices, *cost, *position, *permission, *terms]

    def _beside(self, left: Sequence[Run], right: Sequence[Run]) -> list[Run]:
        half = self.inside // 2
        blank: Run = (" " * (half - width_of(left)), self.palette["plain"])
        return [*left, blank, *right] if right else [*left]

    def _terms(self, store: Store) -> list[list[Run]]:
        """Return margin rate and largest order of the instrument."""
        known = store.instruments.get(store.focus)
        if known is None:
            return []
        return [
            self._label("margin", safe(f"{show.percent(known.margin_rate)}%")),
            self._label("largest", largest_text(store, store.focus)),
        ]

    def _side(
        self, side: Literal["buy", "sell"], price: Decimal, move: int, frame: Frame
    ) -> list[Run]:
        price_format = price_format_of(frame.store, frame.store.focus)
        parts = show.split_price(price, price_format.pip_location, price_format.precision)
        old = prices_are_old(frame.store)
        runs = price_runs(self.palette, parts, flash=self._flash, move=move, dim=old)
        named: list[Run] = [
            (self.keymap.name(side), self.palette[side] + self.palette.at_stake),
            (safe(f" {side:<7}"), self.palette[side]),
        ]
        return [*named, *runs]

    def _cost(self, store: Store) -> list[list[Run]]:
        if not self.preset.text:
            return []
        rows = [self._label("size", safe(self.preset.text))]
        spread = spread_pips(store, store.focus) or ZERO
        bracket = self.preset.bracket(spread)
        rows += [self._label("" if i else "with", safe(part)) for i, part in enumerate(bracket)]
        value = pip_value(store, store.focus)
        if self.preset.units is not None and value is not None:
            of_one = value * self.preset.units / LOT
            cost = of_one * spread
            rows.append(self._label("per pip", show.money(of_one)))
            rows.append(self._label("cost", show.money(-cost, signed=True)))
        return rows

    def _position_lines(self, store: Store) -> list[list[Run]]:
        position = store.positions.get(store.focus)
        if not are_trades_known(store):
            return [self._label("position", UNKNOWN, "danger")]
        if position is None:
            return [self._label("position", "none")]
        profit = position.unrealized_pl
        style = (
            self.palette["faint"]
            if prices_are_old(store)
            else self.palette[signed_role(profit)] + self.palette.at_stake
        )
        return [
            *self._held(position.long_units, position.short_units),
            [("P/L      ", self.palette["faint"]), (show.money(profit, signed=True), style)],
        ]

    def _held(self, long_units: Decimal, short_units: Decimal) -> list[list[Run]]:
        """Return the units held, those of a hedge in two rows; their sum may be 0."""
        sides: Sequence[tuple[Decimal, ColourRole]] = ((long_units, "buy"), (short_units, "sell"))
        held: list[tuple[Decimal, ColourRole]] = [side for side in sides if side[0]]
        return [
            self._label("" if place else "position", show.units(units, signed=True), role)
            for place, (units, role) in enumerate(held)
        ]

    def _permission(self, store: Store, width: int) -> list[list[Run]]:
        """Return whether orders that open risk are sent, in lines of a width."""
        match store.arming.level:
            case "ARMED":
                now = 0.0 if self.frame is None else self.frame.now
                obstacle = entry_obstacle(store, store.focus, now)
                if not obstacle:
                    return [[("entries allowed", self.palette["muted"])]]
                return [[(part, self.palette["warn"])] for part in lines_of(obstacle, width)]
            case "DISARMED" if store.loss_lock.is_on:
                lines = lines_of(safe(LOSS_LOCKED), width)
                return [[(part, self.palette["warn"])] for part in lines]
            case "DISARMED":
                faint = self.palette["faint"]
                reason: list[list[Run]] = [
                    [(part, faint)] for part in lines_of(safe(store.arming.reason), width)
                ]
                arms = f"exit only, {self.keymap.name('arm')} arms"
                return [[(safe(arms), self.palette["warn"])], *reason]
            case "READ-ONLY":
                return [[("read-only: sends nothing", self.palette["muted"])]]

    def _label(self, label: str, value: Printable, role: ColourRole = "plain") -> list[Run]:
        return [(safe(f"{label:<9}"), self.palette["faint"]), (value, self.palette[role])]


def preset_shown(template: Template, number: int) -> Preset:
    """Return a size preset as the dealing pane shows it."""
    bracket = partial(bracket_text, template)
    if number == RISK_PRESET:
        return Preset(f"{RISK_PRESET}: risk {template.risk_percent:f}%", None, bracket)
    size = template.sizes.get(number)
    return Preset("" if size is None else f"{number}: {show.units(size)}", size, bracket)


def bracket_text(template: Template, spread_pips: Decimal) -> list[str]:
    """Return the size and bracket of a new ticket at a spread in pips."""
    stop, target = template.stop_at_spread(spread_pips), template.target_r
    if template.stop_atr is not None:
        words = [f"stop {template.stop_atr:f} ATR"]
    else:
        words = [] if stop is None else [f"stop {pip_count(stop)}"]
    return [
        *words,
        *([] if target is None else [f"target {target:f}R"]),
    ]
