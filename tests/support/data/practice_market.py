"""Short ways to the practice market for its tests."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from keydesk_practice.market.bar_blocks import Component
from keydesk_practice.market.bar_builder import CandleSpec, Range
from keydesk_practice.market.candle_files import ReplayedInstrument
from keydesk_practice.market.candles import Candle
from keydesk_practice.market.instruments import CURRENCIES
from keydesk_practice.market.practice_market import PracticeMarket
from keydesk_practice.market.reference import CACHE, read_reference_rates
from keydesk_practice.market.shocks import Shock

ALL_PRICES = frozenset(Component)


@cache
def practice_market(hours: str = "always") -> PracticeMarket:
    """Return the market of seed 1, built once: it remembers, but it never changes."""
    return PracticeMarket(1, hours)


@cache
def _stored_rates() -> bytes:
    with TemporaryDirectory() as folder:
        cache = Path(folder, CACHE)
        read_reference_rates(CURRENCIES, cache=cache)
        return cache.read_bytes()


def store_rates(data: Path) -> None:
    """Store the reference rates in a broker's data folder, as its first start does: parsing them takes 0.1 s of each start."""
    cache = data / CACHE
    if not cache.exists():
        cache.touch(mode=0o600)
        cache.write_bytes(_stored_rates())


def another_market(
    seed: int = 1, replayed: Sequence[ReplayedInstrument] = (), shocks: Sequence[Shock] = ()
) -> PracticeMarket:
    """Return a market that remembers nothing yet."""
    return PracticeMarket(seed, replayed=replayed, rates=practice_market().rates, shocks=shocks)


def instant(text: str) -> int:
    """Return nanoseconds since 1970 of a time such as 2015-01-15T09:30Z."""
    difference = datetime.fromisoformat(text) - datetime(1970, 1, 1, tzinfo=UTC)
    return (difference.days * 86_400 + difference.seconds) * 1_000_000_000


def candles(  # one argument for each thing a request can say
    instrument: str,
    granularity: str,
    now: str,
    asked: Range | None = None,
    *,
    cut: CandleSpec | None = None,
    market: PracticeMarket | None = None,
) -> list[Candle]:
    """Ask for candles with all three prices."""
    return (market or practice_market()).candles(
        instrument,
        cut or CandleSpec(granularity, ALL_PRICES),
        asked or Range(count=10),
        instant(now),
    )


def between(begin: int, end: int) -> Range:
    """Return the range of all candles between two times."""
    return Range(begin=begin, end=end)


def open_of(found: list[Candle], component: Component) -> Decimal:
    """Return the first price of consecutive candles."""
    return Decimal(found[0].prices[component].o)


def high_of(found: list[Candle], component: Component) -> Decimal:
    """Return the highest price of consecutive candles."""
    return max(Decimal(candle.prices[component].h) for candle in found)


def low_of(found: list[Candle], component: Component) -> Decimal:
    """Return the lowest price of consecutive candles."""
    return min(Decimal(candle.prices[component].l) for candle in found)


def close_of(found: list[Candle], component: Component) -> Decimal:
    """Return the last price of consecutive candles."""
    return Decimal(found[-1].prices[component].c)
