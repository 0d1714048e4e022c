"""The commits of a node: what is refused was certainly not stored, and what was sent into a lost connection may be."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from keydesk_practice.errors import (
    LedgerUnreachable,
    LedgerWriteFailed,
    NotExecuted,
    NotStored,
    OutcomeUnknown,
    PracticeError,
)
from keydesk_practice.ledger.records import Entry, LedgerBatch, WireTransaction, entry_of

pytest.importorskip("psycopg", reason="the extra `cluster` is not installed")
from keydesk_practice.cluster.commits import Fences, NodeCommit
from keydesk_practice.ledger.postgres_accounts import RequestRecord

ONE, OTHER = "101-001-1-001", "101-001-1-002"


def entry(id_: int) -> Entry:
    return entry_of(WireTransaction({"id": str(id_), "type": "ORDER_FILL"}), id_)


class Database:
    """Stores what accounts with the right fencing number commit, when `gate` is open."""

    def __init__(self) -> None:
        self.stored: list[tuple[str, int]] = []
        self.requests: list[RequestRecord] = []
        self.statements = 0
        self.fences = {ONE: 1, OTHER: 1}
        self.gate = asyncio.Event()
        self.gate.set()
        self.is_away = False
        self.is_full = False
        self.lost: list[Fences] = []
        self.away: list[PracticeError] = []
        self.published: list[str] = []
        self.ticked = 100
        self.known = {ONE: 1, OTHER: 1}  # to the node
        self.commits = NodeCommit(
            self.write,
            lambda account, _: self.published.append(account),
            fences=self.known,
            ticked_until=lambda: self.ticked,
            on_lost=self.lost.append,
            on_away=self.away.append,
        )
        self.running = asyncio.create_task(self.commits.run())

    async def write(
        self, batches: Sequence[LedgerBatch], fences: Fences, requests: Sequence[RequestRecord]
    ) -> set[str]:
        self.statements += 1
        await self.gate.wait()
        if self.is_away:
            raise LedgerUnreachable("the connection was lost")
        if self.is_full:
            raise LedgerWriteFailed("no space left")
        moved = {one.account for one in batches if fences[one.account] == self.fences[one.account]}
        self.stored += [
            (one.account, row.id) for one in batches if one.account in moved for row in one.entries
        ]
        self.requests += [one for one in requests if one.account in moved]
        return moved


async def until(happened: Callable[[], bool]) -> None:
    while not happened():  # noqa: ASYNC110 - of the loop itself
        await asyncio.sleep(0)


async def test_all_that_waits_is_written_in_one_statement() -> None:
    database = Database()
    database.gate.clear()
    database.commits.add(ONE, [entry(1)])
    await until(lambda: database.statements == 1)
    for id_ in range(2, 20):
        database.commits.add(ONE, [entry(id_)])
        database.commits.add(OTHER, [entry(id_)])
    database.gate.set()
    await database.commits.wait_until_committed()
    assert database.statements == 2
    assert [id_ for account, id_ in database.stored if account == ONE] == list(range(1, 20))


async def test_an_account_that_was_lost_is_refused_and_the_others_go_on() -> None:
    database = Database()
    database.fences[ONE] = 2  # another node has taken it
    database.commits.add(ONE, [entry(1)])
    database.commits.add(OTHER, [entry(1)])
    await database.commits.wait_until_committed(OTHER)
    assert database.stored == [(OTHER, 1)]
    assert database.lost == [{ONE: 1}]
    assert database.published == [OTHER]


async def test_a_refusal_of_an_account_that_was_taken_again_drops_nothing() -> None:
    database = Database()
    database.fences[ONE] = 3
    database.gate.clear()
    database.commits.add(ONE, [entry(1)])
    waiting = asyncio.create_task(database.commits.wait_until_committed(ONE))
    await until(lambda: database.statements == 1)
    database.known[ONE] = 3  # taken again while the statement was under way
    database.gate.set()
    with pytest.raises(NotExecuted):
        await waiting
    assert database.lost == [{}]


async def test_what_was_sent_into_a_lost_connection_may_be_stored_and_what_waits_is_not() -> None:
    database = Database()
    database.gate.clear()
    database.commits.add(ONE, [entry(1)])
    sent = asyncio.create_task(database.commits.wait_until_committed(ONE))
    await until(lambda: database.statements == 1)
    database.commits.add(OTHER, [entry(1)])
    waits = asyncio.create_task(database.commits.wait_until_committed(OTHER))
    await asyncio.sleep(0)
    database.commits.drop([OTHER], NotExecuted("dropped"))
    database.is_away = True
    database.gate.set()
    with pytest.raises(OutcomeUnknown):
        await sent
    with pytest.raises(NotExecuted):
        await waits
    assert len(database.away) == 1


async def test_a_batch_that_waits_is_not_called_refused_when_the_lease_expires() -> None:
    database = Database()

    def expired() -> None:
        raise NotExecuted("the lease of this node has expired")

    database.gate.clear()
    database.commits.add(ONE, [entry(1)])
    database.commits.check_lease = expired
    waiting = asyncio.create_task(database.commits.wait_until_committed(ONE))
    await until(lambda: database.statements == 1)
    database.gate.set()
    await waiting
    assert database.stored == [(ONE, 1)]
    with pytest.raises(NotExecuted):
        await database.commits.wait_one_turn(ONE)


async def test_the_answer_of_a_request_is_stored_with_its_transactions() -> None:
    database = Database()
    database.commits.add(ONE, [entry(1)])
    database.commits.add(ONE, [entry(2), entry(3)])
    database.commits.note_answer(ONE, "42", lambda: "answer")
    database.commits.note_answer(OTHER, "43", lambda: "of a request without transactions")
    await database.commits.wait_until_committed()
    assert database.requests == [RequestRecord(ONE, "42", 2, 3, "answer")]


async def test_the_time_that_is_safe_to_go_on_from_waits_for_what_it_made() -> None:
    database = Database()
    assert database.commits.ticked == 100
    database.gate.clear()
    database.commits.add(ONE, [entry(1)])
    database.ticked = 200
    await until(lambda: database.statements == 1)
    assert database.commits.ticked == 100
    database.gate.set()
    await database.commits.wait_until_committed()
    assert database.commits.ticked == 200


async def test_what_a_full_disk_refuses_was_not_executed_and_the_next_batch_is_tried() -> None:
    database = Database()
    database.is_full = True
    database.commits.add(ONE, [entry(1)])
    with pytest.raises(NotStored, match="no space left"):
        await database.commits.wait_until_committed(ONE)
    assert (database.lost, database.away) == ([{ONE: 1}], [])
    database.is_full = False
    database.commits.add(OTHER, [entry(1)])
    await database.commits.wait_until_committed(OTHER)
    assert database.stored == [(OTHER, 1)]
    database.running.cancel()
