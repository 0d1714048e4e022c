"""The form that replaces a pending entry order: its price, stop, target, trailing stop and units."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import ClassVar

from msgspec.structs import replace

from keydesk.calc.orders.change_checks import distance_refusals, level_refusals, size_refusals
from keydesk.calc.orders.entry_move import (
    Levels,
    field_of,
    levels_of,
    move_instruction,
    move_warnings,
    outlook_of,
    risk_of,
    typed_levels,
)
from keydesk.calc.orders.field_draft import (
    Entry,
    FieldDraft,
    Reading,
    UnreadableText,
    above_zero,
    shown_number,
)
from keydesk.calc.orders.fields import ENTRY_FIELDS
from keydesk.calc.orders.instructions import MoveEntry
from keydesk.calc.orders.lifetime import frozen
from keydesk.calc.orders.limits import moved_risk_refusals
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.calc.orders.ticket_units import step_of
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.chart.price_axis import PriceLine
from keydesk.forms.form import NUDGES
from keydesk.forms.modal_form import FormContext, TextLine, Words, figure
from keydesk.forms.planned_lines import behind, planned_lines
from keydesk.forms.ticket_lines import (
    NOT_KNOWN,
)
from keydesk.forms.trades.lifetime_fields import LifetimeFields
from keydesk.keys.confirm import Action
from keydesk.keys.keymap import MODIFY
from keydesk.store.risk import open_risk_of
from keydesk.text.format import EMPTY, UNLIMITED, money, price, units
from keydesk.text.sanitize import safe
from keydesk.values import OrderRow
from keydesk.words.order_text import order_name
from keydesk_client.arithmetic.profit import pip, round_price

TENTH = Decimal("0.1")
WITHOUT_BRACKET = ("price", "units")


class MoveForm(LifetimeFields[MoveEntry, str]):
    """Replaces the order in one step; everything not shown here stays as it is."""

    KEY_CONTEXT: ClassVar[str] = MODIFY
    WIDTH: ClassVar[int] = 68
    FIELDS = ENTRY_FIELDS
    PRICES: ClassVar[frozenset[str]] = frozenset(("price", "stop", "target"))

    def __init__(self, context: FormContext, order_id: str) -> None:
        self.order_id = order_id
        super().__init__(context)

    def first_draft(self) -> FieldDraft[str]:
        """Return the levels of the order."""
        levels = levels_of(self.order).items()
        return FieldDraft({name: field_of(name, at, self._pip) for name, at in levels}, "price")

    def gone(self) -> str:
        """Return that it is filled or cancelled, "" while it rests."""
        is_there = self.order is not None and self.order.units is not None
        return "" if is_there else "It is filled or cancelled already"

    def hints(self) -> TextLine:
        """Return the keys of its fields: most are prices, which steps of ten move far."""
        return NUDGES

    @property
    def instrument(self) -> str:
        """The order's."""
        return self.order.instrument if self.order else ""

    @property
    def order(self) -> OrderRow | None:
        """Return the order, None once it is gone."""
        return self.context.store.orders.get(self.order_id)

    @property
    def _pip(self) -> Decimal:
        """Return one pip of its instrument in price units."""
        known = self.context.store.instruments.get(self.order.instrument if self.order else "")
        return pip(known.pip_location if known is not None else -4)

    @property
    def names(self) -> Sequence[str]:
        """Return the fields: an order that only reduces brings no stop or target."""
        order = self.order
        return WITHOUT_BRACKET if order is not None and order.reduces else tuple(ENTRY_FIELDS)

    def levels(self, context: TradingContext) -> Levels:
        """Return the levels typed, at the instrument's precision."""
        return typed_levels(self.draft.entries, context, buys=self._buys)

    @property
    def _buys(self) -> bool:
        return self.order is not None and self.order.units is not None and self.order.units > 0

    def headline(self) -> TextLine:
        """Return the order that it is about."""
        order = self.order
        name = order_name(order) if order else safe(f"#{self.order_id}")
        return (("MOVE ", "bright"), (name, "bright"))

    def effect(self) -> Sequence[TextLine]:
        """Show what the order may lose and win."""
        order, context = self.order, self.market
        if order is None or context is None or order.reduces:
            return ()
        return _risk_lines(self.levels(context), context)

    def planned(self) -> tuple[str, Sequence[PriceLine]]:
        """Return the new price where it differs from the order's, which is drawn, and the stop and target it brings."""
        order, context = self.order, self.market
        if order is None or context is None:
            return "", ()
        levels = self.levels(context)
        at = levels["price"]
        return order.instrument, planned_lines(
            entry=None if at == order.price else at,
            stop=levels["stop"],
            target=levels["target"],
            trail=behind(at, levels["trail"], 1 if self._buys else -1),
        )

    def field_lines(self) -> Sequence[TextLine]:
        """Return price, stop and target as they stand in the form."""
        lines = super().field_lines()
        return [*lines, *self.life_lines()] if lines else ()

    def reading(self, name: str) -> Reading:
        """Return the number in a field: prices, distances and units are above 0."""
        return above_zero(self.draft.entry(name).value)

    def action(self) -> Action:
        """Return REPLACE_ENTRY, or what opening without a stop requires."""
        if self.order is not None and self.order.reduces:
            return Action.MOVE_TARGET
        return Action.OPEN_AGAINST_WARNING if self.warnings() else Action.REPLACE_ENTRY

    def refusals(self) -> Sequence[str]:
        """Refuse an unchanged order, unreadable levels and levels on the wrong side."""
        order, context = self.order, self.market
        if order is None or order.units is None or context is None:
            return [self.unready()]
        levels = self.levels(context)
        if refusals := self.life_refusals():
            return refusals
        if levels == levels_of(self.order) and not self.changes_life:
            keys = " ".join(ENTRY_FIELDS[name].key for name in self.names)
            return [f"No change yet: {keys} pick, digits or ↑ ↓ change it"]
        own = self.context.limits.of(order.instrument)
        return [
            *level_refusals(
                1 if order.units > 0 else -1, levels, context, ENTRY_FIELDS, levels_of(order)
            ),
            *size_refusals(levels["units"], abs(order.units), context, own),
            *distance_refusals(order, levels["price"], context, own),
            *self._risk_refusals(order, levels, context, own),
        ]

    def _risk_refusals(
        self, order: OrderRow, levels: Mapping[str, Reading], context: TradingContext, own: Limits
    ) -> Sequence[str]:
        """Hold a move that raises the risk to the trader's limits; one that only reduces is an exit."""
        if order.reduces:
            return ()
        before, after = (risk_of(each, context) for each in (levels_of(self.order), levels))
        return list(
            moved_risk_refusals(before, after, context, own, open_risk_of(self.context.store))
        )

    def warnings(self) -> Sequence[str]:
        """Warn of an entry order without a stop."""
        trailed = bool(self.draft.entry("trail").text)
        stopped = self.draft.entry("stop").text or "stop" not in self.names
        if not stopped and not trailed:
            return ["Without a stop the loss has no limit"]
        return self._soft_risk()

    def _soft_risk(self) -> Sequence[str]:
        order, context = self.order, self.market
        if order is None or context is None or order.reduces:
            return ()
        own = self.context.limits.of(order.instrument)
        return move_warnings(order, self.levels(context), context, own)

    def request(self) -> MoveEntry | None:
        """Return the new levels."""
        order, context = self.order, self.market
        if order is None or context is None:
            return None
        move = move_instruction(order, self.levels(context))
        lifetime = frozen(self.lifetime, self.context.store.now_ns, self.context.store.zone)
        if move is None or lifetime is None:
            return None
        return replace(move, lifetime=lifetime, trigger=self.trigger)

    def meaning(self, name: str) -> Words:
        """Return a level before and after."""
        context, was = self.market, levels_of(self.order)[name]
        level = None if context is None else self.levels(context)[name]
        if context is None or isinstance(level, UnreadableText):
            return (NOT_KNOWN, "danger")
        digits = context.rules.price_precision
        if level == was:
            return ("as it is" if was is not None else "none", "muted")
        if level is None:
            return (safe(f"{self._shown(name, was, digits)} → REMOVED"), "warn")
        away = (
            self._distance_text(name, level, context) if name in {"price", "stop", "target"} else ""
        )
        before, after = (self._shown(name, each, digits) for each in (was, level))
        return (safe(f"{before} → {after}{away}"), "plain")

    def _shown(self, name: str, level: Decimal | None, digits: int) -> str:
        if level is None:
            return "none"
        if name == "units":
            return units(level)
        return f"{money(level / self._pip, 1)} pips" if name == "trail" else price(level, digits)

    def _distance_text(self, name: str, level: Decimal | None, context: TradingContext) -> str:
        """Return how far the price is from the market, or a level from the price."""
        at = shown_number(self.levels(context)["price"])
        origin = (context.ask if self._buys else context.bid) if name == "price" else at
        if level is None or origin is None:
            return ""
        return f" {money(abs(level - origin) / context.rules.pip, 1)} pips"

    # The keys.

    def action_next_unit(self) -> None:
        """Turn a distance in average true ranges into its price; an order that rests is known by prices."""
        entry, context = self.draft.current, self.market
        if entry.unit != "ATR" or context is None:
            return
        level = self.levels(context)[self.draft.active]
        if self.draft.active == "trail":
            pips = Entry("", "pips")
            self.set_field(pips.set(level / self._pip) if isinstance(level, Decimal) else pips)
            return
        in_price = Entry("", "price")
        self.set_field(in_price.set(level) if isinstance(level, Decimal) else in_price)

    def action_count_in_atr(self) -> None:
        """Count the active level in average true ranges from the price; typed digits stay."""
        entry = self.draft.current
        if self.draft.active in {"price", "units"}:
            self._hint = f"The {self.draft.active} is not a distance: s, t and r count in ATR"
            self.redraw()
        elif entry.unit != "ATR":
            self.set_field(replace(entry, unit="ATR", text="" if entry.fresh else entry.text))

    def nudged(self, entry: Entry, steps: int) -> Entry | None:
        """Return the field moved by pips, or by steps of its unit."""
        value, context = entry.value, self.market
        if context is None or isinstance(value, UnreadableText):
            return None
        if self.draft.active in {"trail", "units"} or entry.unit == "ATR":
            step = TENTH if entry.unit == "ATR" else step_of(entry, context)
            return entry.set(max(Decimal(0), (value or Decimal(0)) + steps * step))
        start = value if value is not None else context.mid
        moved = round_price(start + steps * context.rules.pip, context.rules.price_precision)
        return entry.set(moved)


def _risk_lines(levels: Levels, context: TradingContext) -> Sequence[TextLine]:
    """Return what is lost at the stop and won at the target; nothing while price or units are missing."""
    outlook = outlook_of(levels, context)
    if outlook is None:
        return ()
    if outlook.is_unusable:
        return (figure("at stop", (EMPTY, "muted")),)
    if outlook.lost is None:
        return (figure("at stop", (UNLIMITED, "danger")),)
    lost, won, nav = outlook.lost, outlook.won, context.funds.nav
    currency = context.funds.currency
    share: Sequence[Words] = ()
    if nav > 0:
        share = ((safe(f"{money(lost / nav * 100)} % of NAV, 1 R"), "plain"),)
    at_stop = figure("at stop", (money(-lost, signed=True), "loss"), currency, *share)
    if won is None or not lost:
        return (at_stop,)
    ratio: Words = (safe(f"{money(won / lost)} R"), "plain")
    return (at_stop, figure("target", (money(won, signed=True), "profit"), currency, ratio))
