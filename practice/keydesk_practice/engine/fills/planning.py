"""Plan a fill: the price from the depth, the trades it closes and opens, or the reason why the order cannot be filled.

Nothing is recorded here; `fills.filling` records what is planned.
"""

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal

from msgspec import Struct

from keydesk_practice.engine.checks import guaranteed_stop_required, violates_fifo_safeguard
from keydesk_practice.engine.fills.dependents_on_fill import OpeningTrade, on_fill_problem
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
from keydesk_practice.engine.state.account import Account, Order, Trade
from keydesk_practice.engine.state.apply import Decision
from keydesk_practice.engine.transactions import (
    EntryOrderCreated,
    GuaranteedStopLossCreated,
    LimitOrderCreated,
    TakeProfitCreated,
)
from keydesk_practice.engine.wire_form import round_money

STAYS_PENDING = "STAYS_PENDING"  # no reason to cancel: the depth does not reach a limit price yet


class Reduction(Struct, frozen=True):
    """The units of a trade that a fill closes, signed like the fill."""

    trade: Trade
    units: Decimal


class PositionChange(Struct, frozen=True):
    """The effect of a fill on a position: trades reduced, units opened."""

    reductions: tuple[Reduction, ...]
    opens: Decimal  # signed like the fill

    @property
    def units(self) -> Decimal:
        """The units of the whole fill, signed."""
        return sum((part.units for part in self.reductions), self.opens)


class PlannedFill(Struct, frozen=True):
    """A fill that is planned and not recorded yet."""

    order: Order
    quote: Quote
    specification: Specification
    conversion: Conversion
    change: PositionChange
    vwap: Decimal  # of the market
    price: Decimal  # of the trades: the VWAP, or the level of a guaranteed stop

    @property
    def fee(self) -> Decimal:
        """The premium of a guaranteed stop, in price units per unit."""
        created = self.order.created
        if isinstance(created, GuaranteedStopLossCreated):
            return created.guaranteed_execution_premium
        return ZERO

    @property
    def opening(self) -> OpeningTrade:
        """The trade that it opens."""
        return OpeningTrade(self.specification, self.quote, self.change.opens, self.price)

    def half_spread_cost(self, units: Decimal) -> Decimal:
        """Return the v20 `halfSpreadCost`: units x (ask - bid) / 2 x loss conversion factor."""
        half = (self.quote.ask - self.quote.bid) / 2
        return round_money(abs(units) * half * self.conversion.loss)


class DepthMatch(Struct, frozen=True):
    """The part of a size that the depth offers, and its value."""

    units: Decimal  # unsigned
    value: Decimal  # units times prices


def plan_fill(decision: Decision, order: Order, trade: Trade | None) -> PlannedFill | str:
    """Return the planned fill of an order, the reason to cancel it, or `STAYS_PENDING`."""
    account, market = decision.account, decision.market
    quote = market.quote(order.instrument)
    if not quote.tradeable:
        return "MARKET_HALTED"
    change = _planned_change(account, order, trade, quote)
    if isinstance(change, str):
        return change
    specification = specification_of(market, order.instrument)
    vwap = volume_weighted_price(quote, specification, change.units)
    if problem := _price_problem(order, vwap):
        return problem
    created = order.created
    price = created.price if isinstance(created, GuaranteedStopLossCreated) else vwap
    conversion = quote_conversion(account, market, order.instrument)
    fill = PlannedFill(order, quote, specification, conversion, change, vwap, price)
    if change.opens and (problem := _opening_problem(decision, fill)):
        return problem
    return fill


def effective_mode(account: Account, position_fill: str) -> str:
    """Return the position fill mode; DEFAULT is OPEN_ONLY for a hedging account, else REDUCE_FIRST."""
    if position_fill != "DEFAULT":
        return position_fill
    return "OPEN_ONLY" if account.terms.hedging else "REDUCE_FIRST"


def position_change(account: Account, instrument: str, units: Decimal, mode: str) -> PositionChange:
    """Return the effect of a fill under a position fill mode; REDUCE_ONLY drops units that have nothing to reduce."""
    if mode == "OPEN_ONLY":
        return PositionChange((), units)
    reductions = []
    left = units
    for trade in opposite_trades(account, instrument, units):
        if not left:
            break
        taken = _smaller(left, -trade.current_units)
        reductions.append(Reduction(trade, taken))
        left -= taken
    return PositionChange(tuple(reductions), ZERO if mode == "REDUCE_ONLY" else left)


def trade_change(trade: Trade, units: Decimal) -> PositionChange:
    """Return the effect of closing units of one trade; the units are signed like the fill."""
    return PositionChange((Reduction(trade, units),), ZERO)


def opposite_trades(account: Account, instrument: str, units: Decimal) -> list[Trade]:
    """Return the trades that a fill of these units could reduce, oldest first."""
    position = account.position(instrument)
    side = position.short if units > 0 else position.long
    return [account.trades[trade_id] for trade_id in side.trade_ids]


def volume_weighted_price(quote: Quote, specification: Specification, units: Decimal) -> Decimal:
    """Return the volume-weighted average price of signed units over the depth (v20 `fullVWAP`).

    Units beyond the depth get the closeout price. Only closes reach it: an order that opens is never larger than the depth.
    """
    buys, size = units > 0, abs(units)
    levels = levels_of(quote, buys)
    if levels and levels[0].liquidity >= size:
        return levels[0].price
    matched = match_depth(levels, size)
    last = quote.closeout_ask if buys else quote.closeout_bid
    value = matched.value + (size - matched.units) * last
    return (value / size).quantize(specification.price_step, ROUND_HALF_EVEN)


def visible_units(quote: Quote, buys: bool, worst: Decimal | None = None) -> Decimal:
    """Return the units that the depth shows, up to a worst price if one is given."""
    levels = levels_of(quote, buys)
    if worst is not None:
        levels = tuple(
            level for level in levels if (level.price <= worst if buys else level.price >= worst)
        )
    return Decimal(sum(level.liquidity for level in levels))


def match_depth(levels: Sequence[Level], units: Decimal) -> DepthMatch:
    """Take a size from the levels, best first."""
    left, value = units, ZERO
    for level in levels:
        taken = min(left, Decimal(level.liquidity))
        value += taken * level.price
        left -= taken
        if not left:
            break
    return DepthMatch(units - left, value)


def levels_of(quote: Quote, buys: bool) -> tuple[Level, ...]:
    """Return the levels that an order trades against: the asks for a buy, the bids for a sell."""
    return quote.asks if buys else quote.bids


def _planned_change(
    account: Account, order: Order, trade: Trade | None, quote: Quote
) -> PositionChange | str:
    entry = order.entry
    if entry is None:
        own = account.trades[order.dependent.trade_id] if order.dependent else trade
        return trade_change(own, -own.current_units) if own else "POSITION_CLOSEOUT_FAILED"
    if trade is not None:
        return trade_change(trade, entry.units)
    return _entry_change(account, entry, quote)


def _entry_change(account: Account, entry: EntryOrderCreated, quote: Quote) -> PositionChange | str:
    mode = effective_mode(account, entry.position_fill)
    change = position_change(account, entry.instrument, entry.units, mode)
    if mode == "REDUCE_ONLY":
        return _reduce_only(change, entry.units, entry.time_in_force)
    if mode == "OPEN_ONLY" and _would_hedge(account, entry):
        return "FIFO_VIOLATION"
    return _within_depth(account, entry, quote, change, mode)


def _within_depth(
    account: Account, entry: EntryOrderCreated, quote: Quote, change: PositionChange, mode: str
) -> PositionChange | str:
    """Return the plan if the depth covers it; an immediate-or-cancel order is cut to the depth within its price."""
    buys, immediate = entry.units > 0, entry.time_in_force == "IOC"
    visible = visible_units(quote, buys, _worst_price(entry) if immediate else None)
    if abs(entry.units) <= visible:
        return change
    if not immediate or not visible:
        beyond_price = immediate and visible_units(quote, buys)
        return "BOUNDS_VIOLATION" if beyond_price else "INSUFFICIENT_LIQUIDITY"
    return position_change(account, entry.instrument, visible if buys else -visible, mode)


def _reduce_only(
    change: PositionChange, units: Decimal, time_in_force: str
) -> PositionChange | str:
    """Return the plan of a close; it does not fail for lack of depth, since the rest gets the closeout price."""
    if not change.reductions or (time_in_force == "FOK" and change.units != units):
        return "POSITION_CLOSEOUT_FAILED"
    return change


def _would_hedge(account: Account, entry: EntryOrderCreated) -> bool:
    """Return whether a netting account would hold both sides of an instrument."""
    opposite = opposite_trades(account, entry.instrument, entry.units)
    return bool(opposite) and not account.terms.hedging


def _worst_price(entry: EntryOrderCreated) -> Decimal | None:
    if isinstance(entry, LimitOrderCreated) and entry.trigger_condition == "DEFAULT":
        return entry.price
    return entry.price_bound


def _price_problem(order: Order, vwap: Decimal) -> str | None:
    created = order.created
    if isinstance(created, LimitOrderCreated | TakeProfitCreated):
        if created.trigger_condition == "DEFAULT" and _worse(vwap, created.price, order.buys):
            return "BOUNDS_VIOLATION" if created.time_in_force in {"FOK", "IOC"} else STAYS_PENDING
        return None
    bound = order.entry.price_bound if order.entry else None
    return "BOUNDS_VIOLATION" if bound is not None and _worse(vwap, bound, order.buys) else None


def _worse(price: Decimal, than: Decimal, buys: bool) -> bool:
    return price > than if buys else price < than


def _opening_problem(decision: Decision, fill: PlannedFill) -> str | None:
    entry = fill.order.entry
    if entry is None:
        return None
    account = decision.account
    market = decision.market
    problem = _account_problem(account, market, fill.order, fill.change)
    problem = problem or _protection_problem(account, entry, fill)
    if problem or not entry.is_protected:
        return problem
    return on_fill_problem(account, entry, fill.opening, market.now)


def _account_problem(
    account: Account, market: Market, order: Order, change: PositionChange
) -> str | None:
    """Return why the account may not open the units of a plan; reducing is always allowed."""
    return (
        _client_trade_id_problem(account, order)
        or _limit_problem(account, market, order, change)
        or _hedging_problem(account, order, change)
        or _margin_problem(account, market, order, change)
    )


def _protection_problem(
    account: Account, entry: EntryOrderCreated, fill: PlannedFill
) -> str | None:
    """Return why the account may not open a trade with the order's dependent orders, or without any."""
    if guaranteed_stop_required(account, fill.specification) and not entry.is_guaranteed:
        return "GUARANTEED_STOP_LOSS_ON_FILL_REQUIRED"
    units, protected = fill.change.opens, entry.is_protected
    unsafe = violates_fifo_safeguard(account, entry.instrument, units, protected=protected)
    return "FIFO_VIOLATION_SAFEGUARD_VIOLATION" if unsafe else None


def _client_trade_id_problem(account: Account, order: Order) -> str | None:
    extensions = order.trade_client_extensions
    taken = extensions is not None and extensions.id in account.trade_ids
    return "CLIENT_TRADE_ID_ALREADY_EXISTS" if taken else None


def _limit_problem(
    account: Account, market: Market, order: Order, change: PositionChange
) -> str | None:
    if len(account.trades) >= account.terms.max_open_trades:
        return "OPEN_TRADES_ALLOWED_EXCEEDED"
    maximum = specification_of(market, order.instrument).maximum_position_size
    long, short = _units_after(account, order.instrument, change)
    return "POSITION_SIZE_EXCEEDED" if maximum and max(long, short) > maximum else None


def _hedging_problem(account: Account, order: Order, change: PositionChange) -> str | None:
    """Refuse to hold an instrument on one side while the other side has a guaranteed stop."""
    position = account.position(order.instrument)
    other = position.short if change.opens > 0 else position.long
    guarded = any(account.trades[id_].guaranteed_stop_loss_id for id_ in other.trade_ids)
    return "HEDGING_GSLO_VIOLATION" if guarded and account.terms.hedging else None


def _margin_problem(
    account: Account, market: Market, order: Order, change: PositionChange
) -> str | None:
    """Check that the additional margin of the position is available."""
    before = margin_units(account.position(order.instrument))
    after = max(_units_after(account, order.instrument, change))
    if after <= before:
        return None
    needed = margin_required(account, market, order.instrument, after - before)
    return "INSUFFICIENT_MARGIN" if needed > margin_available(account, market) else None


def _units_after(
    account: Account, instrument: str, change: PositionChange
) -> tuple[Decimal, Decimal]:
    """Return the unsigned units of both sides after a plan."""
    position = account.position(instrument)
    long, short = position.long.units, -position.short.units
    reduced = sum((part.units for part in change.reductions), ZERO)
    if change.opens > 0 or reduced > 0:
        return long + change.opens, short - reduced
    return long + reduced, short - change.opens


def _smaller(one: Decimal, other: Decimal) -> Decimal:
    """Return the smaller of two sizes of the same sign."""
    return one if abs(one) <= abs(other) else other
