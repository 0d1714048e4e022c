"""Fill an order, or cancel it with the reason why it cannot be filled."""

from decimal import Decimal

from keydesk_practice.engine.fills.dependents_on_fill import create_on_fill
from keydesk_practice.engine.fills.planning import STAYS_PENDING, PlannedFill, Reduction, plan_fill
from keydesk_practice.engine.margin import margin_required
from keydesk_practice.engine.quotes import (
    ZERO,
    ZERO_MONEY,
    Quote,
    conversion_factors,
    convert_to_home,
)
from keydesk_practice.engine.state.account import Order, Trade
from keydesk_practice.engine.state.apply import Decision
from keydesk_practice.engine.state.triggers import is_met, trigger_of
from keydesk_practice.engine.transactions import (
    FullPrice,
    FullPriceBucket,
    OrderCancelled,
    OrderFilled,
    TradeOpened,
    TradeReduced,
)
from keydesk_practice.engine.wire_form import round_factor, round_money, strip_zeros


def fill_or_cancel(
    decision: Decision, order_id: int, *, trade: Trade | None = None, reason: str | None = None
) -> OrderFilled | OrderCancelled | None:
    """Fill an order now or cancel it with the reason why not; return None if a limit order stays pending.

    `trade` is the one trade to close, if any; `reason` replaces the fill reason of the order's type.
    """
    order = decision.account.orders[order_id]
    planned = plan_fill(decision, order, trade)
    if isinstance(planned, PlannedFill):
        return _fill(decision, planned, reason or order.created.fill_reason)
    if planned == STAYS_PENDING:
        return None
    return cancel(decision, order, planned)


def fill_if_triggered(decision: Decision, order: Order) -> bool:
    """Fill (or cancel) an order whose trigger the current price meets; return whether it was met."""
    quote = decision.market.quote(order.instrument)
    trigger = trigger_of(order)
    met = quote.tradeable and trigger is not None and is_met(trigger, quote)
    if met:
        fill_or_cancel(decision, order.id)
    return met


def cancel(
    decision: Decision, order: Order, reason: str, replaced_by: int | None = None
) -> OrderCancelled:
    """Cancel a pending order."""
    return decision.record(
        OrderCancelled,
        order_id=order.id,
        client_order_id=order.client_id,
        reason=reason,
        replaced_by_order_id=replaced_by,
    )


def _fill(decision: Decision, planned: PlannedFill, reason: str) -> OrderFilled:
    """Record a fill, create its on-fill orders and cancel the dependent orders of trades that it closed."""
    fill = _record_fill(decision, planned, reason)
    entry = planned.order.entry
    if planned.change.opens and entry is not None and entry.is_protected:
        create_on_fill(decision, entry, fill, planned.opening)
    for part in planned.change.reductions:
        _cancel_orphans(decision, part.trade)
    return fill


def _record_fill(decision: Decision, fill: PlannedFill, reason: str) -> OrderFilled:
    """Record the ORDER_FILL of a planned fill: its effect on trades and money, and the price in force."""
    account, change = decision.account, fill.change
    parts = [(_trade_reduced(fill, part), part) for part in change.reductions]
    closed = tuple(done for done, part in parts if not part.trade.current_units + part.units)
    reduced = next((done for done, part in parts if part.trade.current_units + part.units), None)
    pl = sum((done.realized_pl for done, _ in parts), ZERO_MONEY)
    fee = sum((done.guaranteed_execution_fee for done, _ in parts), ZERO_MONEY)
    opened = _trade_opened(decision, fill) if change.opens else None
    return decision.record(
        OrderFilled,
        order_id=fill.order.id,
        client_order_id=fill.order.client_id,
        instrument=fill.order.instrument,
        units=strip_zeros(change.units),
        requested_units=strip_zeros(fill.order.entry.units if fill.order.entry else change.units),
        gain_quote_home_conversion_factor=round_factor(fill.conversion.gain),
        loss_quote_home_conversion_factor=round_factor(fill.conversion.loss),
        home_conversion_factors=conversion_factors(
            fill.specification, decision.market, account.currency
        ),
        price=fill.price,
        full_vwap=fill.vwap,
        full_price=_full_price(fill.quote),
        reason=reason,
        pl=pl,
        quote_pl=strip_zeros(sum((_quote_pl(fill, part) for _, part in parts), ZERO)),
        financing=ZERO_MONEY,  # nothing accrues between two daily financings
        commission=ZERO_MONEY,
        guaranteed_execution_fee=fee,
        quote_guaranteed_execution_fee=strip_zeros(
            sum((done.quote_guaranteed_execution_fee for done, _ in parts), ZERO)
        ),
        account_balance=account.balance + pl - fee,
        trade_opened=opened,
        trades_closed=closed or None,
        trade_reduced=reduced,
        half_spread_cost=fill.half_spread_cost(change.units),
    )


def _trade_reduced(fill: PlannedFill, part: Reduction) -> TradeReduced:
    quote_fee = fill.fee * abs(part.units)
    return TradeReduced(
        trade_id=part.trade.id,
        client_trade_id=part.trade.client_id,
        units=strip_zeros(part.units),
        price=fill.price,
        realized_pl=convert_to_home(_quote_pl(fill, part), fill.conversion),
        financing=ZERO_MONEY,
        guaranteed_execution_fee=round_money(quote_fee * fill.conversion.loss),
        quote_guaranteed_execution_fee=strip_zeros(quote_fee),
        half_spread_cost=fill.half_spread_cost(part.units),
    )


def _trade_opened(decision: Decision, fill: PlannedFill) -> TradeOpened:
    units, instrument = fill.change.opens, fill.order.instrument
    return TradeOpened(
        trade_id=decision.next_id,
        units=strip_zeros(units),
        price=fill.price,
        guaranteed_execution_fee=ZERO_MONEY,
        client_extensions=fill.order.trade_client_extensions,
        half_spread_cost=fill.half_spread_cost(units),
        initial_margin_required=margin_required(
            decision.account, decision.market, instrument, units
        ),
    )


def _quote_pl(fill: PlannedFill, part: Reduction) -> Decimal:
    return -part.units * (fill.price - part.trade.price)


def _full_price(quote: Quote) -> FullPrice:
    return FullPrice(
        bids=tuple(
            FullPriceBucket(price=b.price, liquidity=Decimal(b.liquidity)) for b in quote.bids
        ),
        asks=tuple(
            FullPriceBucket(price=a.price, liquidity=Decimal(a.liquidity)) for a in quote.asks
        ),
        closeout_bid=quote.closeout_bid,
        closeout_ask=quote.closeout_ask,
        timestamp=quote.time,
    )


def _cancel_orphans(decision: Decision, trade: Trade) -> None:
    """Cancel the dependent orders of a trade (as it was before the fill) that the fill closed."""
    account = decision.account
    if trade.id in account.trades:
        return
    for order_id in sorted(trade.dependents.values()):
        if order_id in account.orders:
            cancel(decision, account.orders[order_id], "LINKED_TRADE_CLOSED")
