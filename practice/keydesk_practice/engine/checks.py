"""What is wrong with the level of a dependent order: price or distance, each kind with its own names for it.

What is wrong with a request in itself: the names of the rules it breaks, in the order in which they are looked at.

Each function returns the first reject reason, or None when there is nothing to object to.
Guaranteed stops: where one may stand, and how much of them a price window may hold.
The FIFO rules of a US division; other accounts have none of them.

The oldest trade of a size closes first. So that no dependent order can break that, trades of one instrument that have
the same size may not carry any.
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
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.records import TIMES_IN_FORCE, Trade
from keydesk_practice.engine.transactions import GuaranteedStopLossCreated
from keydesk_practice.engine.wire_form import decimal_places

MAX_EXTENSION_LENGTH = 128
PRICE_LIMIT = Decimal(1_000_000_000_000)  # larger ones have more digits than the arithmetic keeps


def first_problem(reasons: Iterable[str | None]) -> str | None:
    """Return the first reason there is."""
    return next((reason for reason in reasons if reason is not None), None)


def units_problem(units: Decimal, specification: Specification) -> str | None:
    """Return what is wrong with the size of an order."""
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
    """Return what is wrong with a price that need not be there."""
    if price is None:
        return None
    if not 0 < price < PRICE_LIMIT:
        return f"{name}_INVALID"
    too_fine = decimal_places(price) > specification.display_precision
    return f"{name}_PRECISION_EXCEEDED" if too_fine else None


def time_in_force_problem(
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


def extensions_problem(
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
    if labels.id is not None and not 1 <= len(labels.id) <= MAX_EXTENSION_LENGTH:
        return f"{name}_ID_INVALID"
    if labels.tag is not None and len(labels.tag) > MAX_EXTENSION_LENGTH:
        return f"{name}_TAG_INVALID"
    if labels.comment is not None and len(labels.comment) > MAX_EXTENSION_LENGTH:
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
    if decimal_places(distance) > specification.display_precision:
        return f"{name}_PRECISION_EXCEEDED"
    if distance < specification.minimum_trailing_stop_distance:
        return f"{name}_MINIMUM_NOT_MET"
    too_far = distance > specification.maximum_trailing_stop_distance
    return f"{name}_MAXIMUM_EXCEEDED" if too_far else None


def pending_orders_problem(account: Account) -> str | None:
    """Return whether the account has as many pending orders as it may have."""
    full = len(account.orders) >= account.terms.most_pending_orders
    return "PENDING_ORDERS_ALLOWED_EXCEEDED" if full else None


def guaranteed_stop_allowed(account: Account, specification: Specification) -> bool:
    """Return whether the account may have guaranteed stops on the instrument."""
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
    """Return why a guaranteed stop cannot stand at a level, as the end of a reject reason's name."""
    if not guaranteed_stop_allowed(account, specification):
        return "NOT_ALLOWED"
    position = account.position(specification.name)
    if position.short.units if units > 0 else position.long.units:
        return "HEDGING_NOT_ALLOWED"
    away = abs(closing_price(quote, units > 0) - level)
    if away < specification.guaranteed_minimum_distance:
        return "MINIMUM_DISTANCE_NOT_MET"
    window = specification.guaranteed_level_range
    most = specification.guaranteed_level_volume
    if (
        most
        and _volume_near(account, specification.name, level, window, replaces) + abs(units) > most
    ):
        return "LEVEL_RESTRICTION_VOLUME_EXCEEDED"
    return None


def _volume_near(
    account: Account, instrument: str, level: Decimal, window: Decimal, except_order: int | None
) -> Decimal:
    """Return the units whose guaranteed stops stand within a window round a level."""
    total = ZERO
    for order in account.orders.values():
        created = order.created
        if order.instrument != instrument or not isinstance(created, GuaranteedStopLossCreated):
            continue
        if order.id != except_order and abs(created.price - level) <= window / 2:
            total += abs(account.trades[created.trade_id].current_units)
    return total


def has_older_equal_trade(account: Account, trade: Trade) -> bool:
    """Return whether an older trade of the same size would have to close before this one."""
    twins = _of_size(account, trade.instrument, trade.current_units)
    return account.terms.fifo and any(twin.id < trade.id for twin in twins)


def has_equal_trade(account: Account, trade: Trade) -> bool:
    """Return whether another trade has the same size, so that this one may not carry dependent orders."""
    twins = _of_size(account, trade.instrument, trade.current_units)
    return account.terms.fifo and any(twin.id != trade.id for twin in twins)


def violates_fifo_safeguard(
    account: Account, instrument: str, units: Decimal, *, protected: bool
) -> bool:
    """Return whether opening a trade would put dependent orders on trades of the same size."""
    twins = _of_size(account, instrument, units)
    return account.terms.fifo and any(protected or twin.dependents for twin in twins)


def _of_size(account: Account, instrument: str, units: Decimal) -> list[Trade]:
    return [
        trade
        for trade in account.trades.values()
        if trade.instrument == instrument and trade.current_units == units
    ]


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
    if not 0 < distance < PRICE_LIMIT:
        return f"{name}_INVALID"
    too_fine = decimal_places(distance) > specification.display_precision
    return f"{name}_PRECISION_EXCEEDED" if too_fine else None


def on_fill_problems(
    account: Account, request: EntryRequest, specification: Specification, now: int
) -> str | None:
    """Return what can be said against an order's on-fill orders without knowing the fill."""
    wanted = list(_wanted(request))
    return first_problem(
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
