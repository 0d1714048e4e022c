"""Working out what filling an order would do, or the reason why it cannot be filled; nothing is recorded here.

What a size costs in the visible book: levels are walked from the best, the price is the weighted average.
Which trades a fill closes and what it opens: position fill modes, netting and hedging.
Whether the account may open what a fill would open: margin, limits, the rules of its division.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

from keydesk_practice.engine.fills.dependents_on_fill import Opening, on_fill_problem
from keydesk_practice.engine.margin import (
    margin_available,
    margin_required,
    margin_units,
    quote_conversion,
)
from keydesk_practice.engine.quotes import (
    ZERO,
    Conversion,
    Level,
    Market,
    Quote,
    Specification,
    specification_of,
)
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.apply import Decision
from keydesk_practice.engine.state.records import Order, Trade
from keydesk_practice.engine.transactions import (
    EntryOrderCreated,
    GuaranteedStopLossCreated,
    LimitOrderCreated,
    TakeProfitCreated,
)
from keydesk_practice.engine.wire_form import round_money


@dataclass(frozen=True, slots=True)
class Walk:
    """What the book gives for a size: how much of it, and what that costs."""

    units: Decimal  # unsigned
    value: Decimal  # units times prices


def walk(levels: Sequence[Level], units: Decimal) -> Walk:
    """Return what the levels give for a size, best first."""
    left, value = units, ZERO
    for level in levels:
        taken = min(left, Decimal(level.liquidity))
        value += taken * level.price
        left -= taken
        if not left:
            break
    return Walk(units - left, value)


def levels_of(quote: Quote, buys: bool) -> tuple[Level, ...]:
    """Return the levels that a buy or a sell meets."""
    return quote.asks if buys else quote.bids


def visible_units(quote: Quote, buys: bool, worst: Decimal | None = None) -> Decimal:
    """Return the size that the book shows, up to the worst price when there is one."""
    levels = levels_of(quote, buys)
    if worst is not None:
        levels = tuple(
            one for one in levels if (one.price <= worst if buys else one.price >= worst)
        )
    return Decimal(sum(level.liquidity for level in levels))


def average_price(quote: Quote, specification: Specification, units: Decimal) -> Decimal:
    """Return the price of a signed size; what the book does not show is had at the closeout price.

    Only closes come to that: an order that opens is never larger than the book.
    """
    buys, size = units > 0, abs(units)
    levels = levels_of(quote, buys)
    if levels and levels[0].liquidity >= size:
        return levels[0].price
    walked = walk(levels, size)
    last = quote.closeout_ask if buys else quote.closeout_bid
    value = walked.value + (size - walked.units) * last
    return (value / size).quantize(specification.price_step, ROUND_HALF_EVEN)


@dataclass(frozen=True, slots=True)
class Reduction:
    """How much of a trade a fill takes away; signed like the fill."""

    trade: Trade
    units: Decimal


@dataclass(frozen=True, slots=True)
class FillPlan:
    """What a fill does to the position."""

    reductions: tuple[Reduction, ...]
    opens: Decimal  # signed like the fill

    @property
    def units(self) -> Decimal:
        """The whole fill, signed."""
        return sum((part.units for part in self.reductions), self.opens)


def effective_mode(account: Account, position_fill: str) -> str:
    """Return what DEFAULT means for the account."""
    if position_fill != "DEFAULT":
        return position_fill
    return "OPEN_ONLY" if account.terms.hedging else "REDUCE_FIRST"


def opposite_trades(account: Account, instrument: str, units: Decimal) -> list[Trade]:
    """Return the trades that a fill of these units could reduce, oldest first."""
    position = account.position(instrument)
    side = position.short if units > 0 else position.long
    return [account.trades[trade_id] for trade_id in side.trade_ids]


def plan_fill(account: Account, instrument: str, units: Decimal, mode: str) -> FillPlan:
    """Return what a fill does under a mode; REDUCE_ONLY leaves what there is nothing to reduce with."""
    if mode == "OPEN_ONLY":
        return FillPlan((), units)
    reductions = []
    left = units
    for trade in opposite_trades(account, instrument, units):
        if not left:
            break
        taken = _smaller(left, -trade.current_units)
        reductions.append(Reduction(trade, taken))
        left -= taken
    return FillPlan(tuple(reductions), ZERO if mode == "REDUCE_ONLY" else left)


def plan_close(trade: Trade, units: Decimal) -> FillPlan:
    """Return the plan of closing some of one trade; the units are signed like the fill."""
    return FillPlan((Reduction(trade, units),), ZERO)


def _smaller(one: Decimal, other: Decimal) -> Decimal:
    """Return the smaller of two sizes of the same sign."""
    return one if abs(one) <= abs(other) else other


def opening_problem(account: Account, market: Market, order: Order, plan: FillPlan) -> str | None:
    """Return why the account may not open what the plan opens; reducing is always allowed."""
    return (
        _label_problem(account, order)
        or _limit_problem(account, market, order, plan)
        or _hedging_problem(account, order, plan)
        or _margin_problem(account, market, order, plan)
    )


def _label_problem(account: Account, order: Order) -> str | None:
    labels = order.trade_client_extensions
    taken = labels is not None and labels.id in account.trade_ids
    return "CLIENT_TRADE_ID_ALREADY_EXISTS" if taken else None


def _limit_problem(account: Account, market: Market, order: Order, plan: FillPlan) -> str | None:
    if len(account.trades) >= account.terms.most_open_trades:
        return "OPEN_TRADES_ALLOWED_EXCEEDED"
    most = specification_of(market, order.instrument).maximum_position_size
    long, short = _units_after(account, order.instrument, plan)
    return "POSITION_SIZE_EXCEEDED" if most and max(long, short) > most else None


def _hedging_problem(account: Account, order: Order, plan: FillPlan) -> str | None:
    """An instrument with a guaranteed stop on one side may not be held on the other."""
    position = account.position(order.instrument)
    other = position.short if plan.opens > 0 else position.long
    guarded = any(account.trades[id_].guaranteed_stop_loss_id for id_ in other.trade_ids)
    return "HEDGING_GSLO_VIOLATION" if guarded and account.terms.hedging else None


def _margin_problem(account: Account, market: Market, order: Order, plan: FillPlan) -> str | None:
    """The margin that the position needs more than now must be available."""
    before = margin_units(account.position(order.instrument))
    after = max(_units_after(account, order.instrument, plan))
    if after <= before:
        return None
    needed = margin_required(account, market, order.instrument, after - before)
    return "INSUFFICIENT_MARGIN" if needed > margin_available(account, market) else None


def _units_after(account: Account, instrument: str, plan: FillPlan) -> tuple[Decimal, Decimal]:
    """Return the unsigned units of both sides after a plan."""
    position = account.position(instrument)
    long, short = position.long.units, -position.short.units
    reduced = sum((part.units for part in plan.reductions), Decimal(0))
    if plan.opens > 0 or reduced > 0:
        return long + plan.opens, short - reduced
    return long + reduced, short - plan.opens


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
        return round_money(abs(units) * half * self.conversion.loss)


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
