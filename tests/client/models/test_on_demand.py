"""Numbers and times of trades, orders and transactions are converted when they are first read; the orders inside a trade."""

import copy
import json
import pickle
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import field_serializer, field_validator

from keydesk_client.errors import MissingMember
from keydesk_client.models import DateTime, Reader, StopLossOrder, TakeProfitOrder, Trade
from keydesk_client.models._core.json import LIST
from keydesk_client.orders.unconfirmed import is_read_whole
from support.data.bench_bodies import trades_body

WIRE: dict[str, Any] = json.loads(trades_body(2))["trades"][1]
"""A trade with a take-profit and a stop-loss."""
TRADE = Reader(Trade)
TAKE_PROFIT = Reader(TakeProfitOrder)
PROFIT_WIRE: dict[str, Any] = WIRE["takeProfitOrder"]

VALUES = st.one_of(
    st.sampled_from(
        [
            "1.2300",
            "+1.5",
            "007",
            "1e5",
            "",
            "true",
            "9",
            "2026-01-01T00:00:00.123456789Z",
            "PENDING",
        ]
    ),
    st.sampled_from(["12.30", "-0.0", "1.10", "123456789012345678.25", "1e400"]).map(
        lambda number: f"<{number}>"
    ),
    st.booleans(),
    st.none(),
    st.integers(),
    st.text(max_size=5),
    st.just({"id": "mine", "tag": "1"}),
    st.just({"id": {"deep": ["1"]}, "comment": 3}),
    st.just([{"id": "1"}, "2"]),
)
"""JSON values; a text in angle brackets becomes a number without quotes."""
CHANGES = st.dictionaries(
    st.sampled_from(
        [*PROFIT_WIRE, "clientExtensions", "filledTime", "tradeClosedIDs", "newMember"]
    ),
    VALUES,
    max_size=4,
)
LEFT_OUT = st.sets(st.sampled_from(list(PROFIT_WIRE)), max_size=2)


def profit_text(changes: dict[str, Any], left_out: set[str]) -> str:
    """Return a take-profit order as JSON, with other members and numbers without quotes."""
    members = {name: value for name, value in PROFIT_WIRE.items() if name not in left_out} | changes
    return json.dumps(members).replace('"<', "").replace('>"', "")


def state_of(record: object) -> dict[str, object]:
    """Return each member of a take-profit order, or that it is missing."""
    return {name: getattr(record, name, "missing") for name in TakeProfitOrder.model_fields}


def read(**changes: object) -> Trade:
    return TRADE.read(json.dumps(WIRE | changes))


def test_a_number_is_exact_and_converted_once() -> None:
    trade = read(price="1.10500")
    assert isinstance(trade.price, Decimal)
    assert str(trade.price) == "1.10500"
    assert trade.price is trade.price


def test_a_time_is_converted_once() -> None:
    trade = read()
    assert trade.open_time == DateTime(WIRE["openTime"])
    assert trade.open_time is trade.open_time


def test_numbers_of_nested_orders_are_converted_as_well() -> None:
    order = read().take_profit_order
    assert order is not None
    assert order.price == Decimal(WIRE["takeProfitOrder"]["price"])


def test_records_are_equal_whichever_members_were_read_before() -> None:
    read_from, untouched = read(), read()
    assert isinstance(read_from.price, Decimal)
    assert read_from == untouched
    assert hash(read_from) == hash(untouched) == hash(read())
    assert read() == read(price=f"{WIRE['price']}0"), "numbers are compared, not their text"
    assert read() != read(price="9")


def test_what_is_written_is_the_same_before_and_after_a_number_was_read() -> None:
    trade = read()
    before = trade.to_wire()
    assert isinstance(trade.price, Decimal)
    assert before == trade.to_wire() == WIRE


def test_members_that_were_not_read_are_shown_as_values() -> None:
    assert f"price=Decimal('{WIRE['price']}')" in repr(read())
    assert isinstance(dict(read())["price"], Decimal)
    assert isinstance(read().row()["price"], Decimal)


def test_a_pickle_holds_values_since_another_process_may_read_it_before_any_answer() -> None:
    state = read().__getstate__()
    assert isinstance(state["__dict__"]["price"], Decimal)
    assert pickle.loads(pickle.dumps(read())) == read()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, Trade.model_copy])
def test_a_copy_reads_the_same(copied: Any) -> None:  # noqa: ANN401 - three signatures
    assert copied(read()).price == Decimal(WIRE["price"])


def test_a_replaced_member_is_read_as_it_was_given() -> None:
    assert read().model_copy(update={"price": Decimal(7)}).price == 7


def test_a_number_that_is_not_one_stays_missing_and_is_kept() -> None:
    trade = read(price="1e5")
    with pytest.raises(MissingMember, match=r"Trade\.price"):
        _ = trade.price
    assert trade.to_wire()["price"] == "1e5"
    assert isinstance(trade.current_units, Decimal)


def test_an_absent_member_stays_missing() -> None:
    members = {name: value for name, value in WIRE.items() if name != "price"}
    trade = TRADE.read(json.dumps(members))
    with pytest.raises(MissingMember, match=r"Trade\.price"):
        _ = trade.price
    assert not hasattr(trade, "price")


def test_a_record_of_a_script_that_extends_ours_converts_as_well() -> None:
    read()

    class Tagged(Trade):
        reason: str | None = None

    tagged = Reader(Tagged).read(json.dumps(WIRE))
    assert tagged.reason is None
    assert tagged.price == Decimal(WIRE["price"])
    assert Tagged.model_fields["price"].is_required()


def test_a_record_that_a_program_makes_holds_what_it_was_given() -> None:
    trade = Trade.model_validate({**WIRE, "takeProfitOrder": None, "stopLossOrder": None})
    assert vars(trade)["price"] == Decimal(WIRE["price"])


@pytest.mark.parametrize(
    "text",
    [r"\u002c" * 500_001, r"\u005b" * 100_001, "x" * 2_000_000],
    ids=["commas", "brackets", "long"],
)
@pytest.mark.parametrize("left_out", [set[str](), {"price"}], ids=["whole", "broken"])
def test_an_order_of_a_body_within_its_limits_is_read_whatever_its_texts(
    text: str, left_out: set[str]
) -> None:
    order = profit_text({"note": "@"}, left_out).replace("@", text)
    body = json.dumps(WIRE | {"takeProfitOrder": "<>"}).replace('"<>"', order)
    trade = Reader(Trade, LIST).read(body)
    assert trade.take_profit_order is not None
    assert trade.take_profit_order.id == PROFIT_WIRE["id"]
    assert hash(trade)


def test_an_order_is_read_again_from_the_json_that_pydantic_writes() -> None:
    assert Trade.model_validate_json(read().model_dump_json(by_alias=True)) == read()


def test_a_subclass_that_declares_an_order_otherwise_gets_what_it_declares() -> None:
    class OwnOrder(TakeProfitOrder):
        pass

    class Own(Trade):
        take_profit_order: OwnOrder | None = None
        stop_loss_order: dict[str, Any] | None = None  # type: ignore[assignment]
        price: str  # type: ignore[assignment]

    trade = Reader(Own).read(json.dumps(WIRE))
    assert type(trade.take_profit_order) is OwnOrder
    assert trade.stop_loss_order == WIRE["stopLossOrder"]
    assert trade.price == WIRE["price"]


def test_validators_and_serializers_of_a_subclass_get_records() -> None:
    seen: list[object] = []

    class Checked(Trade):
        @field_validator("take_profit_order")
        @classmethod
        def check(cls, value: TakeProfitOrder | None) -> TakeProfitOrder | None:
            seen.append(value)
            return value

        @field_serializer("stop_loss_order")
        def write(self, value: StopLossOrder | None) -> str:
            seen.append(value)
            return "written"

    wire = Reader(Checked).read(json.dumps(WIRE)).to_wire()
    assert [type(each) for each in seen] == [TakeProfitOrder, StopLossOrder]
    assert wire["stopLossOrder"] == "written"


def test_a_value_that_a_program_puts_in_is_read_as_it_was_given() -> None:
    assert read().model_copy(update={"take_profit_order": "none"}).take_profit_order == "none"
    assert read().model_copy(update={"price": {}}).price == {}


@given(CHANGES, LEFT_OUT)
def test_a_dependent_order_reads_as_the_same_order_alone_whatever_it_holds(
    changes: dict[str, Any], left_out: set[str]
) -> None:
    text = profit_text(changes, left_out)
    alone = TAKE_PROFIT.read(text)
    body = json.dumps(WIRE | {"takeProfitOrder": "<>"}).replace('"<>"', text)
    untouched, trade = TRADE.read(body), TRADE.read(body)
    order = trade.take_profit_order
    assert order is not None
    assert state_of(order) == state_of(alone)
    assert order.to_wire() == alone.to_wire()
    assert order.unknown == alone.unknown
    assert untouched.to_wire() == trade.to_wire()
    assert trade.to_wire()["takeProfitOrder"] == alone.to_wire()
    assert untouched.model_dump() == trade.model_dump()
    assert untouched == trade
    assert hash(TRADE.read(body)) == hash(trade)


@pytest.mark.parametrize("order", ["4", 4, [], True])
def test_a_dependent_order_that_is_no_object_stays_missing_and_is_kept(order: object) -> None:
    trade = read(takeProfitOrder=order)
    with pytest.raises(MissingMember, match=r"Trade\.take_profit_order"):
        _ = trade.take_profit_order
    assert trade.to_wire()["takeProfitOrder"] == order


def test_an_absent_dependent_order_is_none_whether_it_is_left_out_or_null() -> None:
    assert read(takeProfitOrder=None).take_profit_order is None
    members = {name: value for name, value in WIRE.items() if name != "takeProfitOrder"}
    assert TRADE.read(json.dumps(members)).take_profit_order is None


@pytest.mark.parametrize(("price", "is_whole"), [("1.2", True), ("1e5", False)])
def test_a_trade_is_read_whole_only_if_its_order_can_be(price: str, is_whole: bool) -> None:
    assert is_read_whole(read(takeProfitOrder=PROFIT_WIRE | {"price": price})) is is_whole


def test_a_trade_that_a_program_makes_holds_records() -> None:
    trade = Trade.model_validate(TRADE.read(json.dumps(WIRE)), from_attributes=True)
    assert isinstance(trade.take_profit_order, TakeProfitOrder)
