"""What refuses a ticket and what asks for a letter, each accident by name."""

from decimal import Decimal

import pytest
from msgspec.structs import replace

from keydesk.calc.orders.checks import CheckContext, TicketCheck, check_ticket
from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.ticket import work_out
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.parse.orders import parse_order
from keydesk.text.typed import tokens
from support.data.in_flight import in_flight
from support.data.trading_contexts import example_facts

D = Decimal
NOON = 1_772_000_000_000_000_000  # 2026-02-25 06:13 UTC: hours from rollover
GOOD = Draft(
    "BUY",
    "EUR_USD",
    size=Entry("10000", "units"),
    stop=Entry("20", "pips"),
    target=Entry("2", "R"),
)


def verdict(
    draft: Draft,
    context: TradingContext | None = None,
    limits: Limits | None = None,
    check_context: CheckContext | None = None,
) -> TicketCheck:
    context, limits = context or example_facts(), limits or Limits()
    plan = work_out(draft, context, limits)
    return check_ticket(draft, plan, context, limits, check_context or CheckContext(NOON))


def test_a_usual_ticket_passes() -> None:
    assert verdict(GOOD) == TicketCheck()


@pytest.mark.parametrize(
    ("draft", "text"),
    [
        (replace(GOOD, stop=Entry("1.08600", "price")), "must be below the entry"),
        (replace(GOOD, target=Entry("1.08400", "price")), "must be above the entry"),
        (replace(GOOD, stop=Entry("0.5", "pips")), "inside the spread"),
        (replace(GOOD, stop=Entry("20", "price")), "must be below"),
        (replace(GOOD, target=Entry("20", "price")), "implausibly far"),
        (replace(GOOD, kind="LIMIT", price=Entry("20", "price")), "pips typed as a price"),
        (replace(GOOD, kind="LIMIT"), "price is missing"),
        (replace(GOOD, size=Entry("0.4", "units")), "size: 0.4 cannot be sent"),
        (replace(GOOD, size=Entry("1", "risk %"), stop=Entry(), target=Entry()), "needs a stop"),
        (replace(GOOD, size=Entry("1000000", "units")), "at most 271,251 units"),
        (replace(GOOD, size=Entry("200000000", "units")), "Above the maximum order size"),
        (replace(GOOD, stop=Entry()), "target in R needs a stop"),
        (replace(GOOD, trail=Entry("1", "pips")), "below the broker's minimum"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_reason(draft: Draft, text: str) -> None:
    assert any(text in reason for reason in verdict(draft).refusals)


@pytest.mark.parametrize(
    ("context", "text"),
    [
        (replace(example_facts(), tradeable=False), "Halted"),
        (example_facts(age=12.0, silent=12.0), "The price is 12s old and no other comes"),
    ],
)
def test_no_order_is_opened_on_no_market(context: TradingContext, text: str) -> None:
    assert any(text in reason for reason in verdict(GOOD, context).refusals)


def test_a_quiet_instrument_may_be_dealt_in_while_the_stream_lives() -> None:
    assert verdict(GOOD, example_facts(age=40.0, silent=2.0)).refusals == ()


@pytest.mark.parametrize(
    ("draft", "text"),
    [
        (replace(GOOD, stop=Entry(), target=Entry()), "No stop"),
        (replace(GOOD, size=Entry("150000", "units")), "% of NAV"),
        (replace(GOOD, stop=Entry("3", "pips")), "The spread is 33 % of the stop"),
        (replace(GOOD, size=Entry("190000", "units")), "times NAV"),
        (replace(GOOD, kind="LIMIT", price=Entry("1.08510", "price")), "MARKETABLE"),
    ],
)
def test_what_could_hurt_asks_for_a_letter(draft: Draft, text: str) -> None:
    assert any(text in warning for warning in verdict(draft).warnings)


@pytest.mark.parametrize(
    ("check_context", "text"),
    [
        (CheckContext(NOON, sent_like_this=4.0), "sent 4 s ago"),
        (CheckContext(NOON, rtt_ms=612.0), "LAG"),
        (CheckContext(NOON, usual_size=D(1_000)), "10 times your usual size here, 1,000"),
        (CheckContext(1_772_056_500_000_000_000), "Rollover in 5 min"),
    ],
)
def test_the_moment_may_ask_for_a_letter(check_context: CheckContext, text: str) -> None:
    assert any(text in warning for warning in verdict(GOOD, check_context=check_context).warnings)


def test_five_times_the_usual_size_is_usual_still() -> None:
    found = verdict(GOOD, check_context=CheckContext(NOON, usual_size=D(2_000)))
    assert found.warnings == ()


def test_one_order_at_a_time_in_an_instrument() -> None:
    found = verdict(GOOD, check_context=CheckContext(NOON, in_flight=(in_flight("EUR_USD"),)))
    assert found.refusals == ("An order in EUR/USD is still under way",)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("10k @1.0900", []),
        ("10k @1.0900 nostop", []),
        ("10k @1.0900 sl 20p", ["stop"]),
        ("10k sl 20p tp 2r tr 15p", ["stop", "target", "trail"]),
        ("1% sl 20p", []),  # the stop sizes it
    ],
)
def test_a_stop_that_was_typed_for_an_order_that_only_reduces_is_refused_and_not_left_out(
    line: str, named: list[str]
) -> None:
    context = example_facts(net_units="500000")
    typed = parse_order(tokens(line)).on(replace(GOOD, side="SELL"))
    refusals = verdict(typed, context).refusals
    assert [each.split(":")[0] for each in refusals] == named
    assert all("only reduces" in each and "Backspace empties it" in each for each in refusals)


def test_own_limits_refuse() -> None:
    limits = Limits(hard_units=D(5_000), hard_risk_percent=D("0.1"))
    text = " ".join(verdict(GOOD, limits=limits).refusals)
    assert "your own limit of 5,000 units" in text
    assert "your own limit of 0.1 %" in text
