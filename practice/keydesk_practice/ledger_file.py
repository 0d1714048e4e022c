"""Opens the ledger's file: private to its owner, held by one process, durable at every commit.

`locking_mode=EXCLUSIVE` is set before WAL, so that there is no shared-memory file and a second process gets a clear
refusal; one connection only, which also keeps clear of the WAL-reset fault of SQLite before 3.51.3. `synchronous=FULL`
makes a commit survive a power cut, not only a kill.
"""

import os
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from keydesk_practice.errors import LedgerUnavailable

FILE_NAME = "ledger.sqlite3"
FORMAT = 1

_TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS accounts (
    id TEXT PRIMARY KEY, owner INTEGER NOT NULL, currency TEXT NOT NULL, hedging INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS transactions (
    account TEXT NOT NULL, id INTEGER NOT NULL, time INTEGER NOT NULL, type TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (account, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS transactions_by_type ON transactions (account, type, id);
CREATE TABLE IF NOT EXISTS marks (
    account TEXT NOT NULL, order_id INTEGER NOT NULL, level TEXT NOT NULL, PRIMARY KEY (account, order_id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ended (
    account TEXT NOT NULL, kind TEXT NOT NULL, id INTEGER NOT NULL, state TEXT NOT NULL, instrument TEXT NOT NULL,
    record BLOB NOT NULL, PRIMARY KEY (account, kind, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS snapshots (
    account TEXT PRIMARY KEY, id INTEGER NOT NULL, made_by TEXT NOT NULL, state BLOB NOT NULL
);
"""


def open_ledger_file(folder: Path) -> sqlite3.Connection:
    """Return the only connection to the ledger in `folder`, made on first use.

    Raises:
        LedgerUnavailable: another process holds it, or the file is no ledger of ours.
    """
    make_private(folder)
    path = folder / FILE_NAME
    mask = os.umask(0o077)
    try:
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise LedgerUnavailable(_reason(error, path)) from error
    finally:
        os.umask(mask)
    return connection


def set_ledger_aside(folder: Path, now: datetime | None = None) -> Path | None:
    """Move the ledger of `folder` beside itself so that the next start makes a fresh one; None if there was none.

    Raises:
        LedgerUnavailable: a running broker holds it.
    """
    path = folder / FILE_NAME
    if not path.exists():
        return None
    connection = open_ledger_file(folder)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    stamp = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%S.%fZ")
    kept = path.with_name(f"ledger-{stamp}.sqlite3")
    path.rename(kept)
    return kept


def make_private(folder: Path) -> None:
    """Create the folder 0700; an existing one is closed to others if it is ours or empty.

    Raises:
        LedgerUnavailable: it holds other files and lets others in, or cannot be used at all.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not folder.stat().st_mode & 0o077:
            return
        if any(folder.iterdir()) and not (folder / FILE_NAME).exists():
            raise LedgerUnavailable(f"{folder} is open to others: chmod 700 it, or choose another")
        folder.chmod(0o700)
    except OSError as error:
        raise LedgerUnavailable(f"cannot use {folder}: {error.strerror}") from error


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("PRAGMA busy_timeout=0")
    connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("BEGIN IMMEDIATE")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in {0, FORMAT}:
        raise LedgerUnavailable(f"{path} was written by another version (format {version})")
    for statement in _TABLES.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version={FORMAT}")
    connection.execute("COMMIT")


def _reason(error: sqlite3.Error, path: Path) -> str:
    if "locked" in str(error):
        return f"{path} is held by another running practice broker: leave that one, or choose a folder with --data"
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
        return f"the disk is full: make room for {path}, then start again"
    return f"{path} cannot be opened: {error}"
