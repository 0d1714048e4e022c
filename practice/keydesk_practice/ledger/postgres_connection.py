"""Connections to PostgreSQL: every wait is bounded, and no message shows the password.

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

from keydesk_practice.errors import LedgerAway, LedgerUnavailable
from keydesk_practice.ledger.postgres_tables import SCHEMA

STATEMENT_SECONDS = 2.0
CONNECT_SECONDS = 2  # the least that libpq knows
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
    """Return a new connection in autocommit mode, to the tables of the ledger; raise `LedgerAway`."""
    with away_errors():
        connection = BoundedConnection.connect(text, autocommit=True)
        connection.execute(f"SET search_path = {SCHEMA}")
        connection.execute("SET synchronous_commit = on")  # acknowledged is on the disk
    return connection


@contextmanager
def away_errors() -> Iterator[None]:
    """Raise the driver's errors of a lost connection as `LedgerAway`."""
    try:
        yield
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise LedgerAway(f"the database does not answer: {without_password(error)}") from None
