"""What is wrong with the level of a dependent order: price or distance, each kind with its own names for it."""

from collections.abc import Iterator
from decimal import Decimal

from keydesk_practice.engine.checks import (
    BEYOND_ANY_PRICE,
    first,
    label_problem,
    life_problem,
    price_problem,
    trailing_problem,
)
from keydesk_practice.engine.guaranteed import offered
from keydesk_practice.engine.money import decimals
from keydesk_practice.engine.quotes import Specification
from keydesk_practice.engine.requests import (
    DependentDetails,
    EntryRequest,
    TrailingStopLossDetails,
)
from keydesk_practice.engine.state.account import Account


def level_problem(
    order_type: str, price: Decimal | None, distance: Decimal | None, specification: Specification
) -> str | None:
    """Return what is wrong with the level of a stand-alone dependent order."""
    if order_type == "TRAILING_STOP_LOSS":
        return trailing_problem(distance, specification)
    if price is None and distance is None:
        missing = f"{order_type}_ORDER_PRICE_AND_DISTANCE_BOTH_MISSING"
        return "PRICE_MISSING" if order_type == "TAKE_PROFIT" else missing
    if price is not None and distance is not None:
        # No public name exists for a take-profit with both; its price is what makes no sense.
        both = f"{order_type}_ORDER_PRICE_AND_DISTANCE_BOTH_SPECIFIED"
        return "PRICE_INVALID" if order_type == "TAKE_PROFIT" else both
    if distance is not None:
        return _distance_problem(distance, specification, "PRICE_DISTANCE")
    return price_problem(price, specification)


def _distance_problem(distance: Decimal, specification: Specification, name: str) -> str | None:
    if not 0 < distance < BEYOND_ANY_PRICE:
        return f"{name}_INVALID"
    too_fine = decimals(distance) > specification.display_precision
    return f"{name}_PRECISION_EXCEEDED" if too_fine else None


def on_fill_problems(
    account: Account, request: EntryRequest, specification: Specification, now: int
) -> str | None:
    """Return what can be said against an order's on-fill orders without knowing the fill."""
    wanted = list(_wanted(request))
    return first(
        [
            *(_details_problem(account, kind, d, specification, now) for kind, d in wanted),
            _together_problem(account, request),
            _same_ids_problem(request, [details for _, details in wanted]),
        ]
    )


def _wanted(request: EntryRequest) -> Iterator[tuple[str, DependentDetails]]:
    if request.take_profit_on_fill is not None:
        yield "TAKE_PROFIT", request.take_profit_on_fill
    if request.stop_loss_on_fill is not None:
        yield "STOP_LOSS", request.stop_loss_on_fill
    if request.trailing_stop_loss_on_fill is not None:
        yield "TRAILING_STOP_LOSS", request.trailing_stop_loss_on_fill
    if request.guaranteed_stop_loss_on_fill is not None:
        yield "GUARANTEED_STOP_LOSS", request.guaranteed_stop_loss_on_fill


def _details_problem(
    account: Account, kind: str, details: DependentDetails, specification: Specification, now: int
) -> str | None:
    prefix = f"{kind}_ON_FILL"
    if kind == "GUARANTEED_STOP_LOSS" and not offered(account, specification):
        return f"{prefix}_NOT_ALLOWED"
    return first(
        [
            _on_fill_level_problem(prefix, details, specification),
            life_problem(kind, details.time_in_force or "GTC", details.gtd_time, now, prefix),
            label_problem(details.client_extensions, {}, "ORDER", prefix),
        ]
    )


def _on_fill_level_problem(
    prefix: str, details: DependentDetails, specification: Specification
) -> str | None:
    if isinstance(details, TrailingStopLossDetails):
        return trailing_problem(details.distance, specification, prefix)
    profit = prefix.startswith("TAKE_PROFIT")
    price, distance = details.price, details.distance
    if price is None and distance is None:
        return f"{prefix}_PRICE_MISSING" if profit else f"{prefix}_PRICE_AND_DISTANCE_BOTH_MISSING"
    if price is not None and distance is not None:
        both = f"{prefix}_PRICE_AND_DISTANCE_BOTH_SPECIFIED"
        return f"{prefix}_PRICE_INVALID" if profit else both
    if distance is None:
        return price_problem(price, specification, f"{prefix}_PRICE")
    if not 0 < distance < BEYOND_ANY_PRICE:
        return f"{prefix}_PRICE_INVALID" if profit else f"{prefix}_DISTANCE_INVALID"
    return _distance_problem(distance, specification, f"{prefix}_DISTANCE")


def _together_problem(account: Account, request: EntryRequest) -> str | None:
    """A guaranteed stop stands alone; some divisions also want only one of stop-loss and trailing stop."""
    stop, trailing = request.stop_loss_on_fill, request.trailing_stop_loss_on_fill
    if request.guaranteed_stop_loss_on_fill is not None and (stop or trailing):
        return "ORDERS_ON_FILL_RMO_MUTUAL_EXCLUSIVITY_GSLO_EXCLUDES_OTHERS_VIOLATION"
    if account.terms.exclusive_stops and stop and trailing:
        return "ORDERS_ON_FILL_RMO_MUTUAL_EXCLUSIVITY_MUTUALLY_EXCLUSIVE_VIOLATION"
    return None


def _same_ids_problem(request: EntryRequest, wanted: list[DependentDetails]) -> str | None:
    labels = [request.client_extensions, *(details.client_extensions for details in wanted)]
    ids = [label.id for label in labels if label is not None and label.id is not None]
    return "ORDERS_ON_FILL_DUPLICATE_CLIENT_ORDER_IDS" if len(ids) != len(set(ids)) else None
