"""The daily loss lock: warnings, the lock, the new day at 17:00 New York, the early unlock."""

from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from keydesk.calc.daily_loss import (
    DayResult,
    LossEvent,
    LossLock,
    advance,
    ask_unlock,
    limit_of,
    lock_text,
    refused_limit,
)
from keydesk.calc.orders.ticket_settings import Limits

D = Decimal
NEW_YORK = ZoneInfo("America/New_York")
THREE_PERCENT = Limits(daily_loss_percent=D(3))
MINUTE = 60_000_000_000


def new_york(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=NEW_YORK).timestamp()) * 10**9


NOON = new_york("2026-03-03 12:00")


def lost(amount: str, base: str = "10000") -> DayResult:
    return DayResult(D(amount), D(base), "USD")


def after(*losses: str, limits: Limits = THREE_PERCENT) -> tuple[LossLock, list[LossEvent]]:
    lock = LossLock()
    events: list[LossEvent] = []
    for amount in losses:
        lock, happened = advance(lock, NOON, lost(amount), limits)
        events += happened
    return lock, events


def test_each_warning_comes_once_and_the_limit_locks() -> None:
    lock, events = after("100", "210", "215", "270", "280", "200", "275", "300")
    assert events == [LossEvent.WARNED, LossEvent.WARNED, LossEvent.LOCKED]
    assert lock.is_on


def test_a_cent_below_the_limit_does_not_lock() -> None:
    assert not after("299.99")[0].is_on
    assert after("300.00")[0].is_on


def test_a_profit_neither_warns_nor_locks() -> None:
    lock, events = after("-5000")
    assert (lock, events) == (LossLock(lock.day_ns, percent=D(3), limit=D(300)), [])


def test_the_smaller_of_amount_and_share_of_nav_is_the_limit() -> None:
    assert limit_of(D(250), D(3), D(10_000)) == D(250)
    assert limit_of(D(250), D(3), D(5_000)) == D(150)
    assert limit_of(None, None, D(5_000)) is None


def test_a_limit_in_per_cent_follows_what_is_paid_in_and_out() -> None:
    lock, _ = advance(LossLock(), NOON, lost("0", "0"), THREE_PERCENT)  # not funded yet
    lock, events = advance(lock, NOON, lost("20", "100000"), THREE_PERCENT)
    assert (lock.is_on, lock.limit, events) == (False, D(3000), ())
    lock, events = advance(lock, NOON, lost("20", "1000"), THREE_PERCENT)
    assert (lock.is_on, lock.limit) == (False, D(30))
    lock, events = advance(lock, NOON, lost("30", "1000"), THREE_PERCENT)
    assert events[-1] is LossEvent.LOCKED
    lock, _ = advance(lock, NOON, lost("30", "100000"), THREE_PERCENT)
    assert (lock.is_on, lock.limit) == (True, D(30)), "as it was reached"


def test_a_limit_that_would_lock_at_once_is_refused_with_the_figure() -> None:
    lock, _ = after("40", limits=Limits())
    reason = refused_limit(lock, lost("40"), Limits(daily_loss_percent=D("0.3")))
    assert reason.startswith("30.00 USD would lock the desk at once, 40.00 (0.40 %) are lost today")
    assert refused_limit(lock, lost("40"), Limits(daily_loss=D(40)))
    assert refused_limit(lock, lost("40", "0"), Limits(daily_loss_percent=D(3)))
    assert not refused_limit(lock, lost("40"), Limits(daily_loss=D(41)))
    assert not refused_limit(lock, lost("-40"), Limits(daily_loss=D("0.01")))
    assert not refused_limit(lock, lost("0", "0"), Limits(daily_loss_percent=D(3)))
    assert not refused_limit(lock, DayResult(), Limits(daily_loss=D(1)))
    unlocked = replace(lock, accepted=D(40))
    assert not refused_limit(unlocked, lost("60"), Limits(daily_loss=D(30)))


def test_a_day_that_is_not_counted_yet_releases_nothing_and_begins_nothing() -> None:
    """The clock of another ledger may be seen before its account."""
    lock, _ = after("300")
    for clock in (NOON + 365 * 24 * 60 * MINUTE, NOON - 365 * 24 * 60 * MINUTE):
        assert advance(lock, clock, DayResult(), THREE_PERCENT) == (lock, ())


def test_a_reached_limit_holds_although_the_price_comes_back() -> None:
    lock, events = after("300", "10", "-50")
    assert lock.is_on
    assert events == [LossEvent.LOCKED]


def test_a_limit_that_is_raised_or_removed_counts_from_the_next_day() -> None:
    lock, _ = after("200")
    for later in (Limits(), Limits(daily_loss_percent=D(50))):
        assert advance(lock, NOON, lost("300"), later)[0].is_on
    tomorrow, _ = advance(lock, NOON + 24 * 60 * MINUTE, lost("300"), Limits())
    assert not tomorrow.is_on


def test_a_limit_that_is_lowered_counts_at_once() -> None:
    lock, _ = after("200")
    assert advance(lock, NOON, lost("200"), Limits(daily_loss=D(150)))[1] == (LossEvent.LOCKED,)


@pytest.mark.parametrize(
    ("locked_at", "still", "released"),
    [
        ("2026-03-03 12:00", "2026-03-03 16:59:59", "2026-03-03 17:00"),
        ("2026-03-03 18:00", "2026-03-04 16:59:59", "2026-03-04 17:00"),
        # The night in which New York's clocks go forward, and the one in which they go back.
        ("2026-03-07 17:00", "2026-03-08 16:59:59", "2026-03-08 17:00"),
        ("2026-10-31 17:00", "2026-11-01 16:59:59", "2026-11-01 17:00"),
    ],
)
def test_the_lock_is_released_at_five_in_new_york(
    locked_at: str, still: str, released: str
) -> None:
    lock, _ = advance(LossLock(), new_york(locked_at), lost("300"), THREE_PERCENT)
    assert lock.is_on
    lock, events = advance(lock, new_york(still), lost("300"), THREE_PERCENT)
    assert (lock.is_on, events) == (True, ())
    lock, events = advance(lock, new_york(released), lost("0"), THREE_PERCENT)
    assert (lock.is_on, events) == (False, (LossEvent.NEW_DAY,))


def test_an_early_unlock_waits_ten_minutes_and_then_allows_one_limit_more() -> None:
    lock, _ = after("310")
    lock = ask_unlock(lock, NOON)
    assert ask_unlock(lock, NOON + MINUTE) == lock
    lock, events = advance(lock, NOON + 10 * MINUTE - 1, lost("310"), THREE_PERCENT)
    assert (lock.is_on, events) == (True, ())
    lock, events = advance(lock, NOON + 10 * MINUTE, lost("320"), THREE_PERCENT)
    assert (lock.is_on, events) == (False, (LossEvent.UNLOCKED,))
    lock, events = advance(lock, NOON + 11 * MINUTE, lost("619.99"), THREE_PERCENT)
    assert not lock.is_on
    assert advance(lock, NOON + 11 * MINUTE, lost("620"), THREE_PERCENT)[0].is_on


def test_no_early_unlock_of_what_is_not_locked() -> None:
    lock, _ = after("100")
    assert ask_unlock(lock, NOON) == lock


def test_a_loss_that_is_not_known_changes_nothing() -> None:
    lock, _ = after("300")
    unlocking = replace(lock, unlock_at_ns=NOON)
    assert advance(unlocking, NOON, DayResult(), THREE_PERCENT) == (unlocking, ())
    assert not advance(LossLock(), NOON, DayResult(), THREE_PERCENT)[0].is_on


def test_the_words_name_limit_end_and_early_unlock() -> None:
    lock, _ = after("300")
    assert lock_text(lock, NOON) == (
        "EXIT-ONLY: the daily loss limit of 300.00 was reached; until 17:00 New York, in 5h00"
    )
    assert lock_text(ask_unlock(lock, NOON), NOON).endswith("; early unlock in 10m")
    assert lock_text(LossLock(), NOON) == ""


@pytest.mark.parametrize("back", [19, 40, 24 * 365])  # hours; noon is 19 after 17:00
def test_a_clock_that_goes_back_releases_no_lock(back: int) -> None:
    lock, _ = after("300")
    kept, events = advance(lock, NOON - back * 60 * MINUTE - 1, lost("0"), THREE_PERCENT)
    assert (kept, events) == (lock, ())
    again, events = advance(kept, lock.ends_ns - 1, lost("0"), THREE_PERCENT)
    assert (again, events) == (lock, ())
    released, events = advance(again, lock.ends_ns, lost("0"), THREE_PERCENT)
    assert not released.is_on
    assert events == (LossEvent.NEW_DAY,)


def test_a_clock_that_was_ahead_does_not_move_the_end_of_a_later_lock() -> None:
    ahead, _ = advance(LossLock(), NOON + 72 * 60 * MINUTE, lost("0"), THREE_PERCENT)
    lock, events = advance(ahead, NOON, lost("300"), THREE_PERCENT)
    assert events == (LossEvent.LOCKED,)
    assert lock.ends_ns == new_york("2026-03-03 17:00")
