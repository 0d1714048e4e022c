"""The ledgers of several workers in one data folder: where they are, and which account belongs into which.

The first worker's ledger is where that of a single process is; each other worker has a folder of its own below `workers`.
An account belongs to the same worker whenever there are as many of them. When their number has changed, the accounts move
before anything is served: copied in one SQL transaction, then deleted where they were, so that an interrupted move is
finished by the next start.
"""

import contextlib
import fcntl
import json
import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from keydesk_practice.errors import LedgerUnavailable
from keydesk_practice.ledger.ledger_file import (
    FILE_NAME,
    LedgerLocked,
    create_ledger_file,
    make_private,
    open_ledger_file,
    remove_ledger,
    translated_errors,
)
from keydesk_practice.ledger.records import checksum

FOLDER = "workers"
CHECKPOINTS = "checkpoints"
WORKERS_FACT = "workers"  # how many the accounts are placed for; 0 while they are moved
_LOCK = "lock"
_MOVING = "0"
_FIRST = 1_000_002  # user and number of the first account, added
_TABLES = ("transactions", "marks", "ended", "snapshots", "heads")
_FIFO = "fifo "
_LAST_SEEN = "last_seen"


def worker_of(account: str, workers: int) -> int:
    """Return the number, from 0, of the worker that an account belongs to.

    The accounts of one token, and the first accounts of all tokens, are assigned to the workers in turn (round robin).
    """
    _, _, user, number = ["", "", "", *account.split("-")][-4:]
    if user.isdecimal() and number.isdecimal():
        return (int(user) + int(number) - _FIRST) % workers
    return zlib.crc32(account.encode()) % workers


def worker_folder(data: Path, number: int) -> Path:
    """Return the folder of a worker's ledger."""
    return data if number == 0 else data / FOLDER / str(number + 1)


def ledger_folders(data: Path) -> list[Path]:
    """Return the folders that hold a ledger, that of a single process or of the first worker first."""
    numbered = (path for path in (data / FOLDER).glob("*") if path.name.isdecimal())
    folders = [data, *sorted(numbered, key=lambda path: int(path.name))]
    return [folder for folder in folders if (folder / FILE_NAME).exists()]


@contextlib.contextmanager
def folder_lock(data: Path) -> Iterator[None]:
    """Hold the data folder against other workers; raise `LedgerLocked` when they run."""
    make_private(data)
    (data / FOLDER).mkdir(mode=0o700, exist_ok=True)
    handle = os.open(data / FOLDER / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise LedgerLocked(
                f"{data} is in use by another running practice broker: stop that one, "
                "or choose another folder with --data"
            ) from None
        yield
    finally:
        os.close(handle)


def place_accounts(data: Path, workers: int) -> None:
    """Move the accounts of a folder, and those of its checkpoints, into the ledgers of so many workers.

    Raises:
        LedgerUnavailable: a ledger is in use or damaged, or they belong to different markets.
    """
    folders = ledger_folders(data)
    if not folders:
        return
    wanted = [worker_folder(data, number) for number in range(workers)]
    left = [folder for folder in folders if folder not in wanted]
    with translated_errors(data), contextlib.ExitStack() as stack:
        ledgers = [
            stack.enter_context(contextlib.closing(open_ledger_file(folder)))
            for folder in (*wanted, *left)
        ]
        _check_one_market(data, ledgers)
        if left or any(_facts(one).get(WORKERS_FACT, "1") != str(workers) for one in ledgers):
            _place_checkpoints([*wanted, *left], workers)
            _place(ledgers, workers)
            _set_facts(ledgers, {WORKERS_FACT: str(workers)})
    for folder in left:
        remove_ledger(folder / FILE_NAME)


def _check_one_market(data: Path, ledgers: Sequence[sqlite3.Connection]) -> None:
    """Raise when some workers have begun another replay and others have not, which only a kill in between leaves."""
    known = [facts for facts in map(_facts, ledgers) if "seed" in facts]
    replays = [json.loads(facts.get("replay", "{}")).get("began") for facts in known]
    if len({(facts["seed"], began) for facts, began in zip(known, replays, strict=True)}) > 1:
        raise LedgerUnavailable(
            f"the ledgers of the workers in {data} belong to different markets, because a replay was interrupted when it "
            "began: run `keydesk practice reset`, which keeps them beside the new ones"
        )


def _place_checkpoints(folders: Sequence[Path], workers: int) -> None:
    names = {path.name for folder in folders for path in (folder / CHECKPOINTS).glob("*.sqlite3")}
    for name in sorted(names):
        paths = [folder / CHECKPOINTS / name for folder in folders]
        with contextlib.ExitStack() as stack:
            ledgers = [stack.enter_context(contextlib.closing(_checkpoint(path))) for path in paths]
            _place(ledgers, workers)
            _set_facts(ledgers, {WORKERS_FACT: str(workers)})
        for path in paths[workers:]:
            remove_ledger(path)


def _checkpoint(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        create_ledger_file(path)
        path.chmod(0o600)
    return sqlite3.connect(path, isolation_level=None)


def _place(ledgers: Sequence[sqlite3.Connection], workers: int) -> None:
    """Let each account be in the ledger of its worker alone, and the facts of the market in every ledger."""
    shared = _shared_facts(ledgers)
    _set_facts(ledgers, {**shared, WORKERS_FACT: _MOVING})
    places: dict[str, list[int]] = {}
    for number, ledger in enumerate(ledgers):
        for (account,) in ledger.execute("SELECT id FROM accounts ORDER BY id").fetchall():
            places.setdefault(account, []).append(number)
    for account, found in places.items():
        wanted = worker_of(account, workers)
        if wanted not in found:
            _copy_account(ledgers[found[0]], ledgers[wanted], account)
        for number in found:
            if number != wanted:
                _delete_account(ledgers[number], account)


def _shared_facts(ledgers: Sequence[sqlite3.Connection]) -> Mapping[str, str]:
    """Return the facts that are not those of one account; of the times of the last stop, the latest."""
    found: dict[str, str] = {}
    for facts in map(_facts, ledgers):
        latest = max(found.get(_LAST_SEEN, "0"), facts.get(_LAST_SEEN, "0"), key=int)
        found |= {name: value for name, value in facts.items() if not name.startswith(_FIFO)}
        if int(latest):
            found[_LAST_SEEN] = latest
    return found


def _facts(ledger: sqlite3.Connection) -> dict[str, str]:
    return dict(ledger.execute("SELECT name, value FROM facts").fetchall())


def _set_facts(ledgers: Sequence[sqlite3.Connection], facts: Mapping[str, str]) -> None:
    rows = [(name, value, checksum(name, value)) for name, value in facts.items()]
    for ledger in ledgers:
        with _transaction(ledger):
            ledger.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", rows)


def _copy_account(source: sqlite3.Connection, target: sqlite3.Connection, account: str) -> None:
    """Copy the rows of an account with their checksums."""
    conditions = dict.fromkeys(_TABLES, ("account", account))
    conditions |= {"accounts": ("id", account), "facts": ("name", _FIFO + account)}
    with _transaction(target):
        for table, (column, value) in conditions.items():
            rows = source.execute(f"SELECT * FROM {table} WHERE {column}=?", (value,))  # noqa: S608 - names of ours
            places = ",".join("?" * len(rows.description))
            target.executemany(f"INSERT INTO {table} VALUES ({places})", rows)  # noqa: S608


def _delete_account(ledger: sqlite3.Connection, account: str) -> None:
    with _transaction(ledger):
        for table in _TABLES:
            ledger.execute(f"DELETE FROM {table} WHERE account=?", (account,))  # noqa: S608 - names of ours
        ledger.execute("DELETE FROM accounts WHERE id=?", (account,))
        ledger.execute("DELETE FROM facts WHERE name=?", (_FIFO + account,))


@contextlib.contextmanager
def _transaction(ledger: sqlite3.Connection) -> Iterator[None]:
    ledger.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        ledger.execute("ROLLBACK")
        raise
    ledger.execute("COMMIT")
