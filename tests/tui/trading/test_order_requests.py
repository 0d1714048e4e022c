"""From a decision to the wire: what is asked for, and what is left alone."""

from dataclasses import replace
from decimal import Decimal

import pytest

from keydesk.calc.orders.instructions import MoveEntry
from keydesk.calc.orders.lifetime import Lifetime
from keydesk.trading.order_requests import (
    HOUR_NS,
    REPLACED_BY,
    TILL_CANCELLED,
    MovableOrder,
    lifetime_of,
    moved_request,
    price_edit,
    trail_edit,
)
from keydesk_client.models import (
    DateTime,
    LimitOrder,
    OrderRequest,
    StopLossDetails,
    TakeProfitDetails,
)
from keydesk_client.models._core.wire_names import enum_values
from keydesk_client.unset import UNSET
from support.data.desk_store import WALL_NS, limit_order

D = Decimal


USUAL = {
    "id": "7",
    "createTime": "2026-03-02T13:43:22.000000000Z",
    "state": "PENDING",
    "instrument": "EUR_USD",
    "units": "1000",
    "price": "1.08000",
    "timeInForce": "GTC",
    "positionFill": "DEFAULT",
    "triggerCondition": "DEFAULT",
}
UNTIL = {"timeInForce": "GTD", "gtdTime": "2026-03-04T13:43:22.000000000Z"}
NAMED = {"clientExtensions": {"id": "mine", "tag": "swing", "comment": "why"}}
STRUCTURED = {
    **UNTIL,
    "priceBound": "1.08500",
    "stopLossOnFill": {"price": "1.07500", "guaranteed": True, **UNTIL, **NAMED},
    "guaranteedStopLossOnFill": {"price": "1.07400", **UNTIL, **NAMED},
    "takeProfitOnFill": {"price": "1.09000", **UNTIL, **NAMED},
    "trailingStopLossOnFill": {"distance": "0.00200", **UNTIL, **NAMED},
    "tradeClientExtensions": NAMED["clientExtensions"],
}
"""Members whose value has a form of its own."""


def unusual(kind: type[OrderRequest]) -> dict[str, object]:
    """Return every member that a request may have, with another value than the usual one."""
    members = {
        str(field.alias): (enum_values(field.annotation) or ("2",))[-1]
        for name, field in kind.model_fields.items()
        if not field.is_required() and name not in {"type", "client_extensions"}
    }
    return {name: STRUCTURED.get(name, value) for name, value in members.items()}


def resting_limit(**on_fill: object) -> LimitOrder:
    return LimitOrder.model_validate({**USUAL, "type": "LIMIT", **on_fill})


@pytest.mark.parametrize(("kind", "replaced_by"), REPLACED_BY.items())
def test_a_moved_order_keeps_every_member_that_is_not_moved(
    kind: type[MovableOrder], replaced_by: type[OrderRequest]
) -> None:
    """Also one that was added to the client's records after the desk: it goes through the members of the request."""
    members = unusual(replaced_by)
    order = kind.model_validate({**USUAL, **members, **NAMED})
    at, stop, target = D("1.08100"), D("1.07500"), D("1.09000")
    wire = moved_request(order, MoveEntry("7", "EUR_USD", at, stop, target), WALL_NS).to_wire()
    assert {name: wire.get(name) for name in members} == members
    own = {"type", "instrument", "units", "price"}
    assert wire.keys() == members.keys() | own, "its client extensions are carried over"
    assert [wire[name] for name in ("instrument", "units", "price")] == [
        *("EUR_USD", "1000", "1.08100")
    ]


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
