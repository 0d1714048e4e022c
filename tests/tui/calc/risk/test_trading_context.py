"""Orders that only reduce: when they do, and what they realize, the oldest trade first."""

from decimal import Decimal

import pytest
from msgspec.structs import replace

from keydesk.calc.orders.checks import CheckContext, check_ticket
from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.ticket import work_out
from keydesk.calc.orders.ticket_draft import Draft, Side
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.calc.risk.trading_context import Lot, only_reduces, realized_profit
from keydesk_client.arithmetic.profit import HOME, Factors
from support.data.in_flight import in_flight
from support.data.trading_contexts import example_facts

D = Decimal
NOON = 1_772_000_000_000_000_000


@pytest.mark.parametrize(
    ("units", "net", "reduces"),
    [
        ("-10000", "20000", True),
        ("-20000", "20000", True),
        ("-20001", "20000", False),  # the last unit would open a short
        ("10000", "20000", False),
        ("5000", "-5000", True),
        ("-5000", "0", False),
        ("0", "20000", False),
    ],
)
def test_an_order_reduces_when_it_is_against_the_position_and_no_larger(
    units: str, net: str, reduces: bool
) -> None:
    assert only_reduces(D(units), D(net), hedging=False) is reduces


def test_a_hedging_account_opens_the_other_side_instead() -> None:
    assert not only_reduces(D(-10_000), D(20_000), hedging=True)


def test_the_oldest_trade_is_realized_first() -> None:
    lots = (Lot(D(10_000), D("1.0800")), Lot(D(10_000), D("1.0900")))
    assert realized_profit(lots, D(10_000), D("1.0850"), HOME) == D(50)
    assert realized_profit(lots, D(15_000), D("1.0850"), HOME) == D(25)


def test_a_short_realizes_with_the_sign_of_a_short_and_each_factor_for_its_own() -> None:
    lots = (Lot(D(-1_000), D("150")), Lot(D(-1_000), D("160")))
    factors = Factors(gain=D("0.0064"), loss=D("0.0066"), value=D("0.0065"))
    assert realized_profit(lots, D(2_000), D("155"), factors) == D(-33) + D(32)


def test_what_is_not_known_is_not_claimed() -> None:
    assert realized_profit((Lot(D(1_000), D("1.08")),), D(2_000), D("1.09"), HOME) is None


@pytest.mark.parametrize(
    ("side", "net", "price"), [("SELL", "20000", "1.08200"), ("BUY", "-20000", "1.08800")]
)
def test_a_stop_order_that_only_reduces_has_no_bracket_and_no_limits_of_opening(
    side: Side, net: str, price: str
) -> None:
    draft = Draft(
        side,
        "EUR_USD",
        kind="STOP",
        size=Entry("10000", "units"),
        price=Entry(price, "price"),
        stop=Entry("20", "pips"),
        target=Entry("2", "R"),
    )
    context = replace(example_facts(net_units=net, age=60, silent=60), tradeable=False)
    limits = Limits(hard_units=D(1), soft_leverage=D(0))
    plan = work_out(draft, context, limits)
    assert plan.reduces
    assert (plan.levels.stop, plan.levels.target, plan.levels.trail) == (None, None, None)
    verdict = check_ticket(
        draft, plan, context, limits, CheckContext(NOON, in_flight=(in_flight("EUR_USD"),))
    )
    assert (verdict.refusals, verdict.warnings) == ((), ())


@pytest.mark.parametrize(("side", "price"), [("SELL", "1.08600"), ("BUY", "1.08400")])
def test_a_stop_order_that_would_not_rest_says_so(side: Side, price: str) -> None:
    draft = Draft(
        side,
        "EUR_USD",
        kind="STOP",
        size=Entry("10000", "units"),
        price=Entry(price, "price"),
        stop=Entry("20", "pips"),
    )
    context = example_facts()
    plan = work_out(draft, context, Limits())
    [text] = check_ticket(draft, plan, context, Limits(), CheckContext(NOON)).warnings
    assert text == f"The market is past {price} already: this stop fills at once"
