"""What an order does to both sides of a position, in every position fill."""

from decimal import Decimal

import pytest

from keydesk.calc.orders.order_options import Fill
from keydesk.calc.orders.position_effect import effect_of, realized, reduced_lots
from keydesk.calc.risk.trading_context import AccountFunds, Lot
from support.data.trading_contexts import example_facts

D = Decimal


def funds(long: int, short: int, *, hedging: bool) -> AccountFunds:
    return AccountFunds("USD", D(0), D(0), D(0), hedging, D(long), D(-short))


@pytest.mark.parametrize(
    ("hedging", "held", "units", "fill", "reduced", "opened", "left"),
    [
        (False, (0, 0), 100, "DEFAULT", 0, 100, 0),
        (False, (100, 0), -40, "DEFAULT", 40, 0, 0),
        (False, (100, 0), -140, "DEFAULT", 100, 40, 0),
        (False, (100, 0), -140, "REDUCE_ONLY", 100, 0, 40),
        (False, (0, 100), 50, "OPEN_ONLY", 0, 50, 0),
        (True, (100, 60), 50, "DEFAULT", 0, 50, 0),
        (True, (100, 60), 90, "REDUCE_FIRST", 60, 30, 0),
        (True, (100, 60), -30, "REDUCE_ONLY", 30, 0, 0),
        (True, (0, 0), -30, "REDUCE_ONLY", 0, 0, 30),
    ],
)
def test_each_fill(  # noqa: PLR0917 - a row of the table
    hedging: bool,
    held: tuple[int, int],
    units: int,
    fill: Fill,
    reduced: int,
    opened: int,
    left: int,
) -> None:
    effect = effect_of(funds(*held, hedging=hedging), D(units), fill)
    assert (effect.reduced, effect.opened, effect.left_over) == (D(reduced), D(opened), D(left))
    grown = (effect.long_after - effect.long_before) - (effect.short_after - effect.short_before)
    assert grown == D(units) + (D(left) if units < 0 else -D(left))


def test_the_oldest_trades_of_the_other_side_are_reduced_first() -> None:
    lots = (Lot(D(100), D("1.1")), Lot(D(-50), D("1.2")), Lot(D(70), D("1.3"), D(7)))
    assert list(reduced_lots(lots, D(-120), D(120))) == [
        Lot(D(100), D("1.1")),
        Lot(D(20), D("1.3"), D(2)),
    ]


def test_what_is_not_known_of_the_trades_realizes_nothing_known() -> None:
    context = example_facts(net_units="100")
    assert realized(context, D(-100), D(100), context.bid) is None
