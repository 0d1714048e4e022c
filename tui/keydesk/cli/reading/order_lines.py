"""The line of an order, as `keydesk orders` and `keydesk status` print it."""

from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal

from keydesk.cli.csv_output import NUMBER
from keydesk.text.format import EMPTY, pair, side_and_size, units
from keydesk.text.sanitize import SafeText, clean_name, safe
from keydesk_client.account.values import READ_ERRORS
from keydesk_client.models import Order, Trade, TradeSummary
from keydesk_client.resources.answers import text as text_of

DEPENDENTS: Mapping[str, str] = {
    "STOP_LOSS": "stop",
    "TAKE_PROFIT": "target",
    "TRAILING_STOP_LOSS": "trailing stop",
    "GUARANTEED_STOP_LOSS": "guaranteed stop",
}
"""The orders of a trade, by their types."""
TYPE = 40  # characters
MAX_NUMBER_LENGTH = 64


def order_line(order: Order, trades: Mapping[str, Trade | TradeSummary]) -> SafeText:
    """Return `#7 stop of #5 LONG 10,000 EUR/USD @ 1.13459`, `#9 LIMIT BUY 5,000 EUR/USD @ 1.10000`; the state if it does not rest.

    Of an unknown type it has the members that can be read. `trades` are those of stops and targets.
    """
    type_ = text_of(order, "type") or "?"
    what = _dependent(order, trades) if type_ in DEPENDENTS else _entry(order, type_)
    state = text_of(order, "state") or "?"
    ended = "" if state == "PENDING" else f"  {clean_name(state, TYPE)}"
    number = clean_name(text_of(order, "id") or "?")
    return safe(f"#{number} {what} {level(order)}{ended}")


def _dependent(order: Order, trades: Mapping[str, Trade | TradeSummary]) -> str:
    trade_id = text_of(order, "trade_id") or "?"
    name = f"{DEPENDENTS[text_of(order, 'type') or '']} of #{clean_name(trade_id)}"
    with suppress(*READ_ERRORS, KeyError):  # a trade that is not known, or cannot be read
        trade = trades[trade_id]
        size = trade.current_units or trade.initial_units  # of a closed trade, what it was
        return f"{name} {side_and_size(size, trade.instrument)}"
    return name


def _entry(order: Order, type_: str) -> str:
    size, instrument = _number(getattr(order, "units", None)), text_of(order, "instrument")
    parts = (
        clean_name(type_, TYPE),
        "" if size is None else f"{'BUY' if size > 0 else 'SELL'} {units(abs(size))}",
        "" if instrument is None else pair(instrument),
    )
    return " ".join(filter(None, parts))


def level(order: Order) -> SafeText:
    """Return `@ 1.10000`, `at market`, or how far behind the market a trailing stop stands whose price is not known."""
    price = getattr(order, "trailing_stop_value", None) or getattr(order, "price", None)
    distance = getattr(order, "distance", None)
    if price is not None:
        return safe(f"@ {clean_name(str(price))}")
    if distance is not None:
        return safe(f"{clean_name(str(distance))} behind")
    return safe("at market" if text_of(order, "type") == "MARKET" else f"@ {EMPTY}")


def _number(value: object) -> Decimal | None:
    """Return a number; members of an unknown order type are untyped."""
    text = str(value)
    return Decimal(text) if len(text) <= MAX_NUMBER_LENGTH and NUMBER.fullmatch(text) else None
