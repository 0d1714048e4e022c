"""Prices and their depth, order and position books, and candles.

Candles and price levels are slotted dataclasses, since they come by the thousand: 5,000 candles as pydantic models took
8.3 MB, as these 3.2 MB.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from pydantic import ConfigDict, Field

from keydesk_client.errors import MissingMember
from keydesk_client.models._core.member_docs import document_members
from keydesk_client.models._core.record import VALUES_SELDOM_RECUR, Record, Response
from keydesk_client.models._core.scalars import (
    Currency,
    DateTime,
    DecimalNumber,
    InstrumentName,
    Liquidity,
    PriceValue,
    RecurringPrice,
)
from keydesk_client.models._core.slots_record import STRICT_CONFIG, SlottedRecord
from keydesk_client.models._core.tabular import (
    Columns,
    NumberConverter,
    Tabular,
    TimeConverter,
    converted,
    utc_text,
)
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


@document_members
@dataclass(frozen=True, slots=True, repr=False)
class CandlestickData(SlottedRecord):
    """Open, high, low and close of a candle."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT_CONFIG

    o: RecurringPrice
    """Open."""
    h: RecurringPrice
    """High."""
    l: RecurringPrice  # noqa: E741 - the wire's name
    """Low."""
    c: RecurringPrice
    """Close."""


@document_members
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
    """Only if the components include B."""
    ask: CandlestickData | None = None
    """Only if the components include A."""
    mid: CandlestickData | None = None
    """Only if the components include M."""

    def row(
        self, *, numbers: NumberConverter | None = None, times: TimeConverter | None = None
    ) -> dict[str, object]:
        """Return one row of a table: time, open, high, low, close, volume, complete.

        The prices of several components have dotted names: `bid.open`, `ask.open`. Numbers stay Decimal and times
        DateTime unless a converter is given: `row(numbers=float, times=pandas.Timestamp)`.
        """
        flat = Tabular.row(self, numbers=numbers, times=times)
        alone = sum(each is not None for each in (self.bid, self.ask, self.mid)) == 1
        prices = {_column(name, alone=alone): flat[name] for name in flat if "." in name}
        rest = {name: flat[name] for name in flat if "." not in name and name != "time"}
        return {"time": flat.get("time")} | prices | rest


COMPONENTS: Final = ("bid", "ask", "mid")
PRICE_COLUMNS: Final = {"o": "open", "h": "high", "l": "low", "c": "close"}


def _column(name: str, *, alone: bool) -> str:
    component, _, price = name.partition(".")
    return (
        PRICE_COLUMNS.get(price, price)
        if alone
        else f"{component}.{PRICE_COLUMNS.get(price, price)}"
    )


class CandlestickResponse(Response):
    """Candles of one instrument."""

    model_config: ClassVar[ConfigDict] = VALUES_SELDOM_RECUR

    instrument: InstrumentName
    """As in EUR_USD."""
    granularity: CandlestickGranularity
    """Period of each candle."""
    candles: tuple[Candlestick, ...]
    """Ascending; periods without prices are left out."""

    def columns(
        self, *, numbers: NumberConverter | None = None, times: TimeConverter | None = None
    ) -> Columns:
        """Return the candles as columns, named as in `Candlestick.row`: `pandas.DataFrame(candles.columns(numbers=float))`."""
        return candle_columns(self.candles, numbers=numbers, times=times)


def candle_columns(
    candles: Sequence[Candlestick],
    *,
    numbers: NumberConverter | None = None,
    times: TimeConverter | None = None,
) -> Columns:
    """Return candles as columns: time, open, high, low, close (of several components `bid.open`), volume, complete."""
    try:
        return _plain_columns(candles, numbers, times)
    except AttributeError:  # a candle lacks a member or a component: None stands there
        return Columns.of(candles, numbers=numbers, times=times)


def _plain_columns(
    candles: Sequence[Candlestick],
    numbers: NumberConverter | None,
    times: TimeConverter | None,
) -> Columns:
    """Return the columns of candles that have every member; raise AttributeError if one lacks any."""
    first = candles[0] if candles else None
    sent = [name for name in COMPONENTS if first is None or getattr(first, name) is not None]
    alone = len(sent) == 1
    moments = [candle.time for candle in candles]
    columns = Columns(
        time=moments if times is None else [times(utc_text(each)) for each in moments]
    )
    for component in sent if candles else ("mid",):
        prices = [getattr(candle, component) for candle in candles]
        for wire in PRICE_COLUMNS:
            name = _column(f"{component}.{wire}", alone=alone or not candles)
            columns[name] = converted([getattr(each, wire) for each in prices], numbers)
    columns["volume"] = [candle.volume for candle in candles]
    columns["complete"] = [candle.complete for candle in candles]
    return columns


@document_members
@dataclass(frozen=True, slots=True, repr=False)
class PriceBucket(SlottedRecord):
    """Liquidity at one price level."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT_CONFIG

    price: RecurringPrice
    """The price of this level."""
    liquidity: Liquidity
    """Units on offer at this price."""


class UnitsAvailableDetails(Record):
    """Units still available by direction, both unsigned."""

    long: DecimalNumber
    """Units that may still be bought."""
    short: DecimalNumber
    """Units that may still be sold."""


class UnitsAvailable(Record):
    """Units still available by position fill policy."""

    default: UnitsAvailableDetails
    """For orders with positionFill DEFAULT."""
    reduce_first: UnitsAvailableDetails
    """For orders with positionFill REDUCE_FIRST."""
    reduce_only: UnitsAvailableDetails
    """For orders with positionFill REDUCE_ONLY."""
    open_only: UnitsAvailableDetails
    """For orders with positionFill OPEN_ONLY."""


class QuoteHomeConversionFactors(Record):
    """Factors from quote to home currency."""

    positive_units: DecimalNumber
    """Multiply gains by it."""
    negative_units: DecimalNumber
    """Multiply losses by it."""


class HomeConversions(Record):
    """Factors from one currency to home currency."""

    currency: Currency
    """The currency to convert from."""
    account_gain: DecimalNumber
    """Multiply gains by it."""
    account_loss: DecimalNumber
    """Multiply losses by it."""
    position_value: DecimalNumber
    """Multiply position values by it; a mid rate."""


def conversion_of(
    conversions: Iterable[HomeConversions] | None, currency: str, record: str, remedy: str
) -> HomeConversions:
    """Return the factors from a currency to home currency; raise MissingMember, with the remedy, without them."""
    for each in conversions or ():
        if each.currency == currency:
            return each
    raise MissingMember(
        f"{record}.home_conversions: no {currency}: {remedy}",
        record=record,
        member="home_conversions",
    )


class ClientPrice(Record):
    """Price of one instrument for one account."""

    fails_at_missing_members: ClassVar[bool] = False

    type: Literal["PRICE"] = "PRICE"
    """Always PRICE."""
    instrument: InstrumentName | None = None
    """As in EUR_USD; absent in the full price of a fill."""
    time: DateTime | None = None
    """Time of the price; a fill has `timestamp` instead."""
    timestamp: DateTime | None = None
    """Time of the price, in the full price of a fill."""
    status: PriceStatus | None = None
    """Deprecated by the service: use `tradeable`."""
    tradeable: bool | None = None
    """False while halted."""
    bids: tuple[PriceBucket, ...]
    """Best first, may be empty."""
    asks: tuple[PriceBucket, ...]
    """Best first, may be empty."""
    closeout_bid: RecurringPrice
    """Bid for closing out when there is no bid liquidity."""
    closeout_ask: RecurringPrice
    """Ask for closing out when there is no ask liquidity."""
    quote_home_conversion_factors: QuoteHomeConversionFactors | None = None
    """Deprecated, REST only."""
    units_available: UnitsAvailable | None = None
    """Deprecated, REST only, on request."""
    home_conversions: tuple[HomeConversions, ...] | None = None
    """On the stream, if it was opened with include_home_conversions."""

    @property
    def bid(self) -> Decimal:
        """The best bid, in quote currency; raises MissingMember if there are no bids."""
        return self._best("bids", self.bids)

    @property
    def ask(self) -> Decimal:
        """The best ask, in quote currency; raises MissingMember if there are no asks."""
        return self._best("asks", self.asks)

    @property
    def mid(self) -> Decimal:
        """The mean of bid and ask, unrounded; raises MissingMember if a side is empty."""
        return (self.bid + self.ask) / 2

    @property
    def spread(self) -> Decimal:
        """Ask minus bid, in quote currency: divide by the instrument's `pip` for pips."""
        return self.ask - self.bid

    def home_conversion(self, currency: str) -> HomeConversions:
        """Return the factors from this currency to home currency; raise MissingMember if they were not sent."""
        return conversion_of(
            self.home_conversions,
            currency,
            "ClientPrice",
            "open the stream with include_home_conversions=True; the answer of pricing.get has them itself:"
            " answer.home_conversion(currency)",
        )

    def _best(self, name: str, side: tuple[PriceBucket, ...]) -> Decimal:
        if not side:
            raise MissingMember(
                f"ClientPrice.{name} is empty: there is no liquidity; use closeout_bid and closeout_ask",
                record="ClientPrice",
                member=name,
            )
        return side[0].price


class PricingHeartbeat(Record):
    """Keep-alive on the price stream."""

    type: Literal["HEARTBEAT"] = "HEARTBEAT"
    """Always HEARTBEAT."""
    time: DateTime
    """Server time."""


class LiquidityRegenerationScheduleStep(Record):
    """One step of the schedule."""

    timestamp: DateTime
    """Time of the step."""
    bid_liquidity_used: DecimalNumber
    """Liquidity still counted as used."""
    ask_liquidity_used: DecimalNumber
    """Liquidity still counted as used."""


class LiquidityRegenerationSchedule(Record):
    """How used liquidity is restored; no operation sends it."""

    steps: tuple[LiquidityRegenerationScheduleStep, ...]
    """In order of time."""


PricingStreamItem: TypeAlias = Annotated[
    ClientPrice | PricingHeartbeat, Field(union_mode="left_to_right")
]
"""A line of the price stream."""
