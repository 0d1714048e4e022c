"""From a ticket to the wire: the request that it sends, once for each kind of order and each member."""

from decimal import Decimal

import pytest
from msgspec.structs import replace

from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.lifetime import LifetimeDraft
from keydesk.calc.orders.order_options import OPTIONS, OptionName, OrderOptions
from keydesk.calc.orders.plans.scale_out import OrderPart
from keydesk.calc.orders.ticket_draft import KINDS, Draft, Kind
from keydesk.calc.orders.ticket_levels import SendableLevels
from keydesk.trading.entry_requests import reversal_of
from keydesk_client.errors import InvalidRequest
from keydesk_client.models import LimitOrderRequest, MarketOrderRequest
from support.data.desk_store import WALL_NS
from support.data.entry_orders import ticket_order
from support.data.trading_contexts import example_facts

D = Decimal
IN_FOUR_HOURS = "2026-02-25T10:13:20.000000000Z"
BRACKET = Draft(
    "BUY", "EUR_USD", size=Entry("50000", "units"), stop=Entry("20"), target=Entry("2", "R")
)


def wire_of(draft: Draft) -> dict[str, object]:
    return dict(ticket_order(draft, now_ns=WALL_NS).request.to_wire())


def pending(kind: Kind, **changes: object) -> Draft:
    draft = Draft("SELL", "EUR_USD", kind, Entry("1000", "units"), Entry("1.09000", "price"))
    return replace(draft, **{"expiry": "GTC", **changes})


def test_a_market_order_is_bounded_and_brings_its_bracket() -> None:
    assert wire_of(BRACKET) == {
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
    usual = wire_of(replace(BRACKET, members=OrderOptions(stop_from_fill=True)))
    assert usual["stopLossOnFill"] == {"distance": "0.00200", "timeInForce": "GTC"}
    guaranteed = wire_of(
        replace(BRACKET, members=OrderOptions(stop_from_fill=True, guaranteed=True))
    )
    assert guaranteed["guaranteedStopLossOnFill"] == usual["stopLossOnFill"]
    assert "stopLossOnFill" not in guaranteed


@pytest.mark.parametrize("kind", KINDS[1:])
def test_a_pending_order_rests_at_its_price(kind: Kind) -> None:
    wire = wire_of(pending(kind))
    assert (wire["type"], wire["price"], wire["units"]) == (kind, "1.09000", "-1000")
    assert (wire["timeInForce"], wire["triggerCondition"]) == ("GTC", "DEFAULT")
    assert "gtdTime" not in wire
    assert "priceBound" not in wire


def test_members_of_a_pending_order_are_sent_as_chosen() -> None:
    members = OrderOptions(
        fill="OPEN_ONLY", trigger="BID", tag="swing", comment="why", trade_id="t-7"
    )
    wire = wire_of(pending("STOP", members=members, bound=Entry("10")))
    assert (wire["positionFill"], wire["triggerCondition"]) == ("OPEN_ONLY", "BID")
    assert wire["priceBound"] == "1.08900"
    assert wire["clientExtensions"] == {"tag": "swing", "comment": "why"}, "its id is the client's"
    assert wire["tradeClientExtensions"] == {"id": "t-7", "tag": "swing", "comment": "why"}


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_is_what_it_declares(name: OptionName) -> None:
    option = OPTIONS[name]
    usual = next(iter(option.words), "")
    assert OrderOptions().text(name) == usual
    if option.member:
        request = LimitOrderRequest if option.rests else MarketOrderRequest
        assert (request.model_fields[option.member].default or "") == usual


def test_an_order_that_only_reduces_may_never_open() -> None:
    draft = replace(BRACKET, side="SELL", size=Entry("1000", "units"))
    order = ticket_order(draft, now_ns=WALL_NS, facts=example_facts(net_units="20000"))
    assert order.reduces
    wire = order.request.to_wire()
    assert wire["positionFill"] == "REDUCE_ONLY"
    assert "stopLossOnFill" not in wire
    assert "takeProfitOnFill" not in wire


def test_levels_of_the_fill_carry_their_lifetimes() -> None:
    members = OrderOptions(
        stop_lifetime=LifetimeDraft("GTD", "4h", WALL_NS), target_lifetime=LifetimeDraft("GTD 4h")
    )
    wire = wire_of(replace(BRACKET, trail=Entry("100"), members=members))
    ends = {"timeInForce": "GTD", "gtdTime": IN_FOUR_HOURS}
    assert wire["stopLossOnFill"] == {"price": "1.08300", **ends}
    assert wire["takeProfitOnFill"] == {"price": "1.08900", **ends}
    assert wire["trailingStopLossOnFill"] == {"distance": "0.01000", "timeInForce": "GTC"}


@pytest.mark.parametrize(
    "changes",
    [
        {"expiry": "GTD 4h"},
        {"expiry": "GTD", "members": OrderOptions(gtd_text="4h", gtd_typed_ns=WALL_NS)},
    ],
)
def test_hours_become_an_instant_of_the_broker(changes: dict[str, object]) -> None:
    wire = wire_of(pending("LIMIT", **changes))
    assert (wire["timeInForce"], wire["gtdTime"]) == ("GTD", IN_FOUR_HOURS)


def test_each_part_of_a_scale_out_is_the_order_with_its_own_units_and_exit() -> None:
    parts = (OrderPart(D(300), D("1.09"), None), OrderPart(D(700), None, D("0.002")))
    members = OrderOptions(tag="swing", trail_lifetime=LifetimeDraft("GFD"))
    draft = replace(BRACKET, target=Entry("", "R"), trail=Entry("20"), members=members)
    order = ticket_order(draft, now_ns=WALL_NS, parts=parts)
    first, second = (each.to_wire() for each in order.parts)
    whole = order.request.to_wire()
    del whole["trailingStopLossOnFill"]
    target = {"price": "1.09", "timeInForce": "GTC"}
    assert first == {**whole, "units": "300", "takeProfitOnFill": target}
    trail = {"distance": "0.002", "timeInForce": "GFD"}
    assert second == {**whole, "units": "700", "trailingStopLossOnFill": trail}


def test_a_member_that_the_client_would_not_send_is_named() -> None:
    with pytest.raises(InvalidRequest, match="units: must not be 0"):
        wire_of(replace(BRACKET, size=Entry("0.1", "units")))


def test_a_reversal_reduces_first() -> None:
    levels = SendableLevels(D("1.08490"), D("1.08470"), D("1.08690"), D("1.08090"), None)
    reverse = reversal_of(Draft("SELL", "EUR_USD"), D(-40_000), levels)
    wire = reverse.request.to_wire()
    assert (wire["units"], wire["positionFill"]) == ("-40000", "REDUCE_FIRST")
    assert (wire["priceBound"], reverse.expected) == ("1.08470", D("1.08490"))
