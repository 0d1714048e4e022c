"""Exit plans of open trades: break-even at a profit, a stop that follows in steps, and a time at which the trade is closed.

A plan only reduces risk: it moves a stop nearer to the price, never away from it, and it closes. The desk carries it out;
what it did, such as a stop, rests at the broker. Distances are in price units from the trade's entry.
"""

from datetime import tzinfo
from decimal import Decimal
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.orders.field_draft import Entry, UnreadableText
from keydesk.calc.orders.fields import Unit
from keydesk.text.format import date_and_time, money
from keydesk.values import TradeRow
from keydesk_client.arithmetic.constants import MINUTE
from keydesk_client.arithmetic.profit import round_price_down, round_price_up
from keydesk_client.arithmetic.risk import nearest_stop, stop_distance

StepKind = Literal["break-even", "step trail", "time stop"]


class ExitPlan(Struct, frozen=True):
    """What is done with a trade, in price units from its entry; None: not that."""

    break_even_after: Decimal | None = None  # profit at which the stop goes to break-even
    break_even_offset: Decimal = Decimal(0)  # beyond it
    trail_after: Decimal | None = None  # profit from which the stop follows
    trail_distance: Decimal = Decimal(0)  # behind the best step of the price
    trail_step: Decimal = Decimal(0)  # the price moves so far before the stop follows
    close_at_ns: int | None = None
    break_even_done: bool = False
    opened_ns: int | None = None  # of its trade; None: not known

    @property
    def is_empty(self) -> bool:
        """Whether it does nothing."""
        return self.break_even_after is None and self.trail_after is None and not self.close_at_ns


NO_PROFIT, NO_STEP = Entry("", "R"), Entry("", "pips")


class ExitRules(Struct, frozen=True):
    """An exit plan as a template has it: profits and distances in R, pips or average true ranges; an empty one is left out."""

    break_even_at: Entry = NO_PROFIT
    break_even_offset_pips: Decimal = Decimal(0)
    trail_from: Entry = NO_PROFIT
    trail_behind: Entry = NO_PROFIT
    trail_step: Entry = NO_STEP
    close_after_minutes: Decimal | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it plans nothing."""
        entries = (self.break_even_at, self.trail_from, self.trail_behind)
        return not any(each.text for each in entries) and self.close_after_minutes is None

    @property
    def counts_in_r(self) -> bool:
        """Whether it needs the stop that a trade begins with."""
        entries = (self.break_even_at, self.trail_from, self.trail_behind, self.trail_step)
        if any(each.text and each.unit == "R" for each in entries):
            return True
        return bool(self.trail_from.text) and not self.trail_behind.text

    def without_atr(self, average_range: Decimal | None, pip: Decimal) -> "ExitRules | None":
        """Return the rules with average true ranges counted in pips as they are now; None where those are not known."""
        entries = (self.break_even_at, self.trail_from, self.trail_behind, self.trail_step)
        if average_range is None and any(each.text and each.unit == "ATR" for each in entries):
            return None
        even, after, behind, step = (
            _counted_in_pips(each, average_range or Decimal(0), pip) for each in entries
        )
        return replace(
            self, break_even_at=even, trail_from=after, trail_behind=behind, trail_step=step
        )

    @property
    def text(self) -> str:
        """Return the rules in words: break-even at 1R, trail from 1.5R 20p behind in steps of 5p, close after 240 min."""
        phrases = []
        if self.break_even_at.text:
            offset = self.break_even_offset_pips
            beyond = f" +{offset.normalize():f}p" if offset else ""
            phrases.append(f"break-even{beyond} at {entry_text(self.break_even_at)}")
        if self.trail_from.text or self.trail_behind.text:
            after = entry_text(self.trail_from) if self.trail_from.text else "the entry"
            behind = entry_text(self.trail_behind) if self.trail_behind.text else "1R"
            step = entry_text(self.trail_step) if self.trail_step.text else "1p"
            phrases.append(f"trail from {after} {behind} behind in steps of {step}")
        if self.close_after_minutes is not None:
            phrases.append(f"close after {self.close_after_minutes.normalize():f} min")
        return ", ".join(phrases)


def _counted_in_pips(entry: Entry, average_range: Decimal, pip: Decimal) -> Entry:
    value = entry.value
    if entry.unit != "ATR" or not isinstance(value, Decimal):
        return entry
    return Entry(f"{round(value * average_range / pip, 1):f}", "pips")


NO_RULES = ExitRules()
SUFFIXES = {"R": "R", "pips": "p", "ATR": "a"}


def entry_text(entry: Entry) -> str:
    """Return a distance as it is written: 1R, 20p, 1.5a."""
    return f"{entry.text}{SUFFIXES.get(entry.unit, '')}"


class Units(Struct, frozen=True):
    """What the units of a plan's distances come to, in price units; None: not known."""

    pip: Decimal
    initial_risk: Decimal | None  # R: from the entry to the stop that the trade began with
    average_range: Decimal | None

    def distance(self, entry: Entry) -> Decimal | UnreadableText | None:
        """Return a distance in price units, None if it is empty, else why it is not known."""
        value = entry.value
        if not isinstance(value, Decimal):
            return value
        if value < 0:
            return UnreadableText(entry.text, "is below 0")
        unit = self._one(entry.unit)
        return unit if isinstance(unit, UnreadableText) else value * unit

    def _one(self, unit: Unit) -> Decimal | UnreadableText:
        """Return one of a unit in price units."""
        if unit == "R":
            return self.initial_risk or UnreadableText("R", "is not known: it began without a stop")
        if unit == "ATR":
            return self.average_range or UnreadableText("ATR", "is not known")
        return self.pip


def initial_risk_of(trade: TradeRow) -> Decimal | None:
    """Return R in price units: from the entry to the first stop, else to the present one if it is on the losing side."""
    stop = trade.initial_stop if trade.initial_stop is not None else effective_stop(trade)
    if stop is None:
        return None
    distance = stop_distance(trade.units, trade.price, stop)
    return distance if distance > 0 else None


def effective_stop(trade: TradeRow) -> Decimal | None:
    """Return the stop that the price meets first, None without a stop."""
    stops = (trade.stop_loss, trade.trailing_stop, trade.guaranteed_stop)
    return nearest_stop(trade.units, (each.price for each in stops if each is not None))


def resolved(rules: ExitRules, units: Units, opened_ns: int) -> ExitPlan | UnreadableText:
    """Return the plan of a trade, its distances counted in price units; the first that cannot be counted instead."""
    even, after, behind, step = (
        units.distance(each)
        for each in (rules.break_even_at, rules.trail_from, rules.trail_behind, rules.trail_step)
    )
    for each in (even, after, behind, step):
        if isinstance(each, UnreadableText):
            return each
    trails = after is not None or behind is not None
    if trails and behind is None:
        behind = units.distance(Entry("1", "R"))
    if isinstance(behind, UnreadableText):
        return behind
    assert not isinstance(even, UnreadableText)  # noqa: S101 - returned above
    assert not isinstance(after, UnreadableText)  # noqa: S101
    assert not isinstance(step, UnreadableText)  # noqa: S101
    minutes = rules.close_after_minutes
    return ExitPlan(
        break_even_after=even,
        break_even_offset=rules.break_even_offset_pips * units.pip,
        trail_after=(after or Decimal(0)) if trails else None,
        trail_distance=behind or Decimal(0),
        trail_step=(step or units.pip) if trails else Decimal(0),
        close_at_ns=None if minutes is None else opened_ns + int(minutes * MINUTE),
    )


def plan_text(plan: ExitPlan, pip: Decimal | None, zone: tzinfo) -> str:
    """Return a plan in words: break-even at +20p, trail from +30p 20p behind in steps of 5p, close at 18:30."""
    phrases = []
    if plan.break_even_after is not None:
        offset = f" {_in_pips(plan.break_even_offset, pip)}" if plan.break_even_offset else ""
        done = " (done)" if plan.break_even_done else ""
        phrases.append(f"break-even{offset} at {_in_pips(plan.break_even_after, pip)}{done}")
    if plan.trail_after is not None:
        behind, step = (_in_pips(each, pip)[1:] for each in (plan.trail_distance, plan.trail_step))
        after = _in_pips(plan.trail_after, pip)
        phrases.append(f"trail from {after}, {behind} behind in steps of {step}")
    if plan.close_at_ns is not None:
        phrases.append(f"close at {date_and_time(plan.close_at_ns, zone)}")
    return ", ".join(phrases)


def _in_pips(distance: Decimal, pip: Decimal | None) -> str:
    if pip is None:
        return f"+{distance}"
    return f"+{money(distance / pip, 1)}p"


def problem_of(plan: ExitPlan) -> str:
    """Return why a plan makes no sense, "" if it does."""
    after, offset = plan.break_even_after, plan.break_even_offset
    if after is not None and after <= 0:
        return "Break-even at no profit would close the trade at once: give a profit above 0"
    if after is not None and offset >= after:
        return "The offset reaches the profit at which the stop goes there: it would fire at once"
    if plan.trail_after is not None and plan.trail_distance <= 0:
        return "The stop has to follow at a distance above 0"
    if plan.trail_after is not None and plan.trail_step <= 0:
        return "The stop has to follow in steps above 0"
    return ""


# What is to be done now.


class PlanStep(Struct, frozen=True):
    """What a plan does now: move the stop, or (None) close the trade."""

    kind: StepKind
    stop: Decimal | None = None
    guaranteed: bool = False  # the stop is the guaranteed one


def next_step(
    plan: ExitPlan,
    trade: TradeRow,
    *,
    close: Decimal,
    break_even: Decimal,
    precision: int,
    now_ns: int,
    room: Decimal = Decimal(0),
) -> PlanStep | None:
    """Return what the plan does at this price and time, None if nothing.

    Args:
        plan: The plan of the trade.
        trade: The trade as it is at the broker.
        close: The price that would close it now: the bid of a long trade, the ask of a short one.
        break_even: Its break-even price with the plan's offset.
        precision: Decimals of the instrument's prices.
        now_ns: The broker's time.
        room: What has to be between price and stop; of a guaranteed stop its least distance.
    """
    if is_due(plan, now_ns):
        return PlanStep("time stop")
    stops: list[tuple[Decimal, StepKind]] = []
    if breaks_even(plan, trade, close):
        stops.append((break_even, "break-even"))
    if (trailed := trailed_stop(plan, trade, close, precision)) is not None:
        stops.append((trailed, "step trail"))
    direction = 1 if trade.units > 0 else -1
    at_present = effective_stop(trade)
    usable: list[tuple[Decimal, StepKind]] = [
        (stop, kind)
        for stop, kind in stops
        if direction * (close - stop) > room
        and (at_present is None or direction * (stop - at_present) > 0)
    ]
    if not usable:
        return None
    stop, kind = max(usable, key=lambda each: direction * each[0])
    return PlanStep(kind, stop, trade.guaranteed_stop is not None)


def is_due(plan: ExitPlan, now_ns: int) -> bool:
    """Return whether the time of the time stop has come."""
    return plan.close_at_ns is not None and now_ns >= plan.close_at_ns


def breaks_even(plan: ExitPlan, trade: TradeRow, close: Decimal) -> bool:
    """Return whether the profit has been reached at which the stop goes to break-even, and it has not gone there yet."""
    after = plan.break_even_after
    return after is not None and not plan.break_even_done and gained(trade, close) >= after


def gained(trade: TradeRow, close: Decimal) -> Decimal:
    """Return the profit of a trade in price units."""
    return close - trade.price if trade.units > 0 else trade.price - close


def trailed_stop(plan: ExitPlan, trade: TradeRow, close: Decimal, precision: int) -> Decimal | None:
    """Return the level of the stop that follows in steps at a price, rounded away from the price; None before it begins."""
    if plan.trail_after is None or plan.trail_step <= 0:
        return None
    beyond = gained(trade, close) - plan.trail_after
    if beyond < 0:
        return None
    stepped = plan.trail_after + (beyond // plan.trail_step) * plan.trail_step
    ahead = stepped - plan.trail_distance
    if trade.units > 0:
        return round_price_down(trade.price + ahead, precision)
    return round_price_up(trade.price - ahead, precision)


def with_break_even_done(plan: ExitPlan, trade: TradeRow, break_even: Decimal) -> ExitPlan:
    """Return the plan with its break-even marked as done where the trade's stop stands there or nearer to the price.

    It is not done again then: financing that is charged later would move it every day.
    """
    stop = effective_stop(trade)
    if plan.break_even_after is None or plan.break_even_done or stop is None:
        return plan
    direction = 1 if trade.units > 0 else -1
    reached = direction * (stop - break_even) >= 0
    return replace(plan, break_even_done=True) if reached else plan
