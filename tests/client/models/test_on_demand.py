"""Numbers and times of trades, orders and transactions are converted when they are first read."""

import copy
import json
import pickle
from decimal import Decimal
from typing import Any

import pytest

from keydesk_client.errors import MissingMember
from keydesk_client.models import DateTime, Reader, Trade
from support.data.bench_bodies import trades_body

WIRE: dict[str, Any] = json.loads(trades_body(2))["trades"][1]
"""A trade with a take-profit and a stop-loss."""
TRADE = Reader(Trade)


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
