"""Each fresh crossing of a level is told exactly once, and none is missed, whatever the path of the price."""

import random
from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from keydesk.calc.alerts.alert import Alert
from keydesk.calc.alerts.condition_base import Direction
from keydesk.calc.alerts.engine import (
    AlertEngine,
    MissedCrossing,
    PriceHistory,
    PriceRange,
    WatchedAlert,
    missed_crossing,
)
from keydesk.calc.alerts.fact_conditions import ClockTime
from keydesk.calc.alerts.price_conditions import PriceCross, PriceMove
from support.walks import crossed

MID = PriceCross(instrument="EUR_USD").reading
LEVELS = st.integers(
    0, 12
)  # few prices and levels: paths meet levels exactly, and jump over several
SECOND = 1_000_000_000


def alert(
    id_: str, level: int | str, direction: Direction = "up", repeat_s: int | None = 0
) -> Alert:
    return Alert(
        id_,
        PriceCross(instrument="EUR_USD", side="mid", direction=direction, level=Decimal(level)),
        repeat_s=repeat_s,
    )


def told(engine: AlertEngine, path: Sequence[int]) -> list[tuple[int, str]]:
    """The place in the path and the alert of everything that is told."""
    return [
        (at, firing.alert.id)
        for at, price in enumerate(path)
        for firing in engine.evaluate(MID, Decimal(price), at * SECOND)
    ]


def fresh_crossings(path: Sequence[int], level: int, direction: Direction) -> list[int]:
    """The places where a path crosses a level, by the definition: seen on one side, then on the level or beyond."""
    found = []
    for at in range(1, len(path)):
        now = path[at]
        since = next((i for i in range(at - 1, -1, -1) if path[i] != level), None)
        before = None if since is None else path[since]
        if before is None or path[at - 1] == level == now:
            continue
        if direction == "touch":
            came = path[at - 1] != level and (now - level) * (path[at - 1] - level) <= 0
            found += [at] if came else []
        elif direction == "up":
            found += [at] if path[at - 1] < level <= now else []
        else:
            found += [at] if path[at - 1] > level >= now else []
    return found


@given(
    st.lists(LEVELS, max_size=40),
    st.lists(st.tuples(LEVELS, st.sampled_from(("up", "down", "touch"))), max_size=12),
)
def test_every_fresh_crossing_is_told_exactly_once_and_none_is_missed(
    path: list[int], wanted: list[tuple[int, Direction]]
) -> None:
    engine = AlertEngine(alert(str(n), level, how) for n, (level, how) in enumerate(wanted))
    expected = {
        (at, str(n))
        for n, (level, how) in enumerate(wanted)
        for at in fresh_crossings(path, level, how)
    }
    found = told(engine, path)
    assert len(found) == len(set(found))
    assert set(found) == expected


@given(st.lists(LEVELS, min_size=1, max_size=30), LEVELS, st.sampled_from(("up", "down", "touch")))
def test_an_alert_that_is_told_once_is_told_at_the_first_crossing_only(
    path: list[int], level: int, how: Direction
) -> None:
    engine = AlertEngine([alert("1", level, how, repeat_s=None)])
    found = told(engine, path)
    assert [at for at, _ in found] == fresh_crossings(path, level, how)[:1]
    assert (MID in engine.readings) is not bool(found)


@given(st.lists(LEVELS, max_size=20), st.lists(LEVELS, max_size=20), LEVELS)
def test_alerts_that_come_and_go_do_not_change_what_another_tells(
    path: list[int], others: list[int], level: int
) -> None:
    engine, own = AlertEngine([alert("own", level)]), []
    for at, price in enumerate(path):
        for number, other in enumerate(others):  # some come, and all go again
            if (at + number) % 3 == 0:
                engine.add(alert(f"other {number}", other, "touch"))
        own += [
            at
            for firing in engine.evaluate(MID, Decimal(price), at * SECOND)
            if firing.alert.id == "own"
        ]
        engine.replace([alert("own", level)])
    assert own == fresh_crossings(path, level, "up")


def test_a_price_that_is_beyond_the_level_already_crosses_nothing() -> None:
    engine = AlertEngine([alert("1", "1.1")])
    assert not list(engine.evaluate(MID, Decimal("1.2"), 1))
    assert not list(engine.evaluate(MID, Decimal("1.1"), 2))
    assert not list(engine.evaluate(MID, Decimal("1.09"), 3))
    [fired] = engine.evaluate(MID, Decimal("1.3"), 4)
    assert (fired.value, fired.since_ns, fired.until_ns) == (Decimal("1.3"), 3, 4)


def test_a_gap_over_several_levels_tells_each_in_the_order_in_which_the_price_came_by() -> None:
    engine = AlertEngine([alert("b", 3), alert("a", 2), alert("c", 4), alert("far", 9)])
    assert told(engine, [1, 5]) == [(1, "a"), (1, "b"), (1, "c")]
    engine = AlertEngine([alert("b", 3, "down"), alert("a", 2, "down")])
    assert told(engine, [5, 1]) == [(1, "b"), (1, "a")]


def test_a_repeated_alert_is_not_told_in_its_pause_and_needs_a_fresh_crossing_after_it() -> None:
    engine = AlertEngine([alert("1", 5, repeat_s=10)])
    path = [4, 5, *[4, 5] * 3, *[5] * 10, 4, 6]
    assert [at for at, _ in told(engine, path)] == [1, 19]


def test_an_expired_or_paused_alert_is_not_told() -> None:
    expires = replace(alert("1", 5), expires_ns=SECOND)
    paused = replace(alert("2", 5), state="paused")
    assert told(AlertEngine([expires, paused]), [4, 5, 4, 5]) == []
    assert told(AlertEngine([replace(expires, expires_ns=2 * SECOND)]), [4, 5, 4, 5]) == [(1, "1")]


def test_a_time_that_passed_while_nobody_looked_is_told_late() -> None:
    at_noon = Alert("1", ClockTime(typed="12:00", level=Decimal(12 * SECOND)))
    engine = AlertEngine([at_noon])
    assert [
        each.alert.id
        for each in engine.evaluate(at_noon.condition.reading, Decimal(30 * SECOND), 30)
    ] == ["1"]


def test_an_alert_with_another_condition_begins_anew_and_an_unchanged_one_does_not() -> None:
    engine = AlertEngine([alert("1", 5), alert("2", 5)])
    told(engine, [4])
    engine.replace([replace(alert("1", 5), note="same"), alert("2", 3)])
    assert told(engine, [6]) == [(0, "1")]  # the price was never seen below 3


@pytest.mark.parametrize(
    ("made_ns", "count", "fires"), [(9, 0, True), (3, 0, False), (9, 1, False)]
)
@pytest.mark.parametrize("was_read", [False, True])
def test_a_jump_before_the_first_price_of_a_new_alert_is_a_crossing(
    made_ns: int, count: int, fires: bool, was_read: bool
) -> None:
    """Another alert may have read the price already, beyond the level."""
    move = PriceMove(
        instrument="EUR_USD",
        level=Decimal(7),
        distance=Decimal(2),
        unit="p",
        start=Decimal(5),
        side="mid",
    )
    other = alert("2", 20)
    engine = AlertEngine([other])
    if was_read:
        told(engine, [8])
    engine.replace([Alert("1", move, repeat_s=0, made_ns=made_ns, count=count), other], 5)
    assert told(engine, [9]) == ([(0, "1")] if fires else [])


def test_a_reading_that_was_interrupted_begins_anew() -> None:
    engine = AlertEngine([alert("1", 5)])
    told(engine, [4])
    engine.forget_sides(MID)
    assert told(engine, [6, 4, 6]) == [(2, "1")]


# Candles of a time when nothing was watched.


def candles(*prices: tuple[int, int, int, int]) -> PriceHistory:
    return PriceHistory.of(
        [
            PriceRange(at * SECOND, (at + 1) * SECOND, *(Decimal(each) for each in four))
            for at, four in enumerate(prices)
        ]
    )


@given(st.lists(LEVELS, min_size=4, max_size=40), LEVELS, st.sampled_from(("up", "down", "touch")))
def test_a_crossing_in_the_path_is_never_missed_in_its_candles(
    path: list[int], level: int, how: Direction
) -> None:
    parts = [path[at : at + 4] for at in range(0, len(path), 4)]
    made = candles(*((part[0], max(part), min(part), part[-1]) for part in parts))
    found = missed_crossing(alert("1", level, how), Decimal(level), made)
    crossings = fresh_crossings(path, level, how)
    if crossings:
        assert found.period is not None
        assert found.period.time_ns <= crossings[0] // 4 * SECOND


@pytest.mark.parametrize(
    ("side", "first"), [(-1, 0), (0, None), (None, None)], ids=["below", "crossed", "unknown"]
)
def test_a_gap_between_two_looks_is_a_crossing_if_the_price_was_below(
    side: int | None, first: int | None
) -> None:
    found = missed_crossing(alert("1", 5), Decimal(5), candles((7, 8, 6, 7)), side)
    assert (found.period and found.period.time_ns, found.side) == (first, 0)


def test_candles_from_before_the_last_telling_do_not_tell_it_again() -> None:
    again = replace(alert("1", 5), fired_ns=SECOND)
    made = ((4, 6, 4, 4), (4, 4, 4, 4), (4, 6, 4, 6))
    found = missed_crossing(again, Decimal(5), candles(*made)).period
    assert found is not None
    assert found.time_ns == 2 * SECOND
    assert missed_crossing(again, Decimal(5), candles(*made[:2])).period is None


def one_by_one(made: Alert, history: PriceHistory, side: int | None) -> MissedCrossing:
    """Return what is missed where every price of every candle is looked at."""
    level = made.condition.level
    entry = WatchedAlert(made, level, side)
    first = None
    for each in (period for _, _, part in history.blocks for period in part):
        other = WatchedAlert(made, level, entry.side)
        if each.time_ns < max(made.made_ns, made.fired_ns):
            entry.crosses(each.close)
            continue
        low_first = [entry.crosses(each) for each in (each.open, each.low, each.high, each.close)]
        high_first = [other.crosses(each) for each in (each.open, each.high, each.low, each.close)]
        if any([*low_first, *high_first]) and first is None:
            first = each
    return MissedCrossing(first, entry.side)


@pytest.mark.parametrize(("how", "side"), crossed(["up", "down", "touch"], [None, -1, 0, 1]))
def test_blocks_of_candles_that_are_passed_over_change_nothing(
    how: Direction, side: int | None
) -> None:
    rng = random.Random(f"{how} {side}")
    for _ in range(20):
        price, made = rng.randint(-30, 30), []
        for _ in range(200):
            path = [price := price + rng.choice((-2, -1, 0, 1, 2)) for _ in range(4)]
            made.append((path[0], max(path), min(path), path[-1]))
        history = candles(*made)
        late = replace(alert("1", rng.randint(-10, 10), how), made_ns=rng.choice((0, 90 * SECOND)))
        level = late.condition.level
        assert missed_crossing(late, level, history, side) == one_by_one(late, history, side)
