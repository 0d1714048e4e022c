"""The lines of a ticket about the account: financing, exposure by currency, and the open risk before and after."""

from decimal import Decimal

from keydesk.calc.orders.preview import Preview
from keydesk.calc.risk.exposure import ExposureChange
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.sheet import TextLine, Words
from keydesk.forms.ticket.figures import FigureLine, LeftOut
from keydesk.text.format import EMPTY, money, short_units
from keydesk.text.sanitize import Printable, safe

PERCENT = Decimal(100)


def preview_lines(
    preview: Preview, context: TradingContext, *, narrow: bool = False
) -> list[FigureLine]:
    """Return financing, open risk and exposure; a line whose figures are not known is left out."""
    lines: list[FigureLine] = []
    if preview.swap_a_day is not None:
        lines += _swap_lines(preview, preview.swap_a_day, narrow=narrow)
    if preview.risk_before is not None or preview.naked_after:
        lines.append(FigureLine(_risk_line(preview, context, narrow=narrow), LeftOut.RISK))
    exposure = _exposure_lines(preview.exposure, narrow=narrow)
    return [*lines, *(FigureLine(line, LeftOut.HOLDS) for line in exposure)]


def _swap_lines(preview: Preview, a_day: Decimal, *, narrow: bool) -> list[FigureLine]:
    line: list[Words] = [("swap    ", "muted"), _signed(a_day), (" a day", "muted")]
    detail: list[Words] = []
    if preview.swap_to_friday is not None:
        detail += [("  ", "plain"), _signed(preview.swap_to_friday), (" to Friday", "muted")]
    if preview.charged_next is not None and preview.charged_next != 1:
        detail += [("  ", "plain"), (_next_words(preview.charged_next), "plain")]
    if narrow:  # a blank between the two figures
        detail = [(" ", "plain") if words == "  " else (words, role) for words, role in detail[1:]]
    if not narrow or not detail:
        return [FigureLine((*line, *detail), LeftOut.SWAP)]
    return [FigureLine(tuple(line), LeftOut.SWAP), FigureLine(tuple(detail), LeftOut.SWAP_DETAIL)]


def _next_words(days: int) -> Printable:
    """Return the days that the next rollover charges."""
    return safe(f"next {days} days" if days else "next: none")


def _risk_line(preview: Preview, context: TradingContext, *, narrow: bool) -> TextLine:
    nav, after = context.funds.nav, preview.risk_after
    share = after / nav * PERCENT if after is not None and nav > 0 else None
    gap = " " if narrow else "  "
    line: list[Words] = [
        ("risk " if narrow else "risk    ", "muted"),
        (safe(f"{money(preview.risk_before)} → "), "plain"),
        (money(after), "bright"),
        (safe("" if narrow else f" {context.funds.currency}"), "muted"),
        (safe(f"{gap}{money(share)} %"), "plain"),
    ]
    if preview.naked_before or preview.naked_after:
        words = safe(f"  naked {preview.naked_before} → {preview.naked_after}")
        line.append((words, "danger" if preview.naked_after else "plain"))
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


def _signed(amount: Decimal) -> Words:
    role = "profit" if amount > 0 else "loss" if amount < 0 else "plain"
    return (money(amount, signed=True), role)
