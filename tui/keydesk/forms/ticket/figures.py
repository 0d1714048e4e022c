"""The figures of a ticket: what it may win and lose, its margin and position, financing, open risk and exposure of the account.

Each line says how soon it is left out where rows are missing.
"""

from collections.abc import Sequence
from decimal import Decimal
from enum import IntEnum
from typing import NamedTuple

from keydesk.calc.orders.checks import is_absurd
from keydesk.calc.orders.field_draft import UnreadableText, shown_number
from keydesk.calc.orders.preview import Preview
from keydesk.calc.orders.ticket import Plan
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.calc.orders.ticket_levels import book_exceeded
from keydesk.calc.risk.exposure import ExposureChange
from keydesk.calc.risk.financing import NextCharge
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.modal_form import LABEL_WIDTH, TextLine, Words, figure, signed_money
from keydesk.text.format import EMPTY, UNLIMITED, money, percent, price, short_units, units
from keydesk.text.sanitize import safe
from keydesk.widgets.theme import ColourRole, signed_role
from keydesk_client.arithmetic.constants import PERCENT
from keydesk_client.arithmetic.profit import spread_cost


class LeftOut(IntEnum):
    """How soon a line is left out where rows are missing."""

    NEVER = 0
    FINANCING = 1
    EXPOSURE = 2
    PIP = 3
    SPREAD = 4
    RISK = 5
    TARGET = 6


class FigureLine(NamedTuple):
    """A figure of the ticket, and when it may be left out where there is no room."""

    line: TextLine
    left_out: LeftOut = LeftOut.NEVER


NO_FIGURE: Words = (EMPTY, "muted")


def result_lines(draft: Draft, plan: Plan, context: TradingContext) -> list[FigureLine]:
    """Return loss at the stop, profit at the target, and what spread and pip cost."""
    currency = context.funds.currency
    if plan.reduces:
        outcome = [FigureLine(line) for line in _reduction_lines(draft, plan, context)]
    else:
        outcome = [
            FigureLine(_loss_line(plan, context)),
            FigureLine(_profit_line(plan, context), LeftOut.TARGET),
        ]
    pip = figure("pip", (money(plan.pip_value), "plain"), currency)
    return [
        *_deep_lines(plan, context),
        *_book_lines(draft, plan, context),
        *outcome,
        FigureLine(_spread_line(plan, context), LeftOut.SPREAD),
        FigureLine(pip, LeftOut.PIP),
    ]


def _deep_lines(plan: Plan, context: TradingContext) -> list[FigureLine]:
    """Return the average price of an order larger than the first price level, and how much worse it is."""
    if not plan.is_deep or plan.average is None:
        return []
    entry = shown_number(plan.levels.entry) or plan.average
    worse = money(abs(plan.average - entry) / context.rules.pip, 1)
    average: Words = (price(plan.average, context.rules.price_precision), "warn")
    note = safe(f"{worse} pips beyond the best")
    return [FigureLine(figure("average", average, "", (note, "warn")))]


def _book_lines(draft: Draft, plan: Plan, context: TradingContext) -> list[FigureLine]:
    """Say that an order is larger than all levels of the book: what is beyond them may cost more."""
    held = book_exceeded(draft, context, plan.effect.opened + plan.effect.reduced)
    if held is None:
        return []
    text = safe(f"book holds {units(held)}: rest counted at the last level")
    return [FigureLine(((text, "warn"),))]


def _spread_line(plan: Plan, context: TradingContext) -> TextLine:
    cost = spread_cost(plan.units, context.bid, context.ask, context.factors.loss)
    share: Sequence[Words] = ()
    if plan.distance is not None and plan.distance > 0:
        text = f"{money(plan.spread / plan.distance * PERCENT, 0)} % of the stop"
        share = ((safe(text), "muted"),)
    return figure("spread", (money(-cost, signed=True), "plain"), context.funds.currency, *share)


def margin_lines(plan: Plan, context: TradingContext) -> list[FigureLine]:
    """Return the margin that it takes, what is left of it, and the margin closeout."""
    left: Words = (money(plan.margin_left), "danger" if plan.margin_left < 0 else "plain")
    margin = figure(
        "margin",
        (money(plan.margin, signed=True), "plain"),
        context.funds.currency,
        ("left ", "muted"),
        left,
        (" ", "plain"),
        ("closeout ", "muted"),
        (safe(f"{percent(plan.closeout_after, 0)} %"), "plain"),
    )
    return [FigureLine(margin)]


def _reduction_lines(draft: Draft, plan: Plan, context: TradingContext) -> Sequence[TextLine]:
    """Return the units by which an order reduces the position, and the profit that this realizes."""
    effect, funds = plan.effect, context.funds
    sells = draft.direction < 0
    side = "LONG" if sells else "SHORT"
    role: ColourRole = "buy" if sells else "sell"
    held = effect.long_before if sells else effect.short_before
    at, won = plan.average, plan.realized
    when = (
        "at market" if draft.kind == "MARKET" else f"at {price(at, context.rules.price_precision)}"
    )
    return (
        figure(
            "reduces",
            (units(effect.reduced), "plain"),
            "",
            (safe(f"of {side} {units(abs(held))}"), role),
            (", never opens a trade", "plain"),
        ),
        figure(
            "result",
            (money(won, signed=True), signed_role(won, zero="profit")),
            funds.currency,
            (safe(when), "plain"),
        ),
    )


def _loss_line(plan: Plan, context: TradingContext) -> TextLine:
    currency, nav = context.funds.currency, context.funds.nav
    levels = (plan.levels.entry, plan.levels.stop, plan.levels.trail)
    if levels[0] is None or any(isinstance(each, UnreadableText) for each in levels):
        # nothing follows from a price that was not typed yet, or from text that cannot be read
        return figure("at stop", NO_FIGURE)
    is_wrong_side = plan.risk is not None and plan.risk < 0
    if is_wrong_side or is_absurd(plan.levels.stop, context):  # refused: nothing is reckoned
        return figure("at stop", NO_FIGURE)
    if plan.risk is None:
        return figure("at stop", (UNLIMITED, "danger"), "", ("no stop", "muted"))
    share = plan.risk / nav * PERCENT if nav > 0 else None
    of_nav = safe(f"{money(share)} % of NAV")
    return figure("at stop", (money(-plan.risk, signed=True), "loss"), currency, (of_nav, "plain"))


def _profit_line(plan: Plan, context: TradingContext) -> TextLine:
    levels = (plan.levels.stop, plan.levels.target)
    if plan.reward is None or any(is_absurd(each, context) for each in levels):
        return figure("target", NO_FIGURE)
    ratio: Sequence[Words] = ()
    if plan.ratio is not None:
        ratio = ((safe(f"{money(plan.ratio)} R"), "plain"),)
    reward: Words = (money(plan.reward, signed=True), "profit")
    return figure("target", reward, context.funds.currency, *ratio)


def position_line(draft: Draft, plan: Plan, context: TradingContext) -> FigureLine:
    """Return the position afterwards and before, and the change in a word."""
    if context.funds.hedging:
        before, after, word = _hedged_side(draft, plan)
    else:
        before, after = plan.position_before, plan.position_after
        word = position_word(before, after)
    change = figure(
        "position",
        (units(after, signed=True), "bright"),
        "",
        (safe(f"from {units(before, signed=True)}  "), "muted"),
        (safe(word), "warn" if word in {"REDUCES", "TURNS", "FLAT"} else "muted"),
    )
    return FigureLine(change)


def _hedged_side(draft: Draft, plan: Plan) -> tuple[Decimal, Decimal, str]:
    """Return the side of a hedged position that an order changes, before and after, and the change in a word."""
    effect = plan.effect
    buys = draft.direction > 0
    if effect.opened:
        word = "OPENS NEW, reduces the other side" if effect.reduced else "OPENS NEW"
        if buys:
            return effect.long_before, effect.long_after, word
        return -effect.short_before, -effect.short_after, word
    if buys:
        return -effect.short_before, -effect.short_after, "REDUCES"
    return effect.long_before, effect.long_after, "REDUCES"


def position_word(before: Decimal, after: Decimal) -> str:
    """Return what happens to a netted position."""
    if before == after:
        return ""
    if not before:
        return "OPENS"
    if not after:
        return "FLAT"
    if (before > 0) != (after > 0):
        return "TURNS"
    return "ADDS" if abs(after) > abs(before) else "REDUCES"


def preview_lines(preview: Preview, context: TradingContext) -> list[FigureLine]:
    """Return financing, open risk and exposure; a line whose figures are not known is left out."""
    lines: list[FigureLine] = []
    currency = context.funds.currency
    if preview.swap_a_day is not None:
        line = _financing_line(preview, preview.swap_a_day, currency)
        lines.append(FigureLine(line, LeftOut.FINANCING))
    if preview.risk_after is not None or preview.unprotected_after:
        lines.append(FigureLine(_risk_line(preview, context), LeftOut.RISK))
    return [*lines, FigureLine(_exposure_line(preview.exposure), LeftOut.EXPOSURE)]


def _financing_line(preview: Preview, a_day: Decimal, currency: str) -> TextLine:
    notes: list[Words] = [("a day", "muted")]
    if preview.swap_to_friday is not None:
        notes += [("  ", "plain"), signed_money(preview.swap_to_friday), (" to Friday", "muted")]
    if preview.next_charge is not None and (text := _next_charge_text(preview.next_charge)):
        notes.append((safe(f"  next {text}"), "plain"))
    return figure("financing", signed_money(a_day), currency, *notes)


def _next_charge_text(charge: NextCharge) -> str:
    """Return what the next charge is: "3 days", "on Mon", "on Wed: 3 days"; "" for one day at the next rollover."""
    days = f"{charge.days} days" if charge.days != 1 else ""
    when = f"on {charge.weekday}" if charge.weekday else ""
    return ": ".join(filter(None, (when, days)))


def _risk_line(preview: Preview, context: TradingContext) -> TextLine:
    nav, after = context.funds.nav, preview.risk_after
    share = after / nav * PERCENT if after is not None and nav > 0 else None
    notes: list[Words] = []
    value: Words = (UNLIMITED, "danger")
    if not preview.unprotected_after:
        value = (money(after), "bright")
        notes.append((safe(f"{money(share)} %  "), "plain"))
    if not (preview.unprotected_before and preview.unprotected_after):
        before = UNLIMITED if preview.unprotected_before else money(preview.risk_before)
        notes.append((safe(f"from {before}"), "muted"))
    if preview.unprotected_before or preview.unprotected_after:
        text = safe(f"  without a stop {preview.unprotected_before} → {preview.unprotected_after}")
        notes.append((text, "danger" if preview.unprotected_after else "plain"))
    unit = "" if preview.unprotected_after else context.funds.currency
    return figure("open risk", value, unit, *notes)


def _exposure_line(changes: tuple[ExposureChange, ...]) -> TextLine:
    """Return the exposure by currency, before and after."""
    line: list[Words] = [(safe(f"{'exposure':<{LABEL_WIDTH}}"), "muted")]
    for number, change in enumerate(changes):
        line += [
            (safe(f"{'  ' if number else ''}{change.currency} "), "muted"),
            (safe(f"{short_units(change.before) if change.before else EMPTY} → "), "plain"),
            (short_units(change.after) if change.after else EMPTY, "bright"),
        ]
    return tuple(line)
