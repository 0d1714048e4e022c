"""What a trader sets for tickets: templates (sizes, bracket, exit plan of new trades) and limits."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.plans.exit_plans import NO_RULES, ExitRules
from keydesk.calc.orders.plans.scale_out import NO_SCALE_OUT, ScaleOut
from keydesk.calc.orders.ticket_draft import Kind

if TYPE_CHECKING:
    from keydesk.calc.risk.trading_context import TradingContext


RISK_PRESET = 0


def _usual_sizes() -> Mapping[int, Decimal]:
    thousands = (1, 5, 10, 25, 50, 100, 250, 500, 1000)
    return {number: Decimal(size * 1000) for number, size in enumerate(thousands, start=1)}


class Template(Struct, frozen=True):
    """Sizes, bracket and trailing stop of new trades."""

    name: str = "standard"
    sizes: Mapping[int, Decimal] = field(default_factory=_usual_sizes)  # presets 1 to 9
    risk_percent: Decimal = Decimal(1)  # preset 0, of NAV
    stop_pips: Decimal | None = Decimal(20)
    stop_spreads: Decimal = Decimal(5)  # the stop is at least so many spreads away
    target_r: Decimal | None = Decimal(2)
    trail_pips: Decimal | None = None
    stop_atr: Decimal | None = None  # in average true ranges; counts before `stop_pips`
    trail_atr: Decimal | None = None
    break_even_offset_pips: Decimal = Decimal(0)
    kind: Kind = "MARKET"
    size: Entry | None = None  # of its own, in place of the active preset
    stop_required: bool = False  # no stop, no send
    target: Entry | None = None  # in another unit than R; counts before `target_r`
    expiry: str = ""  # of its order type; empty: the usual one
    bound_pips: Decimal | None = None
    exit_rules: ExitRules = NO_RULES  # the exit plan of new trades
    scale_out: ScaleOut = NO_SCALE_OUT  # of new trades; it has the targets, then

    @property
    def target_entry(self) -> Entry:
        """The target of the bracket as a field holds it; none where the scale-out has its own ones."""
        if self.scale_out.shares:
            return Entry("", "R")
        if self.target is not None:
            return self.target
        return Entry("" if self.target_r is None else f"{self.target_r:f}", "R")

    def stop_entry(self, context: TradingContext | None) -> Entry:
        """Return the stop of the bracket as a field holds it, wide enough for the spread where that is known.

        In average true ranges it stays so while those are not known: the form refuses it by name.
        """
        if context is None:
            return _entry(self.stop_pips, self.stop_atr)
        pip, spread = context.rules.pip, context.ask - context.bid
        if self.stop_atr is not None:
            unit = context.average_range
            least = self.stop_spreads * spread
            if unit is None or self.stop_atr * unit >= least:
                return _entry(None, self.stop_atr)
            return _entry(_whole_pips(least / pip), None)
        return _entry(self.stop_at_spread(spread / pip), None)

    def stop_at_spread(self, spread_pips: Decimal) -> Decimal | None:
        """Return the stop of the bracket for a spread in pips."""
        if self.stop_pips is None:
            return None
        return max(self.stop_pips, _whole_pips(self.stop_spreads * spread_pips))

    @property
    def own_trail(self) -> Entry:
        """The template's trailing distance as a field holds it, empty without one."""
        return _entry(self.trail_pips, self.trail_atr)

    def trail_entry(self, context: TradingContext) -> Entry:
        """Return the trailing distance as a field holds it: the template's, else the stop's, at least the broker's minimum."""
        entry = self.own_trail if self.own_trail.text else self.stop_entry(context)
        if not isinstance(entry.value, Decimal):
            return entry
        unit = context.average_range if entry.unit == "ATR" else context.rules.pip
        if unit is None or entry.value * unit >= context.rules.minimum_trail:
            return entry
        return _entry(_whole_pips(context.rules.minimum_trail / context.rules.pip), None)


STANDARD = "standard"


class TemplateSet(Struct, frozen=True):
    """The named templates beside the standard one, and which of them new tickets of an instrument open with."""

    named: Mapping[str, Template] = field(default_factory=dict)
    by_instrument: Mapping[str, str] = field(default_factory=dict)

    def of(self, instrument: str, standard: Template) -> Template:
        """Return the template of an instrument; the standard one where none is set."""
        return self.get(self.by_instrument.get(instrument, STANDARD), standard)

    def get(self, name: str, standard: Template) -> Template:
        """Return a template by its name; the standard one for an unknown name."""
        return self.named.get(name, standard)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all templates, the standard one first."""
        return (STANDARD, *(name for name in self.named if name != STANDARD))

    def following(self, name: str) -> str:
        """Return the name of the template after this one; after the last comes the first."""
        names = self.names
        return names[(names.index(name) + 1) % len(names)] if name in names else STANDARD


def _entry(in_pips: Decimal | None, in_ranges: Decimal | None) -> Entry:
    if in_ranges is not None:
        return Entry(f"{in_ranges:f}", "ATR")
    return Entry("" if in_pips is None else f"{in_pips:f}", "pips")


def _whole_pips(count: Decimal) -> Decimal:
    return count.to_integral_value(rounding="ROUND_CEILING")


class Limits(Struct, frozen=True):
    """The trader's own limits: hard ones refuse, soft ones require a letter; None: no such limit. Exits are exempt.

    What each of them means, in words: `LIMIT_FIELDS` in `calc/orders/limits.py`.
    """

    hard_units: Decimal | None = None
    hard_notional: Decimal | None = None  # home currency
    hard_leverage: Decimal | None = None
    soft_leverage: Decimal = Decimal(20)
    hard_risk_percent: Decimal | None = None
    soft_risk_percent: Decimal = Decimal(2)
    hard_open_risk_percent: Decimal | None = None
    hard_open_trades: Decimal | None = None
    hard_spread_pips: Decimal | None = None
    soft_spread_pips: Decimal | None = None
    hard_spread_of_stop: Decimal | None = None
    soft_spread_of_stop: Decimal = Decimal("0.25")
    hard_deviation_percent: Decimal | None = None
    soft_deviation_ranges: Decimal | None = Decimal(2)  # of a day
    daily_loss: Decimal | None = None  # home currency
    daily_loss_percent: Decimal | None = None
    cool_off_losses: Decimal | None = None
    cool_off_minutes: Decimal = Decimal(30)
    slow_ms: float = 400.0
    instruments: Mapping[str, Mapping[str, Decimal | None]] = field(default_factory=dict)

    def of(self, instrument: str) -> Limits:
        """Return the limits of an instrument: its own ones replace those of all."""
        own: Mapping[str, Any] = self.instruments.get(instrument, {})
        return replace(self, **own) if own else self
