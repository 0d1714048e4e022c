"""Dependent orders as asked for with an entry order or on a trade; InvalidRequest when a member can not be right."""

from typing import TYPE_CHECKING, Unpack

from keydesk_client.models._core.asked import Asked
from keydesk_client.models._core.scalars import DecimalNumber, PriceValue
from keydesk_client.models._core.times import DateTime
from keydesk_client.models.enumerations import TimeInForce
from keydesk_client.models.extensions import ClientExtensions

if TYPE_CHECKING:  # a request is made from more than it holds
    from keydesk_client.models.request_members import (
        LevelMembers,
        StopLossMembers,
        TrailingMembers,
    )


class TakeProfitDetails(Asked):
    """Request for a take-profit on a trade."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[LevelMembers]) -> None: ...

    price: PriceValue | None = None
    """Trigger, in quote currency; give price or distance."""
    distance: DecimalNumber | None = None
    """In price units from the price at which the trade opened, instead of a price; not every service takes it."""
    time_in_force: TimeInForce = "GTC"
    """GTC, GTD or GFD."""
    gtd_time: DateTime | None = None
    """When the order expires; only together with GTD."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""


class StopLossDetails(Asked):
    """Request for a stop-loss on a trade."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[StopLossMembers]) -> None: ...

    price: PriceValue | None = None
    """Trigger, in quote currency; exactly one of price and distance."""
    distance: DecimalNumber | None = None
    """In price units, not pips, from the price at which the trade opened."""
    time_in_force: TimeInForce = "GTC"
    """GTC, GTD or GFD."""
    gtd_time: DateTime | None = None
    """When the order expires; only together with GTD."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""
    guaranteed: bool | None = None
    """Deprecated way to ask for a guaranteed stop; default true only when the account requires it."""


class GuaranteedStopLossDetails(Asked):
    """Request for a guaranteed stop on a trade."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[LevelMembers]) -> None: ...

    price: PriceValue | None = None
    """Trigger, in quote currency; exactly one of price and distance."""
    distance: DecimalNumber | None = None
    """In price units, not pips, from the price at which the trade opened."""
    time_in_force: TimeInForce = "GTC"
    """GTC, GTD or GFD."""
    gtd_time: DateTime | None = None
    """When the order expires; only together with GTD."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""


class TrailingStopLossDetails(Asked):
    """Request for a trailing stop on a trade."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[TrailingMembers]) -> None: ...

    distance: DecimalNumber
    """In price units, not pips: 0.0015 is 15 pips of EUR_USD."""
    time_in_force: TimeInForce = "GTC"
    """GTC, GTD or GFD."""
    gtd_time: DateTime | None = None
    """When the order expires; only together with GTD."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""
