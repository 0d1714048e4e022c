"""The figures of a ticket: its own risk, profit, margin and position, then financing, open risk and exposure of the account.

Each line says how soon it is left out where rows are missing; a narrow sheet gets shorter lines of one or two figures.
"""

from collections.abc import Sequence
from decimal import Decimal
from enum import IntEnum
from typing import NamedTuple

from keydesk.calc.orders.preview import Preview
from keydesk.calc.orders.ticket import Plan
from keydesk.calc.orders.ticket_draft import Draft, UnreadableText, shown_number
from keydesk.calc.orders.ticket_levels import book_exceeded
from keydesk.calc.risk.exposure import ExposureChange
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.sheet import TextLine, Words, signed_money
from keydesk.text.format import EMPTY, UNLIMITED, money, percent, price, short_units, units
from keydesk.text.sanitize import Printable, safe
from keydesk.widgets.theme import signed_role
from keydesk_client.arithmetic.constants import PERCENT
from keydesk_client.arithmetic.profit import spread_cost


class LeftOut(IntEnum):
    """How soon a line is left out where rows are missing."""

    NEVER = 0
    SWAP_DETAIL = 1
    SWAP = 2
    HOLDS = 3
    PIP = 4
    RISK = 5
    MARGIN_LEFT = 6
    TARGET = 7


class FigureLine(NamedTuple):
    """A line of figures."""

    line: TextLine
    left_out: LeftOut = LeftOut.NEVER


def result_lines(
    draft: Draft, plan: Plan, context: TradingContext, *, narrow: bool = False
) -> list[FigureLine]:
    """Return loss at the stop, profit at the target, margin, and the position afterwards."""
    currency, nav = context.funds.currency, context.funds.nav
    if plan.reduces:
        outcome = [FigureLine(line) for line in _reduction_lines(draft, plan, context)]
    else:
        outcome = [
            FigureLine(_loss_line(plan, currency, nav, narrow=narrow)),
            FigureLine(_profit_line(plan, "" if narrow else currency), LeftOut.TARGET),
        ]
    return [
        *_deep_lines(plan, context, narrow=narrow),
        *_book_lines(draft, plan, context),
        *outcome,
        FigureLine(_pip_line(plan, context, narrow=narrow), LeftOut.PIP),
        *_margin_lines(plan, narrow=narrow),
        FigureLine(position_line(draft, plan, context, narrow=narrow)),
    ]


def _deep_lines(plan: Plan, context: TradingContext, *, narrow: bool) -> list[FigureLine]:
    """Return the average price of an order larger than the first price level, and how much worse it is."""
    if not plan.is_deep or plan.average is None:
        return []
    entry = shown_number(plan.levels.entry) or plan.average
    worse = money(abs(plan.average - entry) / context.rules.pip, 1)
    line: TextLine = (
        ("deep: ", "warn"),
        ("average ", "muted"),
        (price(plan.average, context.rules.price_precision), "plain"),
        (safe("" if narrow else f"  {worse}p worse than the first price"), "muted"),
    )
    return [FigureLine(line)]


def _book_lines(draft: Draft, plan: Plan, context: TradingContext) -> list[FigureLine]:
    """Say that an order is larger than all levels of the book: what is beyond them may cost more."""
    held = book_exceeded(draft, context, plan.effect.opened + plan.effect.reduced)
    if held is None:
        return []
    text = safe(f"book holds {units(held)}: rest counted at the last level")
    return [FigureLine(((text, "warn"),))]


def _pip_line(plan: Plan, context: TradingContext, *, narrow: bool) -> TextLine:
    cost = money(spread_cost(plan.units, context.bid, context.ask, context.factors.loss))
    return (
        ("pip     ", "muted"),
        (safe(f"{money(plan.pip_value)}"), "plain"),
        ("  spread " if narrow else "  spread costs ", "muted"),
        (cost, "plain"),
        ("" if narrow else _share_of_stop(plan), "muted"),
    )


def _margin_lines(plan: Plan, *, narrow: bool) -> list[FigureLine]:
    """Return margin and closeout, and the margin that is left, in a narrow sheet on a line of its own."""
    places = 0 if narrow and abs(plan.margin) >= 1 else 2
    needed: TextLine = (
        ("margin " if narrow else "margin  ", "muted"),
        (money(plan.margin, places, signed=True), "plain"),
    )
    left: TextLine = (
        ("left    " if narrow else "  left ", "muted"),
        (money(plan.margin_left), "danger" if plan.margin_left < 0 else "plain"),
    )
    closeout: TextLine = (
        (" " if narrow else "  ", "plain"),
        ("closeout ", "muted"),
        (safe(f"{percent(plan.closeout_after, 0)} %"), "plain"),
    )
    if narrow:
        return [FigureLine((*needed, *closeout)), FigureLine(left, LeftOut.MARGIN_LEFT)]
    return [FigureLine((*needed, *left, *closeout))]


def _reduction_lines(draft: Draft, plan: Plan, context: TradingContext) -> Sequence[TextLine]:
    """Return the units by which an order reduces the position, and the profit that this realizes."""
    effect, funds = plan.effect, context.funds
    sells = draft.direction < 0
    side, role = ("LONG", "buy") if sells else ("SHORT", "sell")
    held = effect.long_before if sells else effect.short_before
    at, won = plan.average, plan.realized
    when = (
        "at market" if draft.kind == "MARKET" else f"at {price(at, context.rules.price_precision)}"
    )
    return (
        (
            ("reduces ", "muted"),
            (safe(f"{side} {units(abs(held))}"), role),
            (safe(f" by {units(effect.reduced)}, never opens a trade"), "plain"),
        ),
        (
            ("result  ", "muted"),
            (money(won, signed=True), signed_role(won, zero="profit")),
            (safe(f" {funds.currency}"), "muted"),
            (safe(f"  {when}"), "plain"),
        ),
    )


def _loss_line(plan: Plan, currency: str, nav: Decimal, *, narrow: bool) -> TextLine:
    levels = (plan.levels.entry, plan.levels.stop, plan.levels.trail)
    if levels[0] is None or any(isinstance(each, UnreadableText) for each in levels):
        # nothing follows from a price that was not typed yet, or from text that cannot be read
        return (("at stop ", "muted"), (EMPTY, "muted"))
    if plan.risk is not None and plan.risk < 0:  # a stop on the wrong side, which is refused
        return (("at stop ", "muted"), (EMPTY, "muted"))
    if plan.risk is None:
        return (("at stop ", "muted"), (UNLIMITED, "danger"), (" no stop", "muted"))
    share = plan.risk / nav * PERCENT if nav > 0 else None
    return (
        ("at stop ", "muted"),
        (money(-plan.risk, signed=True), "loss"),
        (safe("" if narrow else f" {currency}"), "muted"),
        (safe(f"  {money(share)} %{'' if narrow else ' of NAV'}"), "plain"),
    )


def _profit_line(plan: Plan, currency: str) -> TextLine:
    if plan.reward is None:
        return (("target  ", "muted"), (EMPTY, "muted"))
    line: list[Words] = [
        ("target  ", "muted"),
        (money(plan.reward, signed=True), "profit"),
        (safe(f" {currency}" if currency else ""), "muted"),
    ]
    if plan.ratio is not None:
        line.append((safe(f"  {money(plan.ratio)} R"), "plain"))
    return line


def _share_of_stop(plan: Plan) -> Printable:
    if plan.distance is None or plan.distance <= 0:
        return ""
    return safe(f" = {money(plan.spread / plan.distance * PERCENT, 0)} % of the stop")


def position_line(
    draft: Draft, plan: Plan, context: TradingContext, *, narrow: bool = False
) -> TextLine:
    """Return the position before and after, and the change in a word."""
    if context.funds.hedging:
        before, after, word = _hedged_side(draft, plan)
    else:
        before, after = plan.position_before, plan.position_after
        word = position_word(before, after)
    return (
        ("pos " if narrow else "position ", "muted"),
        (safe(f"{units(before, signed=True)} → "), "plain"),
        (units(after, signed=True), "bright"),
        (" " if narrow else "  ", "plain"),
        (safe(word), "warn" if word in {"REDUCES", "TURNS", "FLAT"} else "muted"),
    )


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


def preview_lines(
    preview: Preview, context: TradingContext, *, narrow: bool = False
) -> list[FigureLine]:
    """Return financing, open risk and exposure; a line whose figures are not known is left out."""
    lines: list[FigureLine] = []
    if preview.swap_a_day is not None:
        lines += _swap_lines(preview, preview.swap_a_day, narrow=narrow)
    if preview.risk_after is not None or preview.unprotected_after:
        lines.append(FigureLine(_risk_line(preview, context, narrow=narrow), LeftOut.RISK))
    exposure = _exposure_lines(preview.exposure, narrow=narrow)
    return [*lines, *(FigureLine(line, LeftOut.HOLDS) for line in exposure)]


def _swap_lines(preview: Preview, a_day: Decimal, *, narrow: bool) -> list[FigureLine]:
    line: list[Words] = [("swap    ", "muted"), signed_money(a_day), (" a day", "muted")]
    detail: list[Words] = []
    if preview.swap_to_friday is not None:
        detail += [("  ", "plain"), signed_money(preview.swap_to_friday), (" to Friday", "muted")]
    if preview.charged_next is not None and preview.charged_next != 1:
        detail += [("  ", "plain"), (_next_text(preview.charged_next), "plain")]
    if not narrow or not detail:
        return [FigureLine((*line, *detail), LeftOut.SWAP)]
    below: TextLine = ((safe(" " * len(line[0][0])), "muted"), *detail[1:])
    return [FigureLine(tuple(line), LeftOut.SWAP), FigureLine(below, LeftOut.SWAP_DETAIL)]


def _next_text(days: int) -> Printable:
    """Return the days that the next rollover charges."""
    return safe(f"next {days} days" if days else "next: none")


def _risk_line(preview: Preview, context: TradingContext, *, narrow: bool) -> TextLine:
    nav, after = context.funds.nav, preview.risk_after
    share = after / nav * PERCENT if after is not None and nav > 0 else None
    line: list[Words] = [("risk " if narrow else "risk    ", "muted")]
    if not (preview.unprotected_before and preview.unprotected_after):
        before = UNLIMITED if preview.unprotected_before else money(preview.risk_before)
        line.append((safe(f"{before} → "), "plain"))
    if preview.unprotected_after:
        line.append((UNLIMITED, "danger"))
    else:
        line += [
            (money(after), "bright"),
            (safe("" if narrow else f" {context.funds.currency}"), "muted"),
            (" " if narrow else "  ", "plain"),
            (safe(f"{money(share)} %"), "plain"),
        ]
    if preview.unprotected_before or preview.unprotected_after:
        text = safe(f"  naked {preview.unprotected_before} → {preview.unprotected_after}")
        line.append((text, "danger" if preview.unprotected_after else "plain"))
    return tuple(line)


def _exposure_lines(changes: tuple[ExposureChange, ...], *, narrow: bool) -> list[TextLine]:
    """Return the exposure by currency, in a narrow sheet one currency a line."""
    parts = [_exposure_of(each) for each in changes]
    if narrow:
        labels = (safe("holds "), *[safe("      ")] * len(parts))
        return [((label, "muted"), *part) for label, part in zip(labels, parts, strict=False)]
    line: list[Words] = [("holds   ", "muted")]
    for number, part in enumerate(parts):
        line += [("  ", "muted"), *part] if number else part
    return [tuple(line)]


def _exposure_of(change: ExposureChange) -> list[Words]:
    before = short_units(change.before) if change.before else EMPTY
    return [
        (safe(f"{change.currency} "), "muted"),
        (safe(f"{before} → "), "plain"),
        (short_units(change.after) if change.after else EMPTY, "bright"),
    ]
