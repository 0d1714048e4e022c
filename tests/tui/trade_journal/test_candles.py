from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import cast

import pytest

from keydesk.calc.trade_journal.excursions import CELL
from keydesk.trade_journal.candles import ExcursionReader, read_day_closes, read_excursions
from keydesk_client.client import Client
from keydesk_client.errors import Refused
from keydesk_client.models import CandlestickData, DateTime
from support.data.journal_trades import HOUR, MONDAY, closed_trade

D = Decimal


@dataclass
class Candle:
    bid: CandlestickData | None
    ask: CandlestickData | None
    complete: bool = True
    time: DateTime = field(default_factory=lambda: DateTime.from_ns(MONDAY))


@dataclass
class Candles:
    """Candles of a service: one for each range that is asked for."""

    asked: list[tuple[str, str, str]] = field(default_factory=list)
    found: Iterable[Candle] = ()
    refusal: int | None = None

    async def iterate(
        self, _: str, *, from_: DateTime, to: DateTime, granularity: str, price: str
    ) -> AsyncIterator[Candle]:
        assert from_ < to
        if self.refusal is not None:
            raise Refused("refused", status=self.refusal)
        self.asked.append((granularity, price, str(from_)))
        for each in self.found:
            yield each


@dataclass
class Service:
    candles: Candles


def service(high: str, low: str, *, complete: bool = True) -> Service:
    prices = CandlestickData(o=D(high), h=D(high), l=D(low), c=D(low))
    return Service(Candles(found=[Candle(prices, prices, complete)]))


async def test_excursions_are_read_from_candles_of_the_closing_side_once(tmp_path: Path) -> None:
    path = tmp_path / "journal" / "main.excursions"
    trades = [
        closed_trade("1", 1, opened_ns=MONDAY),
        closed_trade("1", 2, opened_ns=MONDAY, units=-1000, hold_ns=3 * HOUR),
    ]
    broker = service("1.08700", "1.08400")
    found = await read_excursions(cast("Client", broker), path, trades)
    assert [(each[0], each[1]) for each in sorted(broker.candles.asked)] == [
        ("M1", "A"),
        ("S5", "A"),
        ("S5", "B"),
    ]
    assert (found["1"].adverse, found["1"].favourable) == (D("0.00100"), D("0.00200"))
    assert (found["2"].adverse, found["2"].favourable) == (D("0.00200"), D("0.00100"))
    silent = Service(Candles())
    assert await read_excursions(cast("Client", silent), path, trades) == found
    assert silent.candles.asked == []
    first = path.read_bytes()
    path.unlink()
    await read_excursions(cast("Client", broker), path, trades)
    assert path.read_bytes() == first


async def test_another_trade_with_the_same_id_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "journal" / "main.excursions"
    broker = service("1.08700", "1.08400")
    await read_excursions(cast("Client", broker), path, [closed_trade("1", 1, opened_ns=MONDAY)])
    later = closed_trade("1", 1, opened_ns=MONDAY + CELL)
    await read_excursions(cast("Client", broker), path, [later])
    assert len(broker.candles.asked) == 2


async def test_a_trade_without_candles_has_no_excursion(tmp_path: Path) -> None:
    path = tmp_path / "journal" / "main.excursions"
    silent = Service(Candles())
    assert await read_excursions(cast("Client", silent), path, [closed_trade("1")]) == {}


async def test_what_a_forming_candle_says_is_provisional_and_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "journal" / "main.excursions"
    forming = service("1.08700", "1.08400", complete=False)
    found = await read_excursions(cast("Client", forming), path, [closed_trade("1")])
    assert found["1"].favourable == D("0.00200")
    assert found["1"].is_provisional
    whole = service("1.08800", "1.08400")
    found = await read_excursions(cast("Client", whole), path, [closed_trade("1")])
    assert found["1"].favourable == D("0.00300")
    assert not found["1"].is_provisional


async def test_a_provisional_excursion_is_due_once_its_last_candle_is_complete(
    tmp_path: Path,
) -> None:
    trade = closed_trade("1")
    end = (trade.closed_ns or 0) + CELL
    broker, now = service("1.08700", "1.08400"), end - CELL // 2
    reader = ExcursionReader(cast("Client", broker), tmp_path / "journal" / "x", lambda: now)
    await reader.read(trade)  # no candle of the exit came, as nothing was quoted in it yet
    known = reader.known(trade)
    assert known is not None
    assert known.is_provisional
    assert reader.due == set()
    now = end + CELL
    assert reader.due == {"1"}
    await reader.read(trade)
    assert reader.due == set()
    known = reader.known(trade)
    assert known is not None
    assert not known.is_provisional


async def test_an_instrument_that_is_offered_no_more_is_left_out(tmp_path: Path) -> None:
    gone = cast("Client", Service(Candles(refusal=400)))
    path = tmp_path / "journal" / "main.excursions"
    assert await read_excursions(gone, path, [closed_trade("1")]) == {}
    assert await read_day_closes(gone, {"EUR_USD": (MONDAY, MONDAY + HOUR)}) == {}


async def test_any_other_refusal_is_told(tmp_path: Path) -> None:
    busy = cast("Client", Service(Candles(refusal=429)))
    with pytest.raises(Refused):
        await read_excursions(busy, tmp_path / "journal" / "x", [closed_trade("1")])
    with pytest.raises(Refused):
        await read_day_closes(busy, {"EUR_USD": (MONDAY, MONDAY + HOUR)})
