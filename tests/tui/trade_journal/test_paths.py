from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from msgspec.structs import replace

from keydesk.calc.trade_journal.excursions import CELL
from keydesk.calc.trade_journal.price_paths import path_plan
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.records.database import Database
from keydesk.records.price_paths import KeptPaths
from keydesk.trade_journal.candles import CANDLES_AT_ONCE
from keydesk.trade_journal.paths import read_paths
from keydesk_client.arithmetic.constants import MINUTE
from keydesk_client.models import CandlestickData, DateTime
from support.data.journal_trades import HOUR, MONDAY, closed_trade
from support.fakes.candle_service import CandleService, ServedCandle

D = Decimal


def service(*, complete: bool = True) -> CandleService:
    """Return a service that has three candles of 5 seconds after the opening of each trade."""

    def rising(start: DateTime, granularity: str) -> Iterator[ServedCandle]:
        for number in range(3 if granularity == "S5" else 0):
            high = D("1.08500") + number * D("0.00100")
            data = CandlestickData(o=high, h=high, l=high - D("0.00050"), c=high)
            yield ServedCandle(data, None, complete, DateTime.from_ns(start.ns + number * CELL))

    return CandleService(rising)


def stopped(number: int) -> JournalTrade:
    trade = closed_trade("1", number, opened_ns=MONDAY + number * HOUR)
    return replace(trade, initial_stop=D("1.08000"))


async def test_a_path_is_read_once_and_kept_exactly(
    tmp_path: Path,
) -> None:
    path, trades = tmp_path / "records" / "main.sqlite", [stopped(1), stopped(2)]
    database = Database(path)
    broker = service()
    first = await read_paths(broker.client, database, trades[:1])
    both = await read_paths(broker.client, database, trades)
    assert both["1"] == first["1"]
    assert {each.price for each in broker.asked} == {"B"}  # the side that closes a long trade
    assert [each.gain for each in both["2"].steps] == [D("0.00000"), D("0.00100"), D("0.00200")]
    assert both["2"].last_gain == D("0.00200")
    silent = service()
    again = await read_paths(silent.client, Database(path), trades)
    assert again == both
    assert silent.asked == []
    assert repr(again["2"]) == repr(both["2"])  # Decimal 1.0 equals 1: the digits count, too


async def test_a_request_asks_for_few_candles_and_never_for_more_than_are_read() -> None:
    """One iteration of the event loop decodes what one request brings, however many trades are read."""
    broker, database, held = service(), Database(), 3 * HOUR + CELL
    by_stop = closed_trade("-100", 3, hold_ns=held)
    reason = replace(by_stop.exits[0], reason="STOP_LOSS_ORDER")  # followed for a day
    trade = replace(by_stop, exits=(reason,), initial_stop=D("1.08000"))
    await read_paths(broker.client, database, [trade])
    lengths = {"S5": CELL, "M1": MINUTE}
    whole = [
        (each.end_ns - each.start_ns) // lengths[each.granularity] for each in path_plan(trade)
    ]
    assert [each.page for each in broker.asked] == [min(n + 1, CANDLES_AT_ONCE) for n in whole]
    assert max(whole) > CANDLES_AT_ONCE > min(whole)


async def test_what_forms_yet_is_not_kept_and_progress_and_parts_are_told() -> None:
    database, told, parts = Database(), list[tuple[int, int]](), list[int]()
    broker = service(complete=False)
    found = await read_paths(
        broker.client,
        database,
        [stopped(1)],
        lambda read, of: told.append((read, of)),
        lambda known: parts.append(len(known)),
    )
    assert set(found) == {"1"}
    assert (told, parts) == ([(1, 1)], [0])
    assert not KeptPaths.of(database, [stopped(1)])


async def test_trades_without_a_stop_or_offered_no_more_are_left_out() -> None:
    database = Database()
    broker = CandleService(refusal=404)
    trades = [stopped(1), closed_trade("1", 2)]
    assert await read_paths(broker.client, database, trades) == {}
    assert len(broker.asked) == 1


async def test_parts_come_as_they_double_and_do_not_grow_afterwards() -> None:
    parts, trades = list[KeptPaths](), [stopped(number) for number in range(1, 170)]
    await read_paths(service().client, Database(), trades, partly=parts.append)
    assert [len(each) for each in parts] == [0, 40, 80, 160]
