"""What a ticket and a reversal send: the client's request as it is on the screen, and beside it what only the desk knows.

The request is built once, when the trader confirms: what comes after it, to the wire, is this request.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from decimal import Decimal
from typing import TypeAlias, cast

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.orders.lifetime import (
    TILL_CANCELLED,
    TYPED_EXPIRY,
    UNCHANGED_LIFETIME,
    Lifetime,
    expiry_ns,
    frozen,
)
from keydesk.calc.orders.order_options import LEVELS, OPTIONS, DependentName
from keydesk.calc.orders.plans.exit_plans import NO_RULES, ExitRules
from keydesk.calc.orders.plans.scale_out import OrderPart
from keydesk.calc.orders.ticket import Plan
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.calc.orders.ticket_levels import SendableLevels, sendable
from keydesk.trading.order_requests import LifetimeMembers, sent_lifetime
from keydesk.values import Command
from keydesk.words.order_text import EntryRequest
from keydesk_client.models import (
    ClientExtensions,
    GuaranteedStopLossDetails,
    LimitOrderRequest,
    MarketIfTouchedOrderRequest,
    MarketOrderRequest,
    StopLossDetails,
    StopOrderRequest,
    TakeProfitDetails,
    TrailingStopLossDetails,
)
from keydesk_client.models.order_terms import EntryMembers, OrderChanges

Lives: TypeAlias = Mapping[DependentName, LifetimeMembers]


@dataclass(frozen=True, slots=True)
class OpenOrder:
    """Open a trade at market or by a pending order."""

    request: EntryRequest
    expected: Decimal | None = None  # the price seen
    exit_rules: ExitRules = NO_RULES  # the exit plan of the trade that it opens
    parts: tuple[EntryRequest, ...] = ()  # sent one after the other in its place
    draft: Draft | None = field(default=None, compare=False, repr=False)  # it came from

    @property
    def reduces(self) -> bool:
        """Whether it may never open anything."""
        return self.request.position_fill == "REDUCE_ONLY"


class Reverse(Struct, frozen=True):
    """Reverse a net position by one order of twice its size."""

    request: MarketOrderRequest
    expected: Decimal


def order_of(
    draft: Draft,
    plan: Plan,
    rules: ExitRules | None,
    parts: tuple[OrderPart, ...] | str,
    *,
    now_ns: int,
    zone: tzinfo,
) -> OpenOrder | None:
    """Return the order of a ticket; None while a field, an end, its exit plan or its scale-out cannot be read.

    Args:
        draft: The ticket as typed.
        plan: What it comes to, as on the screen.
        rules: The exit plan; None while its units are not known.
        parts: The orders of its scale-out, or why it cannot be divided.
        now_ns: The broker's time, from which a duration becomes an expiry.
        zone: The trader's time zone, in which an expiry is typed.

    Raises:
        InvalidRequest: a member of the order is invalid.
    """
    levels = sendable(plan.levels)
    own, lives = _own_life(draft, now_ns, zone), _lives_of_levels(draft, now_ns, zone)
    if levels is None or own is None or lives is None or rules is None or isinstance(parts, str):
        return None
    request = _request(draft, levels, _members(draft, plan, levels, lives, own), own)
    request = request.with_(**_options(draft, plan))
    divided = tuple(_part(request, part, lives) for part in parts)
    return OpenOrder(request, levels.entry, rules, divided, draft)


def _request(
    draft: Draft, levels: SendableLevels, members: EntryMembers, own: LifetimeMembers
) -> EntryRequest:
    price, ends = levels.entry, own["gtd_time"]
    match draft.kind:
        case "MARKET":
            return MarketOrderRequest(**members, price_bound=levels.bound)
        case "LIMIT":
            return LimitOrderRequest(**members, price=price, gtd_time=ends)
        case "STOP":
            return StopOrderRequest(**members, price=price, gtd_time=ends, price_bound=levels.bound)
        case "MARKET_IF_TOUCHED":
            return MarketIfTouchedOrderRequest(
                **members, price=price, gtd_time=ends, price_bound=levels.bound
            )


def _members(
    draft: Draft, plan: Plan, levels: SendableLevels, lives: Lives, own: LifetimeMembers
) -> EntryMembers:
    """Return the members of every entry order; the client adds its own id to the order's extensions."""
    typed = draft.members
    stop = _stop(draft, plan, levels, lives["stop"])
    return {
        "instrument": draft.instrument,
        "units": draft.direction * plan.units,
        "time_in_force": own["time_in_force"],
        "client_extensions": _extensions(draft, ""),
        "trade_client_extensions": _extensions(draft, typed.trade_id),
        "stop_loss_on_fill": stop if isinstance(stop, StopLossDetails) else None,
        "guaranteed_stop_loss_on_fill": stop
        if isinstance(stop, GuaranteedStopLossDetails)
        else None,
        "take_profit_on_fill": _target(levels.target, lives),
        "trailing_stop_loss_on_fill": _trail(levels.trail, lives),
    }


def _options(draft: Draft, plan: Plan) -> OrderChanges:
    """Return the options that the request holds as they are, those that its kind of order has."""
    held = {
        option.member: draft.members.text(name) or None
        for name, option in OPTIONS.items()
        if option.member and not (option.rests and draft.kind == "MARKET")
    }
    if plan.reduces:
        held["position_fill"] = "REDUCE_ONLY"
    return cast("OrderChanges", held)  # by the names of `OPTIONS`; the request checks them


def _stop(
    draft: Draft, plan: Plan, levels: SendableLevels, lifetime: LifetimeMembers
) -> StopLossDetails | GuaranteedStopLossDetails | None:
    """Return the stop at its price, or at its distance where the broker counts it from the fill."""
    if levels.stop is None:
        return None
    kind = GuaranteedStopLossDetails if draft.members.guaranteed else StopLossDetails
    if not draft.stop_counts_from_fill:
        return kind(price=levels.stop, **lifetime)
    return kind(
        distance=draft.direction * ((plan.average or levels.entry) - levels.stop),
        **lifetime,
    )


def _target(price: Decimal | None, lives: Lives) -> TakeProfitDetails | None:
    return None if price is None else TakeProfitDetails(price=price, **lives["target"])


def _trail(distance: Decimal | None, lives: Lives) -> TrailingStopLossDetails | None:
    return (
        None if distance is None else TrailingStopLossDetails(distance=distance, **lives["trail"])
    )


def _part(request: EntryRequest, part: OrderPart, lives: Lives) -> EntryRequest:
    """Return the request of one part of a scale-out: its units, its target or its trailing stop."""
    return request.with_(
        units=part.units,
        take_profit_on_fill=_target(part.target, lives),
        trailing_stop_loss_on_fill=_trail(part.trail, lives),
    )


def _extensions(draft: Draft, trade_id: str) -> ClientExtensions | None:
    """Return tag and comment, and the client id of the trade; None where there are none.

    The id of the order is the client's own, by which a lost answer is looked up.
    """
    tag, comment = draft.members.tag, draft.members.comment
    if not (tag or comment or trade_id):
        return None
    return ClientExtensions(id=trade_id or None, tag=tag or None, comment=comment or None)


def _own_life(draft: Draft, now_ns: int, zone: tzinfo) -> LifetimeMembers | None:
    """Return how long the order itself lives; None while a typed expiry cannot be read."""
    if draft.expiry != TYPED_EXPIRY:
        return sent_lifetime(Lifetime(draft.expiry), now_ns)
    end = expiry_ns(draft.members.gtd_text, draft.members.gtd_typed_ns, now_ns, zone)
    return sent_lifetime(Lifetime(draft.expiry, end), now_ns) if isinstance(end, int) else None


def _lives_of_levels(draft: Draft, now_ns: int, zone: tzinfo) -> Lives | None:
    """Return how long each level lives that the fill sets; None while a typed end cannot be read."""
    lives: dict[DependentName, LifetimeMembers] = {}
    for name in LEVELS:
        typed = draft.members.lifetime(name)
        is_usual = not draft.entry(name).text or typed == TILL_CANCELLED
        lifetime = UNCHANGED_LIFETIME if is_usual else frozen(typed, now_ns, zone)
        if lifetime is None:
            return None
        lives[name] = sent_lifetime(lifetime, now_ns)
    return lives


def reversal_of(draft: Draft, units: Decimal, levels: SendableLevels) -> Reverse:
    """Return one order that closes the position and opens the opposite one.

    Args:
        draft: The ticket of the side that it opens.
        units: Signed: minus twice the net units.
        levels: Its prices.

    Raises:
        InvalidRequest: a member of the order is invalid.
    """
    return Reverse(
        MarketOrderRequest(
            instrument=draft.instrument,
            units=units,
            time_in_force="FOK",
            price_bound=levels.bound,
            position_fill="REDUCE_FIRST",
            stop_loss_on_fill=None if levels.stop is None else StopLossDetails(price=levels.stop),
            take_profit_on_fill=None
            if levels.target is None
            else TakeProfitDetails(price=levels.target),
            trailing_stop_loss_on_fill=None
            if levels.trail is None
            else TrailingStopLossDetails(distance=levels.trail),
        ),
        levels.entry,
    )


def bound_of(request: EntryRequest) -> Decimal | None:
    """Return the worst price that an order accepts; a limit order has none beside its price."""
    return None if isinstance(request, LimitOrderRequest) else request.price_bound


def opening_command(command: Command, request: EntryRequest, expected: Decimal | None) -> Command:
    """Return the command of an order with the values that its outcome is compared with."""
    command = replace(command, bound=bound_of(request))
    if isinstance(request, MarketOrderRequest):
        return replace(command, expected=expected)
    return replace(command, order_price=request.price)
