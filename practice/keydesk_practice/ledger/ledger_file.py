"""Opening the ledger's file: private to its owner, held by one process, durable at every commit.

`locking_mode=EXCLUSIVE` is set before WAL, so that there is no shared-memory file and a second process gets a clear
error; using one connection only also avoids the WAL-reset bug of SQLite before 3.51.3. With `synchronous=FULL` a commit
survives a power cut, not only a kill.

A new ledger is created under another name and linked into place when its tables are there. So a file that is empty, or
has no tables, has lost its content and is refused.
"""

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from keydesk_practice.errors import LedgerUnavailable
from keydesk_practice.ledger.checksums import SUMMED, CheckReport, check_ledger
from keydesk_practice.ledger.records import checksum

FILE_NAME = "ledger.sqlite3"
FORMAT = 2
FORMAT_WITHOUT_CHECKSUMS = 1
PAGE_BYTES = 8192  # holds a fill in one page; with the default of 4096 each takes an overflow page of its own
_SIDE_FILES = ("-wal", "-journal", "-shm")  # of SQLite
RECOVERY_HINT = (
    "restore a backup, or begin a new ledger with `keydesk practice reset`, which keeps the file"
)

_TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL, crc INTEGER) WITHOUT ROWID;
CREATE TABLE accounts (
    id TEXT PRIMARY KEY, owner INTEGER NOT NULL, currency TEXT NOT NULL, hedging INTEGER NOT NULL, crc INTEGER
) WITHOUT ROWID;
CREATE TABLE transactions (
    account TEXT NOT NULL, id INTEGER NOT NULL, time INTEGER NOT NULL, type TEXT NOT NULL, body TEXT NOT NULL,
    crc INTEGER, PRIMARY KEY (account, id)
) WITHOUT ROWID;
CREATE INDEX transactions_by_type ON transactions (account, type, id);
CREATE TABLE marks (
    account TEXT NOT NULL, order_id INTEGER NOT NULL, level TEXT NOT NULL, crc INTEGER,
    PRIMARY KEY (account, order_id)
) WITHOUT ROWID;
CREATE TABLE ended (
    account TEXT NOT NULL, kind TEXT NOT NULL, id INTEGER NOT NULL, state TEXT NOT NULL, instrument TEXT NOT NULL,
    record BLOB NOT NULL, crc INTEGER, PRIMARY KEY (account, kind, id)
) WITHOUT ROWID;
CREATE TABLE snapshots (
    account TEXT PRIMARY KEY, id INTEGER NOT NULL, made_by TEXT NOT NULL, state BLOB NOT NULL, crc INTEGER
);
"""
_HEADS = (
    "CREATE TABLE heads (account TEXT PRIMARY KEY, id INTEGER NOT NULL, crc INTEGER) WITHOUT ROWID"
)


class LedgerLocked(LedgerUnavailable):
    """The ledger is in use by another running broker."""


def open_ledger_file(folder: Path) -> sqlite3.Connection:
    """Return the only connection to the ledger in `folder`, which is created when there is none.

    Raises:
        LedgerUnavailable: it is in use, it is not a ledger of this version, or it has lost its content.
    """
    make_private(folder)
    path = folder / FILE_NAME
    with translated_errors(path), _private_files():
        if not path.exists():
            create_ledger_file(path)
        connection = _connected(path)
        try:
            _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def check_ledger_file(folder: Path) -> CheckReport:
    """Check every row of the ledger in `folder`, without changing it.

    Raises:
        LedgerUnavailable: there is none, it is in use, or it cannot be read at all.
    """
    path = folder / FILE_NAME
    if not path.exists():
        raise LedgerUnavailable(f"there is no ledger in {folder}")
    return check_copy(path)


def check_copy(path: Path) -> CheckReport:
    """Check every row of a ledger or of a copy of one, without changing it.

    Raises:
        LedgerUnavailable: it is in use, or it cannot be read at all.
    """
    with translated_errors(path), contextlib.closing(_connected(path)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        version = _known_version(connection, path)
        return check_ledger(connection, summed=version != FORMAT_WITHOUT_CHECKSUMS)


def verify_connection(connection: sqlite3.Connection, folder: Path) -> None:
    """Check every row of an open ledger; raise `LedgerUnavailable` when one is damaged."""
    path = folder / FILE_NAME
    with translated_errors(path):
        problems = check_ledger(connection).problems
    if problems:
        raise damaged_error(path, problems[0])


def damaged_error(path: Path, problem: str) -> LedgerUnavailable:
    """Return the error for a damaged ledger."""
    return LedgerUnavailable(
        f"{path} is damaged: {problem} (`keydesk practice check` lists all damage): {RECOVERY_HINT}"
    )


def move_ledger_aside(folder: Path, now: datetime | None = None) -> Path | None:
    """Rename the ledger of `folder`, so that the next start creates a new one; return its new path, None if there was none.

    A damaged or empty ledger is renamed, too.

    Raises:
        LedgerUnavailable: it is in use, or it cannot be renamed.
    """
    path = folder / FILE_NAME
    if not any(path.with_name(FILE_NAME + end).exists() for end in ("", *_SIDE_FILES)):
        return None
    make_private(folder)
    check_unused(path)
    renamed = path_by_time(folder, now)
    move_ledger(path, renamed)
    return renamed


def path_by_time(folder: Path, now: datetime | None = None) -> Path:
    """Return the path under which a ledger is kept that is left at a time."""
    return folder / f"ledger-{now or datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}.sqlite3"


def is_in_use(folder: Path) -> bool:
    """Return whether a running broker has the ledger of a folder open."""
    try:
        check_unused(folder / FILE_NAME)
    except LedgerLocked:
        return True
    return False


def check_unused(path: Path) -> None:
    """Let SQLite write its log back into a ledger; raise `LedgerLocked` when a broker has it open."""
    if path.exists() and path.stat().st_size:
        _checkpoint(path)


def move_ledger(path: Path, target: Path) -> None:
    """Rename a ledger with the files that SQLite made beside it; a damaged or empty one, too."""
    with translated_errors(path):
        for end in ("", *_SIDE_FILES):
            with contextlib.suppress(FileNotFoundError):
                path.with_name(path.name + end).rename(target.with_name(target.name + end))


def remove_ledger(path: Path) -> None:
    """Delete a ledger or a copy of one, with the files that SQLite made beside it."""
    for end in ("", *_SIDE_FILES):
        path.with_name(path.name + end).unlink(missing_ok=True)


def _checkpoint(path: Path) -> None:
    """Let SQLite write its log back into the ledger; raises `LedgerLocked`, and leaves a damaged one as it is."""
    with contextlib.suppress(sqlite3.Error):
        connection = _connected(path)
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("COMMIT")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            if "locked" in str(error):
                raise LedgerLocked(_reason(error, path)) from error
        finally:
            connection.close()


def make_folders(folder: Path) -> None:
    """Create the folder with mode 0700 unless it exists, and those above it: `Path.mkdir` leaves these to the umask."""
    for each in (*reversed(folder.parents), folder):
        if not each.is_dir():
            each.mkdir(mode=0o700, exist_ok=True)


def make_private(folder: Path) -> None:
    """Create the folder with mode 0700; change an existing one to 0700 if it is empty or holds a ledger.

    Raises:
        LedgerUnavailable: it holds other files and other users may enter it, or it cannot be used.
    """
    try:
        make_folders(folder)
        if not folder.stat().st_mode & 0o077:
            return
        if any(folder.iterdir()) and not (folder / FILE_NAME).exists():
            raise LedgerUnavailable(
                f"{folder} can be read by other users and holds other files: name a folder of your own, such as --data {folder / 'practice'}"
            )
        folder.chmod(0o700)
    except OSError as error:
        raise LedgerUnavailable(f"cannot use {folder}: {error.strerror}") from error


@contextlib.contextmanager
def _private_files() -> Iterator[None]:
    """Create the files of the block with mode 0600."""
    mask = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(mask)


@contextlib.contextmanager
def translated_errors(path: Path) -> Iterator[None]:
    """Raise the errors of SQLite and of the file system as `LedgerUnavailable`."""
    try:
        yield
    except sqlite3.Error as error:
        raise ledger_error(error, path) from error
    except UnicodeDecodeError as error:
        raise damaged_error(path, "it holds text that is not UTF-8") from error
    except OSError as error:
        raise LedgerUnavailable(f"cannot use {path}: {error.strerror}") from error


def ledger_error(error: sqlite3.Error, path: Path) -> LedgerUnavailable:
    """Return the error for a ledger that SQLite cannot use."""
    kind = LedgerLocked if "locked" in str(error) else LedgerUnavailable
    return kind(_reason(error, path))


def create_ledger_file(path: Path) -> None:
    """Create a ledger without accounts, complete or not at all."""
    for end in _SIDE_FILES:
        left = path.with_name(FILE_NAME + end)
        if left.exists():
            raise LedgerUnavailable(f"{path} is missing but {left.name} is there: {RECOVERY_HINT}")
    new = path.with_name(f"{FILE_NAME}.new-{os.getpid()}")
    new.unlink(missing_ok=True)
    try:
        with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("BEGIN IMMEDIATE")
            for statement in (*_TABLES.split(";"), _HEADS):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={FORMAT}")
            connection.execute("COMMIT")
        with contextlib.suppress(FileExistsError):  # another process was first
            os.link(new, path)
    finally:
        new.unlink(missing_ok=True)


def _connected(path: Path) -> sqlite3.Connection:
    if path.stat().st_size == 0:
        raise LedgerUnavailable(f"{path} is empty (0 bytes): {RECOVERY_HINT}")
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA busy_timeout=0")
    connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("BEGIN IMMEDIATE")
    if _known_version(connection, path) == FORMAT_WITHOUT_CHECKSUMS:
        _add_checksums(connection, path)
    _refuse_part_of_accounts(connection, path)
    _refuse_without_accounts(connection, path)
    connection.execute("COMMIT")


def _known_version(connection: sqlite3.Connection, path: Path) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if not tables:
        raise LedgerUnavailable(f"{path} has no tables: {RECOVERY_HINT}")
    if version not in {FORMAT_WITHOUT_CHECKSUMS, FORMAT}:
        raise LedgerUnavailable(
            f"{path} has format {version}, which this version cannot read: use the version that wrote it"
        )
    expected = SUMMED.keys() - ({"heads"} if version == FORMAT_WITHOUT_CHECKSUMS else set())
    if missing := sorted(expected - tables):
        raise damaged_error(path, f"the table {missing[0]} is missing")
    return int(version)


def _refuse_part_of_accounts(connection: sqlite3.Connection, path: Path) -> None:
    """Raise for one of several ledgers, from when a broker could divide its accounts among processes."""
    row = connection.execute("SELECT value FROM facts WHERE name='workers'").fetchone()
    if row is not None and row[0] != "1":
        raise LedgerUnavailable(
            f"{path} holds only some of the accounts, those of one worker of {row[0]}, and this version has none: "
            "run `keydesk practice reset`, which keeps the file, or choose another folder with --data"
        )


def _refuse_without_accounts(connection: sqlite3.Connection, path: Path) -> None:
    """Raise for a ledger without accounts, unless its first start was interrupted and it is empty."""
    (accounts,) = connection.execute("SELECT count(*) FROM accounts").fetchone()
    (traces,) = connection.execute(
        "SELECT (SELECT count(*) FROM transactions) + (SELECT count(*) FROM heads)"
        " + (SELECT count(*) FROM facts WHERE name='last_seen')"
    ).fetchone()
    if traces and not accounts:
        raise damaged_error(path, "it has lost its accounts")


def _add_checksums(connection: sqlite3.Connection, path: Path) -> None:
    """Upgrade a ledger of format 1 to format 2, in one SQL transaction."""
    if problems := check_ledger(connection, summed=False).problems:
        raise damaged_error(path, problems[0])
    connection.create_function("row_checksum", -1, checksum, deterministic=True)
    connection.execute(_HEADS)
    for table, columns in SUMMED.items():
        if table != "heads":
            connection.execute(f"ALTER TABLE {table} ADD COLUMN crc INTEGER")
            connection.execute(f"UPDATE {table} SET crc=row_checksum({', '.join(columns)})")  # noqa: S608 - names of ours
    newest = "SELECT account, max(id), row_checksum(account, max(id)) FROM transactions GROUP BY 1"
    connection.execute(f"INSERT INTO heads {newest}")
    connection.execute(f"PRAGMA user_version={FORMAT}")


def _reason(error: sqlite3.Error, path: Path) -> str:
    if "locked" in str(error):
        return f"{path} is in use by another running practice broker: stop that one, or choose another folder with --data"
    code = getattr(error, "sqlite_errorcode", None)
    if code == sqlite3.SQLITE_FULL:
        return f"the disk is full: make room for {path}, then start again"
    if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return f"{path} cannot be opened, it is damaged or not a ledger ({error}): {RECOVERY_HINT}"
    return f"{path} cannot be opened: {error}"
