"""The `type` filter of the transaction endpoints: every transaction type, and the families that stand for several."""

from keydesk_practice.http.refusals import invalid
from keydesk_practice.http.requests import Query

_ORDER_KINDS = (
    "MARKET",
    "LIMIT",
    "STOP",
    "MARKET_IF_TOUCHED",
    "TAKE_PROFIT",
    "STOP_LOSS",
    "GUARANTEED_STOP_LOSS",
    "TRAILING_STOP_LOSS",
)
_ORDER = (
    *(f"{kind}_ORDER" for kind in _ORDER_KINDS),
    *(f"{kind}_ORDER_REJECT" for kind in _ORDER_KINDS),
    "FIXED_PRICE_ORDER",
    "ORDER_FILL",
    "ORDER_CANCEL",
    "ORDER_CANCEL_REJECT",
    "ORDER_CLIENT_EXTENSIONS_MODIFY",
    "ORDER_CLIENT_EXTENSIONS_MODIFY_REJECT",
    "TRADE_CLIENT_EXTENSIONS_MODIFY",
    "TRADE_CLIENT_EXTENSIONS_MODIFY_REJECT",
)
_FUNDING = (
    "TRANSFER_FUNDS",
    "TRANSFER_FUNDS_REJECT",
    "DAILY_FINANCING",
    "DIVIDEND_ADJUSTMENT",
    "RESET_RESETTABLE_PL",
)
_ADMIN = (
    "CREATE",
    "CLOSE",
    "REOPEN",
    "CLIENT_CONFIGURE",
    "CLIENT_CONFIGURE_REJECT",
    "MARGIN_CALL_ENTER",
    "MARGIN_CALL_EXTEND",
    "MARGIN_CALL_EXIT",
    "DELAYED_TRADE_CLOSURE",
)
_FAMILIES = {"ORDER": _ORDER, "FUNDING": _FUNDING, "ADMIN": _ADMIN}
_RETIRED = (  # accepted in filters; no service makes them any more
    "ONE_CANCELS_ALL_ORDER",
    "ONE_CANCELS_ALL_ORDER_REJECT",
    "ONE_CANCELS_ALL_ORDER_TRIGGERED",
)
_MEANING = {
    **{type_: (type_,) for type_ in (*_ORDER, *_FUNDING, *_ADMIN, *_RETIRED)},
    **_FAMILIES,
}


def asked_types(query: Query) -> list[str]:
    """Return the words of the `type` filter as they came, or refuse an unknown one."""
    words = query.words("type") or []
    if not all(word in _MEANING for word in words):
        raise invalid("type")
    return words


def types_of(words: list[str]) -> list[str]:
    """Return the transaction types that filter words stand for; empty means every type."""
    return sorted({type_ for word in words for type_ in _MEANING[word]})
