"""PostgreSQL: the tables of a ledger, and the connection that holds its lock, whose every wait is bounded.

The lock is one of the session (`pg_try_advisory_lock`) that also commits, so PostgreSQL itself keeps a broker that has lost it
from writing: the lock is free when the session has ended, and nothing arrives in a session that has ended. It ends when the
broker ends; when its host dies, by keepalives; and when the broker stands still, by `idle_session_timeout`, for TCP answers
keepalives of a process that is stopped.

No message shows the password. psycopg 3 is the driver because its generator-based waits can be bounded without cancelling a
statement.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import errors
from psycopg.abc import RV, PQGen
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow

from keydesk_practice.errors import (
    LedgerFull,
    LedgerUnavailable,
    LedgerUnreachable,
    LedgerWriteFailed,
    PracticeError,
)

SCHEMA = "keydesk_practice"
FORMAT = 2
LOCK = 5_207_012  # of the broker that serves the ledger, in its database
TABLES = """
CREATE TABLE facts (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE accounts (
    id text PRIMARY KEY, owner integer NOT NULL, currency text NOT NULL, hedging boolean NOT NULL, fifo boolean NOT NULL,
    last_id bigint NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE transactions (
    account text NOT NULL, id bigint NOT NULL, time bigint NOT NULL, type text NOT NULL, body text NOT NULL,
    crc bigint NOT NULL, PRIMARY KEY (account, id)
);
CREATE INDEX transactions_by_type ON transactions (account, type, id);
CREATE TABLE marks (
    account text NOT NULL, order_id bigint NOT NULL, level text NOT NULL, crc bigint NOT NULL,
    PRIMARY KEY (account, order_id)
);
CREATE TABLE ended (
    account text NOT NULL, kind text NOT NULL, id bigint NOT NULL, state text NOT NULL, instrument text NOT NULL,
    record bytea NOT NULL, crc bigint NOT NULL, PRIMARY KEY (account, kind, id)
);
CREATE TABLE snapshots (
    account text PRIMARY KEY, id bigint NOT NULL, made_by text NOT NULL, state bytea NOT NULL, crc bigint NOT NULL
);
"""
OF_ACCOUNT = ("transactions", "marks", "ended", "snapshots")  # tables with rows of one
IDLE_SECONDS = 3.0  # after which PostgreSQL ends the session of a broker that stands still
STATEMENT_SECONDS = 5.0
CONNECT_SECONDS = 2  # the least that libpq knows
_NO_RESOURCES = "53"  # the class of the errors of a full disk and of exhausted memory
_READ_ONLY = "25006"
_PASSWORD = re.compile(r"(password\s*=\s*)('[^']*'|\S+)|(://[^:/@\s]*:)[^@\s]*@", re.IGNORECASE)
_DEFAULTS = {
    "connect_timeout": str(CONNECT_SECONDS),
    "keepalives_idle": "1",
    "keepalives_interval": "1",
    "keepalives_count": "2",
    "tcp_user_timeout": "3000",
    "target_session_attrs": "read-write",  # a replica of PostgreSQL gives the lock, too
    "application_name": "keydesk practice",
}
_SETTINGS = f"""
SET search_path = {SCHEMA};
SET synchronous_commit = on;  -- acknowledged is on the disk
SET tcp_keepalives_idle = 1;  -- these four are the server's: a dead host's lock is free after three seconds
SET tcp_keepalives_interval = 1;
SET tcp_keepalives_count = 2;
SET tcp_user_timeout = 3000;
"""


class BoundedConnection(psycopg.Connection[TupleRow]):
    """A connection whose waits end after some seconds; what was sent by then may still be executed."""

    limit: float = STATEMENT_SECONDS

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Run a generator of the driver until it is done; raise `OperationalError` after `limit` seconds."""
        try:
            return super().wait(gen, interval, self.limit if timeout is None else timeout)
        except errors._WaitTimeout:  # noqa: SLF001 - has no public name
            self.pgconn.finish()
            raise psycopg.OperationalError(
                f"the database did not answer within {self.limit:g} s"
            ) from None


def connection_text(ledger: str) -> str:
    """Return the connection text of `--ledger`: itself, or the content of the file behind an `@`.

    Raises:
        LedgerUnavailable: the file cannot be read, or the text is none of PostgreSQL's.
    """
    text = ledger
    if ledger.startswith("@"):
        try:
            text = Path(ledger[1:]).expanduser().read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            raise LedgerUnavailable(f"cannot read the file {ledger[1:]} of --ledger") from None
        if (
            not text
        ):  # else libpq would take a database of this machine, and a ledger would begin there
            raise LedgerUnavailable(f"the file {ledger[1:]} of --ledger is empty")
    try:
        members = conninfo_to_dict(text)
    except psycopg.Error:  # its message repeats parts of the text
        raise LedgerUnavailable(
            "--ledger is not valid: use postgresql://USER@HOST:PORT/DATABASE, or service=NAME"
        ) from None
    return make_conninfo("", **{**_DEFAULTS, **members})


def without_password(text: object) -> str:
    """Return a driver's message in one line, without anything that may be a password."""
    return " ".join(_PASSWORD.sub(r"\1\3***", str(text)).split())


def connect(text: str) -> BoundedConnection:
    """Return a new connection in autocommit mode, to the tables of the ledger; raise `LedgerUnreachable`."""
    with translated_errors():
        connection = BoundedConnection.connect(text, autocommit=True)
        try:
            connection.execute(_SETTINGS)
        except psycopg.Error:
            connection.close()
            raise
    return connection


@contextmanager
def translated_errors(lost: type[LedgerUnreachable] = LedgerUnreachable) -> Iterator[None]:
    """Raise the driver's errors of a lost connection as `lost`, and those of a full disk as `LedgerFull`.

    So are those of a server that takes no writes, such as a hosted one whose disk is nearly full. An error of a statement whose
    connection goes on is an answer: the statement was certainly not executed.
    """
    try:
        yield
    except psycopg.Error as error:
        raise _translated(error, lost) from None


def _translated(error: psycopg.Error, lost: type[LedgerUnreachable]) -> PracticeError:
    diagnostics = error.diag
    state = diagnostics.sqlstate or ""
    is_answer = diagnostics.severity_nonlocalized == "ERROR"
    if is_answer and (state.startswith(_NO_RESOURCES) or state == _READ_ONLY):
        cause = without_password(diagnostics.message_primary)
        return LedgerFull(f"the database cannot store anything: {cause}")
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return lost(f"the database does not answer: {without_password(error)}")
    return LedgerWriteFailed(f"the ledger cannot be used: {without_password(error)}")
