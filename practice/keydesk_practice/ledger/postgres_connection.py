"""PostgreSQL: the tables of a ledger, the statement that commits, and connections whose every wait is bounded.

An account belongs to the node that took it last: taking raises its `fence`, and every write compares it, so a node that
was paused and lost its accounts writes nothing when it wakes. The commit is one statement for all accounts: it moves
`last_id` of each account from the number that the node expects, and stores only what belongs to accounts that moved.

No message shows the password.
psycopg 3 is the driver because one package has both what the ledger needs in the event loop's thread (a blocking read of
0.2 ms) and notifications, and its generator-based waits can be bounded without cancelling a statement.
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

from keydesk_practice.errors import LedgerUnavailable, LedgerUnreachable, LedgerWriteFailed

SCHEMA = "keydesk_practice"
FORMAT = 1
TRANSACTIONS_CHANNEL = "keydesk_transactions"  # payload: account and newest id
OWNERS_CHANNEL = "keydesk_owners"
CONTROL_CHANNEL = "keydesk_control"

TABLES = """
CREATE TABLE facts (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE nodes (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, address text NOT NULL, expires timestamptz NOT NULL,
    ticked bigint NOT NULL
);
CREATE TABLE accounts (
    id text PRIMARY KEY, owner integer NOT NULL, currency text NOT NULL, hedging boolean NOT NULL, fifo boolean NOT NULL,
    node bigint, fence bigint NOT NULL DEFAULT 0, last_id bigint NOT NULL, ticked bigint NOT NULL DEFAULT 0
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
CREATE TABLE clock (
    market bigint NOT NULL, wall bigint NOT NULL, speed double precision NOT NULL, stops bigint, number bigint NOT NULL
);
"""
OF_ACCOUNT = ("transactions", "marks", "ended", "snapshots")  # tables with rows of one

# The parameters are arrays, one item a row. `previous` is NULL for an account without transactions in the batch.
COMMIT = """
WITH head AS (
    SELECT * FROM unnest(%(accounts)s::text[], %(fences)s::bigint[], %(previous)s::bigint[], %(newest)s::bigint[])
        AS h(id, fence, previous, newest)
), moved AS (
    UPDATE accounts a SET last_id = coalesce(h.newest, a.last_id) FROM head h
    WHERE a.id = h.id AND a.fence = h.fence AND (h.previous IS NULL OR a.last_id = h.previous)
    RETURNING a.id, h.newest
), kept_transactions AS (
    INSERT INTO transactions SELECT t.* FROM unnest(%(transactions_0)s::text[], %(transactions_1)s::bigint[],
        %(transactions_2)s::bigint[], %(transactions_3)s::text[], %(transactions_4)s::text[],
        %(transactions_5)s::bigint[]) AS t(account, id, time, type, body, crc) JOIN moved ON moved.id = account
), kept_ended AS (
    INSERT INTO ended AS e SELECT t.* FROM unnest(%(ended_0)s::text[], %(ended_1)s::text[], %(ended_2)s::bigint[],
        %(ended_3)s::text[], %(ended_4)s::text[], %(ended_5)s::bytea[], %(ended_6)s::bigint[])
        AS t(account, kind, id, state, instrument, record, crc) JOIN moved ON moved.id = account
    ON CONFLICT (account, kind, id) DO UPDATE
        SET state = excluded.state, instrument = excluded.instrument, record = excluded.record, crc = excluded.crc
), kept_marks AS (
    INSERT INTO marks AS m SELECT t.* FROM unnest(%(marks_0)s::text[], %(marks_1)s::bigint[], %(marks_2)s::text[],
        %(marks_3)s::bigint[]) AS t(account, order_id, level, crc) JOIN moved ON moved.id = account
    ON CONFLICT (account, order_id) DO UPDATE SET level = excluded.level, crc = excluded.crc
)
SELECT id, CASE WHEN newest IS NOT NULL THEN pg_notify(%(channel)s, id || ' ' || newest) END FROM moved
"""

# The fencing number rejects a snapshot of an account that another node has reset meanwhile.
SAVE_SNAPSHOT = """
INSERT INTO snapshots SELECT id, %s, %s, %s, %s FROM accounts WHERE id = %s AND fence = %s FOR SHARE
ON CONFLICT (account) DO UPDATE
    SET id = excluded.id, made_by = excluded.made_by, state = excluded.state, crc = excluded.crc
"""
STATEMENT_SECONDS = 2.0
CONNECT_SECONDS = 2  # the least that libpq knows
_NO_RESOURCES = "53"  # the class of the errors of a full disk and of exhausted memory
_PASSWORD = re.compile(r"(password\s*=\s*)('[^']*'|\S+)|(://[^:/@\s]*:)[^@\s]*@", re.IGNORECASE)
_DEFAULTS = {
    "connect_timeout": str(CONNECT_SECONDS),
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "5000",
    "application_name": "keydesk practice",
}


class BoundedConnection(psycopg.Connection[TupleRow]):
    """A connection whose waits end after some seconds; what was sent by then may still be executed."""

    limit: float = STATEMENT_SECONDS

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Run a generator of the driver until it is done; raise `OperationalError` after `limit` seconds."""
        if timeout is not None:  # of `notifies`, which handles the end itself
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.limit)
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
    with away_errors():
        connection = BoundedConnection.connect(text, autocommit=True)
        connection.execute(f"SET search_path = {SCHEMA}")
        connection.execute("SET synchronous_commit = on")  # acknowledged is on the disk
    return connection


@contextmanager
def away_errors() -> Iterator[None]:
    """Raise the driver's errors of a lost connection as `LedgerUnreachable`, and those of a full disk as `LedgerWriteFailed`.

    So are those of a server that takes no writes, as a standby does, and a hosted one whose disk is nearly full. An error of
    a statement whose connection goes on is an answer: the statement was certainly not executed.
    """
    try:
        yield
    except errors.ReadOnlySqlTransaction as error:
        cause = without_password(error.diag.message_primary)
        raise LedgerWriteFailed(f"the database cannot store anything: {cause}") from None
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        diagnostics = error.diag
        if (
            diagnostics.severity_nonlocalized == "ERROR"
            and (diagnostics.sqlstate or "")[:2] == _NO_RESOURCES
        ):
            cause = without_password(diagnostics.message_primary)
            raise LedgerWriteFailed(f"the database cannot store anything: {cause}") from None
        raise LedgerUnreachable(
            f"the database does not answer: {without_password(error)}"
        ) from None
