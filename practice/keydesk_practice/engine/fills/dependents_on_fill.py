"""The on-fill orders of a fill: their prices, whether the fill allows them, and their creation."""

from collections.abc import Iterator
from decimal import Decimal

from msgspec import Struct

from keydesk_practice.engine.checks import guaranteed_problem
from keydesk_practice.engine.commands import DependentDetails, TrailingStopLossDetails
from keydesk_practice.engine.quotes import Quote, Specification, closing_price
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.apply import Decision
from keydesk_practice.engine.transactions import (
    DependentOrderCreated,
    EntryOrderCreated,
    GuaranteedStopLossCreated,
    OrderFilled,
    StopLossCreated,
    TakeProfitCreated,
    TrailingStopLossCreated,
)


class OpeningTrade(Struct, frozen=True):
    """The trade that a fill is about to open."""

    specification: Specification
    quote: Quote
    units: Decimal
    price: Decimal

    @property
    def long(self) -> bool:
        """Whether the trade is bought."""
        return self.units > 0

    def resolve(self, details: DependentDetails, *, profit: bool) -> Decimal | None:
        """Return the price of a dependent order: as given, or at a distance from the open price."""
        price = getattr(details, "price", None)
        if price is not None or details.distance is None:
            return price
        offset = details.distance if self.long == profit else -details.distance
        return self.price + offset


def on_fill_orders(
    entry: EntryOrderCreated,
) -> Iterator[tuple[type[DependentOrderCreated], DependentDetails]]:
    """Yield the on-fill orders of an entry order, in the order of their creation."""
    if entry.take_profit_on_fill is not None:
        yield TakeProfitCreated, entry.take_profit_on_fill
    if entry.stop_loss_on_fill is not None:
        kind = GuaranteedStopLossCreated if entry.stop_loss_on_fill.guaranteed else StopLossCreated
        yield kind, entry.stop_loss_on_fill
    if entry.trailing_stop_loss_on_fill is not None:
        yield TrailingStopLossCreated, entry.trailing_stop_loss_on_fill
    if entry.guaranteed_stop_loss_on_fill is not None:
        yield GuaranteedStopLossCreated, entry.guaranteed_stop_loss_on_fill


def on_fill_problem(
    account: Account, entry: EntryOrderCreated, opening: OpeningTrade, now: int
) -> str | None:
    """Return why a fill cannot create its on-fill orders; the whole order is cancelled then."""
    for kind, details in on_fill_orders(entry):
        problem = _details_problem(account, details, now) or _level_problem(
            account, kind, details, opening
        )
        if problem:
            return f"{kind.order_type}_ON_FILL_{problem}"
    return None


def create_on_fill(
    decision: Decision, entry: EntryOrderCreated, fill: OrderFilled, opening: OpeningTrade
) -> None:
    """Create the on-fill orders of a fill that opened a trade."""
    for kind, details in on_fill_orders(entry):
        _create(decision, kind, details, fill, opening)


def _details_problem(account: Account, details: DependentDetails, now: int) -> str | None:
    extensions = details.client_extensions
    if extensions is not None and extensions.id in account.order_ids:
        return "CLIENT_ORDER_ID_ALREADY_EXISTS"
    expired = details.time_in_force == "GTD" and (details.gtd_time or 0) <= now
    return "GTD_TIMESTAMP_IN_PAST" if expired else None


def _level_problem(
    account: Account,
    kind: type[DependentOrderCreated],
    details: DependentDetails,
    opening: OpeningTrade,
) -> str | None:
    if kind is TrailingStopLossCreated:
        return None
    level = opening.resolve(details, profit=kind is TakeProfitCreated)
    if level is None or level <= 0:
        return "LOSS"
    if kind is TakeProfitCreated:  # it must not close at a loss
        return "LOSS" if _is_better(opening.price, level, opening.long) else None
    market = closing_price(opening.quote, opening.long)
    if level == market or _is_better(level, market, opening.long):
        return "LOSS"  # it would trigger at once
    if kind is GuaranteedStopLossCreated:
        return guaranteed_problem(
            account, opening.specification, opening.quote, opening.units, level
        )
    return None


def _is_better(one: Decimal, other: Decimal, long: bool) -> bool:
    """Return whether a price is further in the winning direction than another."""
    return one > other if long else one < other


def _create(
    decision: Decision,
    kind: type[DependentOrderCreated],
    details: DependentDetails,
    fill: OrderFilled,
    opening: OpeningTrade,
) -> None:
    members: dict[str, object] = {}
    if not isinstance(details, TrailingStopLossDetails):
        level = opening.resolve(details, profit=kind is TakeProfitCreated)
        step = opening.specification.price_step
        members["price"] = None if level is None else level.quantize(step)
    if kind is GuaranteedStopLossCreated:
        members["guaranteed_execution_premium"] = opening.specification.guaranteed_premium
    opened = fill.trade_opened
    extensions = opened.client_extensions if opened else None
    decision.record(
        kind,
        reason="ON_FILL",
        trade_id=fill.id,
        client_trade_id=extensions.id if extensions else None,
        time_in_force=details.time_in_force or "GTC",
        gtd_time=details.gtd_time if details.time_in_force == "GTD" else None,
        distance=details.distance,
        client_extensions=details.client_extensions,
        order_fill_transaction_id=fill.id,
        **members,
    )
