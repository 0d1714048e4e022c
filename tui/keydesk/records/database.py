"""The database of an account's records: one private SQLite file, or memory alone where there is none.

Several desks share the file: while one writes, others go on reading (WAL), and a change is one transaction. A damaged file never
stops the desk: it is kept under another name, which is reported, and a new one begun.
"""

import errno
import os
import sqlite3
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from time import time_ns
from weakref import finalize

from keydesk.records.errors import DamagedRecords
from keydesk_client.auth.private_files import (
    private_folder,
    refuse_link,
    refuse_unsafe,
    sync_folder,
)
from keydesk_client.errors import UnsafeFile

PATIENCE = 10.0  # seconds that another desk may write
MOST_WAL_PAGES = 10_000  # 40 MB, which threads copy into the file long before
SIDE_FILES = ("-wal", "-shm")  # SQLite's, beside the file
MEANINGS = {
    sqlite3.SQLITE_IOERR_WRITE: errno.ENOSPC,  # a quota; what is wrong with a disk shows when it is synced
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_PERM: errno.EACCES,
}
MIGRATIONS: Sequence[Sequence[str]] = (
    (
        """CREATE TABLE accounts (
            number INTEGER PRIMARY KEY CHECK (number = 1),
            rules INTEGER NOT NULL,
            account_id TEXT NOT NULL,
            created_ns INTEGER NOT NULL,
            last_id INTEGER NOT NULL,
            start_balance TEXT NOT NULL,
            transfers TEXT NOT NULL,
            unattributed TEXT NOT NULL
        )""",
        """CREATE TABLE balances (
            number INTEGER PRIMARY KEY,
            time_ns INTEGER NOT NULL,
            balance TEXT NOT NULL,
            transfer TEXT NOT NULL
        )""",
        """CREATE TABLE trades (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL,
            is_trade INTEGER NOT NULL,
            is_position INTEGER NOT NULL,
            position TEXT NOT NULL,
            is_open INTEGER NOT NULL,
            time_ns INTEGER NOT NULL,
            opened_ns INTEGER NOT NULL,
            instrument TEXT NOT NULL,
            side TEXT NOT NULL,
            units TEXT NOT NULL,
            move TEXT,
            r TEXT,
            profit TEXT NOT NULL,
            financing TEXT NOT NULL,
            result TEXT NOT NULL,
            session TEXT NOT NULL,
            stop_distance TEXT,
            words TEXT NOT NULL,
            rebuilt TEXT NOT NULL,
            UNIQUE (id, is_trade)
        )""",
        "CREATE INDEX newest_trades ON trades (is_open, time_ns) WHERE is_trade",
        "CREATE INDEX newest_positions ON trades (is_open, time_ns) WHERE is_position",
        "CREATE INDEX trades_of_positions ON trades (position) WHERE is_trade",
        "CREATE TABLE order_prices (id TEXT PRIMARY KEY, price TEXT NOT NULL) WITHOUT ROWID",
        """CREATE TABLE stops (
            number INTEGER PRIMARY KEY,
            trade TEXT NOT NULL,
            stop TEXT NOT NULL
        )""",
        "CREATE INDEX stops_of_trades ON stops (trade)",
        """CREATE TABLE excursions (
            trade TEXT PRIMARY KEY,
            opened_ns INTEGER NOT NULL,
            closed_ns INTEGER NOT NULL,
            adverse TEXT NOT NULL,
            favourable TEXT NOT NULL
        ) WITHOUT ROWID""",
        """CREATE TABLE price_paths (
            trade TEXT PRIMARY KEY,
            opened_ns INTEGER NOT NULL,
            closed_ns INTEGER NOT NULL,
            path TEXT NOT NULL
        )""",
    ),
)
"""The statements that lead from each version of the schema to the next. Money is text: it stays exact."""


class Database:
    """The connections to the records of an account.

    Args:
        path: The file; None: memory alone.

    Raises:
        OSError: the file cannot be opened or written.
        UnsafeFile: it is accessible to others, or a newer Keydesk wrote it.
        DamagedRecords: it is not a database.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._lock = Lock()  # of the connection that threads share
        if path is not None:
            create_file(path)
        self._inode = None if path is None else path.stat().st_ino
        self.background = self._connect(PATIENCE)
        """For threads, one at a time: it waits for other desks."""
        self.connection = self.background if path is None else self._connect(0)
        """For the event loop: it waits for nothing."""
        self._own_lock = self._lock if path is None else Lock()
        finalize(self, _close, self.connection, self.background)
        with system_errors(path):
            if path is not None:
                self.connection.execute(f"PRAGMA wal_autocheckpoint = {MOST_WAL_PAGES}")
            migrate(self.background, MIGRATIONS)

    def _connect(self, patience: float) -> sqlite3.Connection:
        with system_errors(self.path):
            connection = sqlite3.connect(
                ":memory:" if self.path is None else self.path,
                timeout=patience,
                isolation_level=None,  # transactions begin where they are written
                check_same_thread=False,
            )
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            _close(self.connection, self.background)

    def checkpoint(self) -> None:
        """Copy what was written beside the file into it, in a thread: the event loop syncs no disk."""
        with self._lock, system_errors(self.path):
            self.background.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    @contextmanager
    def change(self) -> Generator[sqlite3.Connection]:
        """Make one change, in a thread; raise as the class does."""
        with self._lock, system_errors(self.path), transaction(self.background, "IMMEDIATE"):
            yield self.background

    @contextmanager
    def change_now(self) -> Generator[sqlite3.Connection]:
        """Make a small change in the event loop; raise BlockingIOError while another thread or desk writes."""
        if not self._own_lock.acquire(blocking=False):
            raise BlockingIOError(errno.EAGAIN, "another thread writes", self.path)
        try:
            with system_errors(self.path), transaction(self.connection, "IMMEDIATE"):
                yield self.connection
        finally:
            self._own_lock.release()

    @contextmanager
    def snapshot(self) -> Generator[sqlite3.Connection]:
        """Read several things as they were at one moment, in a thread; raise as the class does."""
        with self._lock, system_errors(self.path), transaction(self.background, "DEFERRED"):
            yield self.background

    def set_aside(self, now_ns: int | None = None) -> str:
        """Keep a damaged file under another name, and return what was done; "" if another desk did it.

        Raises:
            OSError: it cannot be renamed.
        """
        with suppress(sqlite3.Error):
            self.close()
        return "" if self.path is None else set_aside(self.path, self._inode, now_ns)


@contextmanager
def system_errors(path: Path | None) -> Generator[None]:
    """Raise errors of SQLite as those of the system."""
    try:
        yield
    except sqlite3.Error as error:
        raise _as_own(error, path) from error


def _as_own(error: sqlite3.Error, path: Path | None) -> Exception:
    exact = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    code = exact & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return BlockingIOError(errno.EAGAIN, "another desk writes", path)
    if isinstance(error, sqlite3.OperationalError) and code != sqlite3.SQLITE_ERROR:
        number = MEANINGS.get(exact, MEANINGS.get(code, errno.EIO))
        return OSError(number, os.strerror(number), str(path or "memory"))
    return DamagedRecords(f"{path}: {error}")


def _close(*connections: sqlite3.Connection) -> None:
    for each in connections:
        each.close()


def set_aside(
    path: Path,
    inode: int | None = None,
    now_ns: int | None = None,
    *,
    then: str = "are read from the broker again",
) -> str:
    """Keep a damaged file under another name unless it is another one by now; return what was done, and `then` happens."""
    with suppress(FileNotFoundError):
        if inode is not None and path.stat().st_ino != inode:
            return ""
        aside = path.with_name(f"{path.name}.damaged-{now_ns or time_ns()}")
        path.rename(aside)
        for each in SIDE_FILES:
            with suppress(FileNotFoundError):
                path.with_name(path.name + each).rename(aside.with_name(aside.name + each))
        return f"The records were damaged: they are kept as {aside}, and {then}"
    return ""


def create_file(path: Path) -> None:
    """Create an empty private file unless it exists; refuse one that others can access.

    An existing one is not opened: closing it would release SQLite's locks of this process.
    """
    private_folder(path.parent)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
        sync_folder(path.parent)
    refuse_file(path)


def refuse_file(path: Path) -> None:
    """Raise UnsafeFile for what is not a private file; OSError where it cannot be looked at."""
    refuse_link(path)
    status = path.stat()
    refuse_unsafe(path, status)
    if not stat.S_ISREG(status.st_mode):
        raise UnsafeFile(f"{path} is not a regular file")


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str) -> Generator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):  # some errors have ended it
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def migrate(connection: sqlite3.Connection, migrations: Sequence[Sequence[str]]) -> None:
    """Bring the schema to this version; raise UnsafeFile if a newer Keydesk wrote it."""
    if version_of(connection, migrations) == len(migrations):
        return
    with transaction(connection, "IMMEDIATE"):
        version = version_of(connection, migrations)  # another desk may have done it meanwhile
        for statements in migrations[version:]:
            for each in statements:
                connection.execute(each)
        connection.execute(f"PRAGMA user_version = {len(migrations)}")


def version_of(connection: sqlite3.Connection, migrations: Sequence[Sequence[str]]) -> int:
    """Return how many of the migrations were made; raise UnsafeFile if a newer Keydesk wrote the file."""
    [version] = connection.execute("PRAGMA user_version").fetchone()
    if version > len(migrations):
        raise UnsafeFile("a newer Keydesk wrote the records: use that one, or move them away")
    return int(version)
