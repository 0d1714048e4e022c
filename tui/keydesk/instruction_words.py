"""Instructions in words, as notices and the list of what is under way show them."""

from decimal import Decimal

from keydesk.desk.draft import KIND_WORDS
from keydesk.desk.instructions import OpenOrder, SetProtection
from keydesk.format import pair, units


def open_words(order: OpenOrder) -> str:
    """Return an order in words: BUY 50,000 EUR/USD at market."""
    where = "at market" if order.kind == "MARKET" else f"{KIND_WORDS[order.kind]} {order.price}"
    return f"{order.side} {units(abs(order.units))} {pair(order.instrument)} {where}"


def change_words(change: SetProtection) -> str:
    """Return an edit in words: stop 1.08230, target off."""
    parts = (("stop", change.stop), ("target", change.target), ("trail", change.trail))
    said = [
        f"{name} {'off' if value is None else value}"
        for name, value in parts
        if value is None or isinstance(value, Decimal)
    ]
    return ", ".join(said)
