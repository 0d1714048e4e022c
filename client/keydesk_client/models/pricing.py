"""Prices, their depth, and what a currency is worth at home."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from keydesk_client.models.enumerations import PriceStatus
from keydesk_client.models.record import Record
from keydesk_client.models.scalars import (
    Currency,
    DecimalNumber,
    InstrumentName,
    Liquidity,
    PriceValue,
)
from keydesk_client.models.times import DateTime


class PriceBucket(Record):
    """Liquidity at one price."""

    price: PriceValue
    """Price."""
    liquidity: Liquidity
    """Units; JSON number in pricing, string inside fullPrice."""


class UnitsAvailableDetails(Record):
    """Size by direction, both unsigned."""

    long: DecimalNumber
    """Buy."""
    short: DecimalNumber
    """Sell."""


class UnitsAvailable(Record):
    """Size still tradeable by fill policy."""

    default: UnitsAvailableDetails
    """DEFAULT."""
    reduce_first: UnitsAvailableDetails
    """REDUCE_FIRST."""
    reduce_only: UnitsAvailableDetails
    """REDUCE_ONLY."""
    open_only: UnitsAvailableDetails
    """OPEN_ONLY."""


class QuoteHomeConversionFactors(Record):
    """Quote to home factors."""

    positive_units: DecimalNumber
    """For gains."""
    negative_units: DecimalNumber
    """For losses."""


class HomeConversions(Record):
    """Currency to home factors."""

    currency: Currency
    """From."""
    account_gain: DecimalNumber
    """For gains."""
    account_loss: DecimalNumber
    """For losses."""
    position_value: DecimalNumber
    """For valuing positions, mid."""


class ClientPrice(Record):
    """Price of one instrument for one account."""

    type: Literal["PRICE"] = "PRICE"
    """Always PRICE; sent on the stream, may be missing in REST."""
    instrument: InstrumentName | None = None
    """Absent inside fullPrice."""
    time: DateTime | None = None
    """Price time; fullPrice uses timestamp instead."""
    timestamp: DateTime | None = None
    """Only inside an ORDER_FILL fullPrice."""
    status: PriceStatus | None = None
    """Deprecated, still sent."""
    tradeable: bool | None = None
    """False while halted."""
    bids: tuple[PriceBucket, ...]
    """Best first, may be empty."""
    asks: tuple[PriceBucket, ...]
    """Best first, may be empty."""
    closeout_bid: PriceValue
    """Used to close when there is no bid liquidity."""
    closeout_ask: PriceValue
    """Used to close when there is no ask liquidity."""
    quote_home_conversion_factors: QuoteHomeConversionFactors | None = None
    """Deprecated, REST only."""
    units_available: UnitsAvailable | None = None
    """Deprecated, REST only, when asked."""
    home_conversions: tuple[HomeConversions, ...] | None = None
    """Price stream only, when includeHomeConversions is true; placement here is inferred."""


class PricingHeartbeat(Record):
    """Keep-alive on the price stream."""

    type: Literal["HEARTBEAT"] = "HEARTBEAT"
    """Discriminator."""
    time: DateTime
    """Server time."""


class LiquidityRegenerationScheduleStep(Record):
    """One step."""

    timestamp: DateTime
    """When."""
    bid_liquidity_used: DecimalNumber
    """Used so far."""
    ask_liquidity_used: DecimalNumber
    """Used so far."""


class LiquidityRegenerationSchedule(Record):
    """Internal liquidity recovery plan, not on any seed endpoint."""

    steps: tuple[LiquidityRegenerationScheduleStep, ...]
    """Steps."""


PricingStreamItem: TypeAlias = Annotated[
    ClientPrice | PricingHeartbeat, Field(union_mode="left_to_right")
]
"""A line of the price stream."""
