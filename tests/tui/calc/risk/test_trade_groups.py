"""The trades of an instrument as one: weighted entry and pips, R of what was risked, sums."""

from dataclasses import replace
from decimal import Decimal

import pytest

from keydesk.calc.risk.trade_groups import group_of
from keydesk.values import TradeRow
from support.data.desk_store import long_euro, short_yen

D = Decimal


def long_of(units: int, price: str, pips: str, **more: Decimal | None) -> TradeRow:
    trade = replace(long_euro(), units=D(units), price=D(price), pips=D(pips))
    for name, value in more.items():
        setattr(trade, name, value)
    return trade


def test_the_entry_is_weighted_by_units() -> None:
    group = group_of([long_of(30_000, "1.0850", "10"), long_of(20_000, "1.0830", "30")])
    assert group.entry == D("1.08420")
    assert group.pips == D(18)
    assert group.units == 50_000


def test_r_is_the_profit_in_units_of_all_that_was_risked() -> None:
    first = long_of(1, "1", "0", initial_risk=D(100), r_multiple=D("1.5"), unrealized_pl=D(150))
    other = long_of(1, "1", "0", initial_risk=D(50), r_multiple=D(-1), unrealized_pl=D(-50))
    group = group_of([first, other])
    assert group.profit == 100
    assert group.r_multiple == D(100) / 150


@pytest.mark.parametrize("missing", ["initial_risk", "r_multiple"])
def test_r_is_not_known_where_one_trade_has_none(missing: str) -> None:
    known = long_of(1, "1", "0", initial_risk=D(100), r_multiple=D(1))
    unknown = long_of(1, "1", "0", initial_risk=D(100), r_multiple=D(1))
    setattr(unknown, missing, None)
    assert group_of([known, unknown]).r_multiple is None


def test_a_hedged_pair_has_no_one_entry() -> None:
    short = replace(long_euro(), units=D(-4_000))
    group = group_of([long_euro(), short])
    assert group.is_hedged
    assert (group.entry, group.pips) == (None, None)


def test_a_trade_without_a_stop_is_counted_and_not_summed() -> None:
    risky, unprotected = long_of(1, "1", "0", risk=D(20)), replace(short_yen(), risk=None)
    group = group_of([risky, unprotected])
    assert (group.risk, group.unprotected) == (D(20), 1)


def test_no_trades_are_nothing() -> None:
    group = group_of([])
    assert group.units == 0
    assert [group.entry, group.pips, group.r_multiple] == [None, None, None]
