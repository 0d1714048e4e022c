"""What the desk keeps of an account: private, synced, shared by desks, readable where it cannot be written."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec import Struct

from keydesk.records.desk_records import MAX_LEDGERS, MIGRATIONS, DeskRecords
from keydesk.records.errors import DamagedRecords
from keydesk.records.json_text import Kind
from keydesk_client.errors import UnsafeFile
from support.full_disk import no_room

AS_A_USER = pytest.mark.skipif(os.geteuid() == 0, reason="nothing stops root from writing")


class Limit(Struct, frozen=True):
    """A record."""

    amount: Decimal
    parts: dict[str, Decimal] = {}


LIMIT, OTHER = Kind("limit", Limit), Kind("other limit", Limit)
TEN, TWENTY = Limit(Decimal(10)), Limit(Decimal(20))


@pytest.fixture
def records(tmp_path: Path) -> DeskRecords:
    folder = tmp_path / "orders"
    folder.mkdir(mode=0o700)
    return DeskRecords(folder / "101.sqlite")


def put(records: DeskRecords, text: str) -> None:
    """Write a text in the place of every record."""
    with closing(sqlite3.connect(records.path)) as connection, connection:
        connection.execute("UPDATE records SET record = ?", (text,))


def test_each_kind_and_ledger_has_its_own_record(records: DeskRecords) -> None:
    assert records.read(LIMIT, 5) is None
    records.write(LIMIT, 5, TEN)
    records.write(LIMIT, 6, TWENTY)
    assert records.read(LIMIT, 5) == TEN
    assert records.read(LIMIT, 6) == TWENTY
    assert records.read(OTHER, 5) is None


def test_the_file_is_its_owners_alone_and_nothing_stays_beside_it(records: DeskRecords) -> None:
    records.write(LIMIT, 5, TEN)
    assert [each.name for each in records.path.parent.iterdir()] == ["101.sqlite"]
    assert records.path.stat().st_mode & 0o777 == 0o600
    records.path.chmod(0o640)
    with pytest.raises(UnsafeFile, match="chmod 600"):
        records.read(LIMIT, 5)
    with pytest.raises(UnsafeFile, match="chmod 600"):
        records.write(LIMIT, 5, TEN)


def test_the_ledgers_that_were_written_last_are_kept(records: DeskRecords) -> None:
    for ledger in range(MAX_LEDGERS + 1):
        records.write(LIMIT, ledger, TEN)
        records.write(LIMIT, 0, TEN)
    records.write(OTHER, 7, TEN)
    assert records.read(LIMIT, 0) == TEN
    assert records.read(LIMIT, 1) is None
    assert records.read(LIMIT, 2) == TEN


def test_a_change_is_made_to_what_another_desk_wrote(records: DeskRecords) -> None:
    def doubled(before: Limit | None) -> Limit:
        return TEN if before is None else Limit(before.amount * 2)

    theirs = DeskRecords(records.path)
    assert records.change(LIMIT, 5, doubled) == TEN
    assert theirs.change(LIMIT, 5, doubled) == TWENTY
    assert records.read(LIMIT, 5) == TWENTY


def test_while_another_desk_writes_what_was_there_is_read_and_a_change_is_refused(
    records: DeskRecords,
) -> None:
    records.write(LIMIT, 5, TEN)
    with closing(sqlite3.connect(records.path, isolation_level=None)) as theirs:
        theirs.execute("BEGIN IMMEDIATE")
        theirs.execute("DELETE FROM records")
        assert records.read(LIMIT, 5) == TEN
        with pytest.raises(BlockingIOError, match="another desk writes"):
            records.write(LIMIT, 5, TWENTY)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"amount": "NaN"}', '{"parts": {"a": "NaN"}}'])
def test_a_record_that_makes_no_sense_is_damaged_and_written_over(
    records: DeskRecords, text: str
) -> None:
    records.write(LIMIT, 5, TEN)
    put(records, text)
    with pytest.raises(DamagedRecords):
        records.read(LIMIT, 5)
    with pytest.raises(DamagedRecords):
        records.change(LIMIT, 5, lambda _: TWENTY)
    records.write(LIMIT, 5, TWENTY)
    assert records.read(LIMIT, 5) == TWENTY


def test_a_file_that_is_no_database_is_kept_aside_once_and_a_new_one_begun(
    records: DeskRecords,
) -> None:
    assert records.set_aside_damaged() == ""
    records.path.write_bytes(b"{" * 5000)
    records.path.chmod(0o600)
    with pytest.raises(DamagedRecords):
        records.read(LIMIT, 5)
    said = records.set_aside_damaged()
    assert "damaged: they are kept as" in said
    assert "begin empty" in said
    records.write(LIMIT, 5, TEN)
    assert records.set_aside_damaged() == ""
    [aside] = records.path.parent.glob("*.damaged-*")
    assert aside.read_bytes() == b"{" * 5000


def test_a_file_of_a_newer_version_is_left_as_it_is(records: DeskRecords) -> None:
    records.write(LIMIT, 5, TEN)
    with closing(sqlite3.connect(records.path)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    with pytest.raises(UnsafeFile, match="a newer Keydesk"):
        records.read(LIMIT, 5)
    with pytest.raises(UnsafeFile, match="a newer Keydesk"):
        records.write(LIMIT, 5, TEN)
    assert records.set_aside_damaged() == ""


@AS_A_USER
def test_where_nothing_can_be_written_it_is_read_still(records: DeskRecords) -> None:
    records.write(LIMIT, 5, TEN)
    records.path.parent.chmod(0o500)
    try:
        assert records.read(LIMIT, 5) == TEN
        with pytest.raises(OSError, match=r"101\.sqlite"):
            records.write(LIMIT, 5, TWENTY)
        assert records.read(LIMIT, 5) == TEN
    finally:
        records.path.parent.chmod(0o700)


def test_a_full_disk_leaves_what_was_there(records: DeskRecords) -> None:
    records.write(LIMIT, 5, TEN)
    with no_room():
        with pytest.raises(OSError, match="No space left"):
            records.write(LIMIT, 5, TWENTY)
        assert records.read(LIMIT, 5) == TEN
    records.write(LIMIT, 5, TWENTY)
    assert records.read(LIMIT, 5) == TWENTY


KILLED = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_spill = 1")
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE records SET record = ?", ("x" * 200_000,))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_desk_that_is_killed_in_the_middle_of_a_change_leaves_what_was_there(
    records: DeskRecords,
) -> None:
    records.write(LIMIT, 5, TEN)
    before = records.path.read_bytes()
    done = subprocess.run([sys.executable, "-c", KILLED, str(records.path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert records.path.read_bytes() != before, "it was killed while it wrote"
    assert records.read(LIMIT, 5) == TEN
