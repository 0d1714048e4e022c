"""What the desk keeps of an account for its next start and for the other desks of the account: one private SQLite file.

There is a record of each kind for each ledger: a replay of the practice market has accounts of the ids that were left, told
apart by when they were created. The file is opened for each access, so that a desk holds no memory for it and finds the file
that is there now. It has a rollback journal, not WAL: it can then be read on a disk that cannot be written. A change is on the
disk when it returns. Its records cannot be read from the broker again, so it is not the file of the journal.
"""

import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec import Struct

from keydesk.records.database import (
    create_file,
    migrate,
    refuse_file,
    set_aside,
    system_errors,
    transaction,
    version_of,
)
from keydesk.records.errors import NOT_KEPT, DamagedRecords
from keydesk.records.json_text import Kind, Record
from keydesk_client.auth.private_files import refuse_unsafe

PATIENCE = 0.2  # seconds that another desk may write
MAX_LEDGERS = 9  # of a kind: those that were written last
MIGRATIONS = (
    (
        """CREATE TABLE records (
            number INTEGER PRIMARY KEY,
            kind TEXT NOT NULL,
            account_ns INTEGER NOT NULL,
            record TEXT NOT NULL,
            UNIQUE (kind, account_ns)
        )""",
    ),
)
READ = "SELECT record FROM records WHERE kind = ? AND account_ns = ?"
WRITE = "INSERT OR REPLACE INTO records (kind, account_ns, record) VALUES (?, ?, ?)"
KEEP_NEWEST = """DELETE FROM records WHERE kind = :kind AND number NOT IN (
    SELECT number FROM records WHERE kind = :kind ORDER BY number DESC LIMIT :most
)"""
BEGIN_EMPTY = "exit plans, the daily loss lock and what you had seen begin empty"


class DeskRecords(Struct, frozen=True):
    """The records of an account in a file; what is called raises `errors.FAILURES`."""

    path: Path

    @classmethod
    def of(cls, folder: Path, name: str) -> "DeskRecords":
        """Return the records of an account in the folder of order journals, by the name that its profiles share."""
        return cls(folder / f"{name}.sqlite")

    def read(self, kind: Kind[Record], account_ns: int) -> Record | None:
        """Return the record of a ledger, given by when its account was created; None if there is none."""
        try:
            refuse_unsafe(self.path.parent, self.path.parent.stat())
            refuse_file(self.path)
        except FileNotFoundError:
            return None
        with self._opened() as connection:
            if not version_of(connection, MIGRATIONS):
                return None
            return _read(connection, kind, account_ns)

    def write(self, kind: Kind[Record], account_ns: int, record: Record) -> None:
        """Write the record of a ledger, whatever was there."""
        with self._writable() as connection:
            _write(connection, kind, account_ns, record)

    def change(
        self, kind: Kind[Record], account_ns: int, change: Callable[[Record | None], Record]
    ) -> Record:
        """Change the record of a ledger as the file has it now; return the new one."""
        with self._writable() as connection:
            before = _read(connection, kind, account_ns)
            after = change(before)
            if after != before:
                _write(connection, kind, account_ns, after)
        return after

    def set_aside_damaged(self) -> str:
        """Keep a damaged file under another name, so that a new one is begun; return what was done, "" for one that can be read.

        Raises:
            OSError: it cannot be renamed.
        """
        try:
            refuse_file(self.path)
            with self._opened() as connection:
                connection.execute("PRAGMA quick_check").fetchall()
        except DamagedRecords:
            return set_aside(self.path, then=BEGIN_EMPTY)
        except NOT_KEPT:  # said by those that need it
            pass
        return ""

    @contextmanager
    def _opened(self) -> Generator[sqlite3.Connection]:
        address = f"{self.path.absolute().as_uri()}?mode=rw"  # a file that is gone is not made here
        with (
            system_errors(self.path),
            closing(
                sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
            ) as connection,
        ):
            yield connection

    @contextmanager
    def _writable(self) -> Generator[sqlite3.Connection]:
        create_file(self.path)
        with self._opened() as connection:
            connection.execute("PRAGMA synchronous = EXTRA")  # the folder, too
            migrate(connection, MIGRATIONS)
            with transaction(connection, "IMMEDIATE"):
                yield connection


def _read(connection: sqlite3.Connection, kind: Kind[Record], account_ns: int) -> Record | None:
    found = connection.execute(READ, (kind.name, account_ns)).fetchone()
    return None if found is None else kind.read(found[0])


def _write(
    connection: sqlite3.Connection, kind: Kind[Record], account_ns: int, record: Record
) -> None:
    connection.execute(WRITE, (kind.name, account_ns, kind.write(record)))
    connection.execute(KEEP_NEWEST, {"kind": kind.name, "most": MAX_LEDGERS})
