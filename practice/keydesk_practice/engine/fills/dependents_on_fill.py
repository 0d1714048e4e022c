"""The dependent orders that come with a fill: their prices, whether the fill allows them, and their creation."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from keydesk_practice.engine.checks import guaranteed_problem, required, would_break
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


@dataclass(frozen=True, slots=True)
class Opening:
    """The trade that a fill is about to open."""

    specification: Specification
    quote: Quote
    units: Decimal
    price: Decimal

    @property
    def long(self) -> bool:
        """Whether it is bought."""
        return self.units > 0

    def resolve(self, details: DependentDetails, *, profit: bool) -> Decimal | None:
        """Return the price of a dependent order: given, or at a distance from the open price."""
        price = getattr(details, "price", None)
        if price is not None or details.distance is None:
            return price
        away = details.distance if self.long == profit else -details.distance
        return self.price + away


def asked(
    entry: EntryOrderCreated,
) -> Iterator[tuple[type[DependentOrderCreated], DependentDetails]]:
    """Yield the dependent orders that an order asks for, in the order of their creation."""
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
    account: Account, entry: EntryOrderCreated, opening: Opening, now: int
) -> str | None:
    """Return why the fill cannot have the dependent orders asked for; the whole order is cancelled then."""
    kinds = {kind for kind, _ in asked(entry)}
    if required(account, opening.specification) and GuaranteedStopLossCreated not in kinds:
        return "GUARANTEED_STOP_LOSS_ON_FILL_REQUIRED"
    if would_break(account, entry.instrument, opening.units, protected=bool(kinds)):
        return "FIFO_VIOLATION_SAFEGUARD_VIOLATION"
    for kind, details in asked(entry):
        problem = _details_problem(account, details, now) or _level_problem(
            account, kind, details, opening
        )
        if problem:
            return f"{kind.order_type}_ON_FILL_{problem}"
    return None


def _details_problem(account: Account, details: DependentDetails, now: int) -> str | None:
    labels = details.client_extensions
    if labels is not None and labels.id in account.order_ids:
        return "CLIENT_ORDER_ID_ALREADY_EXISTS"
    over = details.time_in_force == "GTD" and (details.gtd_time or 0) <= now
    return "GTD_TIMESTAMP_IN_PAST" if over else None


def _level_problem(
    account: Account,
    kind: type[DependentOrderCreated],
    details: DependentDetails,
    opening: Opening,
) -> str | None:
    if kind is TrailingStopLossCreated:
        return None
    level = opening.resolve(details, profit=kind is TakeProfitCreated)
    if level is None or level <= 0:
        return "LOSS"
    if kind is TakeProfitCreated:  # it may not close at a loss
        return "LOSS" if _beyond(opening.price, level, opening.long) else None
    market = closing_price(opening.quote, opening.long)
    if level == market or _beyond(level, market, opening.long):
        return "LOSS"  # it would act at once
    if kind is GuaranteedStopLossCreated:
        return guaranteed_problem(
            account, opening.specification, opening.quote, opening.units, level
        )
    return None


def _beyond(one: Decimal, other: Decimal, long: bool) -> bool:
    """Return whether a price is further in the winning direction than another."""
    return one > other if long else one < other


def create_on_fill(
    decision: Decision, entry: EntryOrderCreated, fill: OrderFilled, opening: Opening
) -> None:
    """Create the dependent orders of a fill that opened a trade."""
    for kind, details in asked(entry):
        _create(decision, kind, details, fill, opening)


def _create(
    decision: Decision,
    kind: type[DependentOrderCreated],
    details: DependentDetails,
    fill: OrderFilled,
    opening: Opening,
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
