"""Records as columns, and the data frames that are made of them."""

import sys
from array import array
from decimal import Decimal

import pytest

from keydesk_client import Client, Columns, DateTime, sync
from keydesk_client.models import CandlestickResponse, OrderFillTransaction, Reader
from support.broker import PracticeServer

TWO = b"""{"instrument":"EUR_USD","granularity":"H1","candles":[
{"time":"2024-01-01T00:00:00.000000001Z","volume":3,"complete":true,"mid":{"o":"1.10","h":"1.30","l":"1.00","c":"1.20"}},
{"time":"2024-01-01T01:00:00.000000000Z","volume":4,"complete":false,"mid":{"o":"1.2","h":"1.4","l":"1.1","c":"1.3"}}]}"""
D = Decimal


def candles(body: bytes = TWO) -> CandlestickResponse:
    return Reader(CandlestickResponse).read(body)


def test_columns_are_named_as_the_members_of_a_row() -> None:
    answer = candles()
    columns = answer.columns()
    rows = [candle.row() for candle in answer.candles]
    assert list(columns) == list(rows[0])
    assert {name: [row[name] for row in rows] for name in rows[0]} == columns
    assert columns["open"] == [D("1.10"), D("1.2")]


def test_floats_take_eight_bytes_each() -> None:
    columns = candles().columns(numbers=float, times=str)
    assert columns["open"] == array("d", [1.1, 1.2])
    assert columns["time"] == ["2024-01-01T00:00:00.000000001Z", "2024-01-01T01:00:00.000000000Z"]
    assert candles().columns(numbers=str)["close"] == ["1.20", "1.3"]


def test_several_components_have_dotted_names() -> None:
    prices = b'{"o":"1.1","h":"1.1","l":"1.1","c":"1.1"}'
    body = TWO.replace(b'"mid":{', b'"bid":%s,"ask":{' % prices)
    assert {"bid.open", "ask.close"} <= candles(body).columns().keys()
    assert "open" not in candles(body).columns()


def test_a_member_that_was_not_sent_is_none_and_the_others_stay() -> None:
    columns = candles(TWO.replace(b',"c":"1.3"', b"")).columns(numbers=float)
    assert columns["close"] == [1.2, None]
    assert columns["open"] == array("d", [1.1, 1.2])


def test_no_candles_have_the_columns_of_one_component() -> None:
    empty = candles(b'{"instrument":"EUR_USD","granularity":"H1","candles":[]}').columns()
    assert list(empty) == list(candles().columns())
    assert not any(empty.values())


def test_records_of_any_kind_have_columns_of_one_length() -> None:
    bodies = (b'{"id":"7","pl":"1.50"}', b'{"id":"8"}', b'{"pl":"2","units":"5"}')
    fills = [Reader(OrderFillTransaction).read(body) for body in bodies]
    columns = Columns.of(fills, numbers=float)
    assert columns["id"] == ["7", "8", None]
    assert columns["pl"] == [1.5, None, 2.0]
    assert columns["units"] == [None, None, 5.0]


@pytest.mark.e2e
def test_pandas_gets_timestamps_and_floats() -> None:
    pytest.importorskip("pandas")
    frame = candles().columns(numbers=float).to_pandas(index="time")
    assert str(frame.index.dtype) == "datetime64[ns, UTC]"
    assert frame.index[0].value == candles().candles[0].time.ns
    assert str(frame["open"].dtype) == "float64"
    assert frame["close"].tolist() == [1.2, 1.3]
    assert candles().columns().to_pandas()["open"].tolist() == [D("1.10"), D("1.2")]


@pytest.mark.e2e
def test_polars_gets_timestamps_and_floats() -> None:
    pytest.importorskip("polars")
    frame = candles().columns(numbers=float).to_polars()
    assert str(frame["time"].dtype) == "Datetime(time_unit='ns', time_zone='UTC')"
    assert frame["time"].cast(int).to_list() == [each.time.ns for each in candles().candles]
    assert frame["close"].to_list() == [1.2, 1.3]
    assert frame["complete"].to_list() == [True, False]


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_library_that_is_missing_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=f"{name} is not installed: pip install"):
        getattr(candles().columns(), f"to_{name}")()


async def test_a_whole_period_has_columns_with_and_without_async(
    desk_of_my_own: PracticeServer,
) -> None:
    desk = desk_of_my_own
    client = Client(token=desk.token, rest_url=desk.rest_url, stream_url=desk.stream_url)
    period = ("2024-03-01T00:00:00Z", "2024-03-20T00:00:00Z")
    async with client:
        columns = await client.candles.columns(
            "EUR_USD", granularity="H1", from_=period[0], to=period[1], page=100, numbers=float
        )
    assert isinstance(columns["time"][0], DateTime)
    assert len(columns["open"]) > 200
    again = Client(token=desk.token, rest_url=desk.rest_url, stream_url=desk.stream_url)
    with sync.Client(again) as waiting:
        same = waiting.candles.columns(
            "EUR_USD", granularity="H1", from_=period[0], to=period[1], numbers=float
        )
    assert same == columns
