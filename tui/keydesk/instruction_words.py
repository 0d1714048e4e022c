"""Instructions in words, as notices and the list of what is under way show them."""

from decimal import Decimal, InvalidOperation

from keydesk.desk.draft import KIND_WORDS
from keydesk.desk.instructions import OpenOrder, SetProtection
from keydesk.format import pair, units
from keydesk_client.intent import Action, Intent


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


def intent_words(intent: Intent) -> str:
    """Return what the journal holds in words: for orders whose form is long gone."""
    body = intent.body
    match intent.action:
        case Action.CREATE | Action.REPLACE:
            size, kind = _decimal(body.get("units")), str(body.get("type", "")).lower()
            side = "BUY" if size >= 0 else "SELL"
            name = pair(str(body.get("instrument", "?")))
            return f"{side} {units(abs(size))} {name} {kind.replace('_', ' ')}"
        case Action.CANCEL:
            return f"CANCEL order #{intent.target}"
        case Action.CLOSE_TRADE:
            return f"CLOSE {str(body.get('units', '?')).lower()} of #{intent.target}"
        case Action.CLOSE_POSITION:
            return f"CLOSE {pair(intent.target)}"
        case Action.SET_DEPENDENT_ORDERS:
            return f"PROTECTION of #{intent.target}"


def _decimal(text: object) -> Decimal:
    try:
        return Decimal(str(text))
    except InvalidOperation:
        return Decimal(0)
