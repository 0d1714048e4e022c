"""A what-if rule in words, its typed distances, and what is doubtful about its result."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from keydesk.calc.trade_journal.what_if import WhatIf, WhatIfResult
from keydesk.text.format import counted

FARTHEST = Decimal(100)  # R
RULE_NAMES: Mapping[str, str] = {
    "stop": "stop at",
    "target": "target at",
    "break_even": "break-even after",
}


class BadDistance(ValueError):
    """A typed distance in R is not valid."""


def distance_in_r(text: str) -> Decimal:
    """Return a typed distance such as 0.5R or 3; raise BadDistance if it is not valid."""
    try:
        distance = Decimal(text.strip().lower().removesuffix("r"))
    except InvalidOperation:
        distance = Decimal(0)
    if not (distance.is_finite() and 0 < distance <= FARTHEST):
        raise BadDistance(f"{text.strip()[:20]!r}: type a distance in R, such as 0.5R or 3R")
    return distance


def rule_text(rule: WhatIf) -> str:
    """Return a rule in words: stop at 0.5 R, target at 3 R."""
    parts = [
        f"{RULE_NAMES[name]} {getattr(rule, name).normalize():f} R"
        for name in RULE_NAMES
        if getattr(rule, name) is not None
    ]
    return ", ".join(parts) or "everything as it was"


def doubts(result: WhatIfResult) -> list[str]:
    """Return what the result leaves out, and how many trades rest on the worse of two orders."""
    n = result.before.n
    sentences = [f"The rule ends {result.changed} of {counted(n, 'trade')} at another price."]
    if result.ambiguous:
        sentences.append(
            f"{counted(result.ambiguous, 'trade')}: which price came first within one candle cannot be known; the worse result is taken."
        )
    if result.last_price:
        sentences.append(
            f"{counted(result.last_price, 'trade')} met no level within a day after the closing: the last price is taken."
        )
    if result.without_stop:
        sentences.append(
            f"{counted(result.without_stop, 'trade')} without a first stop, so without R: left out."
        )
    if result.without_candles:
        sentences.append(f"{counted(result.without_candles, 'trade')} without candles: left out.")
    return sentences
