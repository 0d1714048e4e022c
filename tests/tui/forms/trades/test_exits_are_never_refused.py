"""Every guard, lock and limit against every exit: none refuses one, and each of them does refuse to open."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from keydesk.calc.daily_loss import LossLock
from keydesk.calc.market.trading_day import day_start
from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.instructions import CancelOrders, ClosePosition, CloseTrades, Flatten
from keydesk.calc.orders.limits import LIMIT_FIELDS
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.forms.form import Form
from keydesk.forms.modal_form import FormContext
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.forms.trades.break_even import BreakEvenForm
from keydesk.forms.trades.cancel_orders import CancelEntriesForm, CancelForm
from keydesk.forms.trades.close_position import ClosePositionForm
from keydesk.forms.trades.close_trade import CloseForm, ScaleOutForm
from keydesk.forms.trades.exit_plan import ExitPlanForm
from keydesk.forms.trades.position_part import PositionPartForm
from keydesk.forms.trades.protection import ProtectForm, ProtectionForm, TrailingForm
from keydesk.forms.trades.reverse_flatten import FlattenForm
from keydesk.keys.confirm import EXITS, Step
from keydesk.keys.guard import Cause, arming_after
from keydesk.parse.orders import ParsedOrder
from keydesk.store.state import Arming
from keydesk.store.store import Store
from keydesk.values import ClosedTrade, CommandState
from keydesk_client.account.valuation import rebuild_position
from support.data.desk_store import WALL_NS, example_store
from support.data.in_flight import in_flight
from support.fakes.form_app import example_context

D = Decimal
LOSERS = [ClosedTrade(str(number), WALL_NS, D(-10)) for number in range(3)]
TINY = Limits(
    hard_units=D("0.1"),
    hard_notional=D("0.01"),
    hard_leverage=D("0.0001"),
    hard_risk_percent=D("0.0001"),
    hard_open_risk_percent=D("0.0001"),
    hard_open_trades=D(1),
    hard_spread_pips=D("0.01"),
    hard_spread_of_stop=D("0.0001"),
    hard_deviation_percent=D("0.0001"),
)
ANY_LIMIT = {each.name: each.text for each in LIMIT_FIELDS if each.name.startswith("hard")}


# What holds the desk: each returns the context of the forms, with the store changed.


def limit(name: str) -> Callable[[FormContext], FormContext]:
    def hold(context: FormContext) -> FormContext:
        own: dict[str, Any] = {name: getattr(TINY, name)}
        return replace(context, limits=replace(Limits(), **own))

    return hold


def of_the_instrument(context: FormContext) -> FormContext:
    own = {"EUR_USD": {"hard_units": D("0.1")}, "USD_JPY": {"hard_units": D("0.1")}}
    return replace(context, limits=Limits(instruments=own))


def daily_loss(context: FormContext) -> FormContext:
    context.store.loss_lock = LossLock(day_start(WALL_NS), D(100), is_on=True)
    arming = arming_after(Cause.DAILY_LOSS, context.store.arming, "PRACTICE")
    context.store.arming = arming
    return replace(context, limits=Limits(daily_loss=D(100)))


def loss_not_known(context: FormContext) -> FormContext:
    return replace(context, limits=Limits(daily_loss=D(100)))


def cool_off(context: FormContext) -> FormContext:
    context.store.closed = list(LOSERS)
    return replace(context, limits=Limits(cool_off_losses=D(3)))


def disarmed(context: FormContext) -> FormContext:
    context.store.arming = Arming("DISARMED")
    return context


def old_price(context: FormContext) -> FormContext:
    late = context.clock() + 60
    context.store.sent.quote_trouble["EUR_USD"] = "no answer"
    return replace(context, clock=lambda: late)


def halted(context: FormContext) -> FormContext:
    for quote in context.store.quotes.values():
        quote.tradeable = False
    return context


def no_journal(context: FormContext) -> FormContext:
    context.store.sent.no_orders = "no room on the disk"
    return context


def under_way(state: CommandState) -> Callable[[FormContext], FormContext]:
    def hold(context: FormContext) -> FormContext:
        for name in ("EUR_USD", "USD_JPY", None):
            context.store.in_flight[str(name)] = in_flight(name, state=state)
        return context

    return hold


HOLDS: dict[str, Callable[[FormContext], FormContext]] = {
    **{name: limit(name) for name in ANY_LIMIT},
    "of the instrument": of_the_instrument,
    "daily loss": daily_loss,
    "loss not known": loss_not_known,
    "cool-off": cool_off,
    "disarmed": disarmed,
    "old price": old_price,
    "halted": halted,
    "no journal": no_journal,
    "under way": under_way("sent"),
    "unknown": under_way("unknown"),
}


# The exits, each filled in so that it can be sent.


def part(context: FormContext) -> Form[Any]:
    form = ScaleOutForm(context, "6411")
    form.action_part(5)
    return form


def part_of_position(context: FormContext) -> Form[Any]:
    form = PositionPartForm(context, "EUR_USD")
    form.action_part(5)
    return form


def tighter_stop(context: FormContext) -> Form[Any]:
    form = ProtectionForm(context, "6411")
    form.action_pick("stop")
    form.action_nudge(1)
    return form


def reducing_ticket(context: FormContext) -> Form[Any]:
    return TicketForm(context, "SELL", "EUR_USD", ParsedOrder(size=Entry("5000", "units")))


EXIT_FORMS: dict[str, Callable[[FormContext], Form[Any]]] = {
    "close a trade": lambda context: CloseForm(context, "EUR_USD", ["6411"]),
    "close a part": part,
    "close a position": lambda context: ClosePositionForm(context, "EUR_USD"),
    "close a part of a position": part_of_position,
    "break-even": lambda context: BreakEvenForm(context, "6411"),
    "plan an exit": lambda context: ExitPlanForm(context, "6411"),
    "tighten a stop": tighter_stop,
    "protect": lambda context: ProtectForm(context, "6398"),
    "trail": lambda context: TrailingForm(context, "6398"),
    "cancel": lambda context: CancelForm(context, "6415"),
    "cancel entries": lambda context: CancelEntriesForm(context, "EUR_USD"),
    "flatten": lambda context: FlattenForm(context, "EUR_USD"),
    "a ticket that reduces": reducing_ticket,
}


def held(name: str) -> FormContext:
    store: Store = example_store()
    rebuild_position(store, "EUR_USD")
    return HOLDS[name](example_context(store))


@pytest.mark.parametrize("hold", HOLDS)
def test_no_guard_lock_or_limit_refuses_an_exit(hold: str) -> None:
    for name, build in EXIT_FORMS.items():
        form = build(held(hold))
        asked = form.confirmation()
        assert asked.step is not Step.REFUSED, f"{name}: {asked.reason}"
        assert form.action() in EXITS
        assert form.request() is not None


CLOSING = (CloseTrades, ClosePosition, CancelOrders, Flatten)


@pytest.mark.parametrize("lacks", ["price", "rules", "account"])
def test_what_closes_or_cancels_is_sent_without_a_price_and_what_sets_a_level_waits(
    lacks: str,
) -> None:
    closing = set()
    for name, build in EXIT_FORMS.items():
        context = held("disarmed")
        closes = isinstance(build(context).request(), CLOSING)
        match lacks:
            case "price":
                context.store.quotes.clear()
            case "rules":
                context.store.instruments.clear()
            case _:
                context.store.account = None
        form = build(context)
        asked = form.confirmation()
        if closes:
            closing.add(name)
            assert asked.step is not Step.REFUSED, f"{name}: {asked.reason}"
            assert isinstance(form.request(), CLOSING)
        else:
            assert asked.step is Step.REFUSED
            assert "Waiting for a price" in asked.reason
    assert len(closing) == 7


@pytest.mark.parametrize("hold", HOLDS)
def test_each_of_them_refuses_to_open(hold: str) -> None:
    far = ParsedOrder(size=Entry("2000", "units"), kind="LIMIT", price=Entry("1.08000", "price"))
    fields = far if hold == "hard_deviation_percent" else ParsedOrder(size=Entry("2000", "units"))
    asked = TicketForm(held(hold), "BUY", "EUR_USD", fields).confirmation()
    assert asked.step is Step.REFUSED
    if hold in ANY_LIMIT:
        assert f"({ANY_LIMIT[hold]})" in asked.reason
        assert "your own limit of" in asked.reason
        assert asked.reason.endswith("or :limits changes it")


def test_the_walk_has_every_exit() -> None:
    shown = {form(example_context()).action() for form in EXIT_FORMS.values()}
    assert shown == EXITS
