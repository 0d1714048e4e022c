"""Batches decided together are written together; nobody hears of one before it is on disk."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from keydesk_practice.errors import LedgerWriteFailed
from keydesk_practice.group_commit import GroupCommit
from keydesk_practice.ledger import Entry, Ledger, LedgerAccount, entry_of

ACCOUNT = LedgerAccount("101-001-1-001", 0, "USD", hedging=False)


def entry(id_: int) -> Entry:
    return entry_of({"id": str(id_), "type": "ORDER_FILL"}, id_)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger.open(tmp_path)
    ledger.create_account(ACCOUNT, [entry(1)])
    yield ledger
    ledger.close()


async def test_a_batch_is_on_disk_when_it_is_published(ledger: Ledger) -> None:
    seen: list[int] = []

    def publish(_: str, batch: Sequence[Entry]) -> None:
        assert ledger.last_id(ACCOUNT.id) >= batch[-1].id
        seen.extend(entry.id for entry in batch)

    commits = GroupCommit(ledger, publish)
    commits.add(ACCOUNT.id, [entry(2), entry(3)])
    commits.add(ACCOUNT.id, [entry(4)])
    assert ledger.last_id(ACCOUNT.id) == 1
    assert seen == []
    await commits.settled()
    assert seen == [2, 3, 4]


async def test_many_who_wait_share_one_commit(ledger: Ledger) -> None:
    commits = GroupCommit(ledger, lambda *_: None)

    async def order(id_: int) -> int:
        commits.add(ACCOUNT.id, [entry(id_)])
        await commits.settled()
        return ledger.last_id(ACCOUNT.id)

    assert set(await asyncio.gather(*(order(id_) for id_ in range(2, 102)))) == {101}


async def test_settled_returns_at_once_when_nothing_waits(ledger: Ledger) -> None:
    await GroupCommit(ledger, lambda *_: None).settled()


async def test_a_refusing_disk_answers_nobody_and_stops_the_broker(ledger: Ledger) -> None:
    published: list[object] = []
    stopped: list[bool] = []
    commits = GroupCommit(ledger, lambda *batch: published.append(batch))
    commits.when_failed = lambda: stopped.append(True)
    commits.add(ACCOUNT.id, [entry(1)])  # an id twice is the nearest thing to a broken disk
    with pytest.raises(LedgerWriteFailed):
        await commits.settled()
    with pytest.raises(LedgerWriteFailed):
        await commits.settled()
    assert (published, stopped) == ([], [True])
