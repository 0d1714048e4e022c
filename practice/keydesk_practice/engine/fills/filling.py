"""Filling an order: it is filled with everything that belongs to it, or cancelled with the reason why not.

The conversion factors in force, as fills and financing state them.
The ORDER_FILL of a deal: what it did to trades and money, and the price in force.
"""

from decimal import Decimal

from keydesk_practice.engine.fills.dependents_on_fill import create_on_fill
from keydesk_practice.engine.fills.planning import WAITS, Deal, Reduction, work_out
from keydesk_practice.engine.margin import margin_required
from keydesk_practice.engine.quotes import (
    ZERO,
    ZERO_MONEY,
    Market,
    Quote,
    Specification,
    convert_to_home,
)
from keydesk_practice.engine.state.apply import Decision
from keydesk_practice.engine.state.records import Order, Trade
from keydesk_practice.engine.transactions import (
    ConversionFactor,
    FullPrice,
    FullPriceBucket,
    HomeConversionFactors,
    OrderCancelled,
    OrderFilled,
    TradeOpened,
    TradeReduced,
)
from keydesk_practice.engine.wire_form import round_factor, round_money, strip_zeros


def conversion_factors(
    specification: Specification, market: Market, home_currency: str
) -> HomeConversionFactors:
    """Return the factors of an instrument; what is no currency has none for its base."""
    quote = market.conversion(specification.quote_currency, home_currency)
    of_quote = {"gain_quote_home": _wrapped(quote.gain), "loss_quote_home": _wrapped(quote.loss)}
    if specification.type != "CURRENCY":
        return HomeConversionFactors(**of_quote)
    base = market.conversion(specification.base, home_currency)
    return HomeConversionFactors(
        **of_quote, gain_base_home=_wrapped(base.gain), loss_base_home=_wrapped(base.loss)
    )


def _wrapped(value: Decimal) -> ConversionFactor:
    return ConversionFactor(factor=round_factor(value))


def record_fill(decision: Decision, deal: Deal, reason: str) -> OrderFilled:
    account, plan = decision.account, deal.plan
    parts = [(_reduced(deal, part), part) for part in plan.reductions]
    closed = tuple(done for done, part in parts if not part.trade.current_units + part.units)
    reduced = next((done for done, part in parts if part.trade.current_units + part.units), None)
    pl = sum((done.realized_pl for done, _ in parts), ZERO_MONEY)
    fee = sum((done.guaranteed_execution_fee for done, _ in parts), ZERO_MONEY)
    opened = _opened(decision, deal) if plan.opens else None
    return decision.record(
        OrderFilled,
        order_id=deal.order.id,
        client_order_id=deal.order.client_id,
        instrument=deal.order.instrument,
        units=strip_zeros(plan.units),
        requested_units=strip_zeros(deal.order.entry.units if deal.order.entry else plan.units),
        gain_quote_home_conversion_factor=round_factor(deal.conversion.gain),
        loss_quote_home_conversion_factor=round_factor(deal.conversion.loss),
        home_conversion_factors=conversion_factors(
            deal.specification, decision.market, account.currency
        ),
        price=deal.price,
        full_vwap=deal.vwap,
        full_price=_full_price(deal.quote),
        reason=reason,
        pl=pl,
        quote_pl=strip_zeros(sum((_quote_pl(deal, part) for _, part in parts), ZERO)),
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
        half_spread_cost=deal.half_spread_cost(plan.units),
    )


def _quote_pl(deal: Deal, part: Reduction) -> Decimal:
    return -part.units * (deal.price - part.trade.price)


def _reduced(deal: Deal, part: Reduction) -> TradeReduced:
    quote_fee = deal.fee * abs(part.units)
    return TradeReduced(
        trade_id=part.trade.id,
        client_trade_id=part.trade.client_id,
        units=strip_zeros(part.units),
        price=deal.price,
        realized_pl=convert_to_home(_quote_pl(deal, part), deal.conversion),
        financing=ZERO_MONEY,
        guaranteed_execution_fee=round_money(quote_fee * deal.conversion.loss),
        quote_guaranteed_execution_fee=strip_zeros(quote_fee),
        half_spread_cost=deal.half_spread_cost(part.units),
    )


def _opened(decision: Decision, deal: Deal) -> TradeOpened:
    units, instrument = deal.plan.opens, deal.order.instrument
    return TradeOpened(
        trade_id=decision.next_id,
        units=strip_zeros(units),
        price=deal.price,
        guaranteed_execution_fee=ZERO_MONEY,
        client_extensions=deal.order.trade_client_extensions,
        half_spread_cost=deal.half_spread_cost(units),
        initial_margin_required=margin_required(
            decision.account, decision.market, instrument, units
        ),
    )


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


def fill_or_cancel(
    decision: Decision, order_id: int, *, trade: Trade | None = None, reason: str | None = None
) -> OrderFilled | OrderCancelled | None:
    """Fill an order now or cancel it with the reason why not; None when a limit order rests on.

    A close of one trade names the trade; `reason` overrides the fill reason of the order's type.
    """
    order = decision.account.orders[order_id]
    found = work_out(decision, order, trade)
    if isinstance(found, Deal):
        return _record(decision, found, reason or order.created.fill_reason)
    if found == WAITS:
        return None
    return cancel(decision, order, found)


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


def _record(decision: Decision, deal: Deal, reason: str) -> OrderFilled:
    """Record a fill with everything that belongs to it."""
    fill = record_fill(decision, deal, reason)
    if deal.plan.opens and deal.order.entry is not None:
        create_on_fill(decision, deal.order.entry, fill, deal.opening)
    for part in deal.plan.reductions:
        _cancel_orphans(decision, part.trade)
    return fill


def _cancel_orphans(decision: Decision, trade: Trade) -> None:
    """Cancel what belonged to a trade, as it was before the fill, if the trade is closed now."""
    account = decision.account
    if trade.id in account.trades:
        return
    for order_id in sorted(trade.dependents.values()):
        if order_id in account.orders:
            cancel(decision, account.orders[order_id], "LINKED_TRADE_CLOSED")
