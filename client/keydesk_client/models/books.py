"""How the service's clients are positioned, by price; not executable depth."""

from keydesk_client.models._core.record import Record
from keydesk_client.models._core.scalars import DecimalNumber, InstrumentName, PriceValue
from keydesk_client.models._core.times import DateTime


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
