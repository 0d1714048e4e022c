"""Transactions through one door: in order, once, whatever comes in whatever way."""

from dataclasses import dataclass

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from keydesk_client.errors import OutOfRange
from keydesk_client.sequencer import MAX_RANGE, Backfill, GapFiller, Sequencer
from support.examples import examples


@dataclass(frozen=True)
class NumberedTransaction:
    """A transaction that is nothing but its number."""

    id: str


def numbered(*numbers: int) -> list[NumberedTransaction]:
    return [NumberedTransaction(str(number)) for number in numbers]


def sequencer(last: int = 0) -> tuple[Sequencer[NumberedTransaction], list[int]]:
    applied: list[int] = []
    return Sequencer(last, lambda each: applied.append(int(each.id))), applied


def test_what_comes_too_early_waits_for_what_is_before_it() -> None:
    door, applied = sequencer()
    door.offer_all(numbered(2, 3))
    assert applied == []
    door.offer_all(numbered(1))
    assert applied == [1, 2, 3]


def test_what_was_applied_is_not_applied_again() -> None:
    door, applied = sequencer()
    assert door.offer_all(numbered(1, 1, 2, 1)) == 2
    assert applied == [1, 2]


def test_ids_are_numbers_not_words() -> None:
    door, applied = sequencer(8)
    door.offer_all(numbered(10, 9))
    assert applied == [9, 10]


def test_a_heartbeat_with_a_newer_id_tells_what_is_missing() -> None:
    door, _ = sequencer(4)
    door.saw_last("7")
    assert door.missing == (5, 7)
    door.offer_all(numbered(6))
    assert door.missing == (5, 5)


def test_a_gap_is_overdue_after_a_quarter_of_a_second() -> None:
    door, _ = sequencer(4)
    door.saw_last(6)
    assert door.overdue(100.0) is None
    assert door.overdue(100.2) is None
    assert door.overdue(100.26) == (5, 6)


def test_a_gap_that_closed_in_time_is_not_overdue_and_the_next_one_waits_its_own_time() -> None:
    door, _ = sequencer(4)
    door.saw_last(5)
    assert door.overdue(1.0) is None
    door.offer_all(numbered(5))
    assert door.overdue(1.3) is None
    door.saw_last(6)
    assert door.overdue(1.4) is None
    assert door.overdue(1.7) == (6, 6)


def test_an_answer_with_all_of_it_completes() -> None:
    door, applied = sequencer(4)
    door.saw_last(6)
    assert door.backfilled((5, 6), numbered(5, 6), 6) is Backfill.COMPLETE
    assert applied == [5, 6]


def test_a_truncated_answer_helps_in_part() -> None:
    door, applied = sequencer(4)
    door.saw_last(8)
    assert door.backfilled((5, 8), numbered(5, 6), 8) is Backfill.PARTIAL
    assert applied == [5, 6]
    assert door.missing == (7, 8)


def test_a_service_that_does_not_know_of_them_yet_is_stale() -> None:
    door, _ = sequencer(4)
    door.saw_last(6)
    assert door.backfilled((5, 6), [], 4) is Backfill.STALE


def test_an_id_that_the_service_passed_and_does_not_give_is_a_hole_and_never_skipped() -> None:
    door, applied = sequencer(4)
    door.saw_last(7)
    assert door.backfilled((5, 7), numbered(6, 7), 7) is Backfill.HOLE
    assert applied == []
    assert door.missing == (5, 5)


def test_a_service_that_knows_less_than_was_applied_has_another_history() -> None:
    door, _ = sequencer(4)
    assert door.is_service_behind("3")
    assert not door.is_service_behind("4")


def test_after_a_snapshot_what_it_holds_is_dropped_and_what_waited_behind_it_is_applied() -> None:
    door, applied = sequencer(4)
    door.offer_all(numbered(7, 9, 10))
    door.restart(8)
    assert applied == [9, 10]
    assert door.missing is None


def test_what_no_snapshot_ever_reaches_is_asked_for_until_the_second_one_only() -> None:
    door, applied = sequencer(4)
    door.offer_all(numbered(10**12))
    door.restart(4)
    after_one = door.missing
    door.restart(4)
    assert (after_one, door.missing) == ((5, 10**12 - 1), None)
    door.offer_all(numbered(5))
    assert applied == [5]


def test_what_waits_is_kept_by_the_snapshot_after_it_came() -> None:
    door, applied = sequencer(4)
    door.offer_all(numbered(8))
    door.restart(4)
    door.offer_all(numbered(9))
    door.restart(7)
    assert door.missing == (8, 8)
    door.offer_all(numbered(8))
    assert applied == [8, 9]


def test_too_many_held_back_are_asked_for_again_later() -> None:
    applied: list[int] = []
    door: Sequencer[NumberedTransaction] = Sequencer(
        0, lambda each: applied.append(int(each.id)), most_held=2
    )
    door.offer_all(numbered(3, 4, 5))
    door.offer_all(numbered(1, 2))
    assert applied == [1, 2, 3, 4]
    assert door.missing == (5, 5)


async def test_a_gap_is_filled_range_by_range() -> None:
    door, applied = sequencer()
    door.saw_last(MAX_RANGE + 2)
    ranges: list[tuple[int, int]] = []

    async def read_range(first: int, last: int) -> tuple[list[NumberedTransaction], int]:
        ranges.append((first, last))
        return numbered(*range(first, last + 1)), MAX_RANGE + 2

    assert await GapFiller(door, read_range).fill() is Backfill.COMPLETE
    assert ranges == [(1, MAX_RANGE), (MAX_RANGE + 1, MAX_RANGE + 2)]
    assert applied == [*range(1, MAX_RANGE + 3)]


@pytest.mark.parametrize(
    ("newest", "result"),
    [(4, Backfill.STALE), (6, Backfill.HOLE), (None, Backfill.REFUSED)],
)
async def test_a_gap_that_the_service_does_not_fill_is_asked_for_again_and_then_given_up(
    newest: int | None, result: Backfill
) -> None:
    door, applied = sequencer(4)
    door.saw_last(6)
    pauses: list[float] = []

    async def read_range(_first: int, _last: int) -> tuple[list[NumberedTransaction], int]:
        if newest is None:
            raise OutOfRange("no such range", status=416)
        return [], newest

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    filler = GapFiller(door, read_range, pauses=(0.5, 1.0), sleep=pause)
    assert await filler.fill() is result
    assert (pauses, applied, filler.requested) == ([0.5, 1.0], [], (5, 6))


class AnySchedule(RuleBasedStateMachine):
    """Drops, doubles, disorder, REST ahead of and behind the stream, stale and truncated answers."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger = 0
        self.door, self.applied = sequencer()

    @rule(count=st.integers(1, 5))
    def the_ledger_grows(self, count: int) -> None:
        self.ledger += count

    @rule(data=st.data())
    def something_arrives(self, data: st.DataObject) -> None:
        numbers = st.lists(st.integers(1, max(self.ledger, 1)), max_size=6)
        if self.ledger:
            self.door.offer_all(numbered(*data.draw(numbers)))

    @rule()
    def a_heartbeat_arrives(self) -> None:
        self.door.saw_last(self.ledger)

    @rule(data=st.data())
    def an_answer_arrives_stale_or_truncated(self, data: st.DataObject) -> None:
        missing = self.door.missing
        if missing is None:
            return
        known = data.draw(st.integers(0, self.ledger))
        until = min(missing[1], known, missing[0] + data.draw(st.integers(-1, 5)))
        answer = numbered(*range(missing[0], until + 1))
        verdict = self.door.backfilled(missing, answer, known)
        assert (verdict is Backfill.COMPLETE) == (self.door.missing is None)

    @invariant()
    def applied_is_the_ledger_in_order_once(self) -> None:
        assert self.applied == list(range(1, len(self.applied) + 1))
        assert self.door.last == len(self.applied)

    def teardown(self) -> None:
        self.door.saw_last(self.ledger)
        while (missing := self.door.missing) is not None:
            whole = numbered(*range(missing[0], missing[1] + 1))
            self.door.backfilled(missing, whole, self.ledger)
        assert self.applied == list(range(1, self.ledger + 1))


TestAnySchedule = AnySchedule.TestCase
TestAnySchedule.settings = settings(
    max_examples=examples(12, soak=100), stateful_step_count=60, deadline=None
)
