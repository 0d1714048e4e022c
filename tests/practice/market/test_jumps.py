"""Known jumps (the franc on 2015-01-15, the pound on 2016-06-24) and the spread after a jump."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from keydesk_practice.market.hours import cells_in
from keydesk_practice.market.jumps import steps_on
from keydesk_practice.market.known_events import KNOWN_EVENTS, KnownEvent
from keydesk_practice.market.rng import Rng
from support.data.practice_market import instant, practice_market

SECOND = 1_000_000_000


def mid(instrument: str, time: int) -> Decimal:
    return practice_market().at(time).quote(instrument).mid


def test_the_franc_jumps_at_half_past_nine_within_one_step() -> None:
    news = instant("2015-01-15T09:30:00Z")
    assert mid("EUR_CHF", instant("2015-01-14T13:15Z")).quantize(Decimal("0.001")) == Decimal(
        "1.201"
    )
    assert mid("EUR_CHF", news - 1).quantize(Decimal("0.01")) == Decimal("1.20")
    assert mid("EUR_CHF", news) < Decimal("1.06")
    assert mid("EUR_CHF", instant("2015-01-15T13:15Z")).quantize(Decimal("0.001")) == Decimal(
        "1.028"
    )


def test_the_floor_holds_until_the_news() -> None:
    morning = instant("2015-01-15T00:00Z")
    for minute in range(0, 570, 7):
        assert mid("EUR_CHF", morning + minute * 60 * SECOND) > Decimal("1.1985")


def test_all_pairs_of_the_franc_jump_together() -> None:
    news = instant("2015-01-15T09:30:00Z")
    for pair in ("USD_CHF", "GBP_CHF", "AUD_CHF", "NZD_CHF"):
        assert mid(pair, news) / mid(pair, news - SECOND) < Decimal("0.90")
    assert abs(mid("EUR_USD", news) / mid("EUR_USD", news - SECOND) - 1) < Decimal("0.01")


def test_spreads_are_wide_after_a_jump_and_calm_down() -> None:
    def spread(time: int) -> Decimal:
        quote = practice_market().at(time).quote("EUR_CHF")
        return quote.ask - quote.bid

    news = instant("2015-01-15T09:30:00Z")
    assert spread(news) > 8 * spread(news - SECOND)
    assert spread(news) > 2 * spread(news + 1800 * SECOND)


def test_the_pound_falls_in_two_steps_in_the_night_of_the_vote() -> None:
    before = mid("GBP_USD", instant("2016-06-23T23:19:59Z"))
    sunderland = mid("GBP_USD", instant("2016-06-23T23:20:00Z"))
    dawn = mid("GBP_USD", instant("2016-06-24T03:39:59Z"))
    called = mid("GBP_USD", instant("2016-06-24T03:40:00Z"))
    assert sunderland / before < Decimal("0.985")
    assert called / dawn < Decimal("0.975")


@pytest.mark.parametrize(
    "event", KNOWN_EVENTS, ids=lambda event: f"{event.currency}-{event.steps[0][0]:%Y}"
)
def test_the_steps_of_a_known_jump_lie_within_its_day_and_sum_to_the_whole(
    event: KnownEvent,
) -> None:
    steps = steps_on(event.day, Rng(1))
    assert all(0 < point < cells_in(event.day) for point, _ in steps)
    assert sum(share for _, share in steps) == pytest.approx(1)
    assert all(moment.tzinfo is UTC for moment, _ in event.steps)
    assert all(isinstance(moment, datetime) for moment, _ in event.steps)
