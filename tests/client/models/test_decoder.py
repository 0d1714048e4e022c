"""Reading a body never fails, whatever it holds, and writing it gives the same body."""

# ruff: noqa: ANN401 - these are bodies of any shape

import json
import pickle
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from pydantic import TypeAdapter

from keydesk_client import models
from keydesk_client.errors import MissingMember, UnreadableAnswer
from keydesk_client.models import (
    CandlestickResponse,
    ClientPrice,
    LimitOrder,
    LimitOrderRequest,
    OrderCreateResponse,
    OrderFillTransaction,
    PricingHeartbeat,
    PricingStreamItem,
    Reader,
    Record,
    Transaction,
    TransactionHeartbeat,
    TransactionStreamItem,
    UnknownOrder,
    UnknownTransaction,
)
from keydesk_client.resources import accounts, candles, orders, pricing, trades, transactions
from keydesk_client.resources import pricing as books
from keydesk_client.resources import trades as positions
from support.data.wire_samples import Samples, specification

READERS: dict[str, Reader[Any]] = {
    "list_accounts": accounts.ACCOUNTS,
    "get_account": accounts.ACCOUNT,
    "get_account_summary": accounts.SUMMARY,
    "list_instruments": accounts.INSTRUMENTS,
    "configure_account": accounts.CONFIGURED,
    "poll_changes": accounts.CHANGES,
    "instrument_candles": candles.CANDLES,
    "account_instrument_candles": candles.CANDLES,
    "latest_candles": candles.LATEST,
    "get_pricing": pricing.PRICING,
    "create_order": orders.CREATED,
    "list_orders": orders.LISTED,
    "list_pending_orders": orders.LISTED,
    "get_order": orders.ONE,
    "replace_order": orders.REPLACED,
    "cancel_order": orders.CANCELLED,
    "set_order_client_extensions": orders.MODIFIED,
    "list_trades": trades.TRADES,
    "list_open_trades": trades.TRADES,
    "get_trade": trades.TRADE,
    "close_trade": trades.TRADE_CLOSE,
    "set_trade_client_extensions": trades.MODIFIED,
    "set_trade_dependent_orders": trades.PROTECTED,
    "list_positions": positions.POSITIONS,
    "list_open_positions": positions.POSITIONS,
    "get_position": positions.POSITION,
    "close_position": positions.POSITION_CLOSE,
    "list_transactions": transactions.INDEX,
    "get_transaction": transactions.ONE,
    "transactions_since": transactions.SEVERAL,
    "transactions_range": transactions.SEVERAL,
    "get_order_book": books.ORDER_BOOK,
    "get_position_book": books.POSITION_BOOK,
}
STREAMED: dict[str, Reader[Any]] = {
    name: Reader(PricingStreamItem) for name in ("ClientPrice", "PricingHeartbeat")
} | {
    name: Reader(TransactionStreamItem)
    for name in (*specification()["transactions"], "TransactionHeartbeat")
}

FILL = {
    "id": "7",
    "accountID": "101-004-1-001",
    "userID": 1,
    "batchID": "6",
    "time": "2025-03-01T12:00:00.123456789Z",
    "type": "ORDER_FILL",
    "orderID": "6",
    "instrument": "EUR_USD",
    "units": "1000",
    "reason": "MARKET_ORDER",
    "pl": "0.0000",
    "financing": "0.0000",
    "commission": "0.0000",
    "accountBalance": "100000.0000",
}


def samples(seed: int) -> Samples:
    rng = Random(seed)
    return Samples(rng, optional=rng.random(), surprises=rng.choice([0.0, 0.02, 0.2]))


def round_trips(reader: Reader[Any], sent: dict[str, Any]) -> bool:
    read = reader.read(json.dumps(sent))
    read.row()
    assert repr(read) == str(read)
    again = pickle.loads(pickle.dumps(read))
    return bool(read.to_wire() == sent == again.to_wire())


def fuzz(rounds: int) -> None:
    """Read and write random bodies of every answer, and random items of both streams."""
    for seed in range(rounds):
        for operation, reader in READERS.items():
            assert round_trips(reader, samples(seed).answer(operation)), (seed, operation)
        for item, reader in STREAMED.items():
            assert round_trips(reader, samples(seed).record(item)), (seed, item)


def test_every_answer_and_every_stream_item_is_covered() -> None:
    assert READERS.keys() | {"stream_pricing", "stream_transactions"} == set(
        specification()["endpoints"]
    )


def test_bodies_with_unknown_members_values_and_types_are_written_as_they_came() -> None:
    fuzz(4)


@pytest.mark.soak
def test_a_hundred_thousand_bodies_are_written_as_they_came() -> None:
    fuzz(1_300)


def test_a_record_of_the_interface_has_its_model_with_every_member() -> None:
    for name in [
        name for section in ("types", "orders", "transactions") for name in specification()[section]
    ]:
        if name == "Error":
            continue  # errors are raised, not returned
        sent = Samples(Random(3)).record(name)
        kind = getattr(models, name)
        read = Reader[Any](kind).read(json.dumps(sent))
        assert read.unknown == {}
        assert read.to_wire() == sent


def damaged(value: Any, rng: Random) -> Any:
    """Return the body with members left out, or of wrong types."""
    if isinstance(value, dict):
        kept = {name: item for name, item in value.items() if rng.random() > 0.1}
        return {name: damaged(item, rng) for name, item in kept.items()}
    if isinstance(value, list):
        return [damaged(item, rng) for item in value]
    return rng.choice(
        [value, value, value, None, "NaN", "1E+999999999", 7, {"no": 1}, True, [None]]
    )


def test_a_body_with_missing_and_broken_members_is_read_as_far_as_it_goes() -> None:
    for seed in range(150):
        rng = Random(seed)
        operation = rng.choice(sorted(READERS))
        sent = damaged(Samples(rng, optional=0.5).answer(operation), rng)
        read = READERS[operation].read(json.dumps(sent))
        assert isinstance(read, Record)
        json.dumps(read.to_wire())


def test_a_missing_member_is_an_error_when_it_is_read_and_not_before() -> None:
    sent = {key: value for key, value in FILL.items() if key != "accountBalance"} | {"pl": "NaN"}
    fill = Reader(Transaction).read(json.dumps(sent))
    assert isinstance(fill, OrderFillTransaction)
    assert fill.units == Decimal(1000)
    assert fill.to_wire() == sent
    with pytest.raises(MissingMember, match=r"OrderFillTransaction\.account_balance"):
        _ = fill.account_balance
    with pytest.raises(MissingMember, match=r"OrderFillTransaction\.pl"):
        _ = fill.pl


def test_an_order_that_was_accepted_is_read_although_the_answer_lacks_half_of_it() -> None:
    answer = Reader(OrderCreateResponse).read(
        json.dumps({"orderFillTransaction": {"id": "7", "units": 5}})
    )
    fill = answer.order_fill_transaction
    assert fill is not None
    assert (fill.id, fill.units) == ("7", Decimal(5))
    with pytest.raises(MissingMember):
        _ = answer.last_transaction_id


def test_a_transaction_of_a_new_type_is_delivered_whole() -> None:
    sent = FILL | {"type": "MOON_LANDING", "crew": ["a", {"b": 1}]}
    read = Reader(TransactionStreamItem).read(json.dumps(sent))
    assert isinstance(read, UnknownTransaction)
    assert (read.id, read.type, read.unknown["crew"]) == ("7", "MOON_LANDING", ["a", {"b": 1}])
    assert read.to_wire() == sent


def test_an_order_of_a_new_type_is_delivered_among_the_others() -> None:
    body = Samples(Random(1)).answer("list_pending_orders")
    body["orders"] = [
        {"id": "4", "createTime": "1512446222.5", "state": "PENDING", "type": "ICEBERG"}
    ]
    (order,) = orders.LISTED.read(json.dumps(body)).orders
    assert isinstance(order, UnknownOrder)


def test_stream_lines_are_distinguished_by_their_type() -> None:
    price = {"bids": [], "asks": [], "closeoutBid": "1", "closeoutAsk": "2"}
    prices, transactions_ = Reader(PricingStreamItem), Reader(TransactionStreamItem)
    beat = b'{"type":"HEARTBEAT","time":"2025-03-01T12:00:00.000000000Z","lastTransactionID":"9"}'
    assert isinstance(prices.read(json.dumps(price)), ClientPrice)
    assert isinstance(prices.read(json.dumps(price | {"type": "PRICE", "time": 5})), ClientPrice)
    assert isinstance(prices.read(beat), PricingHeartbeat)
    assert isinstance(transactions_.read(beat), TransactionHeartbeat)
    assert isinstance(transactions_.read(json.dumps(FILL)), OrderFillTransaction)


def test_both_spellings_of_the_net_asset_value_are_read_and_written_back_as_they_came() -> None:
    body = Samples(Random(1)).answer("get_account_summary")
    upper = accounts.SUMMARY.read(json.dumps(body)).account.nav
    sent = body["account"]
    sent["nav"] = sent.pop("NAV")
    read = accounts.SUMMARY.read(json.dumps(body))
    assert read.account.nav == upper
    assert read.account.row()["nav"] == upper
    assert read.to_wire() == body
    sent["NAV"], sent["nav"] = "7", "8"
    for surprise in ({}, {"pl": "+1"}):  # decoded strictly, and leniently
        sent |= surprise
        read = accounts.SUMMARY.read(json.dumps(body))
        assert read.account.nav == Decimal(7)
        assert read.to_wire() == body


@pytest.mark.parametrize(
    ("member", "came", "value"),
    [
        ("balance", "+1.5", Decimal("1.5")),
        ("balance", "007.10", Decimal("7.10")),
        ("balance", "-0.00", Decimal("-0.00")),
        ("balance", "-007", Decimal(-7)),
        ("balance", 7, Decimal(7)),
        ("balance", 1.5, Decimal("1.5")),
        ("hedgingEnabled", "true", True),
        ("hedgingEnabled", 1, True),
        ("openTradeCount", "3", 3),
        ("openTradeCount", 3.0, 3),
        ("id", 7, "7"),
        ("createdTime", "2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z"),
    ],
)
def test_a_member_in_another_form_is_read_and_written_as_it_came(
    member: str, came: object, value: object
) -> None:
    body = Samples(Random(1)).answer("get_account_summary")
    body["account"][member] = came
    read = accounts.SUMMARY.read(json.dumps(body))
    names = {"hedgingEnabled": "hedging_enabled", "openTradeCount": "open_trade_count"}
    name = names.get(member, "created_time" if member == "createdTime" else member)
    found = getattr(read.account, name)
    assert getattr(found, "text", found) == value
    assert name in read.account.row()
    back = read.to_wire()
    assert json.dumps(back["account"], sort_keys=True) == json.dumps(
        body["account"], sort_keys=True
    )
    assert pickle.loads(pickle.dumps(read)).to_wire() == back


def test_a_member_changed_in_a_copy_is_written_with_its_new_value() -> None:
    fill = Reader(Transaction).read(json.dumps(FILL | {"units": "+1000", "pl": "NaN"}))
    copied = fill.model_copy(update={"units": Decimal(5), "pl": Decimal(2)})
    assert (copied.to_wire()["units"], copied.to_wire()["pl"]) == ("5", "2")
    assert (fill.to_wire()["units"], fill.to_wire()["pl"]) == ("+1000", "NaN")


def test_a_stop_that_was_read_in_an_odd_form_can_be_moved_and_sent() -> None:
    body = Samples(Random(1)).record("LimitOrder")
    body["stopLossOnFill"] = {"price": 1.05, "timeInForce": "GTC"}
    order = orders.ONE.read(json.dumps({"order": body, "lastTransactionID": "9"})).order
    assert isinstance(order, LimitOrder)
    assert order.stop_loss_on_fill is not None
    stop = order.stop_loss_on_fill
    moved = stop.model_copy(update={"price": Decimal("1.06")})
    for asked_stop, price in ((stop, "1.05"), (moved, "1.06")):
        asked = LimitOrderRequest(
            instrument="EUR_USD", units=1, price="1.1", stop_loss_on_fill=asked_stop
        )
        assert asked.to_wire()["stopLossOnFill"] == {"price": price, "timeInForce": "GTC"}


def test_a_candle_whose_count_or_flag_is_text_is_written_as_it_came() -> None:
    for odd in ({"volume": "5"}, {"complete": "true"}):
        candle = {"time": "2024-01-01T00:00:00Z", "volume": 5, "complete": True} | odd
        sent = {"instrument": "EUR_USD", "granularity": "M1", "candles": [candle]}
        (read,) = (answer := candles.CANDLES.read(json.dumps(sent))).candles
        assert (read.volume, read.complete) == (5, True)
        assert answer.to_wire() == sent


def test_a_price_of_a_candle_in_another_form_is_read_and_written_as_it_came() -> None:
    sent = {
        "instrument": "EUR_USD",
        "granularity": "M1",
        "candles": [
            {
                "time": "2024-01-01T00:00:00Z",
                "volume": "5",
                "complete": "true",
                "bid": None,
                "mid": {"o": "+1.5", "h": "01.6", "l": "1.4", "c": "1.5"},
            }
        ],
    }
    (candle,) = (read := candles.CANDLES.read(json.dumps(sent))).candles
    assert (candle.volume, candle.complete) == (5, True)
    assert candle.mid is not None
    assert (candle.mid.o, candle.mid.h) == (Decimal("1.5"), Decimal("1.6"))
    assert candle.mid.row()["o"] == Decimal("1.5")
    assert read.to_wire() == sent


@pytest.mark.parametrize("digits", ["1.10", "12345678901234567890.123456789"])
def test_a_number_without_quotes_loses_no_digit_on_its_way_back(digits: str) -> None:
    read = Reader(Transaction).read(json.dumps(FILL).replace('"0.0000"', digits))
    assert isinstance(read, OrderFillTransaction)
    assert read.pl == Decimal(digits)
    assert read.to_wire()["pl"] == digits


def test_an_unknown_member_does_not_hide_the_one_that_is_spelled_like_it() -> None:
    fill = Reader(Transaction).read(json.dumps(FILL | {"account_id": "planted"}))
    assert fill.row()["account_id"] == "101-004-1-001"
    assert "planted" not in repr(fill)
    assert fill.unknown["account_id"] == "planted"
    assert fill.to_wire() == FILL | {"account_id": "planted"}


def test_text_with_line_separators_and_numbers_in_the_place_of_ids_are_read() -> None:
    sent = FILL | {"clientOrderID": "a\u2028b\u0085c", "id": 7}
    read = Reader(Transaction).read(json.dumps(sent, ensure_ascii=False))
    assert isinstance(read, OrderFillTransaction)
    assert (read.id, read.client_order_id) == ("7", "a\u2028b\u0085c")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[1]",
        b'"text"',
        b"null",
        b'{"instrument":',
        b"[" * 100_000,
        b"\xff\xfe",
    ],
)
def test_a_body_that_is_not_an_object_is_an_unreadable_answer(body: bytes) -> None:
    with pytest.raises(UnreadableAnswer) as raised:
        Reader(CandlestickResponse).read(body)
    assert raised.value.sent


@pytest.mark.parametrize(
    "odd",
    [
        "NaN",
        "-Infinity",
        "1e999999999",
        "9" * 10_000,
        "0." + "9" * 10_000,
        '"\\ud800 \\udfff"',
        '"\0"',
        "[" * 400 + "]" * 400,
    ],
)
def test_an_accepted_order_is_read_whatever_else_its_answer_holds(odd: str) -> None:
    read = Reader(OrderCreateResponse).read(
        '{"lastTransactionID":"7","orderFillTransaction":{"id":"7","pl":@},"new":@}'.replace(
            "@", odd
        )
    )
    assert read.last_transaction_id == "7"
    assert read.order_fill_transaction is not None
    assert read.order_fill_transaction.id == "7"
    with pytest.raises(MissingMember):
        _ = read.order_fill_transaction.pl
    assert pickle.loads(pickle.dumps(read)) == read
    json.dumps(read.to_wire(), ensure_ascii=False, allow_nan=False).encode()
    repr(read).encode()


@pytest.mark.parametrize(
    "odd", ['"x"', '"-1"', '"1\\n"', '"٣"', "1e5", f'"{"9" * 30}"', "[]", "true"]
)
def test_a_transaction_id_that_is_not_a_number_cannot_be_read(odd: str) -> None:
    read = Reader(OrderCreateResponse).read(
        '{"lastTransactionID":@,"relatedTransactionIDs":["1",@],"orderFillTransaction":{"id":@}}'.replace(
            "@", odd
        )
    )
    assert read.order_fill_transaction is not None
    for record, member in (
        (read, "last_transaction_id"),
        (read, "related_transaction_ids"),
        (read.order_fill_transaction, "id"),
    ):
        with pytest.raises(MissingMember):
            getattr(record, member)


def test_bytes_that_are_not_utf_8_break_their_text_only() -> None:
    read = Reader(OrderCreateResponse).read(
        b'\xef\xbb\xbf{"lastTransactionID":"7","a":"\xff"}\0\r\n'
    )
    assert read.last_transaction_id == "7"
    assert read.unknown["a"] == "\ufffd"


def test_records_are_frozen_and_equal_by_value() -> None:
    kind = TypeAdapter(PricingHeartbeat)
    one = kind.validate_python({"time": "2025-03-01T12:00:00Z"})
    same = kind.validate_python({"time": "2025-03-01T12:00:00.000000000Z"})
    assert one == same
    with pytest.raises(ValueError, match="frozen"):
        one.time = same.time  # type: ignore[misc]  # that is what must not work
