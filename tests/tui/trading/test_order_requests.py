"""From a decision to the wire: what is asked for, and what is left alone."""

from dataclasses import replace
from decimal import Decimal

import pytest

from keydesk.calc.orders.instructions import MoveEntry
from keydesk.calc.orders.lifetime import Lifetime
from keydesk.trading.order_requests import (
    HOUR_NS,
    TILL_CANCELLED,
    lifetime_of,
    moved_request,
    price_edit,
    trail_edit,
)
from keydesk_client.models import DateTime, LimitOrder, StopLossDetails, TakeProfitDetails
from keydesk_client.unset import UNSET
from support.data.desk_store import WALL_NS, limit_order

D = Decimal


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
