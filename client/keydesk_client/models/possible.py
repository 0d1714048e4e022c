"""What no order can be, whatever the instrument: checked before anything is sent.

The service would reject the same, but a rejection costs a round trip, a transaction id and, in a fast market, the price.
"""

from collections.abc import Iterator
from typing import Final

from keydesk_client.errors import InvalidRequest
from keydesk_client.models.asked import refuse_unknown
from keydesk_client.models.details import (
    GuaranteedStopLossDetails,
    StopLossDetails,
    TakeProfitDetails,
    TrailingStopLossDetails,
)
from keydesk_client.models.record import Record
from keydesk_client.models.terms import DependentTerms, EntryTerms, OnFillTerms, PendingTerms

Details = TakeProfitDetails | StopLossDetails | GuaranteedStopLossDetails | TrailingStopLossDetails

ON_FILL: Final = (
    "take_profit_on_fill",
    "stop_loss_on_fill",
    "guaranteed_stop_loss_on_fill",
    "trailing_stop_loss_on_fill",
)
AT_ONCE: Final = frozenset({"FOK", "IOC"})
RESTING: Final = frozenset({"GTC", "GTD", "GFD"})


def refuse_impossible(order: Record) -> None:
    """InvalidRequest, naming the member, when the order can not be right."""
    if isinstance(order, EntryTerms) and order.units == 0:
        raise InvalidRequest("units: 0 buys and sells nothing", field="units")
    _refuse_life(order, "", _lives(order))
    _refuse_levels(order, "", needs_one=isinstance(order, DependentTerms))
    for name, details in details_on_fill(order):
        refuse_unknown(details, f"{name}.")
        _refuse_life(details, f"{name}.", RESTING)
        _refuse_levels(details, f"{name}.", needs_one=True)


def refuse_impossible_edit(name: str, details: Details) -> None:
    """The same for a dependent order's edit, where what is left out stays as it is."""
    _refuse_life(details, f"{name}.", RESTING)
    _refuse_levels(details, f"{name}.", needs_one=False)


def details_on_fill(order: Record) -> Iterator[tuple[str, Details]]:
    """The dependent orders that an entry order brings along, by member name."""
    if isinstance(order, OnFillTerms):
        for name in ON_FILL:
            details = getattr(order, name)
            if details is not None:
                yield name, details


def _lives(order: Record) -> frozenset[str]:
    if isinstance(order, DependentTerms):
        return RESTING
    return AT_ONCE | RESTING if isinstance(order, PendingTerms) else AT_ONCE


def _refuse_life(holder: Record, prefix: str, allowed: frozenset[str]) -> None:
    life, until = getattr(holder, "time_in_force", None), getattr(holder, "gtd_time", None)
    if life not in allowed:
        field = f"{prefix}time_in_force"
        raise InvalidRequest(
            f"{field}: {life} is none of {', '.join(sorted(allowed))}", field=field
        )
    if (life == "GTD") != (until is not None):
        field = f"{prefix}gtd_time"
        raise InvalidRequest(f"{field}: GTD needs it, and nothing else has one", field=field)


def _refuse_levels(holder: Record, prefix: str, *, needs_one: bool) -> None:
    given = [name for name in ("price", "distance") if getattr(holder, name, None) is not None]
    for name in (*given, "price_bound"):
        level = getattr(holder, name, None)
        if level is not None and level <= 0:
            raise InvalidRequest(f"{prefix}{name}: must be above 0", field=f"{prefix}{name}")
    if len(given) > 1:
        raise InvalidRequest(
            f"{prefix}distance: give it or a price, not both", field=f"{prefix}distance"
        )
    if needs_one and not given:
        field = prefix + ("price" if "price" in type(holder).model_fields else "distance")
        raise InvalidRequest(f"{field}: needed", field=field)
