"""What no order can be, whatever the instrument: checked before anything is sent.

The service would reject the same, but a rejection costs a round trip, a transaction id and, in a fast market, the price.
"""

from collections.abc import Iterator
from typing import Final

from keydesk_client.errors import InvalidRequest
from keydesk_client.models._core.asked import refuse_unknown
from keydesk_client.models._core.levels import refuse_levels
from keydesk_client.models._core.record import Record
from keydesk_client.models._core.words import known_word, words
from keydesk_client.models.details import (
    GuaranteedStopLossDetails,
    StopLossDetails,
    TakeProfitDetails,
    TrailingStopLossDetails,
)
from keydesk_client.models.enumerations import OrderPositionFill, OrderTriggerCondition
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
WORDS: Final = {
    "position_fill": words(OrderPositionFill),
    "trigger_condition": words(OrderTriggerCondition),
}
NAMES: Final = ("instrument", "trade_id")


def refuse_impossible(order: Record) -> None:
    """InvalidRequest, naming the member, when the order can not be right."""
    if isinstance(order, EntryTerms) and order.units == 0:
        raise InvalidRequest("units: 0 buys and sells nothing", field="units")
    _refuse_nameless(order)
    _refuse_other_words(order)
    _refuse_life(order, "", _lives(order))
    refuse_levels(order, "", needs_one=isinstance(order, DependentTerms))
    for name, details in details_on_fill(order):
        refuse_unknown(details, f"{name}.")
        _refuse_life(details, f"{name}.", RESTING)
        refuse_levels(details, f"{name}.", needs_one=True)


def refuse_impossible_edit(name: str, details: Details) -> None:
    """The same for a dependent order's edit, where what is left out stays as it is."""
    _refuse_edited_life(details, f"{name}.")
    refuse_levels(details, f"{name}.", needs_one=False)


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


def _refuse_edited_life(details: Details, prefix: str) -> None:
    """Only what was given: the live order has the rest, and it may be a GTD one."""
    if "time_in_force" not in details.model_fields_set:
        return
    life = details.time_in_force
    _refuse_other_life(life, prefix, RESTING)
    if life != "GTD" and details.gtd_time is not None:
        field = f"{prefix}gtd_time"
        raise InvalidRequest(f"{field}: {life} has none, only GTD", field=field)


def _refuse_life(holder: Record, prefix: str, allowed: frozenset[str]) -> None:
    life, until = getattr(holder, "time_in_force", None), getattr(holder, "gtd_time", None)
    _refuse_other_life(life, prefix, allowed)
    if (life == "GTD") != (until is not None):
        field = f"{prefix}gtd_time"
        raise InvalidRequest(f"{field}: GTD needs it, and nothing else has one", field=field)


def _refuse_other_life(life: str | None, prefix: str, allowed: frozenset[str]) -> None:
    if life not in allowed:
        field = f"{prefix}time_in_force"
        raise InvalidRequest(
            f"{field}: {life} is none of {', '.join(sorted(allowed))}", field=field
        )


def _refuse_other_words(order: Record) -> None:
    """Answers keep words that are new; an order with a word that there is not would be rejected."""
    for name, known in WORDS.items():
        if name in type(order).model_fields:
            known_word(name, getattr(order, name), known)


def _refuse_nameless(order: Record) -> None:
    for name in NAMES:
        if name in type(order).model_fields:
            told = getattr(order, name)
            if not told or not told.isprintable() or told != told.strip():
                raise InvalidRequest(f"{name}: {told[:60]!r} names nothing", field=name)
