"""What is wrong with a request in itself: the names of the rules it breaks, in the order in which they are looked at.

Each function returns the first reject reason, or None when there is nothing to object to.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal

from keydesk_practice.engine.money import decimals
from keydesk_practice.engine.quotes import Specification
from keydesk_practice.engine.requests import ClientExtensions
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.order_states import TIMES_IN_FORCE

LONGEST_LABEL = 128
BEYOND_ANY_PRICE = Decimal(
    1_000_000_000_000
)  # larger ones have more digits than the arithmetic keeps


def first(reasons: Iterable[str | None]) -> str | None:
    """Return the first reason there is."""
    return next((reason for reason in reasons if reason is not None), None)


def units_problem(units: Decimal, specification: Specification) -> str | None:
    """Return what is wrong with the size of an order."""
    if not units:
        return "UNITS_INVALID"
    if decimals(units) > specification.trade_units_precision:
        return "UNITS_PRECISION_EXCEEDED"
    if abs(units) < specification.minimum_trade_size:
        return "UNITS_MINIMUM_NOT_MET"
    if abs(units) > specification.maximum_order_units:
        return "UNITS_LIMIT_EXCEEDED"
    return None


def price_problem(
    price: Decimal | None, specification: Specification, name: str = "PRICE"
) -> str | None:
    """Return what is wrong with a price that need not be there."""
    if price is None:
        return None
    if not 0 < price < BEYOND_ANY_PRICE:
        return f"{name}_INVALID"
    too_fine = decimals(price) > specification.display_precision
    return f"{name}_PRECISION_EXCEEDED" if too_fine else None


def life_problem(
    order_type: str, time_in_force: str, gtd_time: int | None, now: int, prefix: str = ""
) -> str | None:
    """Return what is wrong with how long an order is to live."""
    name = f"{prefix}_" if prefix else ""
    stamp = f"{name}GTD_TIMESTAMP" if prefix else "TIME_IN_FORCE_GTD_TIMESTAMP"
    if time_in_force not in TIMES_IN_FORCE[order_type]:
        return f"{name}TIME_IN_FORCE_INVALID"
    if time_in_force != "GTD":
        return None
    if gtd_time is None:
        return f"{stamp}_MISSING"
    return f"{stamp}_IN_PAST" if gtd_time <= now else None


def label_problem(
    labels: ClientExtensions | None,
    taken: Mapping[str, int],
    what: str = "ORDER",
    prefix: str = "",
    owner: int | None = None,
) -> str | None:
    """Return what is wrong with the client's labels; `taken` are the client ids in use, free to their owner."""
    if labels is None:
        return None
    name = f"{prefix}_CLIENT_{what}" if prefix else f"CLIENT_{what}"
    if labels.id is not None and not 1 <= len(labels.id) <= LONGEST_LABEL:
        return f"{name}_ID_INVALID"
    if labels.tag is not None and len(labels.tag) > LONGEST_LABEL:
        return f"{name}_TAG_INVALID"
    if labels.comment is not None and len(labels.comment) > LONGEST_LABEL:
        return f"{name}_COMMENT_INVALID"
    clashes = labels.id is not None and taken.get(labels.id, owner) != owner
    return f"{name}_ID_ALREADY_EXISTS" if clashes else None


def trailing_problem(
    distance: Decimal | None, specification: Specification, prefix: str = ""
) -> str | None:
    """Return what is wrong with the distance of a trailing stop."""
    name = f"{prefix}_PRICE_DISTANCE" if prefix else "PRICE_DISTANCE"
    if distance is None:
        return f"{name}_MISSING"
    if distance <= 0:
        return f"{name}_INVALID"
    if decimals(distance) > specification.display_precision:
        return f"{name}_PRECISION_EXCEEDED"
    if distance < specification.minimum_trailing_stop_distance:
        return f"{name}_MINIMUM_NOT_MET"
    too_far = distance > specification.maximum_trailing_stop_distance
    return f"{name}_MAXIMUM_EXCEEDED" if too_far else None


def pending_problem(account: Account) -> str | None:
    """Return whether the account has as many pending orders as it may have."""
    full = len(account.orders) >= account.terms.most_pending_orders
    return "PENDING_ORDERS_ALLOWED_EXCEEDED" if full else None
