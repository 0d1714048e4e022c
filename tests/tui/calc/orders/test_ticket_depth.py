"""A ticket larger than the first price level counts with the average price through the depth, as the broker fills."""

import dataclasses
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.order_options import OrderOptions
from keydesk.calc.orders.ticket import Plan, work_out
from keydesk.calc.orders.ticket_draft import Draft, Kind, Side
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.ticket.figures import result_lines
from keydesk.forms.trades.close_trade import result_of
from keydesk_client.arithmetic.depth import DepthLevel
from keydesk_practice.engine.fills.planning import volume_weighted_price
from keydesk_practice.engine.quotes import Level, Quote
from support.data.desk_store import long_euro
from support.data.trading_contexts import example_facts
from support.practised_account import PractisedAccount

D = Decimal
LIMITS = Limits()
ENOUGH = 10_000_000
ASKS = (("1.08500", 30_000), ("1.08510", 50_000), ("1.08540", ENOUGH))
BIDS = (("1.08490", 30_000), ("1.08480", 50_000), ("1.08450", ENOUGH))
SPECIFICATION = PractisedAccount().market.specifications["EUR_USD"]
Depth = tuple[tuple[str, int], ...]


def deep_context(asks: Depth = ASKS, bids: Depth = BIDS) -> TradingContext:
    """The example market with NAV to spare, and these levels."""
    context = example_facts()
    rich = replace(context.funds, nav=D(1_000_000), margin_available=D(1_000_000))
    return replace(
        context,
        funds=rich,
        bid=D(bids[0][0]),
        ask=D(asks[0][0]),
        asks=tuple(DepthLevel(D(price), D(units)) for price, units in asks),
        bids=tuple(DepthLevel(D(price), D(units)) for price, units in bids),
    )


def ticket(side: Side, size: Entry, stop: Entry, target: str = "") -> Draft:
    return Draft(side=side, instrument="EUR_USD", size=size, stop=stop, target=Entry(target, "R"))


def filled_at(context: TradingContext, signed_units: Decimal) -> Decimal:
    """The price at which the practice broker fills the units."""
    quote = Quote(
        instrument="EUR_USD",
        time=0,
        bids=tuple(Level(each.price, int(each.units)) for each in context.bids),
        asks=tuple(Level(each.price, int(each.units)) for each in context.asks),
        closeout_bid=context.bids[-1].price,
        closeout_ask=context.asks[-1].price,
        tradeable=True,
    )
    return volume_weighted_price(quote, SPECIFICATION, signed_units)


def words_of(plan: Plan, draft: Draft, context: TradingContext) -> str:
    lines = result_lines(draft, plan, context)
    return " ".join(" ".join(text for text, _ in figure.line) for figure in lines)


def test_the_worked_size_through_three_levels() -> None:
    context = deep_context()
    draft = ticket("BUY", Entry("100", "loss"), Entry("1.08300", "price"), "2")
    plan = work_out(draft, context, LIMITS)
    assert plan.units == D(49_019), "50,000 at the first level alone"
    assert plan.average == D("1.08504") == filled_at(context, plan.units)
    assert plan.distance == D("0.00204")
    assert plan.risk == D("99.99876")
    assert plan.levels.entry == D("1.08500")
    assert plan.levels.bound == D("1.08520"), "worst price and bound stay as they are"
    assert plan.levels.target == D("1.08912"), "two R from the average price"
    assert plan.ratio == 2


def test_the_ticket_names_the_average_price_of_a_deep_order_and_says_nothing_of_another() -> None:
    context = deep_context()
    deep = ticket("SELL", Entry("60000", "units"), Entry("1.08700", "price"))
    plan = work_out(deep, context, LIMITS)
    text = words_of(plan, deep, context)
    assert "average 1.08485 0.5 pips beyond the best" in " ".join(text.split())
    flat = replace(deep, size=Entry("30000", "units"))
    assert "average" not in words_of(work_out(flat, context, LIMITS), flat, context)


BOOK_ENDS = "book holds 80,000: rest counted at the last level"


@pytest.mark.parametrize(
    ("units", "kind", "says"),
    [("80000", "MARKET", False), ("80001", "MARKET", True), ("80001", "LIMIT", False)],
)
def test_a_market_order_larger_than_the_book_says_where_the_rest_is_counted(
    units: str, kind: Kind, says: bool
) -> None:
    context = deep_context(ASKS[:2], BIDS[:1])
    draft = ticket("BUY", Entry(units, "units"), Entry("20"))
    draft = replace(draft, kind=kind, price=Entry("1.08400", "price"))
    assert (BOOK_ENDS in words_of(work_out(draft, context, LIMITS), draft, context)) is says


def test_a_book_of_one_level_says_so_too() -> None:
    context = deep_context(ASKS, BIDS[:1])
    draft = ticket("SELL", Entry("30001", "units"), Entry("20"))
    text = words_of(work_out(draft, context, LIMITS), draft, context)
    assert "book holds 30,000: rest counted at the last level" in text
    assert "average" not in text


@pytest.mark.parametrize(("units", "realizes"), [("60000", "27.0"), ("-60000", "-39.0")])
def test_closing_realizes_at_the_average_price_as_the_broker_fills(
    units: str, realizes: str
) -> None:
    context = deep_context()
    assert context.closing_average(D(units)) == filled_at(context, -D(units))
    trade = dataclasses.replace(long_euro(), units=D(units), price=D("1.08440"))
    assert result_of(trade, D(60_000), context) == D(realizes)
    unknown = replace(context, asks=(), bids=())
    assert unknown.closing_average(D(units)) == (unknown.bid if D(units) > 0 else unknown.ask)


def test_a_stop_from_the_fill_keeps_its_distance_through_the_depth() -> None:
    context = deep_context()
    fixed = ticket("BUY", Entry("100000", "units"), Entry("20"), "2")
    counted = replace(fixed, members=OrderOptions(stop_from_fill=True))
    plan = work_out(counted, context, LIMITS)
    assert plan.average == D("1.08513")
    assert (plan.levels.stop, plan.levels.target) == (D("1.08313"), D("1.08913"))
    assert plan.distance == D("0.00200")
    assert work_out(fixed, context, LIMITS).distance == D("0.00213")
    sized = work_out(replace(counted, size=Entry("200", "loss")), context, LIMITS)
    assert (sized.units, sized.risk) == (D(100_000), D(200))


def test_a_limit_order_and_a_price_without_its_depth_count_with_their_own_price() -> None:
    draft = ticket("BUY", Entry("60000", "units"), Entry("20"))
    resting = replace(draft, kind="LIMIT", price=Entry("1.08400", "price"))
    assert work_out(resting, deep_context(), LIMITS).average == D("1.08400")
    unknown = replace(deep_context(), asks=())
    assert work_out(draft, unknown, LIMITS).average == D("1.08500")


def test_levels_that_do_not_begin_at_the_present_price_are_not_used() -> None:
    moved = replace(deep_context(), ask=D("1.08505"))
    draft = ticket("BUY", Entry("60000", "units"), Entry("20"))
    assert work_out(draft, moved, LIMITS).average == D("1.08505")


@st.composite
def depths(draw: st.DrawFn) -> tuple[Depth, Depth]:
    """Both sides: each level one tick to fifty beyond the one before."""
    sides = []
    for start, away in ((108_500, 1), (108_490, -1)):
        at, levels = start, []
        for step in draw(st.lists(st.integers(1, 50), min_size=1, max_size=4)):
            levels.append((f"{D(at).scaleb(-5)}", draw(st.integers(1, 200_000))))
            at += away * step
        sides.append((*levels, (f"{D(at).scaleb(-5)}", ENOUGH)))
    return sides[0], sides[1]


@pytest.mark.parametrize("side", ["BUY", "SELL"])
@given(depth=depths(), percent=st.integers(1, 400), pips=st.integers(2, 400))
def test_units_sized_by_risk_never_lose_more_than_typed_when_filled_through_the_levels(
    side: Side, depth: tuple[Depth, Depth], percent: int, pips: int
) -> None:
    context = deep_context(*depth)
    draft = ticket(side, Entry(f"{D(percent).scaleb(-2)}", "risk %"), Entry(f"{D(pips) / 2}"), "2")
    plan = work_out(draft, context, LIMITS)
    typed = context.funds.nav * percent / 10_000
    if not plan.units:
        return
    signed = draft.direction * plan.units
    fill, stop = filled_at(context, signed), plan.levels.stop
    assert plan.average == fill
    assert isinstance(stop, Decimal)
    lost = signed * (fill - stop)
    assert lost == plan.risk
    assert lost <= typed
    if plan.bound_by == "":  # and no more than rounding of price and units is given away
        coarse = D("0.00001") * plan.units + (abs(fill - stop) + D("0.00050"))
        assert lost > typed - coarse
