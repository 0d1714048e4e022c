"""Text that cannot be read, in every field of every form: the send is refused, and the field and the remedy are named."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from textual.screen import Screen

from keydesk.calc.orders.checks import CheckContext, check_ticket
from keydesk.calc.orders.field_draft import MAX_LENGTH, Entry, UnreadableText, read_number
from keydesk.calc.orders.fields import TICKET_FIELDS, FieldName
from keydesk.calc.orders.ticket import fields_of, work_out
from keydesk.calc.orders.ticket_draft import KINDS, Draft, Kind, Side
from keydesk.calc.orders.ticket_levels import sendable
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.forms.account.arming import ArmForm
from keydesk.forms.form import Form
from keydesk.forms.modal_form import FormContext
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.forms.trades.close_trade import ScaleOutForm
from keydesk.forms.trades.move_order import MoveForm
from keydesk.forms.trades.position_part import PositionPartForm
from keydesk.forms.trades.protection import ProtectForm, ProtectionForm, TrailingForm
from keydesk.keys.confirm import Step
from keydesk.keys.guard import SEND
from keydesk.parse.orders import parse_order
from keydesk.store.state import Arming
from keydesk.text.typed import tokens
from support.data.all_forms import form_names
from support.data.desk_store import WALL_NS, example_store
from support.data.trading_contexts import example_facts
from support.fakes.form_app import FormApp, example_context

D = Decimal
UNREADABLE = ("1.2.3", "1.0.8.3", "5-", "1-2", "--5", "-", "-.", "1..", "1" * (MAX_LENGTH + 1))
STEPS = ("-", "-.")
OTHER_SIGNS = ("1,5", "10,000", "1.5,", "2\u0660", "\u0661\u0662", "\uff11\uff12")
"""Decimal commas, thousands, and digits of other scripts: left out they would make another number."""
NOT_ABOVE_ZERO = ("0", "0.0", "-3")


def buy(context: FormContext) -> TicketForm:
    return TicketForm(context, "BUY", "EUR_USD")


def sell(context: FormContext) -> TicketForm:
    return TicketForm(context, "SELL", "USD_JPY")


def modify(context: FormContext) -> ProtectionForm:
    return ProtectionForm(context, "6411")


def protect(context: FormContext) -> ProtectForm:
    return ProtectForm(context, "6398")


def trail(context: FormContext) -> TrailingForm:
    return TrailingForm(context, "6411")


def move(context: FormContext) -> MoveForm:
    return MoveForm(context, "6415")


def part(context: FormContext) -> ScaleOutForm:
    return ScaleOutForm(context, "6411")


def position_part(context: FormContext) -> PositionPartForm:
    return PositionPartForm(context, "EUR_USD")


@dataclass(frozen=True)
class Field:
    """A field of a form: the keys that lead to it, its name in the refusal, and whether it takes 0 and less."""

    build: Callable[[FormContext], Screen[Any]]
    keys: tuple[str, ...]
    name: str
    above_zero: bool = False

    def __str__(self) -> str:
        return f"{self.build.__name__} {''.join(self.keys)} {self.name}"


FIELDS = [
    Field(sell, ("s",), "stop"),
    Field(sell, ("o", "t"), "target"),
    *(
        Field(buy, keys, name, name in {"size", "trail", "bound"})
        for keys, name in (
            (("u",), "size"),
            (("s",), "stop"),
            (("s", "m"), "stop"),
            (("t",), "target"),
            (("t", "m"), "target"),
            (("t", "m", "m"), "target"),
            (("r",), "trail"),
            (("b",), "bound"),
            (("o",), "price"),
            (("o", "m"), "price"),
            (("o", "o"), "price"),
            (("o", "o", "o"), "price"),
            (("o", "u"), "size"),
            (("o", "s"), "stop"),
            (("o", "t"), "target"),
            (("o", "r"), "trail"),
        )
    ),
    *(
        Field(build, keys, name, above_zero)
        for build in (modify, protect, trail)
        for keys, name, above_zero in (
            (("s",), "stop", True),
            (("s", "m"), "stop", False),
            (("t",), "target", True),
            (("t", "m"), "target", False),
            (("r",), "trail", True),
        )
    ),
    *(Field(move, (name[0],), name, above_zero=True) for name in ("price", "stop", "target")),
    Field(part, (), "part", above_zero=True),
    Field(position_part, (), "part", above_zero=True),
]
WITHOUT_FIELDS = {
    *("BreakEvenForm", "CancelEntriesForm", "CancelForm", "CloseForm", "ClosePositionForm"),
    "FlattenForm",
    *("ReverseForm", "CommandForm", "DetailsForm", "FindForm", "HelpForm"),
    # They send nothing; what is typed in them has tests of its own.
    *("AddForm", "ColumnsForm", "RemoveForm", "IndicatorForm", "NameForm", "TimeframeForm"),
    *("AuditForm", "LeaveForm", "LimitsForm", "SettingsForm", "SessionsForm", "UnlockForm"),
    *("AlertLineForm", "AlertsForm", "StartReplayForm", "ReplayPage", "NewAlertForm"),
    *("ExitPlanForm", "JournalForm", "JournalTradeForm", "NoteForm", "OrderHistoryForm"),
    "TransactionForm",
    *("AccountPage", "DayPage", "ExposurePage", "InstrumentPage"),
    *("AccountOrdersForm", "MessagesPage", "StatisticsPage"),
    "NoteTextForm",
    *("AllAccountsPage", "ChoiceForm", "LiveSafetyPage", "ProfileForm", "TextForm", "WaitForm"),
}


def test_every_form_with_fields_is_walked_here() -> None:
    walked = {type(field.build(example_context())).__name__ for field in FIELDS}
    typed_as_text = {
        "ConfigureForm",
        "LabelsForm",
        "OrderLabelsForm",
    }  # theirs are walked in their own tests
    assert form_names() - WITHOUT_FIELDS - typed_as_text - {ArmForm.__name__} == walked
    assert {field.build for field in FIELDS} == set(BUILDS)


def texts_for(number: int, field: Field) -> list[str]:
    """Each field meets another of the texts: the rules below meet all."""
    at_most_zero = [NOT_ABOVE_ZERO[number % len(NOT_ABOVE_ZERO)]] if field.above_zero else []
    other_signs = OTHER_SIGNS[number % len(OTHER_SIGNS)]
    # A minus alone steps the size of a ticket; before a digit it is one of a number.
    steps = field.name == "size"
    unreadable = [text for text in UNREADABLE if not steps or text not in STEPS]
    texts = [unreadable[number % len(unreadable)], other_signs, *at_most_zero]
    return [texts[number % len(texts)]]


BUILDS = (buy, sell, modify, protect, trail, move, part, position_part)


@pytest.mark.parametrize("build", BUILDS)
async def test_text_that_cannot_be_read_refuses_the_send_and_names_its_field(
    build: Callable[[FormContext], Screen[Any]],
) -> None:
    app = FormApp(lambda: build(example_context()))
    async with app.run_test(size=(80, 24)) as pilot:
        for number, field in enumerate(FIELDS):
            for text in texts_for(number, field) if field.build is build else ():
                case = f"{field}: {text}"
                app.push_screen(build(example_context()), app.results.append)
                await pilot.press(*field.keys, *text)
                form = app.screen
                assert isinstance(form, Form), case
                asked = form.confirmation()
                assert asked.step is Step.REFUSED, case
                assert asked.reason.startswith(f"{field.name}: {text} "), case
                assert "Backspace" in asked.reason, case
                words = " ".join(app.words.replace("┃", " ").split())
                assert " ".join(asked.reason.split()) in words, f"{case}: the reason is not whole"
                await pilot.press(SEND, "c")
                assert app.results == [], case
                assert app.screen is form, case
                await pilot.press("escape")
                assert app.results == [None], case
                app.results.clear()


async def test_a_mistyped_stop_is_neither_sent_nor_taken_for_none() -> None:
    context = example_context()
    app = FormApp(lambda: buy(context))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("s", *"1.2.3", "t", "backspace")
        assert "stop: 1.2.3 has more than one decimal point" in app.words
        assert "✗ cannot be read" in app.words
        assert "UNLIMITED" not in app.words
        await pilot.press(SEND, "c")
    assert app.results == []


async def test_a_moved_order_keeps_its_stop_when_the_new_one_cannot_be_read() -> None:
    context = example_context()
    app = FormApp(lambda: move(context))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("up", "s", *"1.0.8", SEND, "c")
        assert "stop: 1.0.8 has more than one decimal point" in app.words
    assert app.results == []


@pytest.mark.parametrize(
    ("build", "keys", "text"),
    [
        (buy, ("u", "backspace"), "The size is missing: u, then digits"),
        (buy, ("o", "backspace"), "The price is missing: p, then digits"),
        (buy, ("o", "g", "enter"), "expiry: it is missing. g, then"),
        (move, ("p", "backspace"), "The price is missing: p, then digits"),
        (part, (), "Choose: 2 5 7"),
        (position_part, (), "Choose: 2 5 7"),
    ],
)
async def test_an_empty_field_that_is_required_refuses_the_send(
    build: Callable[[FormContext], Screen[Any]], keys: tuple[str, ...], text: str
) -> None:
    context = example_context()
    app = FormApp(lambda: build(context))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys)
        assert text in app.words
        await pilot.press(SEND, "c")
    assert app.results == []


@pytest.mark.parametrize(
    ("instrument", "typed", "text"),
    [
        ("EUR_USD", "1.5", "size: 1.5 cannot be sent, EUR/USD takes whole units only: u, then"),
        ("EUR_USD", "0.5", "size: 0.5 cannot be sent, EUR/USD takes whole units only: u, then"),
        ("DE30_EUR", "1.55", "size: 1.55 cannot be sent, DE30/EUR takes units with at most 1"),
    ],
)
async def test_units_finer_than_the_instrument_trades_are_refused(
    instrument: str, typed: str, text: str
) -> None:
    context = example_context()
    app = FormApp(lambda: TicketForm(context, "BUY", instrument))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("u", *typed)
        assert text.split(":", maxsplit=1)[0] in app.words
        form = app.screen
        assert isinstance(form, TicketForm)
        assert form.confirmation().reason.startswith(text)
        await pilot.press(SEND, "c")
    assert app.results == []


async def test_units_as_fine_as_the_instrument_trades_are_sent() -> None:
    context = example_context()
    app = FormApp(lambda: TicketForm(context, "BUY", "DE30_EUR"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("u", *"1.5", SEND)
    assert [order.request.units for order in app.results] == [D("1.5")]  # type: ignore[attr-defined]


async def test_a_reducing_order_of_a_fraction_is_refused_as_well() -> None:
    context = example_context()
    app = FormApp(lambda: TicketForm(context, "SELL", "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("u", *"1.5", SEND)
        assert "size: 1.5 cannot be sent" in app.words
    assert app.results == []


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("1.5", "size: 1.5 cannot be sent"),
        ("50k tr 0", "trail: 0 is not above 0"),
        ("50k bound 0p", "bound: 0 is not above 0"),
        ("50k nostop tp 0r", "target in R needs a stop"),
    ],
)
async def test_a_typed_order_is_held_to_the_same_rules(line: str, text: str) -> None:
    form_context = example_context()
    fields = parse_order(tokens(line))
    app = FormApp(lambda: TicketForm(form_context, "BUY", "EUR_USD", fields))
    async with app.run_test(size=(80, 24)) as pilot:
        assert text in app.words
        await pilot.press(SEND, "c")
    assert app.results == []


async def test_a_nudge_or_another_unit_leaves_unreadable_text_to_be_mended() -> None:
    context = example_context()
    for build, key in ((buy, "s"), (modify, "s"), (move, "s")):
        app = FormApp(lambda build=build: build(context))  # type: ignore[misc]
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.press(key, *"1.2.3", "up", "m", "down", SEND)
            assert "     1.2.3 " in app.words
            assert "stop: 1.2.3 has more than one decimal point" in app.words
        assert app.results == []


async def test_a_stop_that_cannot_be_counted_in_another_unit_yet_is_not_dropped() -> None:
    context = example_context()
    app = FormApp(lambda: buy(context))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("o", "p", "backspace", "s", "m")  # a limit without a price
        assert "20  pips" in app.words
        assert "The stop stays in pips" in app.words


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        (("2", "0"), "% takes the 20 typed"),
        (("1", "5", "0", "%"), "part: 150 % is more than the whole trade"),
        (("0", "%"), "part: 0 is not above 0"),
        (("1", "2", ".", "5", ".", "%"), "part: 12.5. has more than one decimal point"),
    ],
)
async def test_a_part_is_what_was_typed_or_nothing(typed: tuple[str, ...], text: str) -> None:
    context = example_context()
    app = FormApp(lambda: part(context))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*typed)
        assert text in app.words
        await pilot.press(SEND, "c")
    assert app.results == []


async def test_a_part_may_have_decimals_and_a_digit_can_be_erased() -> None:
    context = example_context()
    app = FormApp(lambda: part(context))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"12.55", "backspace", "%", SEND)
    assert [close.units for close in app.results] == [D(2_500)]  # type: ignore[attr-defined]


# The rules themselves, over any text.

TEXTS = st.one_of(
    st.just(""),
    st.sampled_from((*UNREADABLE, *NOT_ABOVE_ZERO, "20", "2", "1.0830", "10000", "1.5", "12.")),
    st.text("0123456789.-", max_size=MAX_LENGTH + 2),
    st.text(max_size=6),
)


@given(TEXTS)
def test_text_is_a_number_or_empty_or_unreadable_and_never_two_of_them(text: str) -> None:
    reading = read_number(text)
    assert (reading is None) == (text == "")
    if isinstance(reading, Decimal):
        assert reading.is_finite()
        assert reading == D(text)
    if isinstance(reading, UnreadableText):
        assert reading.text == text
        assert reading.reason


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    side: Side = draw(st.sampled_from(("BUY", "SELL")))
    kind: Kind = draw(st.sampled_from(KINDS))
    names: tuple[FieldName, ...] = tuple(TICKET_FIELDS)
    good = {"size": "10000", "price": "1.0830", "stop": "20", "target": "2"}
    entries = {
        name: Entry(
            draw(st.one_of(st.just(good.get(name, "")), TEXTS)),
            draw(st.sampled_from(TICKET_FIELDS[name].units)),
        )
        for name in names
    }
    return Draft(
        side,
        "EUR_USD",
        kind=kind,
        size=entries["size"],
        price=entries["price"],
        stop=entries["stop"],
        target=entries["target"],
        trail=entries["trail"],
        bound=entries["bound"],
    )


@given(
    drafts(),
    st.sampled_from(("0", "20000", "-20000")),
    st.booleans(),
    st.sampled_from(("", "0.00082")),
)
def test_no_ticket_with_an_unreadable_field_can_be_sent_and_no_typed_field_is_left_out(
    draft: Draft, net_units: str, hedging: bool, average_range: str
) -> None:
    facts = example_facts(net_units=net_units, hedging=hedging, average_range=average_range)
    plan = work_out(draft, facts, Limits())
    verdict = check_ticket(draft, plan, facts, Limits(), CheckContext(WALL_NS))
    levels = sendable(plan.levels)
    shown = fields_of(draft, plan)
    unreadable = [
        name for name in shown if isinstance(read_number(draft.entry(name).text), UnreadableText)
    ]
    for name in unreadable:
        assert any(reason.startswith(f"{name}: ") for reason in verdict.refusals)
    if verdict.refusals:
        return
    assert not unreadable
    assert levels is not None
    assert plan.units > 0
    for name, level in (("stop", levels.stop), ("target", levels.target), ("trail", levels.trail)):
        typed = draft.entry(name).text if name in shown and not plan.reduces else ""
        assert (level is None) == (typed == ""), "what was typed is sent, what was not is not"


TICKET_KEYS = (*"0123456789.-=", *"oustrbpemawil", "up", "down", ",", "tab", "backspace")


@example(["o", "l", "l", "l"])  # a limit order that only reduces: it has no bracket
@given(st.lists(st.sampled_from(TICKET_KEYS), max_size=25))
def test_no_keys_at_all_make_a_ticket_send_what_it_does_not_show(keys: list[str]) -> None:
    store = example_store()
    store.arming = Arming("ARMED")
    form = TicketForm(example_context(store), "BUY", "EUR_USD")
    for key in keys:
        press(form, key)
    order = None if form.confirmation().step is Step.REFUSED else form.request()
    if order is None:
        return
    draft, request = form.draft, order.request
    for field, sent in (
        (draft.stop, request.stop_loss_on_fill or request.guaranteed_stop_loss_on_fill),
        (draft.target, request.take_profit_on_fill),
        (draft.trail, request.trailing_stop_loss_on_fill),
    ):
        assert (sent is None) == (field.text == "" or form.reduces())
    for name in draft.fields:
        assert not isinstance(read_number(draft.entry(name).text), UnreadableText)


def press(form: TicketForm, key: str) -> None:
    """Do to a ticket what its bindings do, without a screen."""
    picked = {field.key: name for name, field in TICKET_FIELDS.items()}
    actions: dict[str, Callable[[], None]] = {
        "o": form.action_next_kind,
        "e": form.action_next_expiry,
        "m": form.action_next_unit,
        "w": form.action_guarantee,
        "i": partial(form.action_turn, "trigger"),
        "l": partial(form.action_turn, "fill"),
        "tab": lambda: form.action_next_field(1),
        "backspace": form.action_erase,
    }
    nudges = {"up": 1, "down": -1, ",": -10, ".": 10}
    if key in actions:
        actions[key]()
    elif key in nudges:
        form.action_nudge(nudges[key])
    elif key in picked:
        form.action_pick(picked[key])
    else:
        form.typed(key)
