"""The trader's limits: what each refuses, what it names, and the pause after a row of losses."""

from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.limits import (
    LIMIT_FIELDS,
    cool_off_text,
    limit_refusals,
    limit_warnings,
    losses_in_a_row,
)
from keydesk.calc.orders.ticket import work_out
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.calc.risk.trading_context import NO_RISK, OpenRisk
from keydesk.values import ClosedTrade
from support.data.trading_contexts import example_facts

D = Decimal
TICKET = Draft(  # 10,000 EUR/USD at 1.08500: value 10,849.50, risk 20.00 of 10,000 NAV
    "BUY", "EUR_USD", size=Entry("10000", "units"), stop=Entry("20", "pips"), target=Entry("", "R")
)
MINUTE = 60_000_000_000
NAMES = {each.name: each.text for each in LIMIT_FIELDS}


def refusals(limits: Limits, draft: Draft = TICKET, risk: OpenRisk = NO_RISK) -> list[str]:
    context = example_facts()
    return list(limit_refusals(work_out(draft, context, limits), context, limits, risk))


@pytest.mark.parametrize(
    ("name", "passes", "refuses", "text"),
    [
        ("hard_units", "10000", "9999", "10,000 units: your own limit of 9,999 units"),
        ("hard_notional", "10849.50", "10849.49", "A value of 10,849.50 USD"),
        ("hard_leverage", "1.085", "1.084", "A value of 1.1 times NAV: your own limit of 1.084"),
        ("hard_risk_percent", "0.2", "0.19", "Risk 0.20 %: your own limit of 0.19 %"),
        ("hard_open_risk_percent", "0.2", "0.19", "Open risk 0.00 % → 0.20 %"),
        ("hard_units", "10000", "1", "10,000 units: your own limit of 1 unit (Units of a trade). "),
        ("hard_spread_pips", "1", "0.9", "The spread is 1.0 pips: your own limit of 0.9 pips"),
        ("hard_spread_of_stop", "0.05", "0.04", "The spread is 5 % of the stop"),
    ],
)
def test_a_hard_limit_refuses_what_is_over_it_and_names_value_and_remedy(
    name: str, passes: str, refuses: str, text: str
) -> None:
    at_it: dict[str, Any] = {name: D(passes)}
    over_it: dict[str, Any] = {name: D(refuses)}
    assert refusals(Limits(**at_it)) == []
    [said] = refusals(Limits(**over_it))
    assert text in said
    assert f"({NAMES[name]}). " in said
    assert said.endswith("or :limits changes it")


def test_entry_orders_and_open_trades_count_together() -> None:
    limits = Limits(hard_open_trades=D(3))
    assert refusals(limits, risk=OpenRisk(1, 1)) == []
    [said] = refusals(limits, risk=OpenRisk(2, 1))
    assert "2 open trades and 1 entry order: your own limit of 3" in said


def test_open_risk_counts_what_is_open_and_refuses_beside_a_trade_without_a_stop() -> None:
    limits = Limits(hard_open_risk_percent=D(2))
    assert refusals(limits, risk=OpenRisk(1, 0, D(180))) == []
    assert "1.81 % → 2.01 %" in refusals(limits, risk=OpenRisk(1, 0, D(181)))[0]
    assert "1 trade or order has no stop" in refusals(limits, risk=OpenRisk(1, 0, D(0), 1))[0]


@pytest.mark.parametrize("name", ["hard_risk_percent", "hard_open_risk_percent"])
def test_a_limit_of_risk_refuses_a_ticket_without_a_stop(name: str) -> None:
    limit: dict[str, Any] = {name: D(5)}
    [said] = refusals(Limits(**limit), replace(TICKET, stop=Entry()))
    assert "Set a stop" in said


def test_a_pending_order_far_from_the_market_is_refused() -> None:
    far = replace(TICKET, kind="LIMIT", price=Entry("1.07000", "price"))
    [said] = refusals(Limits(hard_deviation_percent=D(1)), far)
    assert "1.07000 is 1.38 % from the market: your own limit of 1 %" in said
    assert refusals(Limits(hard_deviation_percent=D(2)), far) == []


def test_the_limits_of_the_instrument_replace_those_of_the_account() -> None:
    limits = Limits(hard_units=D(100), instruments={"EUR_USD": {"hard_units": D(20_000)}})
    assert refusals(limits) == []


def test_a_wide_spread_asks_for_a_letter() -> None:
    context, limits = example_facts(), Limits(soft_spread_pips=D("0.5"))
    plan = work_out(TICKET, context, limits)
    assert list(limit_warnings(plan, context, limits)) == ["The spread is 1.0 pips, over 0.5"]


def test_every_limit_has_words_and_every_member_is_on_the_page() -> None:
    members = set(Limits.__struct_fields__) - {"instruments"}
    assert {each.name for each in LIMIT_FIELDS} == members


# A row of losses.


def closed(*results: int) -> list[ClosedTrade]:
    return [ClosedTrade(str(at), at * MINUTE, D(result)) for at, result in enumerate(results)]


@pytest.mark.parametrize(
    ("results", "count"),
    [((), 0), ((-1, -1), 2), ((-1, 5), 0), ((5, -1, 0, -1), 2), ((-1, -1, 3, -1), 1)],
)
def test_losses_are_counted_back_to_the_last_win(results: tuple[int, ...], count: int) -> None:
    assert losses_in_a_row(closed(*results)) == count


def test_after_a_row_of_losses_only_exits_are_sent_for_a_while() -> None:
    limits = Limits(cool_off_losses=D(3), cool_off_minutes=D(15))
    row = closed(-1, -1, -1)  # the last at two minutes
    assert cool_off_text(row[:2], limits, 2 * MINUTE) == ""
    text = cool_off_text(row, limits, 2 * MINUTE)
    assert text.startswith(
        "COOL-OFF after 3 losses in a row (your own limit is 3): exits only for 15m"
    )
    assert cool_off_text(row, limits, 17 * MINUTE - 1)
    assert cool_off_text(row, limits, 17 * MINUTE) == ""
    assert cool_off_text(closed(-1, -1, -1, -1), limits, 17 * MINUTE)  # the next loss pauses again
    assert cool_off_text(row, Limits(), 2 * MINUTE) == ""


def test_an_entry_many_days_ranges_from_the_market_asks_for_a_letter() -> None:
    context = replace(example_facts(), daily_range=D("0.0060"))
    far = replace(TICKET, kind="LIMIT", price=Entry("1.07000", "price"))  # 149.5 pips away
    for limits, ranges, said in (
        (Limits(), D("0.0060"), ["1.07000 is 2.5 ADR from the market (a day moves 60p), over 2"]),
        (Limits(soft_deviation_ranges=D(3)), D("0.0060"), []),
        (Limits(soft_deviation_ranges=None), D("0.0060"), []),
        (Limits(), None, []),
    ):
        known = replace(context, daily_range=ranges)
        plan = work_out(far, known, limits)
        assert list(limit_warnings(plan, known, limits)) == said
