"""What a ledger on PostgreSQL has beyond the one in a file: its lock, lost connections, and no password shown."""

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from keydesk_practice.errors import (
    LedgerFull,
    LedgerUnavailable,
    LedgerUnreachable,
    LedgerWriteFailed,
    OutcomeUnknown,
)
from keydesk_practice.ledger.group_commit import GroupCommit
from keydesk_practice.ledger.interface import copy_account
from keydesk_practice.ledger.ledger_file import LedgerLocked
from keydesk_practice.ledger.records import (
    Entry,
    LedgerAccount,
    LedgerBatch,
    MarkRecord,
    WireTransaction,
    entry_of,
)
from support.postgres import PostgresServer

pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
from psycopg.sql import SQL

from keydesk_practice.ledger.postgres_connection import (
    connect,
    connection_text,
    translated_errors,
    without_password,
)
from keydesk_practice.ledger.postgres_ledger import PostgresLedger

ACCOUNT = LedgerAccount("101-001-1-001", 0, "USD", hedging=False)
OTHER = LedgerAccount("101-001-1-002", 0, "EUR", hedging=True, fifo=False)


def entry(id_: int) -> Entry:
    return entry_of(WireTransaction({"id": str(id_), "type": "ORDER_FILL"}), id_ * 10)


def batch(account: LedgerAccount, *ids: int) -> LedgerBatch:
    return LedgerBatch(account.id, map(entry, ids))


@pytest.fixture
def address(postgres: PostgresServer) -> str:
    return postgres.new_database()


@pytest.fixture
def ledger(address: str) -> Iterator[PostgresLedger]:
    ledger = PostgresLedger.open(address)
    for account in (ACCOUNT, OTHER):
        ledger.create_account(account, [entry(1)])
    yield ledger
    ledger.close()


def end_sessions(address: str) -> None:
    """End every other session, as a restart of the server does."""
    connection = connect(address)
    connection.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    connection.close()


@pytest.mark.e2e
def test_one_broker_at_a_time_has_the_ledger(ledger: PostgresLedger, address: str) -> None:
    with pytest.raises(LedgerLocked):
        PostgresLedger.open(address)
    other = PostgresLedger(address)
    assert not other.try_lock()
    ledger.close()
    while not other.try_lock():  # until PostgreSQL has noticed
        pass
    assert [one.id for one in other.accounts()] == [ACCOUNT.id, OTHER.id]
    other.close()


@pytest.mark.e2e
def test_the_lock_is_free_before_the_session_of_a_closed_ledger_has_ended(
    ledger: PostgresLedger, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as slow:
        slow.setattr(ledger._connection, "close", lambda: None)  # PostgreSQL ends it a little later
        ledger.close()
    PostgresLedger.open(address).close()


@pytest.mark.e2e
def test_who_has_lost_the_lock_writes_nothing(ledger: PostgresLedger, address: str) -> None:
    end_sessions(address)
    other = PostgresLedger.open(address)
    with pytest.raises(LedgerUnreachable):
        ledger.commit([batch(ACCOUNT, 2)])
    with pytest.raises(LedgerUnreachable):
        ledger.create_account(LedgerAccount("101-001-1-003", 0, "USD", hedging=False), [entry(1)])
    assert other.last_id(ACCOUNT.id) == 1
    assert len(other.accounts()) == 2
    other.close()


@pytest.mark.e2e
def test_postgresql_ends_the_session_of_a_broker_that_stands_still(
    ledger: PostgresLedger, address: str
) -> None:
    ledger.end_when_idle(0.001)
    other = PostgresLedger(address)
    while not other.try_lock():  # until PostgreSQL has freed it
        pass
    with pytest.raises(LedgerUnreachable):
        ledger.last_id(ACCOUNT.id)
    other.close()


@pytest.mark.e2e
def test_a_commit_that_does_not_follow_the_newest_transaction_stores_nothing(
    ledger: PostgresLedger,
) -> None:
    with pytest.raises(LedgerWriteFailed, match=f"another program.*{ACCOUNT.id}"):
        ledger.commit([batch(ACCOUNT, 3), batch(OTHER, 2, 3)])
    assert (ledger.last_id(ACCOUNT.id), ledger.last_id(OTHER.id)) == (1, 3)


@pytest.mark.e2e
async def test_a_database_that_takes_no_writes_drops_a_batch_and_takes_the_next_one_later(
    ledger: PostgresLedger,
) -> None:
    commits = GroupCommit(ledger, lambda *_: None)
    ledger.rows(SQL("SET default_transaction_read_only = on"))
    commits.add(ACCOUNT.id, [entry(2)])
    with pytest.raises(LedgerFull):
        await commits.wait_until_committed(ACCOUNT.id)
    ledger.rows(SQL("SET default_transaction_read_only = off"))
    commits.add(ACCOUNT.id, [entry(2)])
    await commits.wait_until_committed(ACCOUNT.id)
    assert ledger.last_id(ACCOUNT.id) == 2


@pytest.mark.e2e
async def test_what_was_sent_when_the_connection_was_lost_is_not_known_and_the_rest_not_executed(
    ledger: PostgresLedger, address: str
) -> None:
    commits = GroupCommit(ledger, lambda *_: None)
    end_sessions(address)
    commits.add(ACCOUNT.id, [entry(2)])
    with pytest.raises(OutcomeUnknown):
        await commits.wait_until_committed(ACCOUNT.id)
    commits.add(ACCOUNT.id, [entry(3)])
    with pytest.raises(LedgerUnreachable) as later:
        await commits.wait_until_committed(ACCOUNT.id)
    assert not isinstance(later.value, OutcomeUnknown)


@pytest.mark.e2e
def test_an_account_is_cloned_with_its_marks(ledger: PostgresLedger) -> None:
    copy = LedgerAccount("101-001-1-003", 0, "USD", hedging=False)
    ledger.commit([LedgerBatch(ACCOUNT.id, [MarkRecord(1, Decimal("1.1"))])])
    copy_account(ledger, ACCOUNT.id, copy)
    assert ledger.marks(copy.id) == [(1, Decimal("1.1"))]
    assert ledger.last_id(copy.id) == 1
    assert copy.id in ledger.bodies(copy.id, 1, 1)[0]


@pytest.mark.e2e
def test_missing_transactions_are_noticed(ledger: PostgresLedger, address: str) -> None:
    connection = connect(address)
    connection.execute("DELETE FROM transactions WHERE account = %s", (OTHER.id,))
    connection.close()
    with pytest.raises(LedgerUnavailable, match=OTHER.id):
        ledger.verify()


@pytest.mark.e2e
def test_a_lost_connection_stays_lost(ledger: PostgresLedger, address: str) -> None:
    end_sessions(address)
    for _ in range(2):
        with pytest.raises(LedgerUnreachable):
            ledger.last_id(ACCOUNT.id)


@pytest.mark.e2e
def test_a_server_that_takes_no_writes_is_no_lost_connection(address: str) -> None:
    connection = connect(address)
    connection.execute("SET default_transaction_read_only = on")
    with (
        pytest.raises(LedgerFull, match="cannot store anything: cannot execute"),
        translated_errors(),
    ):
        connection.execute("CREATE TABLE one (two integer)")
    assert not connection.closed
    connection.close()


@pytest.mark.e2e
def test_a_replica_gives_no_lock(address: str) -> None:
    setup = connect(address)
    setup.execute("ALTER ROLE keydesk SET default_transaction_read_only = on")
    try:
        with pytest.raises(LedgerUnreachable, match="read-only"):
            PostgresLedger(connection_text(address))
    finally:
        setup.execute("ALTER ROLE keydesk RESET default_transaction_read_only")
        setup.close()


@pytest.mark.e2e
def test_no_message_shows_a_password(tmp_path: Path) -> None:
    file = tmp_path / "ledger"
    file.write_text("postgresql://keydesk:hunter22@127.0.0.1:1/db\n")
    text = connection_text(f"@{file}")
    assert "hunter22" in text  # the driver needs it
    with pytest.raises(LedgerUnavailable) as failure:
        PostgresLedger.open(text)
    assert "hunter22" not in str(failure.value)
    file.write_text("hunter22 is no address")
    with pytest.raises(LedgerUnavailable) as failure:
        connection_text(f"@{file}")
    assert "hunter22" not in str(failure.value)
    for message in (
        "postgresql://a:hunter22@b/c",
        "password=hunter22 host=b",
        "password = 'hunter22'",
    ):
        assert not re.search("hunter22", without_password(message))


@pytest.mark.e2e
def test_an_empty_file_names_no_database(tmp_path: Path) -> None:
    (tmp_path / "ledger").write_text("\n")
    with pytest.raises(LedgerUnavailable, match="is empty"):
        connection_text(f"@{tmp_path / 'ledger'}")


def test_a_file_that_is_missing_is_named() -> None:
    with pytest.raises(LedgerUnavailable, match="no/such/file"):
        connection_text("@no/such/file")


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("code", "error"),
    [("53100", LedgerFull), ("57P01", LedgerUnreachable), ("22012", LedgerWriteFailed)],
)
def test_an_answer_of_a_full_disk_is_told_from_a_lost_connection(
    ledger: PostgresLedger, address: str, code: str, error: type[Exception]
) -> None:
    with (
        connect(address) as connection,
        pytest.raises(error, match="no space left"),
        translated_errors(),
    ):
        connection.execute(
            f"DO $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '{code}'; END $$".encode()
        )
    assert ledger.last_id(ACCOUNT.id) == 1
