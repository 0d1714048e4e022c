"""A position as the wire shows it; flat sides are there too.

An order as the wire shows it: what its creating transaction says, and what became of it.
A trade as the wire shows it, with its dependent orders or with their ids.
"""

from decimal import Decimal
from typing import Any

from keydesk_practice.engine.margin import specification_of
from keydesk_practice.engine.quotes import Market, bare, text
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.records import Order, Side, Trade
from keydesk_practice.engine.state.triggers import side_of, watched_side
from keydesk_practice.engine.transactions import (
    MarketIfTouchedOrderCreated,
    TrailingStopLossCreated,
)
from keydesk_practice.engine.views.valuation import (
    PositionWorth,
    TradeWorth,
    position_worth,
    trade_worth,
)
from keydesk_practice.engine.wire_form import to_wire, wire_name

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


def position(
    account: Account, instrument: str, market: Market, worth: PositionWorth | None = None
) -> dict[str, Any]:
    """Return the position of an instrument."""
    one = account.position(instrument)
    found = worth or position_worth(account, one, market)
    pl = text(one.long.pl + one.short.pl)
    shown = {
        "instrument": instrument,
        "pl": pl,
        "unrealizedPL": text(found.unrealized),
        "resettablePL": pl,
        "financing": text(one.long.financing + one.short.financing),
        "commission": text(one.commission),
        "dividendAdjustment": text(one.long.dividend_adjustment + one.short.dividend_adjustment),
        "guaranteedExecutionFees": text(
            one.long.guaranteed_execution_fees + one.short.guaranteed_execution_fees
        ),
        "long": _side(one.long, found.long, instrument, market),
        "short": _side(one.short, found.short, instrument, market),
    }
    return {**shown, "marginUsed": text(found.margin)} if one.is_open else shown


def _side(side: Side, unrealized: Decimal, instrument: str, market: Market) -> dict[str, Any]:
    shown: dict[str, Any] = {"units": text(bare(side.units))}
    if side.units:
        step = specification_of(market, instrument).price_step
        shown["averagePrice"] = text((side.value / side.units).quantize(step))
        shown["tradeIDs"] = [str(id_) for id_ in side.trade_ids]
    return {
        **shown,
        "pl": text(side.pl),
        "unrealizedPL": text(unrealized),
        "resettablePL": text(side.pl),
        "financing": text(side.financing),
        "dividendAdjustment": text(side.dividend_adjustment),
        "guaranteedExecutionFees": text(side.guaranteed_execution_fees),
    }


def moving_position(instrument: str, worth: PositionWorth) -> dict[str, str]:
    """Return the moving part of an open position."""
    return {
        "instrument": instrument,
        "netUnrealizedPL": text(worth.unrealized),
        "longUnrealizedPL": text(worth.long),
        "shortUnrealizedPL": text(worth.short),
        "marginUsed": text(worth.margin),
    }
