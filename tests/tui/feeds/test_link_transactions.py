"""The gate: every transaction once and in order, from wherever it comes."""

from dataclasses import dataclass, field
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from keydesk.store.store import Store
from keydesk.store.transactions.fold import apply
from keydesk_client.account.snapshot import apply_snapshot
from keydesk_client.account.synchronizer import TransactionGate
from keydesk_client.models import Transaction
from support.data.account_history import account, opening, transaction


@dataclass
class GatedAccount:
    """A gate with a store behind it, and the doubts that came up."""

    store: Store = field(default_factory=Store)
    doubts: list[str] = field(default_factory=list)
    on_item: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gate = TransactionGate(
            partial(apply, self.store), self.store, request_snapshot=self.doubts.append
        )
        self.gate.listen(lambda told: self.on_item.append(told.id))

    def open(self, last: int = 3) -> None:
        apply_snapshot(self.store, account(lastTransactionID=str(last)))
        self.gate.open_at(last)


def trades(*ids: int) -> list[Transaction]:
    return [opening(id_, "100", "1.08500") for id_ in ids]


def test_what_comes_before_the_snapshot_waits_and_what_it_holds_is_dropped() -> None:
    account = GatedAccount()
    account.gate.offer_all(trades(3, 4, 5))
    assert account.gate.applied is None
    account.open(4)
    assert account.on_item == ["5"]
    assert set(account.store.trades) == {"5"}


def test_what_waits_for_a_snapshot_that_does_not_come_is_bounded() -> None:
    account = GatedAccount()
    first = transaction(5, "MARKET_ORDER")
    for number in range(5, 10_105):
        account.gate.offer(first.model_copy(update={"id": str(number)}))
    assert len(account.gate._early) == 10_000


def test_a_transaction_that_comes_twice_is_applied_once() -> None:
    account = GatedAccount()
    account.open()
    account.gate.offer_all([*trades(4), *trades(4)])
    assert account.on_item == ["4"]


def test_the_missing_ids_are_asked_for_after_a_quarter_of_a_second() -> None:
    account = GatedAccount()
    account.open()
    account.gate.offer_all(trades(6))
    assert account.gate.overdue(10.0) is None
    assert account.gate.overdue(10.2) is None
    assert account.gate.overdue(10.3) == (4, 5)
    account.gate.backfilled((4, 5), trades(4, 5), "6")
    assert account.on_item == ["4", "5", "6"]
    assert account.gate.overdue(20.0) is None


def test_a_heartbeat_reveals_what_the_stream_left_out() -> None:
    account = GatedAccount()
    account.open()
    account.gate.saw_last("4")
    account.gate.overdue(1.0)
    assert account.gate.overdue(2.0) == (4, 4)


def test_an_id_that_the_broker_does_not_give_out_casts_doubt() -> None:
    account = GatedAccount()
    account.open()
    account.gate.offer_all(trades(5))
    account.gate.backfilled((4, 4), [], "5")
    assert account.doubts == ["The broker does not have transaction 4"]


def test_what_is_not_understood_casts_doubt_and_the_next_is_applied() -> None:
    account = GatedAccount()
    account.open()
    account.gate.offer_all([transaction(4, "MOON_ADJUSTMENT"), *trades(5)])
    assert account.doubts == ["Transaction 4 MOON_ADJUSTMENT is not understood"]
    assert set(account.store.trades) == {"5"}


def test_a_fill_without_its_figures_casts_doubt() -> None:
    account = GatedAccount()
    account.open()
    account.gate.offer(transaction(4, "ORDER_FILL", orderID="3", instrument="EUR_USD"))
    assert len(account.doubts) == 1
    assert "incomplete" in account.doubts[0]


def test_after_another_history_the_door_starts_over() -> None:
    account = GatedAccount()
    account.open(10)
    account.gate.forget()
    account.open(2)
    account.gate.offer_all(trades(3))
    assert account.on_item == ["3"]


@given(st.data())
def test_any_order_with_any_repetition_is_applied_once_in_order(data: st.DataObject) -> None:
    ids = list(range(4, 12))
    shuffled = data.draw(st.permutations(ids))
    again = data.draw(st.lists(st.sampled_from(ids), max_size=6))
    snapshot_after = data.draw(st.integers(0, len(shuffled)))
    account = GatedAccount()
    coming = [*shuffled, *again]
    account.gate.offer_all(trades(*coming[:snapshot_after]))
    account.open()
    account.gate.offer_all(trades(*coming[snapshot_after:]))
    assert account.on_item == [str(id_) for id_ in ids]
