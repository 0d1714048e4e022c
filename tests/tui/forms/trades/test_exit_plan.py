"""The form of exit plans, by keys: what it sets, what it shows, what it refuses."""

from decimal import Decimal

import pytest
from msgspec.structs import replace

from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.instructions import SetExitPlan
from keydesk.calc.orders.plans.exit_plans import ExitPlan, ExitRules
from keydesk.calc.orders.ticket_settings import Template
from keydesk.forms.modal_form import FormContext
from keydesk.forms.trades.exit_plan import ExitPlanForm
from keydesk.store.state import Arming
from keydesk.store.store import Store
from support.data.desk_store import WALL_NS, example_store
from support.fakes.form_app import FormApp, example_context
from support.walks import sampled_rows

D = Decimal
PIP = D("0.0001")
TRADE = "6411"  # long from 1.08440, its stop 24 pips away


async def after(
    keys: str,
    *,
    store: Store | None = None,
    context: FormContext | None = None,
    trade: str = TRADE,
    size: tuple[int, int] = (80, 24),
) -> tuple[str, list[object]]:
    given = context or example_context(store)
    app = FormApp(lambda: ExitPlanForm(given, trade))
    async with app.run_test(size=size) as pilot:
        for key in keys.split():
            await pilot.press(key)
        await pilot.pause()
        return app.said, app.results


def planned(plan: ExitPlan) -> Store:
    store = example_store()
    store.exit_plans[TRADE] = plan
    return store


async def test_two_keys_set_break_even_at_one_r() -> None:
    _, results = await after("y")
    assert results == [SetExitPlan(TRADE, "EUR_USD", ExitPlan(break_even_after=24 * PIP))]


async def test_every_field_is_picked_by_its_letter_and_filled_by_digits() -> None:
    text, _ = await after("e 2 o 1 t 3 r 1 k 5 h 2 4 0")
    assert "e break-even 2 R = 1.08920 48.0 pips" in text
    assert "stop then 1.08453" in text, "the financing of 0.41 is earned back"
    assert "t trail from 3 R = 1.09160 72.0 pips" in text
    assert "first stop 1.08920" in text
    _, [result] = await after("e 2 o 1 t 3 r 1 k 5 h 2 4 0 y")
    assert isinstance(result, SetExitPlan)
    assert result.plan == ExitPlan(
        break_even_after=48 * PIP,
        break_even_offset=PIP,
        trail_after=72 * PIP,
        trail_distance=24 * PIP,
        trail_step=5 * PIP,
        close_at_ns=WALL_NS + 240 * 60_000_000_000,
    )


async def test_the_form_says_that_a_plan_runs_only_while_keydesk_does() -> None:
    for size in ((80, 24), (120, 35), (200, 50)):
        text, _ = await after("", size=size)
        assert "Keydesk runs:" in text


async def test_the_unit_turns_at_the_same_distance() -> None:
    text, _ = await after("m")
    assert "e break-even 24 pips = 1.08680 24.0 pips" in text


async def test_a_plan_that_runs_is_shown_with_its_state_and_changed() -> None:
    store = planned(ExitPlan(break_even_after=10 * PIP, opened_ns=WALL_NS))
    store.exit_plan_states[TRADE] = "another desk on this account carries it out"
    text, results = await after("y", store=store)
    assert "runs now: break-even at +10.0p another desk on this account carries it out" in text
    assert "No change yet" in text
    assert results == []
    _, [result] = await after("e 1 2 y", store=store)
    assert isinstance(result, SetExitPlan)
    assert result.plan == ExitPlan(break_even_after=12 * PIP)


async def test_w_takes_the_plan_away() -> None:
    text, _ = await after("w", store=planned(ExitPlan(break_even_after=10 * PIP)))
    assert "This removes the exit plan; stop and target stay as they are" in text
    _, results = await after("w y", store=planned(ExitPlan(break_even_after=10 * PIP)))
    assert results == [SetExitPlan(TRADE, "EUR_USD", None)]


@pytest.mark.parametrize(
    ("keys", "why"),
    sampled_rows(
        [
            ("w", "No exit plan yet"),
            ("e backspace", "No exit plan yet"),
            ("e 0", "Break-even at no profit"),
            ("e 1 comma 5", "has a comma"),
            ("e minus", "has no digit"),
            ("e minus 1", "is below 0"),
            ("e 1 m o 2 4", "The offset reaches the profit"),
            ("e m 2 o 3", "The offset reaches the profit"),
            ("t 1 r 0", "is not above 0"),
            ("t 1 k 0", "is not above 0"),
            ("h 0", "is not above 0"),
            ("h 9 9 9 9 9 9 9 9", "is more than a year"),
            ("e m m", "ATR is not known"),
            ("e " + "1 " * 21, "is longer than 20 characters"),
        ],
        4,
    ),
)
async def test_nonsense_is_refused_by_its_field(keys: str, why: str) -> None:
    text, results = await after(f"{keys} y")
    assert results == []
    assert why in text


async def test_a_time_that_has_passed_is_refused() -> None:
    store = example_store()
    store.trades[TRADE].open_time_ns -= 3 * 3_600_000_000_000
    text, results = await after("h 1 2 0 y", store=store)
    assert results == []
    assert "The trade has been open longer than that" in text


async def test_without_a_stop_there_is_no_r_and_pips_work() -> None:
    text, results = await after("y", trade="6398")
    assert results == []
    assert "R is not known: it began without a stop: give pips with m" in text
    _, [result] = await after("m 1 5 y", trade="6398")
    assert isinstance(result, SetExitPlan)
    assert result.plan == ExitPlan(break_even_after=D("0.15"))


async def test_disarmed_a_plan_is_set_and_read_only_refuses_it() -> None:
    store = example_store()
    store.arming = Arming("DISARMED")
    assert len((await after("y", store=store))[1]) == 1
    store.arming = Arming("READ-ONLY")
    assert (await after("y", store=store))[1] == []


async def test_the_templates_plan_stands_in_the_form() -> None:
    rules = ExitRules(
        trail_from=Entry("1.5", "R"),
        trail_behind=Entry("20", "pips"),
        trail_step=Entry("5", "pips"),
        close_after_minutes=D(90),
    )
    context = replace(example_context(), template=Template(exit_rules=rules))
    text, _ = await after("", context=context)
    assert "t trail from 1.5 R = 1.08800 36.0 pips" in text
    assert "h close after 90 min" in text


async def test_a_closed_trade_is_said_and_nothing_is_set() -> None:
    store = example_store()
    del store.trades[TRADE]
    text, results = await after("y", store=store)
    assert results == []
    assert "The trade is closed already" in text
