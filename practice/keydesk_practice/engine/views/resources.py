"""An order, a trade, a position and a price as JSON values."""

from decimal import ROUND_DOWN, Decimal
from typing import Any

from keydesk_practice.engine.fills.planning import effective_mode
from keydesk_practice.engine.margin import (
    PositionValuation,
    TradeValuation,
    margin_available,
    margin_rate,
    margin_units,
    position_valuation,
    quote_conversion,
    trade_valuation,
)
from keydesk_practice.engine.quotes import ZERO, Level, Market, Quote, specification_of
from keydesk_practice.engine.state.account import Account, Order, Side, Trade
from keydesk_practice.engine.state.triggers import price_on_side, watched_side
from keydesk_practice.engine.transactions import (
    MarketIfTouchedOrderCreated,
    TrailingStopLossCreated,
)
from keydesk_practice.engine.wire_form import (
    plain,
    rfc3339,
    round_factor,
    strip_zeros,
    to_wire,
    wire_name,
)

_TRANSACTION_MEMBERS = frozenset(  # of the creating transaction, not of the order
    {
        "type",
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

Sizes = tuple[Decimal, Decimal]  # buy, sell; both unsigned


def order(record: Order, market: Market) -> dict[str, Any]:
    """Return an order in any state: the members of its creating transaction and of its record."""
    created = to_wire(record.created)
    members = to_wire(record)
    return {
        "id": str(record.id),
        "createTime": created["time"],
        "type": record.created.order_type,
        **{name: value for name, value in created.items() if name not in _TRANSACTION_MEMBERS},
        **{name: value for name, value in members.items() if name not in _INTERNAL_ORDER_MEMBERS},
        **_marked_level(record, market),
    }


def dynamic_order_state(record: Order, market: Market) -> dict[str, Any] | None:
    """Return the v20 `DynamicOrderState` of a pending trailing stop, None for any other order."""
    created = record.created
    if not isinstance(created, TrailingStopLossCreated) or record.mark is None:
        return None
    side = watched_side(created.trigger_condition, record.buys)
    distance = abs(price_on_side(market.quote(record.instrument), side) - record.mark)
    step = specification_of(market, record.instrument).price_step
    return {
        "id": str(record.id),
        **_marked_level(record, market),
        "triggerDistance": plain(distance.quantize(step)),
        "isTriggerDistanceExact": True,
    }


def trade(account: Account, record: Trade, market: Market) -> dict[str, Any]:
    """Return a trade, open or closed, with its pending dependent orders."""
    orders = {
        f"{wire_name(kind)}Order": order(account.orders[order_id], market)
        for kind, order_id in record.dependents.items()
        if order_id in account.orders
    }
    return {**_trade_members(account, record, market, None), **orders}


def trade_summary(
    account: Account, record: Trade, market: Market, valuation: TradeValuation | None = None
) -> dict[str, Any]:
    """Return a trade with the ids of its pending dependent orders."""
    ids = {f"{wire_name(kind)}OrderID": str(id_) for kind, id_ in record.dependents.items()}
    return {**_trade_members(account, record, market, valuation), **ids}


def calculated_trade_state(trade_id: int, valuation: TradeValuation) -> dict[str, str]:
    """Return the v20 `CalculatedTradeState` of an open trade: the members that change with the price."""
    return {
        "id": str(trade_id),
        "unrealizedPL": plain(valuation.unrealized),
        "marginUsed": plain(valuation.margin),
    }


def position(
    account: Account, instrument: str, market: Market, valuation: PositionValuation | None = None
) -> dict[str, Any]:
    """Return the position of an instrument with both sides, flat ones included."""
    record = account.position(instrument)
    long, short = record.long, record.short
    valuation = valuation or position_valuation(account, record, market)
    pl = plain(long.pl + short.pl)
    fees = long.guaranteed_execution_fees + short.guaranteed_execution_fees
    members = {
        "instrument": instrument,
        "pl": pl,
        "unrealizedPL": plain(valuation.unrealized),
        "resettablePL": pl,
        "financing": plain(long.financing + short.financing),
        "commission": plain(record.commission),
        "dividendAdjustment": plain(long.dividend_adjustment + short.dividend_adjustment),
        "guaranteedExecutionFees": plain(fees),
        "long": _position_side(long, valuation.long, instrument, market),
        "short": _position_side(short, valuation.short, instrument, market),
    }
    return {**members, "marginUsed": plain(valuation.margin)} if record.is_open else members


def calculated_position_state(instrument: str, valuation: PositionValuation) -> dict[str, str]:
    """Return the v20 `CalculatedPositionState` of an open position: the members that change with the price."""
    return {
        "instrument": instrument,
        "netUnrealizedPL": plain(valuation.unrealized),
        "longUnrealizedPL": plain(valuation.long),
        "shortUnrealizedPL": plain(valuation.short),
        "marginUsed": plain(valuation.margin),
    }


def client_price(
    account: Account,
    quote: Quote,
    market: Market,
    units_available: bool = True,
    available: Decimal | None = None,
) -> dict[str, Any]:
    """Return the v20 `ClientPrice` of an instrument for an account.

    With `units_available` it includes the largest sizes that the account could trade now. `available` is the account's
    margin available, for a caller that has computed it already.
    """
    conversion = quote_conversion(account, market, quote.instrument)
    members: dict[str, Any] = {
        "type": "PRICE",
        "instrument": quote.instrument,
        "time": rfc3339(quote.time),
        "status": "tradeable" if quote.tradeable else "non-tradeable",
        "tradeable": quote.tradeable,
        "bids": [_price_bucket(level) for level in quote.bids],
        "asks": [_price_bucket(level) for level in quote.asks],
        "closeoutBid": plain(quote.closeout_bid),
        "closeoutAsk": plain(quote.closeout_ask),
        "quoteHomeConversionFactors": {
            "positiveUnits": plain(round_factor(conversion.gain)),
            "negativeUnits": plain(round_factor(conversion.loss)),
        },
    }
    if units_available:
        margin = margin_available(account, market) if available is None else available
        members["unitsAvailable"] = _units_available(account, quote, market, margin)
    return members


def _marked_level(record: Order, market: Market) -> dict[str, str]:
    """Return a pending trailing stop's value, or the price at which a market-if-touched order was created."""
    if record.mark is None:
        return {}
    step = specification_of(market, record.instrument).price_step
    level = plain(record.mark.quantize(step))
    if isinstance(record.created, MarketIfTouchedOrderCreated):
        return {"initialMarketPrice": level}
    return {"trailingStopValue": level} if record.state == "PENDING" else {}


def _trade_members(
    account: Account, record: Trade, market: Market, valuation: TradeValuation | None
) -> dict[str, Any]:
    members = {
        name: value
        for name, value in to_wire(record).items()
        if name not in _INTERNAL_TRADE_MEMBERS
    }
    members["currentUnits"] = plain(strip_zeros(record.current_units))
    if record.id in account.trades:
        valuation = valuation or trade_valuation(account, record.id, market)
        members["unrealizedPL"] = plain(valuation.unrealized)
        members["marginUsed"] = plain(valuation.margin)
    if closed := record.initial_units - record.current_units:
        step = specification_of(market, record.instrument).price_step
        members["averageClosePrice"] = plain((record.closing_value / closed).quantize(step))
    return members


def _position_side(
    side: Side, unrealized: Decimal, instrument: str, market: Market
) -> dict[str, Any]:
    members: dict[str, Any] = {"units": plain(strip_zeros(side.units))}
    if side.units:
        step = specification_of(market, instrument).price_step
        members["averagePrice"] = plain((side.value / side.units).quantize(step))
        members["tradeIDs"] = [str(id_) for id_ in side.trade_ids]
    return {
        **members,
        "pl": plain(side.pl),
        "unrealizedPL": plain(unrealized),
        "resettablePL": plain(side.pl),
        "financing": plain(side.financing),
        "dividendAdjustment": plain(side.dividend_adjustment),
        "guaranteedExecutionFees": plain(side.guaranteed_execution_fees),
    }


def _price_bucket(level: Level) -> dict[str, Any]:
    return {"price": plain(level.price), "liquidity": level.liquidity}


def _units_available(
    account: Account, quote: Quote, market: Market, available: Decimal
) -> dict[str, Any]:
    """Return the largest sizes by position fill mode, as the rules of opening would allow them."""
    position = account.position(quote.instrument)
    long, short = position.long.units, -position.short.units
    affordable = _affordable_units(account, quote, market, available)
    margined = margin_units(position)
    reduce_only = (short, long)
    opening = (margined - long + affordable, margined - short + affordable)
    netting = not account.terms.hedging
    open_only = (
        ZERO if netting and short else opening[0],
        ZERO if netting and long else opening[1],
    )
    reduce_first = (short + opening[0], long + opening[1])
    by_default = {"OPEN_ONLY": open_only, "REDUCE_FIRST": reduce_first}
    maximum = specification_of(market, quote.instrument).maximum_order_units
    return {
        "default": _size_texts(by_default[effective_mode(account, "DEFAULT")], maximum),
        "reduceFirst": _size_texts(reduce_first, maximum),
        "reduceOnly": _size_texts(reduce_only, maximum),
        "openOnly": _size_texts(open_only, maximum),
    }


def _affordable_units(
    account: Account, quote: Quote, market: Market, available: Decimal
) -> Decimal:
    """Return the units that the margin available would pay for."""
    specification = specification_of(market, quote.instrument)
    conversion = quote_conversion(account, market, quote.instrument)
    margin_per_unit = margin_rate(account, specification) * quote.mid * conversion.value
    step = Decimal(1).scaleb(-specification.trade_units_precision)
    return (available / margin_per_unit).quantize(step, ROUND_DOWN)


def _size_texts(sizes: Sizes, maximum: Decimal) -> dict[str, str]:
    buy, sell = sizes
    return {"long": plain(min(buy, maximum)), "short": plain(min(sell, maximum))}
