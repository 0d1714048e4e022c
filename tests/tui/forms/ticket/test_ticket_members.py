"""The rarely changed members of a ticket by keys alone: each is sent as shown, and refused by its name."""

from decimal import Decimal

import pytest
from msgspec.structs import replace

from keydesk.calc.orders.checks import CheckContext, check_ticket
from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.order_options import MAX_TEXT, OrderOptions
from keydesk.calc.orders.ticket import work_out
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.store.store import Store
from keydesk.trading.entry_requests import OpenOrder
from keydesk_client.models import ClientExtensions, DateTime, LimitOrderRequest, StopLossDetails
from support.data.desk_store import WALL_NS, example_store
from support.data.entry_orders import price_of, stop_of, target_of
from support.data.trading_contexts import example_facts
from support.fakes.form_app import FormApp, example_context
from support.walks import sampled_rows

D = Decimal
HOUR_NS = 3_600_000_000_000


def offering_guarantees() -> Store:
    store = example_store()
    terms = {
        "guaranteed_stop_loss_order_mode": "ALLOWED",
        "minimum_guaranteed_stop_loss_distance": D("0.0010"),
        "guaranteed_stop_loss_order_execution_premium": D("0.00012"),
    }
    store.instruments["EUR_USD"] = store.instruments["EUR_USD"].model_copy(update=terms)
    return store


async def after(*keys: str, size: tuple[int, int] = (80, 24)) -> tuple[str, list[object]]:
    """Return the words of the screen and what was sent, after these keys on a new ticket."""
    context = example_context(offering_guarantees())
    app = FormApp(lambda: TicketForm(context, "BUY", "EUR_USD"))
    async with app.run_test(size=size) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        return app.said, app.results


async def test_every_member_is_typed_shown_and_sent() -> None:
    expiry = ("g", *"4h", "enter")
    labels = ("k", *"break", "enter", "j", *"why not y", "enter")
    text, _ = await after("o", *expiry, "w", "i", "l", *labels)
    for line in ("2026-02-25 10:13:20 UTC", "premium 1.20 USD", "inverse", "opens only"):
        assert line in text
    _, sent = await after("o", *expiry, "w", "i", "l", *labels, "y")
    [order] = sent
    assert isinstance(order, OpenOrder)
    request = order.request
    assert isinstance(request, LimitOrderRequest)
    ends = DateTime.from_ns(WALL_NS + 4 * HOUR_NS)
    assert (request.time_in_force, request.gtd_time) == ("GTD", ends)
    assert (request.trigger_condition, request.position_fill) == ("INVERSE", "OPEN_ONLY")
    assert request.guaranteed_stop_loss_on_fill is not None
    assert request.stop_loss_on_fill is None
    labels_sent = ClientExtensions(tag="break", comment="why not y")
    assert request.client_extensions == request.trade_client_extensions == labels_sent
    assert price_of(order) == D("1.08490"), "the price was proposed: the near side"


async def test_letters_of_a_text_neither_send_nor_pick_and_enter_ends_it() -> None:
    text, sent = await after("k", "y", "s")
    assert sent == []
    assert " ys_ " in text
    assert "Enter ends the text" in text
    text, sent = await after("k", "a", "escape")
    assert sent == []
    assert "k tag" in text, "Escape ended the text, not the ticket"


async def test_a_limit_order_may_fill_at_once_or_not_at_all() -> None:
    to_fill_or_kill = ("o", *["e"] * 5)
    text, _ = await after(*to_fill_or_kill)
    assert "time in force fill or kill" in text
    _, [order] = await after(*to_fill_or_kill, "y")
    assert isinstance(order, OpenOrder)
    assert (order.request.type, order.request.time_in_force) == ("LIMIT", "FOK")


async def test_the_stop_of_a_market_order_counts_from_the_fill_when_it_is_chosen() -> None:
    _, [usual] = await after("y")
    text, _ = await after("i")
    assert "i stop at 20.0 pips from the fill" in text
    _, [order] = await after("i", "y")
    assert isinstance(usual, OpenOrder)
    assert isinstance(order, OpenOrder)
    assert usual.request.stop_loss_on_fill == StopLossDetails(price=D("1.08300"))
    assert order.request.stop_loss_on_fill == StopLossDetails(distance=D("0.00200"))
    _, [resting] = await after("i", "o", "y")
    assert isinstance(resting, OpenOrder)
    assert stop_of(resting) is not None, "a resting order fills at its price"


async def test_all_members_fit_a_small_terminal() -> None:
    text, _ = await after("o", "n")
    assert "more in a larger window" not in text
    for member in ("until", "guarantee", "trigger", "fills", "tag", "comment", "fewer fields"):
        assert member in text


@pytest.mark.parametrize(
    ("keys", "size"),
    [(("=",), 11_000), (("-",), 9_000), (("-", "-", "="), 9_000), (("s", "="), 11_000)],
)
async def test_equals_and_minus_step_the_size(keys: tuple[str, ...], size: int) -> None:
    _, [order] = await after(*keys, "y")
    assert isinstance(order, OpenOrder)
    assert order.request.units == size


async def test_a_minus_before_digits_is_no_step() -> None:
    text, sent = await after("u", "-", "5", "y")
    assert sent == []
    assert "size: -5 is not above 0" in text


async def test_a_typed_price_stays_when_the_type_turns() -> None:
    text, _ = await after("o", *"1.0800", "o", "p")
    assert "1.0800 price" in text
    text, _ = await after("o", "o")
    assert "stop 1.08520" in text, "a stop to buy is proposed beyond the market"


def verdict_of(draft: Draft, context: TradingContext) -> tuple[str, ...]:
    plan = work_out(draft, context, Limits())
    return check_ticket(draft, plan, context, Limits(), CheckContext(WALL_NS)).refusals


def drafted(**members: object) -> Draft:
    made = Draft("BUY", "EUR_USD", size=Entry("1000", "units"), stop=Entry("20"))
    return replace(made, members=replace(OrderOptions(), **members))


def guaranteeing(mode: str = "ALLOWED", **facts: object) -> TradingContext:
    context = example_facts(**facts)  # type: ignore[arg-type]
    rules = replace(
        context.rules,
        guarantee=mode,
        guarantee_distance=D("0.0010"),
        guarantee_premium=D("0.00012"),
    )
    return replace(context, rules=rules)


LONG_TEXT = "x" * (MAX_TEXT + 1)


@pytest.mark.parametrize(
    ("draft", "context", "field"),
    [
        (drafted(guaranteed=True), example_facts(), "guarantee: EUR/USD takes no"),
        (drafted(), guaranteeing("REQUIRED"), "guarantee: EUR/USD takes guaranteed stops only"),
        (replace(drafted(guaranteed=True), stop=Entry("")), guaranteeing(), "guarantee: it needs"),
        (
            replace(drafted(guaranteed=True), trail=Entry("20")),
            guaranteeing(),
            "trail: no trailing",
        ),
        (replace(drafted(guaranteed=True), stop=Entry("10")), guaranteeing(), "stop: a guaranteed"),
        (
            drafted(guaranteed=True),
            guaranteeing(net_units="-500", hedging=True),
            "guarantee: none while",
        ),
        (drafted(fill="OPEN_ONLY"), example_facts(net_units="-500"), "fill: opens only"),
        (drafted(fill="REDUCE_ONLY"), example_facts(net_units="-500"), "fill: reduces only"),
        (drafted(fill="REDUCE_ONLY"), example_facts(), "fill: reduces only"),
        (drafted(tag=LONG_TEXT), example_facts(), "tag: it is longer"),
        (drafted(comment=LONG_TEXT), example_facts(), "comment: it is longer"),
    ],
)
def test_a_contradiction_refuses_and_names_the_field(
    draft: Draft, context: TradingContext, field: str
) -> None:
    refusals = verdict_of(draft, context)
    assert refusals
    assert refusals[0].startswith(field)


def test_without_a_contradiction_nothing_refuses() -> None:
    assert verdict_of(drafted(guaranteed=True), guaranteeing()) == ()
    assert verdict_of(drafted(fill="REDUCE_ONLY"), example_facts(net_units="-1000")) == ()
    assert verdict_of(drafted(fill="OPEN_ONLY"), example_facts(net_units="500")) == ()


@pytest.mark.parametrize(
    ("size", "units"),
    [
        (Entry("100", "loss"), 50_000),  # over 20 pips
        (Entry("54247.50", "value"), 50_000),
        (Entry("50", "marg %"), 138_393),  # of 10,000 free
        (Entry("1", "risk %"), 50_000),
    ],
)
def test_a_size_counts_in_money_value_or_margin(size: Entry, units: int) -> None:
    plan = work_out(replace(drafted(), size=size), example_facts(), Limits())
    assert plan.units == units


def test_a_guaranteed_stop_is_sized_with_its_premium() -> None:
    draft = replace(drafted(guaranteed=True), size=Entry("1", "risk %"))
    plan = work_out(draft, guaranteeing(), Limits())
    assert plan.units == 47_169
    assert plan.risk is not None
    assert D("99.99") < plan.risk <= 100


async def in_flat_account(*keys: str) -> tuple[str, list[object]]:
    store = example_store()
    store.trades, store.positions, store.orders = {}, {}, {}
    app = FormApp(lambda: TicketForm(example_context(store), "BUY", "EUR_USD"))
    async with app.run_test(size=(80, 30)) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        return " ".join(app.words.replace("┃", " ").split()), app.results


async def test_a_key_types_a_scale_out_which_then_has_the_targets() -> None:
    text, sent = await in_flat_account("/", *"50/50 1r")
    assert "Enter ends the text" in text
    assert sent == []
    text, _ = await in_flat_account("/", *"50/50 1r", "enter")
    assert "scale-out 50/50 1r: 2 orders at the broker" in text
    _, [order] = await in_flat_account("/", *"50/50 1r", "enter", "y")
    assert isinstance(order, OpenOrder)
    assert target_of(order) is None
    assert [part.units for part in order.parts] == [D(5_000), D(5_000)]


async def test_a_scale_out_that_is_taken_away_gives_the_target_back() -> None:
    taken = ("/", *(["backspace"] * 8), "enter")
    _, [order] = await in_flat_account("/", *"50/50 1r", "enter", *taken, "y")
    assert isinstance(order, OpenOrder)
    assert (order.parts, target_of(order)) == ((), D("1.08900"))


@pytest.mark.parametrize(
    ("typed", "why"),
    sampled_rows(
        [
            ("50/60 1r", "the shares must add up to 100"),
            ("50/50", "2 to 5 shares in percent"),
            ("33/33/34 2r 1r", "the targets must rise from above 0"),
            ("x", "2 to 5 shares in percent"),
        ],
        2,
    ),
)
async def test_a_scale_out_that_cannot_be_is_refused_by_name(typed: str, why: str) -> None:
    text, sent = await in_flat_account("/", *typed, "enter", "y")
    assert f"scale-out: {why}" in text
    assert sent == []


async def test_a_scale_out_that_cannot_be_read_refuses_no_exit() -> None:
    app = FormApp(lambda: TicketForm(example_context(), "SELL", "EUR_USD"))
    async with app.run_test(size=(80, 30)) as pilot:
        await pilot.press("/", "x", "enter", "l", "l", "l", "y")
    [order] = app.results
    assert isinstance(order, OpenOrder)
    assert order.reduces


async def test_stop_target_and_trail_of_the_fill_live_as_long_as_is_chosen() -> None:
    text, _ = await after("n")
    assert "; ends stop, target: till cancelled" in text
    keys = ("t", ";", "s", ":", *"4h", "enter")
    text, _ = await after(*keys)
    assert "; stop ends 2026-02-25 10:13:20 UTC" in text
    assert "; target ends good for the day" in text
    assert "The stop ends by time: after that nothing limits the loss" in text
    _, [order] = await after(*keys, "c")
    assert isinstance(order, OpenOrder)
    stop, target = order.request.stop_loss_on_fill, order.request.take_profit_on_fill
    assert stop is not None
    assert (stop.time_in_force, stop.gtd_time) == ("GTD", DateTime.from_ns(WALL_NS + 4 * HOUR_NS))
    assert target is not None
    assert target.time_in_force == "GFD"
    assert order.request.trailing_stop_loss_on_fill is None


async def test_the_lifetime_of_a_level_turns_and_the_size_has_none() -> None:
    text, [order] = await after("t", *[";"] * 5, "y")
    assert isinstance(order, OpenOrder)
    target = order.request.take_profit_on_fill
    assert target is not None
    assert target.time_in_force == "GTC", "after the last choice it is the usual one again"
    text, _ = await after("u", ";")
    assert "The size has no end of its own" in text
    text, sent = await after("u", ":", "y")
    assert len(sent) == 1, f"no text is written for it: {text}"


async def test_an_end_that_cannot_be_read_or_may_come_before_the_fill_is_told() -> None:
    text, sent = await after("t", ":", *"soon", "enter", "y")
    assert sent == []
    assert "end of the target: soon is not an expiry" in text
    text, sent = await after("t", ":", "enter", "y")
    assert sent == []
    assert "end of the target: it is missing" in text
    text, _ = await after("o", "t", ":", *"4h", "enter")
    assert "A fill after the end of the target is cancelled" in text


async def test_the_trade_gets_an_id_that_is_typed_but_not_several_of_them() -> None:
    _, [order] = await after("#", *"swing-7", "enter", "y")
    assert isinstance(order, OpenOrder)
    assert order.request.trade_client_extensions == ClientExtensions(id="swing-7")
    text, sent = await after("#", *"x", "enter", "/", *"50/50 1r 2r", "enter", "y")
    assert sent == []
    assert "trade id: a scale-out opens several trades" in text
