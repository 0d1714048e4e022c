"""A client of which only `candles.iterate` is asked: its candles are made by a function, each range is noted.

service = CandleService(lambda start, granularity: [ServedCandle(bid=prices)])
"""

from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Self, cast

from keydesk_client.client import Client
from keydesk_client.errors import Refused
from keydesk_client.models import CandlestickData, DateTime


@dataclass
class ServedCandle:
    """A candle as far as the journal reads it."""

    bid: CandlestickData | None = None
    ask: CandlestickData | None = None
    complete: bool = True
    time: DateTime = field(default_factory=lambda: DateTime.from_ns(0))


class AskedRange(NamedTuple):
    """A range that was asked for."""

    instrument: str
    granularity: str
    price: str
    start: str
    page: int  # candles in a request


@dataclass
class CandleService:
    """The candles of a service; with a refusal it answers that status."""

    found: Callable[[DateTime, str], Iterable[ServedCandle]] = lambda _start, _granularity: ()
    refusal: int | None = None
    asked: list[AskedRange] = field(default_factory=list)

    @property
    def candles(self) -> Self:
        """The resource of the client."""
        return self

    @property
    def client(self) -> Client:
        """The service in the place of a client."""
        return cast("Client", self)

    async def iterate(
        self,
        name: str,
        *,
        from_: DateTime,
        to: DateTime,
        granularity: str,
        price: str,
        page: int = 5_000,
    ) -> AsyncIterator[ServedCandle]:
        """Yield the candles of a range."""
        assert from_ < to
        self.asked.append(AskedRange(name, granularity, price, str(from_), page))
        if self.refusal is not None:
            raise Refused("refused", status=self.refusal)
        for each in self.found(from_, granularity):
            yield each
