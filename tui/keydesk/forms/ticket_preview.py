"""The lines of a ticket about the account: financing, exposure by currency, and the open risk before and after."""

from decimal import Decimal

from keydesk.calc.exposure import ExposureChange
from keydesk.calc.preview import Preview
from keydesk.calc.trading_context import TradingContext
from keydesk.forms.sheet import TextLine, Words
from keydesk.text.format import EMPTY, money, short_units
from keydesk.text.sanitize import safe

PERCENT = Decimal(100)


def preview_lines(preview: Preview, context: TradingContext) -> list[TextLine]:
    """Return financing, open risk and exposure; a line whose figures are not known is left out."""
    lines: list[TextLine] = []
    if preview.swap_a_day is not None:
        lines.append(_swap_line(preview, preview.swap_a_day))
    if preview.risk_before is not None or preview.naked_after:
        lines.append(_risk_line(preview, context))
    lines.append(_exposure_line(preview.exposure))
    return lines


def _swap_line(preview: Preview, a_day: Decimal) -> TextLine:
    line: list[Words] = [("swap    ", "muted"), _signed(a_day), (" a day", "muted")]
    if preview.swap_to_friday is not None:
        line += [("  ", "plain"), _signed(preview.swap_to_friday), (" to Friday", "muted")]
    if preview.charged_next is not None and preview.charged_next != 1:
        line.append((safe(f"  next ×{preview.charged_next}"), "plain"))
    return tuple(line)


def _risk_line(preview: Preview, context: TradingContext) -> TextLine:
    nav, after = context.funds.nav, preview.risk_after
    share = after / nav * PERCENT if after is not None and nav > 0 else None
    line: list[Words] = [
        ("risk    ", "muted"),
        (safe(f"{money(preview.risk_before)} → "), "plain"),
        (money(after), "bright"),
        (safe(f" {context.funds.currency}"), "muted"),
        (safe(f"  {money(share)} %"), "plain"),
    ]
    if preview.naked_before or preview.naked_after:
        words = safe(f"  naked {preview.naked_before} → {preview.naked_after}")
        line.append((words, "danger" if preview.naked_after else "plain"))
    return tuple(line)


def _exposure_line(changes: tuple[ExposureChange, ...]) -> TextLine:
    line: list[Words] = [("holds   ", "muted")]
    for number, each in enumerate(changes):
        gap = "  " if number else ""
        before = short_units(each.before) if each.before else EMPTY
        line += [
            (safe(f"{gap}{each.currency} "), "muted"),
            (safe(f"{before} → "), "plain"),
            (short_units(each.after) if each.after else EMPTY, "bright"),
        ]
    return tuple(line)


def _signed(amount: Decimal) -> Words:
    role = "profit" if amount > 0 else "loss" if amount < 0 else "plain"
    return (money(amount, signed=True), role)
