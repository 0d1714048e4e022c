"""Checks of requests: units, prices, time in force, client extensions, dependent orders, guaranteed stops, FIFO.

Each check returns the first reject reason of v20 that applies, or None.

FIFO (divisions under US rules): the oldest of equally large trades of an instrument closes first. So that no dependent order
closes a younger one, equally large trades must not have dependent orders (the "FIFO violation safeguard" of v20).
"""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

from keydesk_practice.engine.commands import (
    ClientExtensions,
    DependentDetails,
    EntryRequest,
    TrailingStopLossDetails,
)
from keydesk_practice.engine.quotes import ZERO, Quote, Specification, closing_price
from keydesk_practice.engine.state.account import TIMES_IN_FORCE, Account, Trade
from keydesk_practice.engine.transactions import GuaranteedStopLossCreated
from keydesk_practice.engine.wire_form import decimal_places

MAX_EXTENSION_LENGTH = 128

# Larger prices have more digits than the decimal context keeps.
PRICE_LIMIT = Decimal(1_000_000_000_000)


def first_problem(reasons: Iterable[str | None]) -> str | None:
    """Return the first reason that is not None."""
    return next((reason for reason in reasons if reason is not None), None)


def units_problem(units: Decimal, specification: Specification) -> str | None:
    """Return the reject reason for the size of an order, or None."""
    if not units:
        return "UNITS_INVALID"
    if decimal_places(units) > specification.trade_units_precision:
        return "UNITS_PRECISION_EXCEEDED"
    if abs(units) < specification.minimum_trade_size:
        return "UNITS_MINIMUM_NOT_MET"
    if abs(units) > specification.maximum_order_units:
        return "UNITS_LIMIT_EXCEEDED"
    return None


def price_problem(
    price: Decimal | None, specification: Specification, name: str = "PRICE"
) -> str | None:
    """Return the reject reason for an optional price, or None."""
    if price is None:
        return None
    if not 0 < price < PRICE_LIMIT:
        return f"{name}_INVALID"
    too_fine = decimal_places(price) > specification.display_precision
    return f"{name}_PRECISION_EXCEEDED" if too_fine else None


def time_in_force_problem(
    order_type: str, time_in_force: str, gtd_time: int | None, now: int, prefix: str = ""
) -> str | None:
    """Return the reject reason for the time in force of an order, or None."""
    name = f"{prefix}_" if prefix else ""
    timestamp = f"{name}GTD_TIMESTAMP" if prefix else "TIME_IN_FORCE_GTD_TIMESTAMP"
    if time_in_force not in TIMES_IN_FORCE[order_type]:
        return f"{name}TIME_IN_FORCE_INVALID"
    if time_in_force != "GTD":
        return None
    if gtd_time is None:
        return f"{timestamp}_MISSING"
    return f"{timestamp}_IN_PAST" if gtd_time <= now else None


def extensions_problem(
    extensions: ClientExtensions | None,
    taken: Mapping[str, int],
    what: str = "ORDER",
    prefix: str = "",
    owner: int | None = None,
) -> str | None:
    """Return the reject reason for client extensions, or None.

    `taken` maps the client ids in use to their orders or trades; `owner` may keep its own client id.
    """
    if extensions is None:
        return None
    name = f"{prefix}_CLIENT_{what}" if prefix else f"CLIENT_{what}"
    if extensions.id is not None and not 1 <= len(extensions.id) <= MAX_EXTENSION_LENGTH:
        return f"{name}_ID_INVALID"
    if extensions.tag is not None and len(extensions.tag) > MAX_EXTENSION_LENGTH:
        return f"{name}_TAG_INVALID"
    if extensions.comment is not None and len(extensions.comment) > MAX_EXTENSION_LENGTH:
        return f"{name}_COMMENT_INVALID"
    clashes = extensions.id is not None and taken.get(extensions.id, owner) != owner
    return f"{name}_ID_ALREADY_EXISTS" if clashes else None


def trailing_problem(
    distance: Decimal | None, specification: Specification, prefix: str = ""
) -> str | None:
    """Return the reject reason for the distance of a trailing stop, or None."""
    name = f"{prefix}_PRICE_DISTANCE" if prefix else "PRICE_DISTANCE"
    if distance is None:
        return f"{name}_MISSING"
    if distance <= 0:
        return f"{name}_INVALID"
    if decimal_places(distance) > specification.display_precision:
        return f"{name}_PRECISION_EXCEEDED"
    if distance < specification.minimum_trailing_stop_distance:
        return f"{name}_MINIMUM_NOT_MET"
    too_far = distance > specification.maximum_trailing_stop_distance
    return f"{name}_MAXIMUM_EXCEEDED" if too_far else None


def pending_orders_problem(account: Account) -> str | None:
    """Return the reject reason if the account has its maximum number of pending orders."""
    full = len(account.orders) >= account.terms.max_pending_orders
    return "PENDING_ORDERS_ALLOWED_EXCEEDED" if full else None


def level_problem(
    order_type: str, price: Decimal | None, distance: Decimal | None, specification: Specification
) -> str | None:
    """Return the reject reason for the level of a stand-alone dependent order, or None."""
    if order_type == "TRAILING_STOP_LOSS":
        return trailing_problem(distance, specification)
    if price is None and distance is None:
        missing = f"{order_type}_ORDER_PRICE_AND_DISTANCE_BOTH_MISSING"
        return "PRICE_MISSING" if order_type == "TAKE_PROFIT" else missing
    if price is not None and distance is not None:
        # v20 has no reject reason for a take-profit with both.
        both = f"{order_type}_ORDER_PRICE_AND_DISTANCE_BOTH_SPECIFIED"
        return "PRICE_INVALID" if order_type == "TAKE_PROFIT" else both
    if distance is not None:
        return _distance_problem(distance, specification, "PRICE_DISTANCE")
    return price_problem(price, specification)


def on_fill_problems(
    account: Account, request: EntryRequest, specification: Specification, now: int
) -> str | None:
    """Return the reject reason for the on-fill orders of a request, as far as it does not depend on the fill."""
    requested = list(_on_fill_details(request))
    return first_problem(
        [
            *(_details_problem(account, kind, d, specification, now) for kind, d in requested),
            _exclusive_stops_problem(account, request),
            _duplicate_ids_problem(request, [details for _, details in requested]),
        ]
    )


def guaranteed_stop_allowed(account: Account, specification: Specification) -> bool:
    """Return whether account and instrument allow guaranteed stops."""
    return "DISABLED" not in (account.terms.guaranteed_mode, specification.guaranteed_mode)


def guaranteed_stop_required(account: Account, specification: Specification) -> bool:
    """Return whether every trade of the instrument must have a guaranteed stop."""
    modes = (account.terms.guaranteed_mode, specification.guaranteed_mode)
    return "REQUIRED" in modes and "DISABLED" not in modes


def guaranteed_problem(
    account: Account,
    specification: Specification,
    quote: Quote,
    units: Decimal,
    level: Decimal,
    *,
    replaces: int | None = None,
) -> str | None:
    """Return why a guaranteed stop is not possible at a level, as the end of a reject reason."""
    if not guaranteed_stop_allowed(account, specification):
        return "NOT_ALLOWED"
    position = account.position(specification.name)
    if position.short.units if units > 0 else position.long.units:
        return "HEDGING_NOT_ALLOWED"
    distance = abs(closing_price(quote, units > 0) - level)
    if distance < specification.guaranteed_minimum_distance:
        return "MINIMUM_DISTANCE_NOT_MET"
    maximum = specification.guaranteed_level_volume
    guaranteed = _guaranteed_units_near(account, specification, level, replaces)
    exceeded = maximum and guaranteed + abs(units) > maximum
    return "LEVEL_RESTRICTION_VOLUME_EXCEEDED" if exceeded else None


def has_older_equal_trade(account: Account, trade: Trade) -> bool:
    """Return whether FIFO requires another trade of the same size to close before this one."""
    equal = _trades_of_size(account, trade.instrument, trade.current_units)
    return account.terms.fifo and any(other.id < trade.id for other in equal)


def has_equal_trade(account: Account, trade: Trade) -> bool:
    """Return whether FIFO forbids dependent orders of a trade, since another trade has the same size."""
    equal = _trades_of_size(account, trade.instrument, trade.current_units)
    return account.terms.fifo and any(other.id != trade.id for other in equal)


def violates_fifo_safeguard(
    account: Account, instrument: str, units: Decimal, *, protected: bool
) -> bool:
    """Return whether FIFO forbids to open a trade, `protected` by dependent orders or not."""
    equal = _trades_of_size(account, instrument, units)
    return account.terms.fifo and any(protected or other.dependents for other in equal)


def _distance_problem(distance: Decimal, specification: Specification, name: str) -> str | None:
    if not 0 < distance < PRICE_LIMIT:
        return f"{name}_INVALID"
    too_fine = decimal_places(distance) > specification.display_precision
    return f"{name}_PRECISION_EXCEEDED" if too_fine else None


def _on_fill_details(request: EntryRequest) -> Iterator[tuple[str, DependentDetails]]:
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
    if kind == "GUARANTEED_STOP_LOSS" and not guaranteed_stop_allowed(account, specification):
        return f"{prefix}_NOT_ALLOWED"
    return first_problem(
        [
            _on_fill_level_problem(prefix, details, specification),
            time_in_force_problem(
                kind, details.time_in_force or "GTC", details.gtd_time, now, prefix
            ),
            extensions_problem(details.client_extensions, {}, "ORDER", prefix),
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
    if not 0 < distance < PRICE_LIMIT:
        return f"{prefix}_PRICE_INVALID" if profit else f"{prefix}_DISTANCE_INVALID"
    return _distance_problem(distance, specification, f"{prefix}_DISTANCE")


def _exclusive_stops_problem(account: Account, request: EntryRequest) -> str | None:
    """Refuse other stops beside a guaranteed stop and, in some divisions, a stop-loss beside a trailing stop."""
    stop, trailing = request.stop_loss_on_fill, request.trailing_stop_loss_on_fill
    newer = request.guaranteed_stop_loss_on_fill
    older = stop is not None and bool(stop.guaranteed)
    if (newer and (stop or trailing)) or (older and trailing):
        return "ORDERS_ON_FILL_RMO_MUTUAL_EXCLUSIVITY_GSLO_EXCLUDES_OTHERS_VIOLATION"
    if account.terms.exclusive_stops and stop and trailing:
        return "ORDERS_ON_FILL_RMO_MUTUAL_EXCLUSIVITY_MUTUALLY_EXCLUSIVE_VIOLATION"
    return None


def _duplicate_ids_problem(request: EntryRequest, requested: list[DependentDetails]) -> str | None:
    extensions = [request.client_extensions, *(one.client_extensions for one in requested)]
    ids = [one.id for one in extensions if one is not None and one.id is not None]
    return "ORDERS_ON_FILL_DUPLICATE_CLIENT_ORDER_IDS" if len(ids) != len(set(ids)) else None


def _guaranteed_units_near(
    account: Account, specification: Specification, level: Decimal, except_order: int | None
) -> Decimal:
    """Return the units with guaranteed stops within the window of prices around a level."""
    total = ZERO
    for order in account.orders.values():
        created = order.created
        if order.instrument != specification.name or not isinstance(
            created, GuaranteedStopLossCreated
        ):
            continue
        if (
            order.id != except_order
            and abs(created.price - level) <= specification.guaranteed_level_range / 2
        ):
            total += abs(account.trades[created.trade_id].current_units)
    return total


def _trades_of_size(account: Account, instrument: str, units: Decimal) -> list[Trade]:
    return [
        trade
        for trade in account.trades.values()
        if trade.instrument == instrument and trade.current_units == units
    ]
