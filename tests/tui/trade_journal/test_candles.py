import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path

import pytest

from keydesk.calc.trade_journal.excursions import CELL
from keydesk.records.database import Database
from keydesk.records.excursions import kept_excursions
from keydesk.trade_journal.candles import ExcursionReader, read_day_closes, read_excursions
from keydesk_client.errors import Refused, TimedOut
from keydesk_client.models import CandlestickData, DateTime
from support.data.journal_trades import HOUR, MONDAY, closed_trade
from support.fakes.candle_service import CandleService, ServedCandle

D = Decimal


def service(high: str, low: str, *, complete: bool = True) -> CandleService:
    prices = CandlestickData(o=D(high), h=D(high), l=D(low), c=D(low))
    return CandleService(lambda *_: [ServedCandle(prices, prices, complete)])


async def test_excursions_are_read_from_candles_of_the_closing_side_once(tmp_path: Path) -> None:
    database = Database(tmp_path / "records" / "main.sqlite")
    trades = [
        closed_trade("1", 1, opened_ns=MONDAY),
        closed_trade("1", 2, opened_ns=MONDAY, units=-1000, hold_ns=3 * HOUR),
    ]
    broker = service("1.08700", "1.08400")
    found = await read_excursions(ExcursionReader(broker.client, database=database), trades)
    assert sorted((each.granularity, each.price) for each in broker.asked) == [
        ("M1", "A"),
        ("S5", "A"),
        ("S5", "B"),
    ]
    assert (found["1"].adverse, found["1"].favourable) == (D("0.00100"), D("0.00200"))
    assert (found["2"].adverse, found["2"].favourable) == (D("0.00200"), D("0.00100"))
    silent = CandleService()
    assert await read_excursions(ExcursionReader(silent.client, database=database), trades) == found
    assert silent.asked == []
    assert list(kept_excursions(database.connection)) == ["1", "2"]


async def test_another_trade_with_the_same_id_is_read_anew(tmp_path: Path) -> None:
    database = Database(tmp_path / "records" / "main.sqlite")
    broker = service("1.08700", "1.08400")
    await read_excursions(
        ExcursionReader(broker.client, database=database), [closed_trade("1", 1, opened_ns=MONDAY)]
    )
    later = closed_trade("1", 1, opened_ns=MONDAY + CELL)
    await read_excursions(ExcursionReader(broker.client, database=database), [later])
    assert len(broker.asked) == 2


async def test_a_trade_without_candles_has_no_excursion(tmp_path: Path) -> None:
    database = Database(tmp_path / "records" / "main.sqlite")
    silent = CandleService()
    assert (
        await read_excursions(
            ExcursionReader(silent.client, database=database), [closed_trade("1")]
        )
        == {}
    )


async def test_what_a_forming_candle_says_is_provisional_and_not_kept(tmp_path: Path) -> None:
    database = Database(tmp_path / "records" / "main.sqlite")
    forming = service("1.08700", "1.08400", complete=False)
    found = await read_excursions(
        ExcursionReader(forming.client, database=database), [closed_trade("1")]
    )
    assert found["1"].favourable == D("0.00200")
    assert found["1"].is_provisional
    whole = service("1.08800", "1.08400")
    found = await read_excursions(
        ExcursionReader(whole.client, database=database), [closed_trade("1")]
    )
    assert found["1"].favourable == D("0.00300")
    assert not found["1"].is_provisional


async def test_a_provisional_excursion_is_due_once_its_last_candle_is_complete() -> None:
    trade = closed_trade("1")
    end = (trade.closed_ns or 0) + CELL
    broker, now = service("1.08700", "1.08400"), end - CELL // 2
    reader = ExcursionReader(broker.client, lambda: now)
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
    gone = CandleService(refusal=400).client
    database = Database(tmp_path / "records" / "main.sqlite")
    assert (
        await read_excursions(ExcursionReader(gone, database=database), [closed_trade("1")]) == {}
    )
    assert await read_day_closes(gone, {"EUR_USD": (MONDAY, MONDAY + HOUR)}) == {}


async def test_any_other_refusal_is_told() -> None:
    busy = CandleService(refusal=429).client
    with pytest.raises(Refused):
        await read_excursions(ExcursionReader(busy), [closed_trade("1")])
    with pytest.raises(Refused):
        await read_day_closes(busy, {"EUR_USD": (MONDAY, MONDAY + HOUR)})


class SlowCandles(CandleService):
    """A service that does not answer about some instruments, each so many times."""

    def __init__(self, silent: dict[str, int]) -> None:
        prices = CandlestickData(o=D("1.085"), h=D("1.087"), l=D("1.084"), c=D("1.085"))
        super().__init__(lambda *_: [ServedCandle(prices, prices)])
        self.silent = silent

    async def iterate(
        self,
        name: str,
        *,
        from_: DateTime,
        to: DateTime,
        granularity: str,
        price: str,
        page: int = 5000,
    ) -> AsyncIterator[ServedCandle]:
        await asyncio.sleep(0)  # the other requests are under way, as over a network
        if self.silent.get(name, 0):
            self.silent[name] -= 1
            raise TimedOut("no answer within 10 s")
        async for each in super().iterate(
            name, from_=from_, to=to, granularity=granularity, price=price, page=page
        ):
            yield each


async def test_a_read_that_times_out_is_made_again_and_the_others_go_on() -> None:
    trades = [closed_trade("1", n, instrument=name) for n, name in enumerate(("A_B", "C_D", "E_F"))]
    reader = ExcursionReader(SlowCandles({"A_B": 1}).client)
    assert sorted(await read_excursions(reader, trades)) == ["0", "1", "2"]


async def test_a_trade_that_never_answers_is_told_once_the_others_are_read() -> None:
    trades = [closed_trade("1", n, instrument="A_B" if n == 7 else "C_D") for n in range(60)]
    reader = ExcursionReader(SlowCandles({"A_B": 99}).client)
    with pytest.raises(TimedOut):
        await read_excursions(reader, trades)
    assert len(reader.known_of(trades)) == 59


async def test_a_host_that_answers_nothing_is_left_after_a_few_requests() -> None:
    trades = [closed_trade("1", n, instrument="A_B") for n in range(60)]
    service = SlowCandles({"A_B": 99})
    with pytest.raises(TimedOut):
        await read_excursions(ExcursionReader(service.client), trades)
    assert service.silent["A_B"] > 80
