"""Distances in average true ranges: the worked number, sizing by them, and an unknown one that is never empty."""

from dataclasses import dataclass
from decimal import Decimal

import pytest
from msgspec.structs import replace

from keydesk.calc.orders.average_range import CANDLES, average_range, distance
from keydesk.calc.orders.change_checks import protection_refusals
from keydesk.calc.orders.checks import CheckContext, check_ticket
from keydesk.calc.orders.field_draft import Entry, UnreadableText
from keydesk.calc.orders.protection import completed_by, draft_of, protection_of, wanted_protection
from keydesk.calc.orders.ticket import work_out
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.calc.orders.ticket_levels import sendable
from keydesk.calc.orders.ticket_settings import Limits, Template
from keydesk.parse.orders import OrderSyntaxError, parse_order
from support.data.desk_store import WALL_NS, long_euro, short_yen
from support.data.trading_contexts import example_facts

D = Decimal
RANGE = "0.00082"  # 8.2 pips, so that 1.5a is 12.3 pips


@dataclass(frozen=True)
class Bar:
    high: float
    low: float
    close: float


def by_risk(stop: Entry, **fields: Entry) -> Draft:
    return Draft("BUY", "EUR_USD", size=Entry("1", "risk %"), stop=stop, **fields)  # type: ignore[arg-type]


def test_one_and_a_half_ranges_size_a_trade_by_risk() -> None:
    """1.5 x 0.00082 = 0.00123 under 1.08500; 1 % of 10,000 over that is 81,300 units; 2R is 0.00246 above."""
    draft = by_risk(Entry("1.5", "ATR"), target=Entry("2", "R"))
    plan = work_out(draft, example_facts(average_range=RANGE), Limits())
    assert (plan.levels.stop, plan.levels.target) == (D("1.08377"), D("1.08746"))
    assert (plan.distance, plan.units) == (D("0.00123"), D(81_300))
    assert plan.risk == D("99.99900")
    assert plan.ratio == 2


def test_target_and_trailing_stop_count_in_ranges_too() -> None:
    draft = by_risk(Entry("1.5", "ATR"), target=Entry("3", "ATR"), trail=Entry("2", "ATR"))
    levels = sendable(work_out(draft, example_facts(average_range=RANGE), Limits()).levels)
    assert levels is not None
    assert (levels.target, levels.trail) == (D("1.08746"), D("0.00164"))


def test_a_sale_has_its_stop_above() -> None:
    draft = replace(by_risk(Entry("1.5", "ATR")), side="SELL")
    plan = work_out(draft, example_facts(average_range=RANGE), Limits())
    assert plan.levels.stop == D("1.08613")


@pytest.mark.parametrize("name", ["stop", "target", "trail"])
def test_without_a_known_range_the_field_is_refused_by_its_name(name: str) -> None:
    fields = {"stop": Entry("20", "pips"), name: Entry("1.5", "ATR")}
    draft, facts = by_risk(fields.pop("stop"), **fields), example_facts()
    plan = work_out(draft, facts, Limits())
    assert sendable(plan.levels) is None
    verdict = check_ticket(draft, plan, facts, Limits(), CheckContext(WALL_NS))
    wanted = f"{name}: 1.5a needs ATR 14 H1, which is not known"
    assert [each for each in verdict.refusals if each.startswith(wanted)]


def test_a_distance_is_a_number_or_empty_or_unreadable() -> None:
    facts = example_facts(average_range=RANGE)
    assert distance(Entry("1.5", "ATR"), facts) == D("0.00123")
    assert distance(Entry("20", "pips"), facts) == D("0.0020")
    assert distance(Entry("", "ATR"), facts) is None
    assert isinstance(distance(Entry("1..5", "ATR"), facts), UnreadableText)
    assert isinstance(distance(Entry("1.5", "ATR"), example_facts()), UnreadableText)


def test_the_range_of_hourly_candles_is_wilders() -> None:
    candles = [Bar(1.1012, 1.1000, 1.1006)] * CANDLES
    assert average_range(candles, 5) == D("0.00120000")


@pytest.mark.parametrize(
    "candles", [[], [Bar(1.1, 1.0, 1.05)] * 14, [Bar(1.1, 1.1, 1.1)] * CANDLES]
)
def test_too_few_candles_or_none_that_moved_give_no_range(candles: list[Bar]) -> None:
    assert average_range(candles, 5) is None


# Protection of a trade.


def test_a_stop_of_a_trade_is_measured_from_its_entry() -> None:
    facts, trade = example_facts(average_range=RANGE), long_euro()
    draft = draft_of(protection_of(trade), facts).with_field("stop", Entry("1.5", "ATR"))
    draft = draft.with_field("trail", Entry("2", "ATR"))
    new = wanted_protection(draft, trade, facts)
    assert new is not None
    assert (new.stop, new.trail) == (D("1.08317"), D("0.00164"))


def test_a_stop_of_a_trade_is_refused_by_name_while_the_range_is_unknown() -> None:
    facts, trade = example_facts(), long_euro()
    draft = draft_of(protection_of(trade), facts).with_field("stop", Entry("1.5", "ATR"))
    assert wanted_protection(draft, trade, facts) is None
    assert protection_refusals(draft, trade, facts)[0].startswith("stop: 1.5a needs ATR 14 H1")


# Templates.

IN_RANGES = Template(stop_atr=D("1.5"), trail_atr=D(2))


def test_a_template_in_ranges_protects_a_trade() -> None:
    facts, trade = example_facts("USD_JPY", average_range="0.300"), short_yen()
    draft = completed_by(draft_of(protection_of(trade), facts), trade, facts, IN_RANGES)
    assert (draft.entry("stop").text, draft.entry("target").text) == ("155.550", "154.200")


def test_a_template_in_ranges_is_refused_by_name_while_the_range_is_unknown() -> None:
    facts, trade = example_facts("USD_JPY"), short_yen()
    draft = completed_by(draft_of(protection_of(trade), facts), trade, facts, IN_RANGES)
    assert protection_refusals(draft, trade, facts)[0].startswith("stop: 1.5a needs ATR 14 H1")


def test_a_template_in_ranges_stays_wide_enough_for_the_spread() -> None:
    """Five spreads of 1 pip are more than 1.5 times 2 pips."""
    entry = IN_RANGES.stop_entry(example_facts(average_range="0.00020"))
    assert entry == Entry("5", "pips")
    assert IN_RANGES.stop_entry(example_facts(average_range=RANGE)) == Entry("1.5", "ATR")


def test_a_trailing_distance_is_at_least_the_brokers() -> None:
    entry = IN_RANGES.trail_entry(example_facts(average_range="0.00020"))
    assert entry == Entry("5", "pips")
    assert IN_RANGES.trail_entry(example_facts(average_range=RANGE)) == Entry("2", "ATR")


# The command line.


def test_the_command_line_takes_ranges() -> None:
    parsed = parse_order(["50k", "sl", "1.5a", "tp", "3a", "tr", "2a"])
    assert parsed.stop == Entry("1.5", "ATR")
    assert parsed.target == Entry("3", "ATR")
    assert parsed.trail == Entry("2", "ATR")
    assert parsed.text == "stop 1.5 ATR, target 3 ATR, trail 2 ATR"


@pytest.mark.parametrize("words", [["sl", "a"], ["tr", "1,5a"], ["bound", "2a"], ["sl", "1aa"]])
def test_what_is_no_distance_in_ranges_is_refused(words: list[str]) -> None:
    with pytest.raises(OrderSyntaxError):
        parse_order(words)
