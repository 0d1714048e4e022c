"""The lines of a ticket about its scale-out: units and money of each step."""

from collections.abc import Sequence

from keydesk.calc.orders.plans.scale_out import OrderPart, ScaleOut
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.sheet import TextLine
from keydesk.text.format import money, price, units
from keydesk.text.sanitize import safe


def scale_out_lines(
    scale_out: ScaleOut, parts: Sequence[OrderPart] | str, context: TradingContext
) -> Sequence[TextLine]:
    """Return the steps, nothing where there are none or they cannot be divided: the refusal says that."""
    if isinstance(parts, str) or not parts:
        return ()
    digits, pip = context.rules.price_precision, context.rules.pip
    lines: list[TextLine] = [
        ((safe(f"scale-out {scale_out.words}: {len(parts)} orders at the broker"), "muted"),)
    ]
    for part in parts:
        size = safe(f"  {units(abs(part.units)):>10} ")
        if part.target is not None:
            gain = (safe(f" {money(part.at_target, signed=True)}"), "profit")
            lines.append(
                ((size, "plain"), (safe(f"target {price(part.target, digits)}"), "plain"), gain)
            )
        elif part.trail is not None:
            behind = safe(f"trails {money(part.trail / pip, 1)}p behind")
            lines.append(((size, "plain"), (behind, "plain")))
    return lines
