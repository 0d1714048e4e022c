"""Prices, their depth, and what a currency is worth at home.

How the service's clients are positioned, by price; not executable depth.
Candles: slotted dataclasses, for they come 5,000 at a time.

Measured: 5,000 as pydantic models take 8.3 MB and 14 ms to read, as these 3.2 MB and 10 ms.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from pydantic import ConfigDict, Field

from keydesk_client.errors import MissingMember
from keydesk_client.models._core.record import (
    NumberConverter,
    Record,
    Response,
    Tabular,
    TimeConverter,
)
from keydesk_client.models._core.scalars import (
    Currency,
    DateTime,
    DecimalNumber,
    InstrumentName,
    Liquidity,
    PriceValue,
)
from keydesk_client.models._core.slots_record import STRICT_CONFIG, SlottedRecord
from keydesk_client.models.enumerations import CandlestickGranularity, PriceStatus


class OrderBookBucket(Record):
    """Share of orders in one bucket."""

    price: PriceValue
    """Low edge, inclusive."""
    long_count_percent: DecimalNumber
    """Percent of all orders, long here."""
    short_count_percent: DecimalNumber
    """Percent of all orders, short here."""


class OrderBook(Record):
    """Distribution of client orders."""

    instrument: InstrumentName
    """As in EUR_USD."""
    time: DateTime
    """Snapshot time."""
    unix_time: DateTime | None = None
    """The snapshot time in seconds since 1970; not every service sends it."""
    price: PriceValue
    """Mid price at the snapshot."""
    bucket_width: PriceValue
    """Width of a bucket."""
    buckets: tuple[OrderBookBucket, ...]
    """Ascending, only non-empty ones."""


class PositionBookBucket(Record):
    """Share of positions in one bucket."""

    price: PriceValue
    """Low edge, inclusive."""
    long_count_percent: DecimalNumber
    """Percent of all positions, long here."""
    short_count_percent: DecimalNumber
    """Percent of all positions, short here."""


class PositionBook(Record):
    """Distribution of client positions."""

    instrument: InstrumentName
    """As in EUR_USD."""
    time: DateTime
    """Snapshot time."""
    unix_time: DateTime | None = None
    """The snapshot time in seconds since 1970; not every service sends it."""
    price: PriceValue
    """Mid price at the snapshot."""
    bucket_width: PriceValue
    """Width of a bucket."""
    buckets: tuple[PositionBookBucket, ...]
    """Ascending, only non-empty ones."""


@dataclass(frozen=True, slots=True, repr=False)
class CandlestickData(SlottedRecord):
    """Four prices of a candle."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT_CONFIG

    o: PriceValue
    """First."""
    h: PriceValue
    """Highest."""
    l: PriceValue  # noqa: E741 - the wire's name
    """Lowest."""
    c: PriceValue
    """Last."""


@dataclass(frozen=True, slots=True, repr=False)
class Candlestick(SlottedRecord):
    """One candle."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT_CONFIG

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

    def row(
        self, *, numbers: NumberConverter | None = None, times: TimeConverter | None = None
    ) -> dict[str, object]:
        """One row of a table: time, open, high, low, close, volume, complete.

        Prices of several components are told apart: `bid.open`, `ask.open`. Numbers stay Decimal and times DateTime
        unless said: `row(numbers=float, times=pandas.Timestamp)`.
        """
        flat = Tabular.row(self, numbers=numbers, times=times)
        alone = sum(each is not None for each in (self.bid, self.ask, self.mid)) == 1
        prices = {_column(name, alone=alone): flat[name] for name in flat if "." in name}
        rest = {name: flat[name] for name in flat if "." not in name and name != "time"}
        return {"time": flat.get("time")} | prices | rest


WORDS: Final = {"o": "open", "h": "high", "l": "low", "c": "close"}


def _column(name: str, *, alone: bool) -> str:
    component, _, price = name.partition(".")
    return WORDS.get(price, price) if alone else f"{component}.{WORDS.get(price, price)}"


class CandlestickResponse(Response):
    """Candles of one instrument."""

    instrument: InstrumentName
    """As in EUR_USD."""
    granularity: CandlestickGranularity
    """Period of each candle."""
    candles: tuple[Candlestick, ...]
    """Ascending; empty periods are left out."""


@dataclass(frozen=True, slots=True, repr=False)
class PriceBucket(SlottedRecord):
    """Liquidity at one price; slotted, for each price of the stream brings several."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT_CONFIG

    price: PriceValue
    """The price of this level."""
    liquidity: Liquidity
    """Units on offer at this price."""


class UnitsAvailableDetails(Record):
    """Size by direction, both unsigned."""

    long: DecimalNumber
    """Units that may still be bought."""
    short: DecimalNumber
    """Units that may still be sold."""


class UnitsAvailable(Record):
    """Size still tradeable by fill policy."""

    default: UnitsAvailableDetails
    """For orders with positionFill DEFAULT."""
    reduce_first: UnitsAvailableDetails
    """For orders with positionFill REDUCE_FIRST."""
    reduce_only: UnitsAvailableDetails
    """For orders with positionFill REDUCE_ONLY."""
    open_only: UnitsAvailableDetails
    """For orders with positionFill OPEN_ONLY."""


class QuoteHomeConversionFactors(Record):
    """Quote to home factors."""

    positive_units: DecimalNumber
    """Multiply gains by it."""
    negative_units: DecimalNumber
    """Multiply losses by it."""


class HomeConversions(Record):
    """Currency to home factors."""

    currency: Currency
    """From."""
    account_gain: DecimalNumber
    """Multiply gains by it."""
    account_loss: DecimalNumber
    """Multiply losses by it."""
    position_value: DecimalNumber
    """For valuing positions, mid."""


class ClientPrice(Record):
    """Price of one instrument for one account."""

    fails_at_missing_members: ClassVar[bool] = False

    type: Literal["PRICE"] = "PRICE"
    """Always PRICE."""
    instrument: InstrumentName | None = None
    """As in EUR_USD; absent inside the full price of a fill."""
    time: DateTime | None = None
    """When the price came; inside a fill see timestamp."""
    timestamp: DateTime | None = None
    """When the price came, inside the full price of a fill."""
    status: PriceStatus | None = None
    """Deprecated by the service: see tradeable."""
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
    """On the stream, when it was opened with include_home_conversions."""

    @property
    def bid(self) -> Decimal:
        """The best price to sell at, in quote currency; MissingMember when nobody buys."""
        return self._best("bids", self.bids)

    @property
    def ask(self) -> Decimal:
        """The best price to buy at, in quote currency; MissingMember when nobody sells."""
        return self._best("asks", self.asks)

    @property
    def mid(self) -> Decimal:
        """Half-way between bid and ask, unrounded; MissingMember when a side is empty."""
        return (self.bid + self.ask) / 2

    @property
    def spread(self) -> Decimal:
        """Ask minus bid, in quote currency: divide by the instrument's `pip` for pips."""
        return self.ask - self.bid

    def home_conversion(self, currency: str) -> HomeConversions:
        """What an amount in this currency is worth at home; MissingMember when the price does not tell."""
        for each in self.home_conversions or ():
            if each.currency == currency:
                return each
        raise MissingMember(
            f"ClientPrice.home_conversions: nothing on {currency}, ask with include_home_conversions=True",
            record="ClientPrice",
            member="home_conversions",
        )

    def _best(self, name: str, side: tuple[PriceBucket, ...]) -> Decimal:
        if not side:
            raise MissingMember(
                f"ClientPrice.{name}: empty, nobody trades on this side now; closeout_bid and closeout_ask are there",
                record="ClientPrice",
                member=name,
            )
        return side[0].price


class PricingHeartbeat(Record):
    """Keep-alive on the price stream."""

    type: Literal["HEARTBEAT"] = "HEARTBEAT"
    """Discriminator."""
    time: DateTime
    """Server time."""


class LiquidityRegenerationScheduleStep(Record):
    """One step."""

    timestamp: DateTime
    """When this step is reached."""
    bid_liquidity_used: DecimalNumber
    """Used so far."""
    ask_liquidity_used: DecimalNumber
    """Used so far."""


class LiquidityRegenerationSchedule(Record):
    """How liquidity that was used comes back; no operation sends it."""

    steps: tuple[LiquidityRegenerationScheduleStep, ...]
    """One after the other."""


PricingStreamItem: TypeAlias = Annotated[
    ClientPrice | PricingHeartbeat, Field(union_mode="left_to_right")
]
"""A line of the price stream."""
