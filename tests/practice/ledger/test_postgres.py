"""What a ledger on PostgreSQL has beyond the one in a file: fencing numbers, requests, lost connections, and no password shown."""

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from keydesk_practice.errors import LedgerUnavailable, LedgerUnreachable, LedgerWriteFailed
from keydesk_practice.ledger.interface import copy_account
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
from keydesk_practice.ledger.postgres import PostgresLedger
from keydesk_practice.ledger.postgres_accounts import commit_batches
from keydesk_practice.ledger.postgres_connection import (
    away_errors,
    connect,
    connection_text,
    without_password,
)

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


def take(address: str, account: LedgerAccount) -> int:
    """Take an account as another node does, and return its fencing number."""
    connection = connect(address)
    rows = connection.execute(
        "UPDATE accounts SET fence = fence + 1 WHERE id = %s RETURNING fence", (account.id,)
    ).fetchall()
    connection.close()
    return int(rows[0][0])


def test_a_commit_with_an_old_fencing_number_stores_nothing(
    ledger: PostgresLedger, address: str
) -> None:
    take(address, ACCOUNT)
    with pytest.raises(LedgerWriteFailed, match="another node"):
        ledger.commit([batch(ACCOUNT, 2)])
    assert ledger.last_id(ACCOUNT.id) == 1


def test_accounts_that_are_still_owned_are_stored_beside_one_that_was_taken(
    ledger: PostgresLedger, address: str
) -> None:
    take(address, ACCOUNT)
    connection = connect(address)
    assert commit_batches(connection, [batch(ACCOUNT, 2), batch(OTHER, 2, 3)], {}) == {OTHER.id}
    connection.close()
    assert (ledger.last_id(ACCOUNT.id), ledger.last_id(OTHER.id)) == (1, 3)


def test_snapshots_marks_and_ended_items_are_fenced_too(
    ledger: PostgresLedger, address: str
) -> None:
    ledger.save_snapshot(ACCOUNT.id, 1, "form", b"of the owner")
    take(address, ACCOUNT)
    ledger.save_snapshot(ACCOUNT.id, 1, "form", b"of the former owner")
    with pytest.raises(LedgerWriteFailed):
        ledger.commit([LedgerBatch(ACCOUNT.id, [MarkRecord(1, Decimal(1))])])
    assert ledger.snapshot(ACCOUNT.id, "form") == (1, b"of the owner")
    assert ledger.marks(ACCOUNT.id) == []


def test_an_account_of_another_node_is_not_begun_anew(ledger: PostgresLedger, address: str) -> None:
    ledger.commit([batch(ACCOUNT, 2), batch(OTHER, 2)])
    take(address, ACCOUNT)
    with pytest.raises(LedgerWriteFailed):
        ledger.replace_account(ACCOUNT, [])
    ledger.replace_account(OTHER, [])
    assert (ledger.last_id(ACCOUNT.id), ledger.last_id(OTHER.id)) == (2, 0)


def test_an_account_is_cloned_with_its_marks(ledger: PostgresLedger) -> None:
    copy = LedgerAccount("101-001-1-003", 0, "USD", hedging=False)
    ledger.commit([LedgerBatch(ACCOUNT.id, [MarkRecord(1, Decimal("1.1"))])])
    copy_account(ledger, ACCOUNT.id, copy)
    assert ledger.marks(copy.id) == [(1, Decimal("1.1"))]
    assert ledger.last_id(copy.id) == 1
    assert copy.id in ledger.bodies(copy.id, 1, 1)[0]


def test_missing_transactions_are_noticed(ledger: PostgresLedger, address: str) -> None:
    connection = connect(address)
    connection.execute("DELETE FROM transactions WHERE account = %s", (OTHER.id,))
    connection.close()
    with pytest.raises(LedgerUnavailable, match=OTHER.id):
        ledger.verify()


def test_after_a_lost_connection_the_database_is_away_until_there_is_a_new_one(
    ledger: PostgresLedger, address: str
) -> None:
    connection = connect(address)
    connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    connection.close()
    for _ in range(2):
        with pytest.raises(LedgerUnreachable):
            ledger.last_id(ACCOUNT.id)
    ledger.reconnect()
    assert ledger.last_id(ACCOUNT.id) == 1


def test_a_server_that_takes_no_writes_is_no_lost_connection(address: str) -> None:
    connection = connect(address)
    connection.execute("SET default_transaction_read_only = on")
    with (
        pytest.raises(LedgerWriteFailed, match="cannot store anything: cannot execute"),
        away_errors(),
    ):
        connection.execute("CREATE TABLE one (two integer)")
    assert not connection.closed
    connection.close()


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


def test_an_empty_file_names_no_database(tmp_path: Path) -> None:
    (tmp_path / "ledger").write_text("\n")
    with pytest.raises(LedgerUnavailable, match="is empty"):
        connection_text(f"@{tmp_path / 'ledger'}")


def test_a_file_that_is_missing_is_named() -> None:
    with pytest.raises(LedgerUnavailable, match="no/such/file"):
        connection_text("@no/such/file")


@pytest.mark.parametrize(
    ("code", "error"), [("53100", LedgerWriteFailed), ("57P01", LedgerUnreachable)]
)
def test_an_answer_of_a_full_disk_is_told_from_a_lost_connection(
    ledger: PostgresLedger, address: str, code: str, error: type[Exception]
) -> None:
    with connect(address) as connection, pytest.raises(error, match="no space left"), away_errors():
        connection.execute(
            f"DO $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '{code}'; END $$".encode()
        )
    assert ledger.last_id(ACCOUNT.id) == 1
