"""The figures of client books, against numbers worked by hand."""

from decimal import Decimal

import pytest

from keydesk.calc.market.client_books import (
    BookBucket,
    clusters,
    long_percent,
    sums_of,
    under_water,
)

D = Decimal
WIDTH = D("0.0005")
MARKET = D("1.0842")
ADR = D("0.0080")


def book(**shares: tuple[str, str]) -> list[BookBucket]:
    """Twenty buckets from 1.0800 with 0.1 % on each side; `b9=("2", "0.1")` gives one its own shares."""
    steps = []
    for number in range(20):
        long, short = shares.get(f"b{number}", ("0.1", "0.1"))
        steps.append(BookBucket(D("1.0800") + number * WIDTH, D(long), D(short)))
    return steps


def named(kind: str, buckets: list[BookBucket], reach: Decimal = ADR) -> list[tuple[str, str, str]]:
    """Kind, distance in pips and share of each cluster."""
    assert kind in {"orders", "positions"}
    found = clusters("orders" if kind == "orders" else "positions", buckets, WIDTH, MARKET, reach)
    return [
        (each.kind, f"{each.distance * 10_000:+.1f}", f"{each.share.normalize():f}")
        for each in found
    ]


def test_the_long_share_is_of_both_sides_together() -> None:
    assert long_percent((D("53.2"), D("46.8"))) == D("53.2")
    assert long_percent((D(3), D(1))) == 75
    assert long_percent((D(0), D(2))) == 0
    assert long_percent((D(2), D(0))) == 100
    assert long_percent((D(0), D(0))) is None
    assert sums_of(book()) == (D("2.0"), D("2.0"))


def test_orders_are_named_by_side_and_place_with_the_distance_of_the_nearest_edge() -> None:
    buckets = book(b12=("2", "0.1"), b14=("0.1", "1.9"), b4=("1.8", "0.1"), b2=("0.1", "1.7"))
    assert named("orders", buckets) == [
        ("buy stops", "+18.0", "2"),  # 1.0860 - 1.0842
        ("sell limits", "+28.0", "1.9"),  # 1.0870 - 1.0842
        ("buy limits", "-17.0", "1.8"),  # 1.0820 + 0.0005 - 1.0842
        ("sell stops", "-27.0", "1.7"),  # 1.0810 + 0.0005 - 1.0842
    ]


def test_of_positions_only_those_under_water_are_named() -> None:
    buckets = book(b12=("2", "1.9"), b4=("1.8", "1.7"))
    assert named("positions", buckets) == [
        ("trapped longs", "+18.0", "2"),
        ("trapped shorts", "-17.0", "1.7"),
    ]


def test_the_bucket_that_holds_the_price_is_neither_above_nor_below() -> None:
    assert named("orders", book(b8=("9", "9"))) == []  # 1.0840 to 1.0845


def test_a_bucket_that_touches_the_price_is_on_its_own_side() -> None:
    steps = [BookBucket(MARKET - WIDTH, D(9), D(0)), BookBucket(MARKET, D(9), D(0)), *book()[12:]]
    assert [each[:2] for each in named("orders", [*steps])] == [
        ("buy limits", "+0.0"),
        ("buy stops", "+0.0"),
    ]


def test_beyond_the_daily_range_nothing_is_named_nor_counted() -> None:
    buckets = book(b19=("50", "0.1"), b12=("2", "0.1"))
    assert [each[0] for each in named("orders", buckets, reach=D("0.0020"))] == ["buy stops"]
    assert named("orders", buckets, reach=D("0.0020"))[0][1] == "+18.0"
    assert named("orders", buckets, reach=D(0)) == []


def test_the_threshold_is_two_standard_deviations_above_the_mean() -> None:
    # Of 40 shares 38 are 0, one is 1, one x = 1: mean 0.05, deviation 0.2179: 0.05 + 0.4359 < 1.
    zeros = {f"b{number}": ("0", "0") for number in range(20)}
    assert len(named("orders", book(**{**zeros, "b12": ("1", "0"), "b13": ("1", "0")}))) == 2
    # Of 10 shares half are 1: mean 0.5, deviation 0.5, threshold 1.5.
    steps = [BookBucket(D("1.0860") + number * WIDTH, D(1), D(0)) for number in range(5)]
    assert named("orders", [*steps]) == []


def test_equal_shares_make_no_cluster() -> None:
    assert named("orders", book()) == []
    assert named("orders", []) == []
    assert named("orders", [BookBucket(D("1.09"), D(60), D(40))]) == []


def test_the_five_strongest_are_named() -> None:
    strong = {f"b{number}": (f"{number}", "0.1") for number in (10, 11, 12, 13, 14, 15)}
    wide = [
        *book(**strong),
        *(
            BookBucket(D("1.0900") + number * WIDTH / 10, D("0.1"), D("0.1"))
            for number in range(99)
        ),
    ]
    assert [each[2] for each in named("orders", wide, D("0.02"))] == ["15", "14", "13", "12", "11"]


def test_longs_lose_above_the_price_and_shorts_below_it() -> None:
    steps = [
        BookBucket(D("1.0830"), D(10), D(30)),  # shorts lose
        BookBucket(D("1.0840"), D(5), D(10)),  # 1.0840 to 1.0845: 3/5 of it above 1.0842
        BookBucket(D("1.0850"), D(25), D(20)),  # longs lose
    ]
    longs, shorts = under_water([*steps], WIDTH, MARKET)
    assert longs == (D(25) + D(5) * D("0.6")) * 100 / 40
    assert longs == 70
    assert shorts == (D(30) + D(10) * D("0.4")) * 100 / 60


def test_farther_buckets_count_by_their_sums() -> None:
    steps = [BookBucket(D("1.0850"), D(10), D(10))]
    longs, shorts = under_water([*steps], WIDTH, MARKET, below=(D(20), D(5)), above=(D(10), D(15)))
    assert longs == 50  # 10 + 10 of 40
    assert shorts == D(5) * 100 / 30


def test_a_side_without_positions_has_no_share_under_water() -> None:
    assert under_water([], WIDTH, MARKET) == (None, None)
    longs, shorts = under_water([BookBucket(D("1.0850"), D(100), D(0))], WIDTH, MARKET)
    assert (longs, shorts) == (D(100), None)
    longs, shorts = under_water([BookBucket(D("1.0830"), D(100), D(0))], WIDTH, MARKET)
    assert longs == 0


@pytest.mark.parametrize("width", ["0", "-1"])
def test_a_book_without_a_bucket_width_is_read_too(width: str) -> None:
    steps = [BookBucket(MARKET, D(1), D(1)), BookBucket(MARKET - 1, D(1), D(1))]
    assert under_water([*steps], D(width), MARKET) == (D(50), D(50))
