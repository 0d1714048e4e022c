"""A trade as the wire shows it, with its dependent orders or with their ids."""

from typing import Any

from keydesk_practice.engine.money import bare, text
from keydesk_practice.engine.quotes import Market
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.records import Trade
from keydesk_practice.engine.valuation import specification_of
from keydesk_practice.engine.views.orders import order
from keydesk_practice.engine.views.worth import TradeWorth, trade_worth
from keydesk_practice.engine.wire_form import to_wire, wire_name

_INTERNAL_TRADE_MEMBERS = frozenset(
    {
        "closingValue",
        "closeOwedBy",
        "takeProfitID",
        "stopLossID",
        "trailingStopLossID",
        "guaranteedStopLossID",
    }
)


def trade(account: Account, one: Trade, market: Market) -> dict[str, Any]:
    """Return a trade, open or closed, with its pending dependent orders."""
    orders = {
        f"{wire_name(kind)}Order": order(account.orders[order_id], market)
        for kind, order_id in one.dependents.items()
        if order_id in account.orders
    }
    return {**_common(account, one, market, None), **orders}


def trade_summary(
    account: Account, one: Trade, market: Market, worth: TradeWorth | None = None
) -> dict[str, Any]:
    """Return a trade with the ids of its pending dependent orders."""
    ids = {f"{wire_name(kind)}OrderID": str(id_) for kind, id_ in one.dependents.items()}
    return {**_common(account, one, market, worth), **ids}


def _common(
    account: Account, one: Trade, market: Market, worth: TradeWorth | None
) -> dict[str, Any]:
    said = {
        name: value for name, value in to_wire(one).items() if name not in _INTERNAL_TRADE_MEMBERS
    }
    said["currentUnits"] = text(bare(one.current_units))
    return {**said, **_moving(account, one, market, worth), **_average_close(one, market)}


def _moving(
    account: Account, one: Trade, market: Market, worth: TradeWorth | None
) -> dict[str, str]:
    """Return what moves with the prices; a closed trade has nothing of it."""
    if one.id not in account.trades:
        return {}
    found = worth or trade_worth(account, one.id, market)
    return {"unrealizedPL": text(found.unrealized), "marginUsed": text(found.margin)}


def _average_close(one: Trade, market: Market) -> dict[str, str]:
    closed = one.initial_units - one.current_units
    if not closed:
        return {}
    step = specification_of(market, one.instrument).price_step
    return {"averageClosePrice": text((one.closing_value / closed).quantize(step))}
