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
from typing import Generic

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
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            account_ns INTEGER NOT NULL,
            record TEXT NOT NULL,
            UNIQUE (kind, account_ns)
        )""",
    ),
)
READ = "SELECT record FROM records WHERE kind = ? AND account_ns = ?"
VERSION = "SELECT number FROM records WHERE kind = ? AND account_ns = ?"
SET_ASIDE = "UPDATE records SET kind = ? WHERE kind = ? AND account_ns = ?"
WRITE = "INSERT OR REPLACE INTO records (kind, account_ns, record) VALUES (?, ?, ?)"
KEEP_NEWEST = """DELETE FROM records WHERE kind = :kind AND number NOT IN (
    SELECT number FROM records WHERE kind = :kind ORDER BY number DESC LIMIT :most
)"""
BEGIN_EMPTY = "exit plans, alerts, the daily loss lock and what you had seen begin empty"


class Row(Struct, Generic[Record]):
    """The record of a kind and ledger, while the file is open."""

    connection: sqlite3.Connection
    kind: Kind[Record]
    account_ns: int

    @property
    def version(self) -> int:
        """A number that is another one after each change; 0 without a record."""
        found = self.connection.execute(VERSION, (self.kind.name, self.account_ns)).fetchone()
        return 0 if found is None else int(found[0])

    def read(self) -> Record | None:
        """Return the record; None if there is none."""
        found = self.connection.execute(READ, (self.kind.name, self.account_ns)).fetchone()
        return None if found is None else self.kind.read(found[0])

    def write(self, record: Record) -> None:
        """Write the record, whatever was there."""
        name = self.kind.name
        self.connection.execute(WRITE, (name, self.account_ns, self.kind.write(record)))
        self.connection.execute(KEEP_NEWEST, {"kind": name, "most": MAX_LEDGERS})

    def set_aside(self) -> None:
        """Keep a damaged record under another kind."""
        names = f"{self.kind.name}, damaged {self.version}", self.kind.name
        self.connection.execute(SET_ASIDE, (*names, self.account_ns))


class DeskRecords(Struct, frozen=True):
    """The records of an account in a file; what is called raises `errors.FAILURES`."""

    path: Path
    patience: float = PATIENCE

    @classmethod
    def of(cls, folder: Path, name: str) -> "DeskRecords":
        """Return the records of an account in the folder of order journals, by the name that its profiles share."""
        return cls(folder / f"{name}.sqlite")

    def read(self, kind: Kind[Record], account_ns: int) -> Record | None:
        """Return the record of a ledger, given by when its account was created; None if there is none."""
        with self._readable() as connection:
            return None if connection is None else Row(connection, kind, account_ns).read()

    def version(self, kind: Kind[Record], account_ns: int) -> int:
        """Return a number that is another one after each change of a record; 0 without one."""
        with self._readable() as connection:
            return 0 if connection is None else Row(connection, kind, account_ns).version

    def write(self, kind: Kind[Record], account_ns: int, record: Record) -> None:
        """Write the record of a ledger, whatever was there."""
        with self.row(kind, account_ns) as row:
            row.write(record)

    def change(
        self, kind: Kind[Record], account_ns: int, change: Callable[[Record | None], Record]
    ) -> Record:
        """Change the record of a ledger as the file has it now; return the new one."""
        with self.row(kind, account_ns) as row:
            before = row.read()
            after = change(before)
            if after != before:
                row.write(after)
        return after

    @contextmanager
    def row(self, kind: Kind[Record], account_ns: int) -> Generator[Row[Record]]:
        """Read and write the record of a ledger in one change, in which no other desk writes."""
        create_file(self.path)
        with self._opened() as connection:
            connection.execute("PRAGMA synchronous = EXTRA")  # the folder, too
            migrate(connection, MIGRATIONS)
            with transaction(connection, "IMMEDIATE"):
                yield Row(connection, kind, account_ns)

    def set_aside_damaged(self) -> str:
        """Keep a damaged file under another name, so that a new one is begun; return what was done, "" for one that can be read.

        Raises:
            OSError: it cannot be renamed.
        """
        try:
            with self._readable() as connection:
                if connection is not None:
                    connection.execute("PRAGMA quick_check").fetchall()
        except DamagedRecords:
            return set_aside(self.path, then=BEGIN_EMPTY)
        except NOT_KEPT:  # said by those that need it
            pass
        return ""

    @contextmanager
    def _readable(self) -> Generator[sqlite3.Connection | None]:
        """Open the file as it is; None if there is none, or nothing in it."""
        try:
            refuse_unsafe(self.path.parent, self.path.parent.stat())
            refuse_file(self.path)
        except FileNotFoundError:
            yield None
            return
        with self._opened() as connection:
            yield connection if version_of(connection, MIGRATIONS) else None

    @contextmanager
    def _opened(self) -> Generator[sqlite3.Connection]:
        address = f"{self.path.absolute().as_uri()}?mode=rw"  # a file that is gone is not made here
        with (
            system_errors(self.path),
            closing(
                sqlite3.connect(address, uri=True, timeout=self.patience, isolation_level=None)
            ) as connection,
        ):
            yield connection
