"""What a trade makes at its stop: whichever of its stops is met first, and the template's bracket in true R."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk.calc.orders.protection import (
    Protection,
    ProtectionDraft,
    completed_by,
    draft_of,
    outlook,
    protection_of,
    wanted_protection,
)
from keydesk.calc.orders.ticket_settings import Template
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.trades.protection import ProtectForm, ProtectionForm, TrailingForm
from keydesk.values import DependentOrder, TradeRow
from support.data.desk_store import D, example_store, long_euro, short_yen
from support.data.trading_contexts import example_facts, with_price
from support.fakes.form_app import FormApp, example_context

FACTS = example_facts("EUR_USD")  # 1.08490 / 1.08500


def levels_wanted(draft: ProtectionDraft, trade: TradeRow, context: TradingContext) -> Protection:
    levels = wanted_protection(draft, trade, context)
    assert levels is not None
    return levels


def unprotected_trade(**changes: object) -> TradeRow:
    trade = replace(long_euro(), stop_loss=None, take_profit=None)
    return replace(trade, **changes)  # type: ignore[arg-type]


def test_a_trailing_stop_nearer_than_the_stop_is_the_one_at_stop_means() -> None:
    levels = Protection(stop=D("1.08200"), target=None, trail=D("0.00200"))
    assert outlook(long_euro(), levels, FACTS).at_stop == D("-30.00000")  # 1.08490 less 20 pips


def test_a_stop_nearer_than_the_trailing_stop_is_the_one_at_stop_means() -> None:
    levels = Protection(stop=D("1.08200"), target=None, trail=D("0.01000"))
    assert outlook(long_euro(), levels, FACTS).at_stop == D("-48.00000")


def test_a_trailing_stop_that_has_moved_counts_where_it_stands() -> None:
    trade = unprotected_trade(trailing_stop=DependentOrder("6414", D("1.08470"), D("0.00200")))
    assert outlook(trade, protection_of(trade), FACTS).at_stop == D("6.00000")


@pytest.mark.parametrize(
    ("slot", "order", "at_stop"),
    [
        ("trailing_stop", DependentOrder("6414", D("1.08340"), D("0.00150")), D("-20.00000")),
        ("trailing_stop", DependentOrder("6414", None, D("0.00150")), D("-20.00000")),
        ("guaranteed_stop", DependentOrder("6414", D("1.08240")), D("-40.00000")),
    ],
)
def test_any_kind_of_stop_limits_the_loss(
    slot: str, order: DependentOrder, at_stop: Decimal
) -> None:
    trade = unprotected_trade(**{slot: order})
    assert outlook(trade, protection_of(trade), FACTS).at_stop == at_stop


def test_a_short_is_trailed_from_above() -> None:
    context = example_facts("USD_JPY")
    found = outlook(short_yen(), Protection(None, None, D("0.200")), context)
    assert found.at_stop == -5_000 * D("0.314") * context.factors.loss  # ask 155.214 and 20 pips


def test_without_any_stop_the_loss_has_no_limit() -> None:
    assert outlook(unprotected_trade(), protection_of(unprotected_trade()), FACTS).at_stop is None


@pytest.mark.parametrize("bid", ["1.08424", "1.08380", "1.08445", "1.08330"])
def test_the_templates_bracket_is_two_r_at_any_price(bid: str) -> None:
    context = with_price(FACTS, bid, str(D(bid) + D("0.00016")))
    trade = unprotected_trade()
    draft = completed_by(
        draft_of(protection_of(trade), context), trade, context, Template(stop_pips=D(15))
    )
    found = outlook(trade, levels_wanted(draft, trade, context), context)
    assert found.at_stop == D("-30.00000"), "15 pips of 20,000"
    assert found.at_target == D("60.00000")
    assert found.ratio == 2


def test_a_stop_that_the_price_has_passed_is_measured_from_the_price_and_the_target_stays_two_r() -> (
    None
):
    context = with_price(FACTS, "1.08200", "1.08210")
    trade = unprotected_trade()
    draft = completed_by(draft_of(protection_of(trade), context), trade, context, Template())
    new = levels_wanted(draft, trade, context)
    assert new.stop == D("1.08000")
    found = outlook(trade, new, context)
    assert found.ratio == 2


def test_a_target_that_the_price_has_passed_is_left_out() -> None:
    context = with_price(FACTS, "1.09000", "1.09010")
    trade = unprotected_trade()
    draft = completed_by(draft_of(protection_of(trade), context), trade, context, Template())
    new = levels_wanted(draft, trade, context)
    assert (new.stop, new.target) == (D("1.08240"), None)


def test_a_target_beside_a_stop_that_is_there_is_measured_by_that_stop() -> None:
    trade = replace(long_euro(), take_profit=None)  # stopped 24 pips under its entry
    draft = completed_by(draft_of(protection_of(trade), FACTS), trade, FACTS, Template())
    new = levels_wanted(draft, trade, FACTS)
    assert (new.stop, new.target) == (D("1.08200"), D("1.08920"))


@given(
    st.decimals("1.0700", "1.1000", places=5),
    st.integers(1, 40),
    st.sampled_from([1, -1]),
    st.decimals("0.5", "5", places=1),
)
def test_what_protect_proposes_never_fires_at_once_and_is_the_r_it_says(
    bid: Decimal, spread: int, direction: int, target_r: Decimal
) -> None:
    context = with_price(FACTS, str(bid), str(bid + spread * D("0.00001")))
    trade = unprotected_trade(units=D(20_000) * direction)
    template = Template(target_r=target_r)
    draft = completed_by(draft_of(protection_of(trade), context), trade, context, template)
    new = levels_wanted(draft, trade, context)
    close = context.bid if direction > 0 else context.ask
    assert new.stop is not None
    assert direction * (close - new.stop) > 0
    if new.target is not None:
        assert direction * (new.target - close) > 0
        ratio = outlook(trade, new, context).ratio
        assert ratio is not None
        point = D("0.00001")  # what a price can be rounded to
        assert abs(ratio - target_r) <= point / abs(trade.price - new.stop)


async def words_of(kind: type[ProtectionForm], trade: TradeRow, *keys: str) -> str:
    store = example_store()
    store.trades["6411"] = trade
    app = FormApp(lambda: kind(example_context(store), "6411"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys)
        return app.said


async def test_t_says_what_is_lost_at_the_trailing_stop() -> None:
    text = await words_of(TrailingForm, long_euro())
    assert "at stop −30.00 USD was −48.00" in text


async def test_t_on_an_unprotected_trade_says_that_the_loss_has_a_limit_now() -> None:
    text = await words_of(TrailingForm, unprotected_trade())
    assert "UNLIMITED" not in text
    assert "at stop −30.00" in text


@pytest.mark.parametrize("kind", [ProtectionForm, ProtectForm])
@pytest.mark.parametrize(
    "slot",
    [
        {"trailing_stop": DependentOrder("6414", D("1.08340"), D("0.00150"))},
        {"guaranteed_stop": DependentOrder("6414", D("1.08240"))},
    ],
)
async def test_no_form_calls_a_trailed_or_guaranteed_trade_unlimited(
    kind: type[ProtectionForm], slot: dict[str, DependentOrder]
) -> None:
    assert "UNLIMITED" not in await words_of(kind, unprotected_trade(**slot))


async def test_protect_says_the_r_of_its_bracket() -> None:
    text = await words_of(ProtectForm, unprotected_trade())
    assert "at stop −40.00" in text
    assert "target +80.00 USD 2.00 times the loss" in text
