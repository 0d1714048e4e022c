"""Checks a ledger: each row against its checksum, and each account's ids for gaps.

SQLite notices a damaged page structure but not a flipped bit within a value. The newest id of each account is also stored
apart from its transactions (table `heads`), so that transactions missing at the end are noticed, too.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence

from msgspec import Struct

from keydesk_practice.ledger.records import SEPARATOR

SUMMED = {  # the columns of each table that a row's checksum covers, its key first
    "facts": ("name", "value"),
    "accounts": ("id", "owner", "currency", "hedging"),
    "transactions": ("account", "id", "time", "type", "body"),
    "marks": ("account", "order_id", "level"),
    "ended": ("account", "kind", "id", "state", "instrument", "record"),
    "snapshots": ("account", "id", "made_by", "state"),
    "heads": ("account", "id"),
}
_KEYS = {"transactions": 2, "marks": 2, "ended": 3}  # columns of the key, where it is not one
MAX_PROBLEMS = 20  # listed


class CheckReport(Struct, frozen=True):
    """The result of a check: the counts, and a sentence for each problem."""

    accounts: int
    transactions: int
    problems: tuple[str, ...]


def _summed_bytes(columns: Sequence[str]) -> str:
    """Return an SQL expression for the bytes that `checksum` covers; it is faster than `checksum` of each row's values."""
    parts = f" || char({SEPARATOR[0]}) || ".join(
        f"typeof({one}) || ' ' || {one}" for one in columns
    )
    return f"CAST({parts} AS BLOB)"


def check_ledger(connection: sqlite3.Connection, *, summed: bool = True) -> CheckReport:
    """Check every row of a ledger; `summed` is False for a ledger of the format without checksums."""
    problems: list[str] = []
    for problem in _problems(connection, summed):
        problems.append(problem)
        if len(problems) == MAX_PROBLEMS:
            break
    try:
        counts = [_count(connection, table) for table in ("accounts", "transactions")]
    except sqlite3.Error:
        counts = [0, 0]
    return CheckReport(counts[0], counts[1], tuple(problems))


def _count(connection: sqlite3.Connection, table: str) -> int:
    (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - a table of ours
    return int(count)


def _problems(connection: sqlite3.Connection, summed: bool) -> Iterator[str]:
    try:
        for (message,) in connection.execute("PRAGMA integrity_check"):
            if message != "ok":
                yield f"SQLite reports: {message}"
        if summed:
            for table, columns in SUMMED.items():
                yield from _damaged_rows(connection, table, columns)
            yield from _truncated_accounts(connection)
        else:
            yield from _unreadable_bodies(connection)
        yield from _gaps(connection)
        yield from _orphan_rows(connection)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        yield f"SQLite reports: {error}"


def _damaged_rows(
    connection: sqlite3.Connection, table: str, columns: Sequence[str]
) -> Iterator[str]:
    key = _KEYS.get(table, 1)
    for row, checksum in connection.execute(f"SELECT {_summed_bytes(columns)}, crc FROM {table}"):  # noqa: S608 - names of ours
        if row is None or zlib.crc32(row) != checksum:  # None: a column lost its value
            values = (row or b"").split(SEPARATOR)[:key]
            text = " ".join(one.partition(b" ")[2].decode("latin-1") for one in values)
            yield f"{table}: the row of {text} does not match its checksum"


def _unreadable_bodies(connection: sqlite3.Connection) -> Iterator[str]:
    for account, id_, body in connection.execute("SELECT account, id, body FROM transactions"):
        try:
            json.loads(body)
        except (ValueError, TypeError):
            yield f"transactions: the row of {account} {id_} cannot be read"


def _truncated_accounts(connection: sqlite3.Connection) -> Iterator[str]:
    query = (
        "SELECT accounts.id, coalesce(heads.id, 0),"
        " coalesce((SELECT max(id) FROM transactions WHERE account=accounts.id), 0)"
        " FROM accounts LEFT JOIN heads ON heads.account=accounts.id"
    )
    for account, kept, found in connection.execute(query):
        if kept != found:
            yield f"account {account} ends at transaction {found}, but {kept} was committed"


def _gaps(connection: sqlite3.Connection) -> Iterator[str]:
    query = "SELECT account, min(id), max(id), count(*) FROM transactions GROUP BY account"
    known = set()
    for account, first, last, count in connection.execute(query):
        known.add(account)
        if (first, count) != (1, last):
            yield f"account {account} has {count} of its transactions 1 to {last}"
    for (account,) in connection.execute("SELECT id FROM accounts"):
        if account not in known:
            yield f"account {account} has no transactions"


def _orphan_rows(connection: sqlite3.Connection) -> Iterator[str]:
    for table in ("transactions", "marks", "ended", "snapshots"):
        query = (
            f"SELECT DISTINCT account FROM {table} WHERE account NOT IN (SELECT id FROM accounts)"  # noqa: S608 - a table of ours
        )
        for (account,) in connection.execute(query):
            yield f"{table}: account {account} is not in the table of accounts"
