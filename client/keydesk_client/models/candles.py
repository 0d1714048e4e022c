"""Candles: slotted dataclasses, for they come 5,000 at a time.

Measured: 5,000 as pydantic models take 8.3 MB and 14 ms to read, as these 3.2 MB and 10 ms.
"""

from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict

from keydesk_client.models.enumerations import CandlestickGranularity
from keydesk_client.models.responses.base import Response
from keydesk_client.models.scalars import InstrumentName, PriceValue
from keydesk_client.models.slotted import CLOSED, SlottedRecord
from keydesk_client.models.times import DateTime


@dataclass(frozen=True, slots=True)
class CandlestickData(SlottedRecord):
    """Four prices of a candle."""

    __pydantic_config__: ClassVar[ConfigDict] = CLOSED

    o: PriceValue
    """First."""
    h: PriceValue
    """Highest."""
    l: PriceValue  # noqa: E741 - the wire's name
    """Lowest."""
    c: PriceValue
    """Last."""


@dataclass(frozen=True, slots=True)
class Candlestick(SlottedRecord):
    """One candle."""

    __pydantic_config__: ClassVar[ConfigDict] = CLOSED

    time: DateTime
    """Start of the period, UTC."""
    volume: int
    """Number of prices in the period."""
    complete: bool
    """False while the period has not ended."""
    bid: CandlestickData | None = None
    """When B was asked for."""
    ask: CandlestickData | None = None
    """When A was asked for."""
    mid: CandlestickData | None = None
    """When M was asked for."""


class CandlestickResponse(Response):
    """Candles of one instrument."""

    instrument: InstrumentName
    """As in EUR_USD."""
    granularity: CandlestickGranularity
    """Period of each candle."""
    candles: tuple[Candlestick, ...]
    """Ascending; empty periods are left out."""
