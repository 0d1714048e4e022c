"""Instructions in words, as notices and the list of what is under way show them."""

from decimal import Decimal, InvalidOperation

from keydesk.calc.instructions import Left, OpenOrder, SetProtection
from keydesk.calc.ticket_draft import KIND_WORDS
from keydesk.records import OrderRow
from keydesk.text.format import EMPTY, money, pair, units
from keydesk.text.sanitize import SafeText, clean_name, safe
from keydesk_client.orders.intent import Action, Intent

REDUCE_ONLY = "reduce-only"
WORDS = {
    "LIMIT": "limit",
    "STOP": "stop",
    "MARKET_IF_TOUCHED": "if touched",
    "TAKE_PROFIT": "target",
    "STOP_LOSS": "stop-loss",
    "TRAILING_STOP_LOSS": "trailing stop",
    "GUARANTEED_STOP_LOSS": "guaranteed stop",
    "FIXED_PRICE": "fixed price",
}


def order_name(order: OrderRow) -> SafeText:
    """Return an order in words: BUY 20,000 EUR/USD limit 1.08200 #6415."""
    kind = WORDS.get(order.type) or clean_name(order.type.replace("_", " ").lower())
    at = EMPTY if order.price is None else f"{order.price}"
    if order.units is None:
        trade = clean_name(order.trade_id or "?")
        return safe(
            f"{kind} {at} of trade #{trade} {pair(order.instrument)} #{clean_name(order.id)}"
        )
    side = "BUY" if order.units > 0 else "SELL"
    only = f" {REDUCE_ONLY}" if order.reduces else ""
    size, name = units(abs(order.units)), pair(order.instrument)
    return safe(f"{side} {size} {name} {kind} {at}{only} #{clean_name(order.id)}")


def open_words(order: OpenOrder) -> str:
    """Return an order in words: BUY 50,000 EUR/USD at market."""
    where = "at market" if order.kind == "MARKET" else f"{KIND_WORDS[order.kind]} {order.price}"
    only = f" {REDUCE_ONLY}" if order.reduces else ""
    return f"{order.side} {units(abs(order.units))} {pair(order.instrument)} {where}{only}"


def change_words(change: SetProtection, pip: Decimal | None) -> str:
    """Return an edit in words: stop 1.08230, target off, trail 25.0p."""
    trail = change.trail
    behind = f"{money(trail / pip, 1)}p" if pip and isinstance(trail, Decimal) else trail
    parts = (("stop", change.stop), ("target", change.target), ("trail", behind))
    said = [
        f"{name} {'off' if value is None else value}"
        for name, value in parts
        if not isinstance(value, Left)
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
            return f"CANCEL order #{intent.target}{_of(intent)}"
        case Action.CLOSE_TRADE:
            return f"CLOSE {str(body.get('units', '?')).lower()} of #{intent.target}{_of(intent)}"
        case Action.CLOSE_POSITION:
            return f"CLOSE position {pair(intent.target)}"
        case Action.SET_DEPENDENT_ORDERS:
            return f"PROTECTION of #{intent.target}{_of(intent)}"


def _of(intent: Intent) -> str:
    return f" {pair(intent.instrument)}" if intent.instrument else ""


def _decimal(text: object) -> Decimal:
    try:
        return Decimal(str(text))
    except InvalidOperation:
        return Decimal(0)
