"""Working out what filling an order would do, or the reason why it cannot be filled; nothing is recorded here."""

from dataclasses import dataclass
from decimal import Decimal

from keydesk_practice.engine.fills.book import average_price, visible_units
from keydesk_practice.engine.fills.dependents_on_fill import Opening, on_fill_problem
from keydesk_practice.engine.fills.fill_plans import (
    FillPlan,
    effective_mode,
    opposite_trades,
    plan_close,
    plan_fill,
)
from keydesk_practice.engine.fills.opening import opening_problem
from keydesk_practice.engine.money import ZERO, home
from keydesk_practice.engine.quotes import Conversion, Quote, Specification
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.decision import Decision
from keydesk_practice.engine.state.records import Order, Trade
from keydesk_practice.engine.transactions import (
    EntryOrderCreated,
    GuaranteedStopLossCreated,
    LimitOrderCreated,
    TakeProfitCreated,
)
from keydesk_practice.engine.valuation import (
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


def work_out(decision: Decision, order: Order, trade: Trade | None) -> Deal | str:
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
    return _within_the_book(account, entry, quote, plan, mode)


def _within_the_book(
    account: Account, entry: EntryOrderCreated, quote: Quote, plan: FillPlan, mode: str
) -> FillPlan | str:
    """All or nothing, but for an immediate-or-cancel order: that takes what there is within its price."""
    buys, immediate = entry.units > 0, entry.time_in_force == "IOC"
    visible = visible_units(quote, buys, _worst_price(entry) if immediate else None)
    if abs(entry.units) <= visible:
        return plan
    if not immediate or not visible:
        out_of_reach = immediate and visible_units(quote, buys)
        return "BOUNDS_VIOLATION" if out_of_reach else "INSUFFICIENT_LIQUIDITY"
    return plan_fill(account, entry.instrument, visible if buys else -visible, mode)


def _worst_price(entry: EntryOrderCreated) -> Decimal | None:
    if isinstance(entry, LimitOrderCreated) and entry.trigger_condition == "DEFAULT":
        return entry.price
    return entry.price_bound


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
    market = decision.market
    return opening_problem(account, market, deal.order, deal.plan) or on_fill_problem(
        account, entry, deal.opening, market.now
    )
