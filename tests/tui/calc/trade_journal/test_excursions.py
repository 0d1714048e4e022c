import random
from decimal import Decimal

import pytest
from msgspec.structs import replace

from keydesk.calc.trade_journal.excursions import (
    CELL,
    CandleRange,
    Extremes,
    are_over,
    candle_plan,
    excursion_of,
)
from keydesk.calc.trade_journal.trades import Execution, JournalTrade
from keydesk_practice.market.bar_blocks import Component
from keydesk_practice.market.bar_builder import CandleSpec
from support.data.journal_trades import HOUR, MONDAY, closed_trade
from support.data.practice_market import between, instant, practice_market

D = Decimal
SECOND = 1_000_000_000
MINUTE = 60 * SECOND
PAGE = 4_000
NOW = instant("2016-01-01T00:00Z")
PERIODS = {"S5": CELL, "M1": MINUTE}


def candles(trade: JournalTrade, granularity: str, start: int, end: int) -> list[Extremes]:
    """The candles of the side that closes the trade, by the practice market itself."""
    side = Component.BID if trade.is_long else Component.ASK
    spec, step = CandleSpec(granularity, frozenset({side})), PAGE * PERIODS[granularity]
    return [
        Extremes(D(found.prices[side].h), D(found.prices[side].l))
        for begin in range(start, end, step)
        for found in practice_market().candles(
            trade.instrument, spec, between(begin, min(begin + step, end)), NOW
        )
    ]


def by_brute_force(trade: JournalTrade) -> tuple[Decimal, Decimal]:
    """MAE and MFE over all candles of 5 seconds that the trade touches."""
    assert trade.closed_ns is not None
    start, end = trade.opened_ns // CELL * CELL, (trade.closed_ns // CELL + 1) * CELL
    worst = best = trade.exits[0].price - trade.entry_price
    for each in candles(trade, "S5", start, end):
        worst = min(worst, each.low - trade.entry_price)
        best = max(best, each.high - trade.entry_price)
    if not trade.is_long:
        worst, best = -best, -worst
    return max(D(0), -worst), max(D(0), best)


def random_trade(rng: random.Random) -> JournalTrade:
    """A trade at a random time, at prices of the practice market near it."""
    opened = instant("2015-01-05T00:00Z") + rng.randrange(200 * 24 * HOUR)
    hold = int(5 * SECOND * 10 ** rng.uniform(0, 3.9))
    units = rng.choice([10_000, -10_000])
    name = rng.choice(["EUR_USD", "USD_JPY", "GBP_USD"])
    trade = closed_trade("0", opened_ns=opened, hold_ns=hold, units=units, instrument=name)
    ends = [at // CELL * CELL for at in (opened, opened + hold)]
    [entry], [leaves] = (candles(trade, "S5", end, end + CELL) for end in ends)
    return replace(
        trade,
        entries=(replace(trade.entries[0], price=entry.high),),
        exits=(replace(trade.exits[0], price=leaves.low),),
    )


def check(count: int) -> None:
    rng = random.Random(13)
    for _ in range(count):
        trade = random_trade(rng)
        planned = [each for part in candle_plan(trade) for each in candles(trade, *part)]
        found = excursion_of(trade, planned)
        assert found is not None
        assert (found.adverse, found.favourable) == by_brute_force(trade)


def test_the_planned_candles_give_what_brute_force_over_5_seconds_gives() -> None:
    check(25)


@pytest.mark.soak
def test_the_planned_candles_of_500_trades_give_what_brute_force_gives() -> None:
    check(500)


@pytest.mark.parametrize(
    ("opened", "hold", "plan"),
    [
        (0, 2 * HOUR - 1, [("S5", 0, 2 * HOUR)]),
        (0, 2 * HOUR, [("M1", 0, 2 * HOUR), ("S5", 2 * HOUR, 2 * HOUR + CELL)]),
        (
            7 * SECOND,
            2 * HOUR,
            [
                ("S5", CELL, MINUTE),
                ("M1", MINUTE, 2 * HOUR),
                ("S5", 2 * HOUR, 2 * HOUR + 2 * CELL),
            ],
        ),
    ],
)
def test_minutes_are_read_for_a_trade_of_two_hours_and_5_seconds_at_its_ends(
    opened: int, hold: int, plan: list[tuple[str, int, int]]
) -> None:
    assert candle_plan(closed_trade("1", opened_ns=opened, hold_ns=hold)) == plan


def stopped(units: int) -> JournalTrade:
    side = 1 if units > 0 else -1
    trade = closed_trade("1", opened_ns=0, units=units)
    return replace(trade, initial_stop=D("1.08500") - side * D("0.0020"))


@pytest.mark.parametrize("units", [1000, -1000])
def test_excursions_in_pips_and_in_r_of_the_first_stops_distance(units: int) -> None:
    side = 1 if units > 0 else -1
    ends = sorted([D("1.08500") - side * D("0.0010"), D("1.08500") + side * D("0.0030")])
    found = excursion_of(stopped(units), [Extremes(ends[1], ends[0])])
    assert found is not None
    assert found.pips(D("0.0001")) == (D(10), D(30))
    assert found.r == (D("0.5"), D("1.5"))


def test_a_trade_that_never_was_in_profit_has_no_favourable_excursion() -> None:
    trade = replace(
        closed_trade("1", opened_ns=0),
        exits=(Execution(HOUR, D(-10_000), D("1.08400"), "STOP_LOSS_ORDER", D(-10)),),
    )
    found = excursion_of(trade, [Extremes(D("1.08490"), D("1.08410"))])
    assert found is not None
    assert (found.adverse, found.favourable) == (D("0.00100"), D(0))
    assert found.r is None


def test_an_open_trade_has_no_candles_and_no_excursion() -> None:
    trade = replace(closed_trade("1"), exits=())
    assert candle_plan(trade) == []
    assert excursion_of(trade, [Extremes(D(2), D(1))]) is None


LAST = [CandleRange("S5", MONDAY, MONDAY + 12 * CELL)]


@pytest.mark.parametrize(
    ("starts", "complete", "now_ns", "over"),
    [
        ([MONDAY, MONDAY + 11 * CELL], True, MONDAY, True),
        ([MONDAY, MONDAY + 11 * CELL], False, MONDAY + 11 * CELL, False),
        ([MONDAY], True, MONDAY + 11 * CELL, False),  # the last may have no price yet
        ([MONDAY], True, MONDAY + 12 * CELL, True),  # the last had none
        ([], True, MONDAY + 12 * CELL, True),
    ],
)
def test_candles_are_over_when_the_last_is_complete_or_its_time_has_passed(
    starts: list[int], complete: bool, now_ns: int, over: bool
) -> None:
    assert are_over(LAST, starts, complete=complete, now_ns=now_ns) == over
