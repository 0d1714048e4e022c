"""Records as rows of a table, and as lines of a screen."""

from datetime import datetime
from decimal import Decimal

from keydesk_client import DateTime
from keydesk_client.models import (
    Candlestick,
    CandlestickResponse,
    OrderFillTransaction,
    PriceBucket,
    Reader,
)

FILL = Reader(OrderFillTransaction).read(
    b'{"id":"7","time":"2026-01-02T03:04:05.123456789Z","pl":"1.50","tradeOpened":{"tradeID":"7","price":"1.10"},'
    b'"fullPrice":{"bids":[{"price":"1.20","liquidity":"5"}],"asks":[]},"new":1}'
)


def candles(*components: str) -> CandlestickResponse:
    prices = ",".join(
        f'"{each}":{{"o":"1.1","h":"1.3","l":"1.0","c":"1.20"}}' for each in components
    )
    candle = f'{{"time":"2026-01-02T03:00:00.000000000Z","volume":9,"complete":true,{prices}}}'
    body = f'{{"instrument":"EUR_USD","granularity":"H1","candles":[{",".join([candle] * 500)}]}}'
    return Reader(CandlestickResponse).read(body.encode())


def test_a_row_is_flat_and_exact() -> None:
    assert FILL.row() == {
        "type": "ORDER_FILL",
        "id": "7",
        "time": DateTime("2026-01-02T03:04:05.123456789Z"),
        "pl": Decimal("1.50"),
        "trade_opened.trade_id": "7",
        "trade_opened.price": Decimal("1.10"),
        "full_price.type": "PRICE",
        "full_price.bids": [{"price": Decimal("1.20"), "liquidity": Decimal(5)}],
        "full_price.asks": [],
        "new": 1,
    }


def test_converters_change_the_numbers_and_times_of_a_row() -> None:
    row = FILL.row(numbers=float, times=datetime.fromisoformat)
    assert repr(row["pl"]) == "1.5"
    assert str(row["time"]) == "2026-01-02 03:04:05.123456+00:00"
    assert row["full_price.bids"] == [{"price": 1.2, "liquidity": 5.0}]


def test_a_time_in_seconds_reaches_the_converter_as_rfc_3339() -> None:
    read = Reader(OrderFillTransaction).read(b'{"id":"7","time":"1767323045.123456789"}')
    assert read.row(times=str)["time"] == "2026-01-02T03:04:05.123456789Z"


def test_a_candle_is_a_row_of_open_high_low_and_close() -> None:
    row = candles("mid").candles[0].row(numbers=str, times=str)
    assert list(row) == ["time", "open", "high", "low", "close", "volume", "complete"]
    assert list(row.values())[1:] == ["1.1", "1.3", "1.0", "1.20", 9, True]


def test_prices_of_several_components_have_names_of_their_own() -> None:
    row = candles("bid", "ask").candles[0].row()
    assert [name for name in row if "." in name] == [
        f"{side}.{price}" for side in ("bid", "ask") for price in ("open", "high", "low", "close")
    ]


def test_a_long_answer_shows_its_first_and_its_last_and_how_many_lie_between() -> None:
    shown = repr(candles("mid"))
    assert "... 498 more ..." in shown
    assert shown.count("Candlestick(") == 2
    assert "bid=" not in shown


def test_a_slotted_record_without_a_member_can_be_shown() -> None:
    read = Reader(CandlestickResponse).read(
        b'{"instrument":"EUR_USD","granularity":"S5","candles":[{"complete":true}]}'
    )
    assert repr(read.candles[0]) == "Candlestick(complete=True)"
    assert repr(PriceBucket(Decimal("1.1"), 5)) == "PriceBucket(price=Decimal('1.1'), liquidity=5)"


def test_a_row_leaves_out_a_number_that_cannot_be_read() -> None:
    """Text in a column of numbers would make the whole column one of objects."""
    fill = Reader(OrderFillTransaction).read(
        b'{"type":"ORDER_FILL","id":"7","units":"many","accountBalance":"rich","pl":"+1.5",'
        b'"tradeOpened":{"tradeID":"7","units":"few"},"brandNew":"1"}'
    )
    row = fill.row(numbers=float)
    assert row == {
        "type": "ORDER_FILL",
        "id": "7",
        "pl": 1.5,
        "trade_opened.trade_id": "7",
        "brandNew": "1",
    }
    assert fill.unknown["units"] == "many"
    assert "many" in repr(fill)


def test_a_candle_row_leaves_out_a_price_that_cannot_be_read() -> None:
    candle = Reader(Candlestick).read(
        b'{"time":"2024-01-01T00:00:00Z","volume":"x","complete":true,'
        b'"mid":{"o":"1","h":"high","l":"1","c":"1","n":"new"}}'
    )
    row = candle.row(numbers=float)
    assert "high" not in row.values()
    assert "x" not in row.values()
    assert (row["open"], row["n"]) == (1.0, "new")
