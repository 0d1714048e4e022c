"""The door: every transaction once and in order, from wherever it comes."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from keydesk.feeds.link import Door
from keydesk.store.snapshot import take_snapshot
from keydesk.store.store import Store
from keydesk_client.models import Transaction
from support.data.account_history import account, opening, transaction


@dataclass
class Hall:
    """A door with a store behind it, and the doubts that came up."""

    store: Store = field(default_factory=Store)
    doubts: list[str] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.door = Door(self.store, doubt=self.doubts.append)
        self.door.listen(lambda told: self.heard.append(told.id))

    def open(self, last: int = 3) -> None:
        take_snapshot(self.store, account(lastTransactionID=str(last)))
        self.door.open_at(last)


def trades(*ids: int) -> list[Transaction]:
    return [opening(id_, "100", "1.08500") for id_ in ids]


def test_what_comes_before_the_snapshot_waits_and_what_it_holds_is_dropped() -> None:
    hall = Hall()
    hall.door.offer_all(trades(3, 4, 5))
    assert hall.door.applied is None
    hall.open(4)
    assert hall.heard == ["5"]
    assert set(hall.store.trades) == {"5"}


def test_what_waits_for_a_snapshot_that_does_not_come_is_bounded() -> None:
    hall = Hall()
    for number in range(5, 10_105):
        hall.door.offer(transaction(number, "MARKET_ORDER"))
    assert len(hall.door._early) == 10_000


def test_a_transaction_that_comes_twice_is_applied_once() -> None:
    hall = Hall()
    hall.open()
    hall.door.offer_all([*trades(4), *trades(4)])
    assert hall.heard == ["4"]


def test_the_missing_ids_are_asked_for_after_a_quarter_of_a_second() -> None:
    hall = Hall()
    hall.open()
    hall.door.offer_all(trades(6))
    assert hall.door.overdue(10.0) is None
    assert hall.door.overdue(10.2) is None
    assert hall.door.overdue(10.3) == (4, 5)
    hall.door.backfilled((4, 5), trades(4, 5), "6")
    assert hall.heard == ["4", "5", "6"]
    assert hall.door.overdue(20.0) is None


def test_a_heartbeat_reveals_what_the_stream_left_out() -> None:
    hall = Hall()
    hall.open()
    hall.door.saw_last("4")
    hall.door.overdue(1.0)
    assert hall.door.overdue(2.0) == (4, 4)


def test_an_id_that_the_broker_does_not_give_out_casts_doubt() -> None:
    hall = Hall()
    hall.open()
    hall.door.offer_all(trades(5))
    hall.door.backfilled((4, 4), [], "5")
    assert hall.doubts == ["The broker does not have transaction 4"]


def test_what_is_not_understood_casts_doubt_and_the_next_is_applied() -> None:
    hall = Hall()
    hall.open()
    hall.door.offer_all([transaction(4, "MOON_ADJUSTMENT"), *trades(5)])
    assert hall.doubts == ["Transaction 4 MOON_ADJUSTMENT is not understood"]
    assert set(hall.store.trades) == {"5"}


def test_a_fill_without_its_figures_casts_doubt() -> None:
    hall = Hall()
    hall.open()
    hall.door.offer(transaction(4, "ORDER_FILL", orderID="3", instrument="EUR_USD"))
    assert len(hall.doubts) == 1
    assert "incomplete" in hall.doubts[0]


def test_after_another_history_the_door_starts_over() -> None:
    hall = Hall()
    hall.open(10)
    hall.door.forget()
    hall.open(2)
    hall.door.offer_all(trades(3))
    assert hall.heard == ["3"]


@given(st.data())
def test_any_order_with_any_repetition_is_applied_once_in_order(data: st.DataObject) -> None:
    ids = list(range(4, 12))
    shuffled = data.draw(st.permutations(ids))
    again = data.draw(st.lists(st.sampled_from(ids), max_size=6))
    snapshot_after = data.draw(st.integers(0, len(shuffled)))
    hall = Hall()
    coming = [*shuffled, *again]
    hall.door.offer_all(trades(*coming[:snapshot_after]))
    hall.open()
    hall.door.offer_all(trades(*coming[snapshot_after:]))
    assert hall.heard == [str(id_) for id_ in ids]
