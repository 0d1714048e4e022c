"""From a decision to the wire: what is asked for, and what is left alone."""

from dataclasses import replace
from decimal import Decimal

import pytest

from keydesk.calc.orders.instructions import MoveEntry, OpenOrder, Reverse
from keydesk.calc.orders.lifetime import Lifetime
from keydesk.trading.order_requests import (
    HOUR_NS,
    TILL_CANCELLED,
    lifetime_of,
    moved_request,
    order_request,
    price_edit,
    reversal_request,
    trail_edit,
)
from keydesk_client.models import DateTime, LimitOrder, StopLossDetails, TakeProfitDetails
from keydesk_client.unset import UNSET
from support.data.desk_store import WALL_NS, limit_order

D = Decimal


def test_a_market_order_is_bounded_and_brings_its_bracket() -> None:
    order = OpenOrder(
        "EUR_USD", "MARKET", D(50_000), bound=D("1.08520"), stop=D("1.08300"), target=D("1.08900")
    )
    assert order_request(order, WALL_NS).to_wire() == {
        "type": "MARKET",
        "instrument": "EUR_USD",
        "units": "50000",
        "timeInForce": "FOK",
        "priceBound": "1.08520",
        "positionFill": "DEFAULT",
        "stopLossOnFill": {"price": "1.08300", "timeInForce": "GTC"},
        "takeProfitOnFill": {"price": "1.08900", "timeInForce": "GTC"},
    }


def test_a_stop_that_counts_from_the_fill_is_sent_as_its_distance() -> None:
    order = OpenOrder("EUR_USD", "MARKET", D(1000), stop=D("1.083"), stop_distance=D("0.00200"))
    usual = order_request(order, WALL_NS).to_wire()
    assert usual["stopLossOnFill"] == {"distance": "0.00200", "timeInForce": "GTC"}
    guaranteed = order_request(replace(order, guaranteed=True), WALL_NS).to_wire()
    assert guaranteed["guaranteedStopLossOnFill"] == usual["stopLossOnFill"]
    assert "stopLossOnFill" not in guaranteed


@pytest.mark.parametrize("kind", ["LIMIT", "STOP", "MARKET_IF_TOUCHED"])
def test_a_pending_order_rests_at_its_price(kind: str) -> None:
    order = OpenOrder(
        "EUR_USD",
        "LIMIT" if kind == "LIMIT" else "STOP" if kind == "STOP" else "MARKET_IF_TOUCHED",
        D(-1000),
        price=D("1.09000"),
        expiry="GTC",
    )
    wire = order_request(order, WALL_NS).to_wire()
    assert (wire["type"], wire["price"], wire["units"]) == (kind, "1.09000", "-1000")
    assert "priceBound" not in wire


def test_an_order_that_only_reduces_may_never_open() -> None:
    order = OpenOrder("EUR_USD", "STOP", D(-1000), price=D("1.08000"), expiry="GTC", reduces=True)
    wire = order_request(order, WALL_NS).to_wire()
    assert wire["positionFill"] == "REDUCE_ONLY"
    assert "stopLossOnFill" not in wire


def resting_limit(**on_fill: object) -> LimitOrder:
    return LimitOrder.model_validate(
        {
            "id": "7",
            "createTime": "2026-03-02T13:43:22.000000000Z",
            "state": "PENDING",
            "type": "LIMIT",
            "instrument": "EUR_USD",
            "units": "1000",
            "price": "1.08000",
            "timeInForce": "GTC",
            "positionFill": "DEFAULT",
            "triggerCondition": "DEFAULT",
            **on_fill,
        }
    )


@pytest.mark.parametrize("stop", [D("1.07600"), None])
def test_the_guaranteed_stop_of_a_moved_order_moves_and_no_other_stop_is_added(
    stop: Decimal | None,
) -> None:
    order = resting_limit(guaranteedStopLossOnFill={"price": "1.07500", "timeInForce": "GTC"})
    wire = moved_request(
        order, MoveEntry("7", "EUR_USD", D("1.08100"), stop, None), WALL_NS
    ).to_wire()
    assert "stopLossOnFill" not in wire
    moved = {"price": "1.07600", "timeInForce": "GTC"} if stop else None
    assert wire.get("guaranteedStopLossOnFill") == moved


def test_levels_of_the_fill_carry_their_lifetimes_and_the_trade_its_id() -> None:
    order = OpenOrder(
        "EUR_USD",
        "MARKET",
        D(1000),
        stop=D("1.07"),
        target=D("1.09"),
        trail=D("0.01"),
        stop_lifetime=Lifetime("GTD", WALL_NS),
        target_lifetime=Lifetime("GTD 4h"),
        tag="swing",
        trade_id="swing-7",
    )
    wire = order_request(order, WALL_NS).to_wire()
    assert wire["stopLossOnFill"] == {
        "price": "1.07",
        "timeInForce": "GTD",
        "gtdTime": "2026-02-25T06:13:20.000000000Z",
    }
    assert wire["takeProfitOnFill"] == {
        "price": "1.09",
        "timeInForce": "GTD",
        "gtdTime": "2026-02-25T10:13:20.000000000Z",
    }
    assert wire["trailingStopLossOnFill"] == {"distance": "0.01", "timeInForce": "GTC"}
    assert wire["tradeClientExtensions"] == {"id": "swing-7", "tag": "swing"}
    assert wire["clientExtensions"] == {"tag": "swing"}, "the id of the order is the client's own"


def test_hours_become_an_instant_of_the_broker() -> None:
    order = OpenOrder("EUR_USD", "LIMIT", D(1000), price=D("1.08"), expiry="GTD 4h")
    wire = order_request(order, WALL_NS).to_wire()
    assert wire["timeInForce"] == "GTD"
    assert wire["gtdTime"] == "2026-02-25T10:13:20.000000000Z"


def test_a_reversal_reduces_first() -> None:
    reverse = Reverse("EUR_USD", D(-40_000), D("1.08470"), D("1.08490"), D("1.08690"), D("1.08090"))
    wire = reversal_request(reverse).to_wire()
    assert (wire["units"], wire["positionFill"]) == ("-40000", "REDUCE_FIRST")
    assert wire["priceBound"] == "1.08470"


def test_a_level_in_place_of_another_lives_as_long_unless_it_is_chosen() -> None:
    ends = WALL_NS + HOUR_NS
    order = replace(limit_order(), time_in_force="GTD", gtd_ns=ends)
    kept = price_edit(StopLossDetails, D("1.083"), lifetime_of(Lifetime(), WALL_NS, order))
    assert isinstance(kept, StopLossDetails)
    assert (kept.time_in_force, kept.gtd_time) == ("GTD", DateTime.from_ns(ends))
    chosen = price_edit(StopLossDetails, D("1.083"), lifetime_of(Lifetime("GFD"), WALL_NS, order))
    assert isinstance(chosen, StopLossDetails)
    assert (chosen.time_in_force, chosen.gtd_time) == ("GFD", None)
    assert lifetime_of(Lifetime(), WALL_NS, None) == TILL_CANCELLED


def test_left_alone_taken_away_and_moved_are_three_different_things() -> None:
    assert price_edit(StopLossDetails, UNSET) is UNSET
    assert price_edit(TakeProfitDetails, None) is None
    moved = trail_edit(D("0.00150"))
    assert moved is not None
    assert moved is not UNSET
