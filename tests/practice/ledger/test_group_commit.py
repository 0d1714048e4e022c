"""Batches decided together are written together; nobody hears of one before it is on disk."""

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from keydesk_practice.errors import LedgerWriteFailed
from keydesk_practice.ledger.group_commit import RECORDS_PER_TURN, GroupCommit
from keydesk_practice.ledger.interface import LedgerInterface
from keydesk_practice.ledger.records import (
    EndedRecord,
    Entry,
    LedgerAccount,
    WireTransaction,
    entry_of,
)
from support.ledgers import OpenLedger

ACCOUNT = LedgerAccount("101-001-1-001", 0, "USD", hedging=False)
OTHER = LedgerAccount("101-001-1-002", 0, "EUR", hedging=True)
LONG = 10 * RECORDS_PER_TURN


def entry(id_: int) -> Entry:
    return entry_of(WireTransaction({"id": str(id_), "type": "ORDER_FILL"}), id_)


@pytest.fixture
def ledger(open_ledger: OpenLedger) -> LedgerInterface:
    ledger = open_ledger()
    ledger.create_account(ACCOUNT, [entry(1)])
    ledger.create_account(OTHER, [entry(1)])
    return ledger


async def test_a_batch_is_on_disk_when_it_is_published(ledger: LedgerInterface) -> None:
    seen: list[int] = []

    def publish(_: str, batch: Sequence[Entry]) -> None:
        assert ledger.last_id(ACCOUNT.id) >= batch[-1].id
        seen.extend(entry.id for entry in batch)

    commits = GroupCommit(ledger, publish)
    commits.add(ACCOUNT.id, [entry(2), entry(3)])
    commits.add(ACCOUNT.id, [entry(4)])
    assert ledger.last_id(ACCOUNT.id) == 1
    assert seen == []
    await commits.wait_until_committed()
    assert seen == [2, 3, 4]


async def test_many_who_wait_share_one_commit(ledger: LedgerInterface) -> None:
    commits = GroupCommit(ledger, lambda *_: None)

    async def order(id_: int) -> int:
        commits.add(ACCOUNT.id, [entry(id_)])
        await commits.wait_until_committed()
        return ledger.last_id(ACCOUNT.id)

    last = RECORDS_PER_TURN  # as many as one iteration encodes
    assert set(await asyncio.gather(*(order(id_) for id_ in range(2, last + 1)))) == {last}


async def test_settled_returns_at_once_when_nothing_waits(ledger: LedgerInterface) -> None:
    await GroupCommit(ledger, lambda *_: None).wait_until_committed()


async def test_a_refusing_disk_answers_nobody_and_stops_the_broker(ledger: LedgerInterface) -> None:
    published: list[object] = []
    stopped: list[bool] = []
    commits = GroupCommit(ledger, lambda *batch: published.append(batch))
    commits.on_failure = lambda: stopped.append(True)
    commits.add(ACCOUNT.id, [entry(1)])  # an id twice is the nearest thing to a broken disk
    with pytest.raises(LedgerWriteFailed):
        await commits.wait_until_committed()
    with pytest.raises(LedgerWriteFailed):
        await commits.wait_until_committed()
    assert (published, stopped) == ([], [True])


# --- batches that are too long for one turn of the loop ---


class LongBatch:
    """A batch of `LONG` transactions and one order that ended, which counts what is encoded of it."""

    def __init__(self) -> None:
        self.encoded = 0

    def __iter__(self) -> Iterator[Entry | EndedRecord]:
        for id_ in range(2, 2 + LONG):
            self.encoded += 1
            yield entry(id_)
        yield EndedRecord("Order", 2, "FILLED", "EUR_USD", b"{}")


async def encoded_in_each_turn(batch: LongBatch) -> list[int]:
    """Return how many records of a batch each turn of the loop encoded, until it is whole."""
    counts: list[int] = []
    while batch.encoded < LONG:
        before = batch.encoded
        await asyncio.sleep(0)
        counts.append(batch.encoded - before)
    return counts


async def test_a_turn_encodes_few_records_of_a_long_batch(ledger: LedgerInterface) -> None:
    commits, long = GroupCommit(ledger, lambda *_: None), LongBatch()
    commits.add(ACCOUNT.id, long)
    counts = await encoded_in_each_turn(long)
    assert max(counts) <= RECORDS_PER_TURN
    assert ledger.last_id(ACCOUNT.id) == 1
    await commits.wait_until_committed()
    assert ledger.last_id(ACCOUNT.id) == 1 + LONG
    assert ledger.ended(ACCOUNT.id, "Order", 2) == b"{}"


async def test_other_accounts_pass_a_long_batch_and_its_own_wait_behind_it(
    ledger: LedgerInterface,
) -> None:
    published: list[tuple[str, int]] = []
    commits = GroupCommit(ledger, lambda account, batch: published.append((account, batch[-1].id)))
    long = LongBatch()
    commits.add(ACCOUNT.id, long)
    commits.add(ACCOUNT.id, [entry(2 + LONG)])
    commits.add(OTHER.id, [entry(2)])
    await commits.wait_until_committed(OTHER.id)
    assert published == [(OTHER.id, 2)]
    assert long.encoded < LONG
    assert ledger.last_id(ACCOUNT.id) == 1
    await commits.wait_until_committed(ACCOUNT.id)
    assert published[1:] == [(ACCOUNT.id, 1 + LONG), (ACCOUNT.id, 2 + LONG)]


async def test_nothing_of_a_long_batch_is_kept_when_the_broker_dies_before_its_end(
    ledger: LedgerInterface, open_ledger: OpenLedger
) -> None:
    commits, long = GroupCommit(ledger, lambda *_: None), LongBatch()
    commits.add(ACCOUNT.id, long)
    while long.encoded < LONG - RECORDS_PER_TURN:
        await asyncio.sleep(0)
        commits.add(OTHER.id, [entry(ledger.last_id(OTHER.id) + 1)])
        await commits.wait_until_committed(OTHER.id)  # commits in between take nothing of it along
    ledger.close()
    again = open_ledger()
    assert again.last_id(ACCOUNT.id) == 1
    assert again.ended(ACCOUNT.id, "Order", 2) is None
    again.verify()
    again.close()


async def test_who_reads_waits_for_a_short_batch_and_not_for_a_long_one(
    ledger: LedgerInterface,
) -> None:
    commits, long = GroupCommit(ledger, lambda *_: None), LongBatch()
    commits.add(ACCOUNT.id, [entry(2)])
    commits.add(OTHER.id, long)
    await commits.wait_one_turn(ACCOUNT.id)
    assert ledger.last_id(ACCOUNT.id) == 2
    await commits.wait_one_turn(OTHER.id)
    assert ledger.last_id(OTHER.id) == 1
    assert long.encoded < LONG
    commits.flush()


async def test_flush_writes_what_is_only_half_encoded(ledger: LedgerInterface) -> None:
    commits, long = GroupCommit(ledger, lambda *_: None), LongBatch()
    commits.add(ACCOUNT.id, long)
    await asyncio.sleep(0)
    commits.flush()
    assert ledger.last_id(ACCOUNT.id) == 1 + LONG
    await commits.wait_until_committed()


async def test_nothing_is_written_after_what_the_disk_refused(ledger: LedgerInterface) -> None:
    commits = GroupCommit(ledger, lambda *_: None)
    commits.add(ACCOUNT.id, LongBatch())
    commits.add(OTHER.id, [entry(1)])  # refused
    with pytest.raises(LedgerWriteFailed):
        await commits.wait_until_committed()
    commits.add(ACCOUNT.id, [entry(2 + LONG)])  # such as a tick before the broker ends
    commits.flush()
    assert (ledger.last_id(ACCOUNT.id), ledger.last_id(OTHER.id)) == (1, 1)
    ledger.verify()


async def test_a_record_that_cannot_be_encoded_takes_its_batch_along(
    ledger: LedgerInterface,
) -> None:
    def records() -> Iterator[Entry]:
        yield entry(2)
        raise ValueError("no such number")

    commits = GroupCommit(ledger, lambda *_: None)
    commits.add(ACCOUNT.id, records())
    with pytest.raises(LedgerWriteFailed, match="no such number"):
        await commits.wait_until_committed(ACCOUNT.id)
    commits.flush()
    assert ledger.last_id(ACCOUNT.id) == 1
