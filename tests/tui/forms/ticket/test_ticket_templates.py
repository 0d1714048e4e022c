"""Named templates in the ticket: it opens with the instrument's, turns to the next, and refuses without a required stop."""

from decimal import Decimal

from msgspec.structs import replace

from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.plans.exit_plans import ExitRules
from keydesk.calc.orders.ticket_settings import Template, TemplateSet
from keydesk.forms.modal_form import FormContext
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.trading.entry_requests import OpenOrder
from keydesk.words.order_text import side_of
from support.data.entry_orders import price_of, stop_of, target_of
from support.fakes.form_app import FormApp, example_context

D = Decimal
SCALP = Template(
    name="scalp",
    kind="LIMIT",
    size=Entry("1", "risk %"),
    stop_pips=D(10),
    stop_required=True,
    trail_pips=None,
    expiry="GFD",
)


def context(*, chosen: bool = True) -> FormContext:
    book = TemplateSet({"scalp": SCALP}, {"EUR_USD": "scalp"} if chosen else {})
    return replace(example_context(), templates=book)


async def after(keys: str, *, chosen: bool = True) -> tuple[str, list[object]]:
    app = FormApp(lambda: TicketForm(context(chosen=chosen), "BUY", "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        for key in keys.split():
            await pilot.press(key)
        await pilot.pause()
        return app.words, app.results


async def test_a_ticket_opens_with_the_instruments_template() -> None:
    _, [order] = await after("y")
    assert isinstance(order, OpenOrder)
    assert (order.request.type, price_of(order), order.request.time_in_force) == (
        "LIMIT",
        D("1.08490"),
        "GFD",
    )
    assert (stop_of(order), target_of(order)) == (D("1.08390"), D("1.08690"))
    assert "scalp, one of 2" in (await after(""))[0]


async def test_the_next_template_begins_again_and_keeps_side_and_instrument() -> None:
    _, [order] = await after("h y", chosen=False)
    assert isinstance(order, OpenOrder)
    assert (order.request.type, side_of(order.request), order.request.instrument) == (
        "LIMIT",
        "BUY",
        "EUR_USD",
    )
    text, _ = await after("h", chosen=True)
    assert "standard, one of 2" in text
    assert "at market" in text


async def test_a_required_stop_refuses_a_ticket_without_one() -> None:
    text, sent = await after("s backspace t backspace u 1 0 0 0 y c")
    assert sent == []
    assert "stop: the template scalp requires one" in text


PLANNED = replace(
    SCALP,
    kind="MARKET",
    expiry="",
    stop_required=False,
    exit_rules=ExitRules(break_even_at=Entry("1", "R"), close_after_minutes=D(240)),
)


async def planned(keys: str, template: Template = PLANNED) -> tuple[str, list[object]]:
    book = TemplateSet({"scalp": template}, {"EUR_USD": "scalp"})
    given = replace(example_context(), templates=book)
    app = FormApp(lambda: TicketForm(given, "BUY", "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        for key in keys.split():
            await pilot.press(key)
        await pilot.pause()
        text = " ".join(app.words.replace("┃", " ").split())
        return text, app.results


async def test_the_templates_exit_plan_is_shown_and_goes_with_the_order() -> None:
    text, _ = await planned("")
    assert "exit plan: break-even at 1R, close after 240 min;" in text
    _, [order] = await planned("y")
    assert isinstance(order, OpenOrder)
    assert order.exit_rules == PLANNED.exit_rules


async def test_an_exit_plan_in_r_refuses_a_ticket_without_a_stop() -> None:
    text, sent = await planned("s backspace t backspace u 1 0 0 0 y c")
    assert sent == []
    assert "the template's exit plan counts in R: s, then digits" in text


async def test_an_exit_plan_in_atr_refuses_while_it_is_not_known() -> None:
    rules = ExitRules(break_even_at=Entry("1", "ATR"))
    text, sent = await planned("y c", replace(PLANNED, exit_rules=rules))
    assert sent == []
    assert "counts in ATR, which is not known" in text
