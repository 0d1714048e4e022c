"""Scale-out: the parts add up to the ticket exactly, each has its target, the last one trails."""

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some
from msgspec.structs import replace

from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.plans.scale_out import ScaleOut, shared_units
from keydesk.calc.orders.ticket import work_out
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.calc.orders.ticket_parts import parts_of
from keydesk.calc.orders.ticket_settings import Limits, Template, TemplateSet
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.store.store import Store
from keydesk.store.trading_context import trading_context_of
from keydesk.trading.entry_requests import OpenOrder
from support.data.desk_store import NOW, example_store
from support.data.entry_orders import target_of
from support.fakes.form_app import FormApp, example_context

D = Decimal
THIRDS = ScaleOut((D(33), D(33), D(34)), (D(1), D(2)))


def flat_store() -> Store:
    store = example_store()
    store.trades, store.positions, store.orders = {}, {}, {}
    return store


def divided(draft: Draft, store: Store | None = None) -> object:
    context = trading_context_of(store or flat_store(), "EUR_USD", NOW)
    assert context is not None
    draft = replace(draft, members=replace(draft.members, scale=THIRDS.text))
    return parts_of(draft, work_out(draft, context, Limits()), context)


TICKET = Draft("BUY", "EUR_USD", size=Entry("10000", "units"), stop=Entry("20", "pips"))


@given(
    total=some.decimals("0.1", 10_000_000, places=1),
    cuts=some.lists(some.integers(1, 99), min_size=1, max_size=4, unique=True),
    precision=some.integers(0, 1),
)
def test_the_parts_add_up_exactly_and_none_is_negative(
    total: Decimal, cuts: list[int], precision: int
) -> None:
    total = total.quantize(D(1).scaleb(-precision), rounding="ROUND_DOWN")
    edges = [0, *sorted(cuts), 100]
    shares = [D(after - before) for before, after in pairwise(edges)]
    parts = shared_units(total, shares, precision)
    assert sum(parts) == total
    assert min(parts) >= 0
    assert all(part == part.quantize(D(1).scaleb(-precision)) for part in parts)


def test_each_step_has_units_target_and_money_and_the_rest_trails() -> None:
    parts = divided(TICKET)
    assert isinstance(parts, tuple)
    assert [(each.units, each.target, each.trail, each.at_target) for each in parts] == [
        (D(3300), D("1.08700"), None, D("6.60000")),
        (D(3300), D("1.08900"), None, D("13.20000")),
        (D(3400), None, D("0.00200"), D(0)),
    ]


def test_of_a_sale_targets_are_below_and_units_negative() -> None:
    parts = divided(replace(TICKET, side="SELL"))
    assert isinstance(parts, tuple)
    assert [each.units for each in parts] == [D(-3300), D(-3300), D(-3400)]
    assert [each.target for each in parts] == [D("1.08290"), D("1.08090"), None]


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        (replace(TICKET, size=Entry("2", "units")), "the least of 3 parts would be below 1"),
        (replace(TICKET, stop=Entry("", "pips")), "counts in R"),
        (replace(TICKET, target=Entry("2", "R")), "has its own ones"),
    ],
)
def test_what_cannot_be_divided_is_refused_by_its_field(draft: Draft, why: str) -> None:
    assert why in str(divided(draft))


def test_a_ticket_that_reduces_has_no_parts_and_one_that_turns_is_refused() -> None:
    sale = replace(TICKET, side="SELL")
    assert divided(sale, example_store()) == ()
    turns = replace(sale, size=Entry("50000", "units"))
    assert "this closes 20,000 units first" in str(divided(turns, example_store()))


async def pressed(keys: str, size: tuple[int, int] = (80, 24)) -> tuple[str, list[object]]:
    template = Template(name="thirds", scale_out=THIRDS)
    book = TemplateSet({"thirds": template}, {"EUR_USD": "thirds"})
    context = replace(example_context(flat_store()), templates=book)
    app = FormApp(lambda: TicketForm(context, "BUY", "EUR_USD"))
    async with app.run_test(size=size) as pilot:
        for key in keys.split():
            await pilot.press(key)
        await pilot.pause()
        return " ".join(app.words.replace("┃", " ").split()), app.results


async def test_the_ticket_shows_the_steps_and_sends_them() -> None:
    text, _ = await pressed("")
    assert "scale-out 33/33/34 1r 2r: 3 orders at the broker" in text
    assert "3,300 target 1.08700 +6.60" in text
    assert "3,400 trails 20.0 pips behind" in text
    _, [order] = await pressed("y")
    assert isinstance(order, OpenOrder)
    assert sum(each.units for each in order.parts) == order.request.units == D(10_000)
    assert target_of(order) is None


async def test_a_ticket_that_cannot_be_divided_is_not_sent() -> None:
    text, results = await pressed("u 2 y c")
    assert results == []
    assert "the least of 3 parts would be below 1" in text


def test_without_a_scale_out_a_ticket_is_one_order() -> None:
    context = trading_context_of(flat_store(), "EUR_USD", NOW)
    assert context is not None
    plan = work_out(TICKET, context, Limits())
    assert parts_of(TICKET, plan, context) == ()
