"""Filling an order at the natural side: what it does to trades and money, or the reason why it cannot be filled.

Everything is worked out before anything is recorded: an order is filled with all that belongs to it, or cancelled.
"""

from dataclasses import dataclass
from decimal import Decimal

from keydesk_practice.engine.account import Account
from keydesk_practice.engine.book import average_price, visible_units
from keydesk_practice.engine.decision import Decision
from keydesk_practice.engine.fill_plans import (
    FillPlan,
    Reduction,
    effective_mode,
    opposite_trades,
    plan_close,
    plan_fill,
)
from keydesk_practice.engine.home_factors import conversion_factors
from keydesk_practice.engine.money import NOTHING, ZERO, bare, factor, home
from keydesk_practice.engine.on_fill import Opening, create_on_fill, on_fill_problem
from keydesk_practice.engine.opening import opening_problem
from keydesk_practice.engine.quotes import Conversion, Quote, Specification
from keydesk_practice.engine.records import Order, Trade
from keydesk_practice.engine.transactions import (
    EntryOrderCreated,
    FullPrice,
    FullPriceBucket,
    GuaranteedStopLossCreated,
    LimitOrderCreated,
    OrderCancelled,
    OrderFilled,
    TakeProfitCreated,
    TradeOpened,
    TradeReduced,
)
from keydesk_practice.engine.valuation import (
    in_home,
    margin_of_units,
    quote_conversion,
    specification_of,
)

WAITS = "WAITS"  # not a reason to cancel: a limit order whose size is not to be had at its price rests on


@dataclass(frozen=True, slots=True)
class Deal:
    """A fill worked out, not recorded yet."""

    order: Order
    quote: Quote
    specification: Specification
    conversion: Conversion
    plan: FillPlan
    vwap: Decimal  # what the market gives
    price: Decimal  # what the trades get: the same, but for a guaranteed stop

    @property
    def fee(self) -> Decimal:
        """The premium of a guaranteed stop, in price units for a unit."""
        created = self.order.created
        if isinstance(created, GuaranteedStopLossCreated):
            return created.guaranteed_execution_premium
        return ZERO

    @property
    def opening(self) -> Opening:
        """The trade that it opens, if it opens one."""
        return Opening(self.specification, self.quote, self.plan.opens, self.price)

    def half_spread_cost(self, units: Decimal) -> Decimal:
        """Return what half the spread costs on some units."""
        half = (self.quote.ask - self.quote.bid) / 2
        return home(abs(units) * half * self.conversion.loss)


def fill_or_cancel(
    decision: Decision, order_id: int, *, trade: Trade | None = None, reason: str | None = None
) -> OrderFilled | OrderCancelled | None:
    """Fill an order now or cancel it with the reason why not; None when a limit order rests on.

    A close of one trade names the trade; `reason` overrides the fill reason of the order's type.
    """
    order = decision.account.orders[order_id]
    found = _work_out(decision, order, trade)
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


def _work_out(decision: Decision, order: Order, trade: Trade | None) -> Deal | str:
    """Return the deal, or the reason for which the order is cancelled."""
    account, market = decision.account, decision.market
    quote = market.quote(order.instrument)
    if not quote.tradeable:
        return "MARKET_HALTED"
    plan = _plan(account, order, trade, quote)
    if isinstance(plan, str):
        return plan
    specification = specification_of(market, order.instrument)
    vwap = average_price(quote, specification, plan.units)
    if problem := _price_problem(order, vwap):
        return problem
    created = order.created
    price = created.price if isinstance(created, GuaranteedStopLossCreated) else vwap
    conversion = quote_conversion(account, market, order.instrument)
    deal = Deal(order, quote, specification, conversion, plan, vwap, price)
    if plan.opens and (problem := _opening_problem(decision, deal)):
        return problem
    return deal


def _plan(account: Account, order: Order, trade: Trade | None, quote: Quote) -> FillPlan | str:
    entry = order.entry
    if entry is None:
        own = account.trades[order.dependent.trade_id] if order.dependent else trade
        return plan_close(own, -own.current_units) if own else "POSITION_CLOSEOUT_FAILED"
    if trade is not None:
        return plan_close(trade, entry.units)
    return _entry_plan(account, entry, quote)


def _entry_plan(account: Account, entry: EntryOrderCreated, quote: Quote) -> FillPlan | str:
    mode = effective_mode(account, entry.position_fill)
    plan = plan_fill(account, entry.instrument, entry.units, mode)
    if mode == "REDUCE_ONLY":
        return _reduce_only(plan, entry.units, entry.time_in_force)
    if mode == "OPEN_ONLY" and _would_hedge(account, entry):
        return "FIFO_VIOLATION"
    buys = entry.units > 0
    visible = visible_units(quote, buys)
    if abs(entry.units) <= visible:
        return plan
    if entry.time_in_force != "IOC" or not visible:
        return "INSUFFICIENT_LIQUIDITY"
    return plan_fill(account, entry.instrument, visible if buys else -visible, mode)


def _would_hedge(account: Account, entry: EntryOrderCreated) -> bool:
    """Return whether both sides of an instrument would be held, which a netting account does not have."""
    opposite = opposite_trades(account, entry.instrument, entry.units)
    return bool(opposite) and not account.terms.hedging


def _reduce_only(plan: FillPlan, units: Decimal, time_in_force: str) -> FillPlan | str:
    """Closes take what the book does not show at the closeout price; they do not fail for want of depth."""
    if not plan.reductions or (time_in_force == "FOK" and plan.units != units):
        return "POSITION_CLOSEOUT_FAILED"
    return plan


def _price_problem(order: Order, vwap: Decimal) -> str | None:
    created = order.created
    if isinstance(created, LimitOrderCreated | TakeProfitCreated):
        if created.trigger_condition == "DEFAULT" and _worse(vwap, created.price, order.buys):
            return "BOUNDS_VIOLATION" if created.time_in_force in {"FOK", "IOC"} else WAITS
        return None
    bound = order.entry.price_bound if order.entry else None
    return "BOUNDS_VIOLATION" if bound is not None and _worse(vwap, bound, order.buys) else None


def _worse(price: Decimal, than: Decimal, buys: bool) -> bool:
    return price > than if buys else price < than


def _opening_problem(decision: Decision, deal: Deal) -> str | None:
    entry = deal.order.entry
    if entry is None:
        return None
    account = decision.account
    return opening_problem(account, decision.market, deal.order, deal.plan) or on_fill_problem(
        account, entry, deal.opening
    )


def _record(decision: Decision, deal: Deal, reason: str) -> OrderFilled:
    """Record a fill with everything that belongs to it."""
    fill = _record_fill(decision, deal, reason)
    if deal.plan.opens and deal.order.entry is not None:
        create_on_fill(decision, deal.order.entry, fill, deal.opening)
    for part in deal.plan.reductions:
        _cancel_orphans(decision, part.trade.id)
    return fill


def _cancel_orphans(decision: Decision, trade_id: int) -> None:
    """Cancel what belonged to a trade that is closed now."""
    account = decision.account
    if trade_id in account.trades:
        return
    for order in [
        o for o in account.orders.values() if o.dependent and o.dependent.trade_id == trade_id
    ]:
        cancel(decision, order, "LINKED_TRADE_CLOSED")


def _record_fill(decision: Decision, deal: Deal, reason: str) -> OrderFilled:
    account, plan = decision.account, deal.plan
    parts = [(_reduced(deal, part), part) for part in plan.reductions]
    closed = tuple(done for done, part in parts if not part.trade.current_units + part.units)
    reduced = next((done for done, part in parts if part.trade.current_units + part.units), None)
    pl = sum((done.realized_pl for done, _ in parts), NOTHING)
    fee = sum((done.guaranteed_execution_fee for done, _ in parts), NOTHING)
    opened = _opened(decision, deal) if plan.opens else None
    return decision.record(
        OrderFilled,
        order_id=deal.order.id,
        client_order_id=deal.order.client_id,
        instrument=deal.order.instrument,
        units=bare(plan.units),
        requested_units=bare(deal.order.entry.units if deal.order.entry else plan.units),
        gain_quote_home_conversion_factor=factor(deal.conversion.gain),
        loss_quote_home_conversion_factor=factor(deal.conversion.loss),
        home_conversion_factors=conversion_factors(
            deal.specification, decision.market, account.currency
        ),
        price=deal.price,
        full_vwap=deal.vwap,
        full_price=_full_price(deal.quote),
        reason=reason,
        pl=pl,
        quote_pl=bare(sum((_quote_pl(deal, part) for _, part in parts), ZERO)),
        financing=NOTHING,  # nothing accrues between two daily financings
        commission=NOTHING,
        guaranteed_execution_fee=fee,
        quote_guaranteed_execution_fee=bare(
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
        units=bare(part.units),
        price=deal.price,
        realized_pl=in_home(_quote_pl(deal, part), deal.conversion),
        financing=NOTHING,
        guaranteed_execution_fee=home(quote_fee * deal.conversion.loss),
        quote_guaranteed_execution_fee=bare(quote_fee),
        half_spread_cost=deal.half_spread_cost(part.units),
    )


def _opened(decision: Decision, deal: Deal) -> TradeOpened:
    units, instrument = deal.plan.opens, deal.order.instrument
    return TradeOpened(
        trade_id=decision.next_id,
        units=bare(units),
        price=deal.price,
        guaranteed_execution_fee=NOTHING,
        client_extensions=deal.order.trade_client_extensions,
        half_spread_cost=deal.half_spread_cost(units),
        initial_margin_required=margin_of_units(
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
