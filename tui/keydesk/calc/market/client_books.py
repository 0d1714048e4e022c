"""Read a book of the broker's clients: the long share, clusters with their distance, the share under water.

A bucket spans from its price to its price and the book's bucket width. One above the market lies wholly above the price,
one below wholly below it; the bucket that holds the price is neither. The arithmetic is exact: no square root is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from msgspec import Struct

from keydesk_client.arithmetic.constants import PERCENT, ZERO

Book = Literal["orders", "positions"]
ClusterKind = Literal[
    "buy stops", "sell limits", "buy limits", "sell stops", "trapped longs", "trapped shorts"
]
MAX_CLUSTERS = 5
DEVIATIONS = 2  # standard deviations above the mean from which a share is a cluster
Sides = tuple[Decimal, Decimal]  # long, short
NO_SIDES: Sides = (ZERO, ZERO)


class BookBucket(Struct, frozen=True):
    """One price step of a book: the share of all clients' orders or positions, in percent."""

    price: Decimal  # its low edge, inclusive
    long: Decimal
    short: Decimal


class Cluster(Struct, frozen=True):
    """A bucket in which far more orders or positions lie than in others."""

    kind: ClusterKind
    is_long: bool  # buy orders or long positions
    price: Decimal  # the bucket's edge nearest the market
    distance: Decimal  # of that edge from the market in price units, negative below it
    share: Decimal  # percent of all


def long_percent(sides: Sides) -> Decimal | None:
    """Return the long share in percent of both sides' sums; None where there is nothing."""
    long, short = sides
    return long * PERCENT / (long + short) if long + short > 0 else None


def sums_of(buckets: Sequence[BookBucket]) -> Sides:
    """Return the sums of both sides."""
    return sum((each.long for each in buckets), ZERO), sum((each.short for each in buckets), ZERO)


def clusters(
    book: Book, buckets: Sequence[BookBucket], width: Decimal, market: Decimal, reach: Decimal
) -> tuple[Cluster, ...]:
    """Return the strongest clusters within `reach` of the market, strongest first.

    A cluster's share is more than two standard deviations above the mean of all shares in reach, long and short ones.
    Of positions only those under water are named.
    """
    near = [each for each in buckets if _distance(each, width, market) <= reach]
    shares = [share for each in near for share in (each.long, each.short)]
    count, total = len(shares), sum(shares, ZERO)
    variance = count * sum((each * each for each in shares), ZERO) - total * total
    clustered = []
    for bucket in near:
        for cluster in _of_bucket(book, bucket, width, market):
            over = count * cluster.share - total  # count times the distance from the mean
            if over > 0 and over * over > DEVIATIONS * DEVIATIONS * variance:
                clustered.append(cluster)
    clustered.sort(key=lambda each: (-each.share, abs(each.distance), each.kind))
    return tuple(clustered[:MAX_CLUSTERS])


def under_water(
    buckets: Sequence[BookBucket],
    width: Decimal,
    market: Decimal,
    *,
    below: Sides = NO_SIDES,
    above: Sides = NO_SIDES,
) -> tuple[Decimal | None, Decimal | None]:
    """Return the percentage of long and of short positions that lose at a price; None for a side without positions.

    A position's bucket is where it was opened. Positions in the bucket that holds the price are taken as evenly spread
    over it. `below` and `above` are sums of farther buckets that are not among these.
    """
    longs, shorts = sums_of(buckets)
    longs, shorts = longs + below[0] + above[0], shorts + below[1] + above[1]
    long_losing, short_losing = above[0], below[1]
    for bucket in buckets:
        over = _part_above(bucket.price, width, market)
        long_losing += bucket.long * over
        short_losing += bucket.short * (1 - over)
    return (
        long_losing * PERCENT / longs if longs > 0 else None,
        short_losing * PERCENT / shorts if shorts > 0 else None,
    )


def _part_above(low: Decimal, width: Decimal, market: Decimal) -> Decimal:
    """Return the part of a bucket above the market, 0 to 1."""
    if low >= market:
        return Decimal(1)
    if width <= 0 or low + width <= market:
        return ZERO
    return (low + width - market) / width


def _distance(bucket: BookBucket, width: Decimal, market: Decimal) -> Decimal:
    """Return the distance of a bucket's nearest edge from the market."""
    return max(bucket.price - market, market - bucket.price - width, ZERO)


def _of_bucket(
    book: Book, bucket: BookBucket, width: Decimal, market: Decimal
) -> tuple[Cluster, ...]:
    """Return both sides of a bucket by their names; none for the bucket that holds the price."""
    is_above, upper = bucket.price >= market, bucket.price + width
    if not is_above and upper > market:
        return ()
    edge = bucket.price if is_above else upper
    distance = edge - market
    long_kind, short_kind = NAMES[book][is_above]
    made: list[Cluster] = []
    if long_kind is not None:
        made.append(
            Cluster(long_kind, is_long=True, price=edge, distance=distance, share=bucket.long)
        )
    if short_kind is not None:
        made.append(
            Cluster(short_kind, is_long=False, price=edge, distance=distance, share=bucket.short)
        )
    return tuple(made)


# Long and short side of a book's buckets, below the market (False) and above it (True).
NAMES: dict[Book, dict[bool, tuple[ClusterKind | None, ClusterKind | None]]] = {
    "orders": {False: ("buy limits", "sell stops"), True: ("buy stops", "sell limits")},
    "positions": {False: (None, "trapped shorts"), True: ("trapped longs", None)},
}
