"""Dependent orders as asked for with an entry order or on a trade."""

from keydesk_client.models.enumerations import TimeInForce
from keydesk_client.models.extensions import ClientExtensions
from keydesk_client.models.record import Record
from keydesk_client.models.scalars import DecimalNumber, PriceValue
from keydesk_client.models.times import DateTime


class TakeProfitDetails(Record):
    """Request for a take-profit on a trade."""

    price: PriceValue | None = None
    """Trigger; give price or distance."""
    distance: DecimalNumber | None = None
    """From the open price, instead of a price; not every service takes it."""
    time_in_force: TimeInForce = "GTC"
    """GTC, GTD or GFD."""
    gtd_time: DateTime | None = None
    """When the order expires; only together with GTD."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""


class StopLossDetails(Record):
    """Request for a stop-loss on a trade."""

    price: PriceValue | None = None
    """Trigger; exactly one of price and distance."""
    distance: DecimalNumber | None = None
    """From open price."""
    time_in_force: TimeInForce = "GTC"
    """GTC, GTD or GFD."""
    gtd_time: DateTime | None = None
    """When the order expires; only together with GTD."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""
    guaranteed: bool | None = None
    """Deprecated way to ask for a guaranteed stop; default true only when the account requires it."""


class GuaranteedStopLossDetails(Record):
    """Request for a guaranteed stop on a trade."""

    price: PriceValue | None = None
    """Trigger; exactly one of price and distance."""
    distance: DecimalNumber | None = None
    """From open price."""
    time_in_force: TimeInForce = "GTC"
    """GTC, GTD or GFD."""
    gtd_time: DateTime | None = None
    """When the order expires; only together with GTD."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""


class TrailingStopLossDetails(Record):
    """Request for a trailing stop on a trade."""

    distance: DecimalNumber
    """In price units."""
    time_in_force: TimeInForce = "GTC"
    """GTC, GTD or GFD."""
    gtd_time: DateTime | None = None
    """When the order expires; only together with GTD."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""
