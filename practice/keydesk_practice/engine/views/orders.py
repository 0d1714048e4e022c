"""An order as the wire shows it: what its creating transaction says, and what became of it."""

from typing import Any

from keydesk_practice.engine.quotes import Market
from keydesk_practice.engine.state.records import Order
from keydesk_practice.engine.state.triggers import side_of, watched_side
from keydesk_practice.engine.transactions import (
    MarketIfTouchedOrderCreated,
    TrailingStopLossCreated,
)
from keydesk_practice.engine.valuation import specification_of
from keydesk_practice.engine.wire_form import to_wire

_OF_THE_TRANSACTION = frozenset(
    {
        "id",
        "accountID",
        "userID",
        "batchID",
        "requestID",
        "time",
        "reason",
        "orderFillTransactionID",
        "cancellingTransactionID",
        "clientExtensions",
        "tradeClientExtensions",
    }
)
_INTERNAL_ORDER_MEMBERS = frozenset({"created", "instrument", "buys", "expires", "mark"})


def order(one: Order, market: Market) -> dict[str, Any]:
    """Return an order of any state."""
    said = to_wire(one.created)
    became = to_wire(one)
    return {
        "id": str(one.id),
        "createTime": said["time"],
        "type": one.created.order_type,
        **{name: value for name, value in said.items() if name not in _OF_THE_TRANSACTION},
        **{name: value for name, value in became.items() if name not in _INTERNAL_ORDER_MEMBERS},
        **_shown(one, market),
    }


def _shown(one: Order, market: Market) -> dict[str, str]:
    """Return what the market showed the order: a moving stop while it is pending, a touch order's beginning."""
    if one.mark is None:
        return {}
    step = specification_of(market, one.instrument).price_step
    level = format(one.mark.quantize(step), "f")
    if isinstance(one.created, MarketIfTouchedOrderCreated):
        return {"initialMarketPrice": level}
    return {"trailingStopValue": level} if one.state == "PENDING" else {}


def moving_order(one: Order, market: Market) -> dict[str, Any] | None:
    """Return the moving part of a pending trailing stop, None for any other order."""
    created = one.created
    if not isinstance(created, TrailingStopLossCreated) or one.mark is None:
        return None
    side = watched_side(created.trigger_condition, one.buys)
    away = abs(side_of(market.quote(one.instrument), side) - one.mark)
    step = specification_of(market, one.instrument).price_step
    return {
        "id": str(one.id),
        **_shown(one, market),
        "triggerDistance": format(away.quantize(step), "f"),
        "isTriggerDistanceExact": True,
    }
