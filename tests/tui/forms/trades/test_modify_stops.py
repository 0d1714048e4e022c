"""Modify and break-even: the guaranteed stop with its premium, the offset by key, and the limits on a moved entry."""

from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace
from textual.screen import Screen

from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.instructions import MoveEntry, SetProtection
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.forms.trades.break_even import BreakEvenForm
from keydesk.forms.trades.move_order import MoveForm
from keydesk.forms.trades.protection import ProtectionForm
from keydesk.parse.orders import ParsedOrder
from keydesk.store.store import Store
from keydesk.values import DependentOrder
from keydesk_client.unset import UNSET
from support.data.desk_store import WALL_NS, example_store
from support.fakes.form_app import FormApp, example_context
from support.walks import sampled_rows

D = Decimal
TRADE = "6411"  # long 20,000 from 1.08440, stop 1.08200, target 1.08900; the bid is 1.08490


def guaranteeing(*, has_one: bool = False) -> Store:
    """The broker guarantees stops 10 pips away at 1.2 pips."""
    store = example_store()
    store.instruments["EUR_USD"] = store.instruments["EUR_USD"].model_copy(
        update={
            "guaranteed_stop_loss_order_mode": "ALLOWED",
            "minimum_guaranteed_stop_loss_distance": D("0.0010"),
            "guaranteed_stop_loss_order_execution_premium": D("0.00012"),
        }
    )
    if has_one:
        trade = store.trades[TRADE]
        trade.stop_loss, trade.guaranteed_stop = None, DependentOrder("6412", D("1.08200"))
    return store


async def pressed(form: Screen[Any], keys: str) -> tuple[str, list[object]]:
    app = FormApp(lambda: form)
    async with app.run_test(size=(80, 24)) as pilot:
        for key in keys.split():
            await pilot.press(key)
        await pilot.pause()
        return " ".join(app.words.replace("┃", " ").split()), app.results


def modify(store: Store) -> ProtectionForm:
    return ProtectionForm(example_context(store), TRADE)


async def test_the_guaranteed_stop_is_a_field_where_the_broker_offers_it() -> None:
    assert "w guaranteed " in (await pressed(modify(guaranteeing()), ""))[0]
    assert "w guaranteed " not in (await pressed(modify(example_store()), ""))[0]


async def test_a_guaranteed_stop_stands_alone_and_its_premium_is_shown() -> None:
    text, results = await pressed(modify(guaranteeing()), "w 1 . 0 8 2 0 0 y")
    assert results == []
    assert "A guaranteed stop stands alone: empty stop and trail" in text
    keys = "w 1 . 0 8 2 0 0 s backspace"
    text, _ = await pressed(modify(guaranteeing()), keys)
    assert "premium 2.40 USD if it fills" in text
    assert "1.08200 → REMOVED" in text
    assert "none → 1.08200" in text
    assert "t target 1.08900 price as it is" in text
    _, results = await pressed(modify(guaranteeing()), f"{keys} y")
    assert results == [SetProtection(TRADE, "EUR_USD", stop=None, guaranteed=D("1.08200"))]


async def test_a_guaranteed_stop_is_moved_and_loosening_it_asks_for_a_letter() -> None:
    _, [tighter] = await pressed(modify(guaranteeing(has_one=True)), "w 1 . 0 8 3 0 0 y")
    assert tighter == SetProtection(TRADE, "EUR_USD", guaranteed=D("1.08300"))
    text, results = await pressed(modify(guaranteeing(has_one=True)), "w 1 . 0 8 1 0 0 y")
    assert results == []
    assert "This loosens or removes a stop" in text
    text, results = await pressed(modify(guaranteeing(has_one=True)), "w backspace y")
    assert results == []
    assert "This loosens or removes a stop" in text


async def test_a_guaranteed_stop_is_exchanged_for_another_in_one_send_after_a_letter() -> None:
    keys = "w backspace s 1 . 0 8 2 0 0"
    text, results = await pressed(modify(guaranteeing(has_one=True)), f"{keys} y")
    assert results == [], "without the guarantee it may fill worse over a gap"
    assert "This loosens or removes a stop" in text
    _, results = await pressed(modify(guaranteeing(has_one=True)), f"{keys} c")
    assert results == [SetProtection(TRADE, "EUR_USD", stop=D("1.08200"), guaranteed=None)]


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ("w 1 . 0 8 4 0 0 s backspace", "stands 10 pips from the price at least"),
        ("w 1 . 0 9 9 s backspace", "would fire now"),
        ("w 1 comma 5", "has a comma"),
    ],
)
async def test_a_guaranteed_stop_that_the_broker_would_not_take_is_refused(
    keys: str, why: str
) -> None:
    text, results = await pressed(modify(guaranteeing()), f"{keys} y")
    assert results == []
    assert why in text


@pytest.mark.parametrize(
    ("keys", "why"),
    sampled_rows(
        [
            ("s 4 0", "would fire now, the price is 1.08490: m counts in pips, not in price"),
            ("s 1 . 0 9 9", "would fire now, the price is 1.08490: close it instead"),
            ("t 0 . 4", "would fill now, the price is 1.08490: m counts in pips, not in price"),
            (
                "t 4 0",
                "Target 40.00000 is implausibly far: pips typed as a price? m counts in pips",
            ),
            ("s 0 . 5", "Stop 0.50000 is implausibly far: pips typed as a price? m counts in pips"),
        ],
        3,
    ),
)
async def test_a_level_that_is_passed_is_refused_with_the_remedy(keys: str, why: str) -> None:
    text, results = await pressed(modify(example_store()), f"{keys} y")
    assert results == []
    assert why in text


async def test_a_stop_far_from_the_price_may_still_be_tightened() -> None:
    store = example_store()
    store.trades[TRADE].stop_loss = DependentOrder("6412", D("0.40000"))
    _, [result] = await pressed(modify(store), "s 0 . 5 y")
    assert result == SetProtection(TRADE, "EUR_USD", stop=D("0.50000"))


async def test_what_is_not_touched_is_not_sent() -> None:
    _, [result] = await pressed(modify(guaranteeing()), "s 1 . 0 8 3 0 0 y")
    assert isinstance(result, SetProtection)
    assert (result.target, result.trail, result.guaranteed) == (UNSET,) * 3


async def test_loosening_a_stop_warns_of_an_exit_plan_that_runs() -> None:
    from keydesk.calc.orders.plans.exit_plans import ExitPlan  # noqa: PLC0415

    store = example_store()
    store.exit_plans[TRADE] = ExitPlan(break_even_after=D("0.002"))
    text, _ = await pressed(modify(store), "s 1 . 0 8 1 0 0")
    assert "An exit plan runs and may tighten it again: H changes it" in text


def even(store: Store) -> BreakEvenForm:
    return BreakEvenForm(example_context(store), TRADE)


async def test_pips_beyond_break_even_are_set_by_key() -> None:
    _, [usual] = await pressed(even(example_store()), "y")
    assert usual == SetProtection(TRADE, "EUR_USD", stop=D("1.08443"))
    _, [nudged] = await pressed(even(example_store()), "up up y")
    assert nudged == SetProtection(TRADE, "EUR_USD", stop=D("1.08463"))
    _, [typed] = await pressed(even(example_store()), "1 . 5 y")
    assert typed == SetProtection(TRADE, "EUR_USD", stop=D("1.08458"))


@pytest.mark.parametrize(
    ("keys", "why"), [("4 0", "It would fire now"), ("1 comma 5", "has a comma")]
)
async def test_an_offset_beyond_the_price_or_unreadable_is_refused(keys: str, why: str) -> None:
    text, results = await pressed(even(example_store()), f"{keys} y")
    assert results == []
    assert why in text


async def test_break_even_moves_a_guaranteed_stop_itself() -> None:
    _, [result] = await pressed(even(guaranteeing(has_one=True)), "y")
    assert result == SetProtection(TRADE, "EUR_USD", guaranteed=D("1.08443"))


def move(limits: Limits) -> MoveForm:  # a buy limit of 20,000 at 1.08200, its stop 20 pips below
    return MoveForm(replace(example_context(), limits=limits), "6415")


async def test_a_moved_entry_that_raises_the_risk_is_held_to_the_limits() -> None:
    limits = Limits(hard_risk_percent=D("0.5"))
    text, results = await pressed(move(limits), "s 1 . 0 7 9 y")
    assert results == []
    assert "Risk of a trade" in text
    text, results = await pressed(move(limits), "u 4 0 0 0 0 y")
    assert results == []
    text, results = await pressed(move(limits), "s backspace")
    assert "An entry without a stop" in text


async def test_open_risk_of_the_account_counts_with_the_order_as_it_would_be() -> None:
    store_limits = Limits(hard_open_risk_percent=D("0.9"))
    text, results = await pressed(move(store_limits), "s 1 . 0 7 9 y")
    assert results == []
    assert "Open risk" in text


async def test_a_move_that_lowers_the_risk_passes_a_limit_that_the_order_breaks() -> None:
    _, [result] = await pressed(move(Limits(hard_risk_percent=D("0.1"))), "s 1 . 0 8 1 y")
    assert isinstance(result, MoveEntry)
    assert result.stop == D("1.08100")


async def test_a_soft_limit_asks_for_a_letter() -> None:
    text, results = await pressed(move(Limits(soft_risk_percent=D("0.5"))), "s 1 . 0 7 9 y")
    assert results == []
    assert "% of NAV, over 0.5 %" in text


async def test_loss_and_target_are_both_in_the_initial_risk_after_the_stop_has_moved() -> None:
    store = example_store()
    store.trades[TRADE].initial_risk = D(60)  # 30 pips; the stop stands at 24
    text = (await pressed(modify(store), ""))[0]
    assert "at stop −48.00 USD −0.80 R" in text
    assert "target +92.00 USD +1.53 R" in text


async def test_profit_and_loss_of_the_worked_example_stay_in_the_first_risk() -> None:
    """50,000 bought at 1.08500 with a stop at 1.08300 risk 100; the stop moves, the 100 stay 1 R."""
    store = example_store()
    trade = store.trades[TRADE]
    trade.units, trade.price, trade.initial_risk = D(50_000), D("1.08500"), D(100)
    text = (await pressed(modify(store), "s 1 . 0 8 4 t 1 . 0 8 9"))[0]
    assert "at stop −50.00 USD −0.50 R" in text
    assert "target +200.00 USD +2.00 R" in text


async def test_without_an_initial_risk_the_target_is_compared_with_the_loss_at_the_stop() -> None:
    store = example_store()
    store.trades[TRADE].initial_stop = store.trades[TRADE].initial_risk = None
    text = (await pressed(modify(store), ""))[0]
    assert "at stop −48.00 " in text
    assert "target +92.00 USD 1.92 times the loss" in text


async def test_a_time_in_force_is_of_what_changes_and_a_stop_that_ends_asks_for_a_letter() -> None:
    _, results = await pressed(modify(example_store()), "t 1 . 0 8 9 5 0 e e y")
    assert results == [
        SetProtection(TRADE, "EUR_USD", target=D("1.08950"), expiry="GFD"),
    ]
    text, results = await pressed(modify(example_store()), "e e y")
    assert results == []
    assert "e until good for the day: stop, target" in text
    assert "The stop ends (good for the day): after that nothing limits the loss" in text
    _, results = await pressed(modify(example_store()), "e e c")
    both = SetProtection(TRADE, "EUR_USD", stop=D("1.08200"), target=D("1.08900"), expiry="GFD")
    assert results == [both]


async def test_a_trailing_stop_is_not_begun_anew_by_a_time_in_force() -> None:
    store = example_store()
    trade = store.trades[TRADE]
    trade.stop_loss, trade.trailing_stop = None, DependentOrder("6412", None, D("0.0020"))
    _, results = await pressed(modify(store), "e y")
    assert results == [SetProtection(TRADE, "EUR_USD", target=D("1.08900"), expiry="GTC")]


async def test_the_time_in_force_turns_back_to_what_it_was() -> None:
    text, results = await pressed(modify(example_store()), "e e e e e e y")
    assert results == []
    assert "No change yet" in text


async def test_an_end_is_typed_for_what_changes() -> None:
    text, results = await pressed(modify(example_store()), "t 1 . 0 8 9 5 0 g 4 h enter y")
    end = WALL_NS + 4 * 3_600_000_000_000
    at = D("1.08950")
    assert results == [SetProtection(TRADE, "EUR_USD", target=at, expiry="GTD", gtd_ns=end)]
    text, results = await pressed(modify(example_store()), "t 1 . 0 8 9 5 0 g n o enter y")
    assert results == []
    assert "until: no is not an expiry" in text
    text, results = await pressed(modify(example_store()), "t 1 . 0 8 9 5 0 g y")
    assert results == []
    assert "Enter ends the text" in text
    text, _ = await pressed(modify(example_store()), "g enter")
    assert "No change yet" in text, "an empty end leaves it as it is"


async def test_a_trigger_is_of_what_changes_and_one_of_a_stop_asks_for_a_letter() -> None:
    _, results = await pressed(modify(example_store()), "t 1 . 0 8 9 5 0 i i i y")
    assert results == [SetProtection(TRADE, "EUR_USD", target=D("1.08950"), trigger="BID")]
    text, results = await pressed(modify(example_store()), "i i y")
    assert results == []
    assert "i trigger inverse: bid for buys, ask for sells: stop, target" in text
    assert "The stop triggers at inverse" in text


async def test_a_guaranteed_stop_has_the_usual_trigger() -> None:
    store = guaranteeing(has_one=True)
    text, results = await pressed(modify(store), "w 1 . 0 8 2 5 0 i i c")
    assert results == []
    assert "trigger: a guaranteed stop has the usual one" in text


def after_a_ticket_in_pips() -> Store:
    store = example_store()
    store.sent.distance_unit = "pips"
    return store


async def test_a_trade_is_modified_in_the_unit_of_the_last_ticket() -> None:
    text, results = await pressed(modify(after_a_ticket_in_pips()), "")
    assert "s stop 24 pips as it is" in text
    assert "t target 46 pips as it is" in text
    assert "No change yet" in text
    assert results == []
    _, results = await pressed(modify(after_a_ticket_in_pips()), "s 1 5 y")
    assert results == [SetProtection(TRADE, "EUR_USD", stop=D("1.08290"))]
    assert "s stop 1.08200 price as it is" in (await pressed(modify(example_store()), ""))[0]


async def test_a_ticket_that_is_closed_leaves_its_unit_to_the_next_change() -> None:
    store = example_store()
    fields = ParsedOrder(stop=Entry("1.0820", "price"))
    for given, unit in ((fields, "price"), (None, "pips")):
        await pressed(TicketForm(example_context(store), "BUY", "EUR_USD", given), "escape")
        assert store.sent.distance_unit == unit


@pytest.mark.parametrize("keys", ["t 1 5", "s 0 . 1", "w 0 . 1 s backspace"])
async def test_nothing_is_reckoned_from_an_absurd_level(keys: str) -> None:
    text, results = await pressed(modify(guaranteeing()), f"{keys} y")
    assert results == []
    assert "is implausibly far: pips typed as a price?" in text
    assert "at stop –" in text
    assert "target –" in text
    assert " R " not in text


async def test_a_distance_that_is_absurd_is_refused_with_its_own_remedy() -> None:
    text, results = await pressed(modify(after_a_ticket_in_pips()), "t 9 9 9 9 9 y")
    assert results == []
    assert "is implausibly far: type a smaller distance" in text
    assert "target –" in text


async def test_a_price_typed_as_pips_is_refused() -> None:
    text, results = await pressed(modify(after_a_ticket_in_pips()), "s 1 . 0 8 2 0 y")
    assert results == []
    assert "stop: 1.0820 pips reads like a price: m counts in prices" in text


@pytest.mark.parametrize("keys", ["t 1 5", "s 0 . 1"])
async def test_an_entry_is_not_moved_to_an_absurd_level(keys: str) -> None:
    form = MoveForm(example_context(example_store()), "6415")
    text, results = await pressed(form, f"{keys} y")
    assert results == []
    assert "is implausibly far: pips typed as a price?" in text
    assert "at stop –" in text


async def test_a_ticket_reckons_nothing_from_an_absurd_level() -> None:
    fields = ParsedOrder(stop=Entry("1.0820", "price"), target=Entry("15", "price"))
    ticket = TicketForm(example_context(example_store()), "BUY", "EUR_USD", fields)
    text, _ = await pressed(ticket, "")
    assert "Target 15.00000 is implausibly far" in text
    assert "target –" in text
