from decimal import Decimal

from msgspec.structs import replace

from keydesk.calc.market.trading_day import next_day_start
from keydesk.calc.trade_journal.net_asset_values import (
    DayClose,
    held_over_a_day_end,
    open_profits,
)
from keydesk.calc.trade_journal.trades import Execution
from support.data.journal_trades import HOUR, MONDAY, closed_trade

D = Decimal
DAY = 24 * HOUR
FIRST, SECOND = next_day_start(MONDAY), next_day_start(MONDAY + DAY)
LONG = replace(closed_trade("5", 1, opened_ns=MONDAY, hold_ns=2 * DAY), home_factor=D(2))
CLOSES = {"EUR_USD": [DayClose(FIRST, D("1.08400"), D("1.08410"))]}
NOW = MONDAY + 30 * DAY


def test_a_trade_held_over_the_end_of_a_day_counts_at_the_closing_side() -> None:
    short = replace(closed_trade("5", 2, opened_ns=MONDAY, hold_ns=DAY, units=-10_000))
    short = replace(short, home_factor=D(2))
    assert open_profits([LONG], CLOSES, NOW)[FIRST] == D("-20.000")
    assert open_profits([short], CLOSES, NOW) == {FIRST: D("18.000")}
    assert open_profits([LONG, short], CLOSES, NOW)[FIRST] == D("-2.000")


def test_a_day_without_prices_has_those_of_the_day_before() -> None:
    assert open_profits([LONG], CLOSES, NOW) == {FIRST: D("-20.000"), SECOND: D("-20.000")}


def test_units_closed_before_the_end_of_the_day_count_no_more() -> None:
    half = Execution(MONDAY + HOUR, D(-5_000), D("1.08600"), "MARKET_ORDER_TRADE_CLOSE")
    rest = Execution(MONDAY + 2 * DAY, D(-5_000), D("1.08600"), "MARKET_ORDER_TRADE_CLOSE")
    assert open_profits([replace(LONG, exits=(half, rest))], CLOSES, NOW)[FIRST] == D("-10.000")


def test_an_open_trade_counts_until_now_and_in_the_day_that_is_not_over() -> None:
    held, last = replace(LONG, exits=()), next_day_start(SECOND)
    now = DayClose(last, D("1.08700"), D("1.08710"))  # of a candle that still forms
    closes = {"EUR_USD": [*CLOSES["EUR_USD"], now]}
    profits = {FIRST: D("-20.000"), SECOND: D("-20.000"), last: D("40.000")}
    assert open_profits([held], closes, SECOND + HOUR) == profits


def test_a_trade_that_was_opened_in_the_day_that_is_not_over_counts_in_it() -> None:
    held = replace(LONG, exits=())
    assert held_over_a_day_end([held], MONDAY + 1) == {"EUR_USD": (MONDAY, MONDAY + 1)}
    assert open_profits([held], CLOSES, MONDAY + 1) == {FIRST: D("-20.000")}


def test_a_trade_closed_at_the_end_of_a_day_exactly_is_booked_in_it_and_open_no_more() -> None:
    exit_ = Execution(FIRST, D(-10_000), D("1.08600"), "MARKET_ORDER_TRADE_CLOSE")
    assert open_profits([replace(LONG, exits=(exit_,))], CLOSES, NOW) == {}


def test_only_instruments_held_over_the_end_of_a_day_need_prices() -> None:
    short = closed_trade("1", 2, opened_ns=MONDAY, instrument="USD_JPY")
    assert held_over_a_day_end([LONG, short], NOW) == {"EUR_USD": (MONDAY, MONDAY + 2 * DAY)}


def test_without_prices_or_a_factor_nothing_is_counted() -> None:
    assert open_profits([LONG], {}, NOW) == {}
    assert open_profits([replace(LONG, home_factor=None)], CLOSES, NOW) == {}
