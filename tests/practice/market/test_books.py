"""Order and position books: sums, determinism, and plausible shapes."""

from decimal import Decimal
from functools import cache

import pytest

from keydesk_practice.market.books import (
    BOOK_INSTRUMENTS,
    SNAPSHOT_EVERY,
    Book,
    Books,
    latest_snapshot,
)
from support.data.practice_market import another_market, instant, practice_market

SNAPSHOT = instant("2024-05-15T14:20Z")


@cache
def books() -> Books:
    return Books(practice_market())


def order_book(instrument: str = "EUR_USD", time: int = SNAPSHOT) -> Book:
    found = books().order_book(instrument, time)
    assert found is not None
    return found


def position_book(instrument: str = "EUR_USD", time: int = SNAPSHOT) -> Book:
    found = books().position_book(instrument, time)
    assert found is not None
    return found


@pytest.mark.parametrize("instrument", BOOK_INSTRUMENTS)
def test_all_shares_sum_to_a_hundred_and_no_bucket_is_empty(instrument: str) -> None:
    for book in (order_book(instrument), position_book(instrument)):
        assert sum(one.long_percent + one.short_percent for one in book.buckets) == 100
        assert all(one.long_percent or one.short_percent for one in book.buckets)
        assert all(one.long_percent >= 0 and one.short_percent >= 0 for one in book.buckets)
        prices = [one.price for one in book.buckets]
        assert prices == sorted(set(prices))
        assert len(prices) > 10
        assert prices[0] < book.price < prices[-1]


def test_a_snapshot_is_the_same_whenever_it_is_requested() -> None:
    again = Books(another_market())
    assert again.order_book("EUR_USD", SNAPSHOT) == order_book()
    assert again.position_book("EUR_USD", SNAPSHOT) == position_book()


def test_orders_gather_at_round_prices() -> None:
    shares = {one.price: one.long_percent + one.short_percent for one in order_book().buckets}
    width = order_book().bucket_width
    round_prices = [price for price in shares if not price % Decimal("0.01")]
    assert len(round_prices) > 5
    for price in round_prices:
        beside = (shares.get(price - width, Decimal(0)), shares.get(price + width, Decimal(0)))
        assert shares[price] > max(beside)


def test_the_books_move_with_time() -> None:
    later = order_book(time=SNAPSHOT + SNAPSHOT_EVERY)
    assert later.buckets != order_book().buckets
    assert later.time - order_book().time == SNAPSHOT_EVERY


def test_there_is_a_snapshot_every_twenty_minutes_and_none_between() -> None:
    assert latest_snapshot(SNAPSHOT + 1) == SNAPSHOT
    assert latest_snapshot(SNAPSHOT + SNAPSHOT_EVERY - 1) == SNAPSHOT
    assert books().order_book("EUR_USD", SNAPSHOT + 1) is None


def test_only_heavily_traded_instruments_have_books() -> None:
    assert books().order_book("USD_TRY", SNAPSHOT) is None
    assert books().position_book("XAU_USD", SNAPSHOT) is None


def test_prices_have_the_decimals_of_the_instrument() -> None:
    assert order_book().bucket_width == Decimal("0.0005")
    assert order_book("USD_JPY").bucket_width == Decimal("0.05")
    assert order_book().price.as_tuple().exponent == -5
