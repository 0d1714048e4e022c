"""The audit log of an account: one JSON line for everything that touched money, and the reading of it.

The account's token is taken out of every text before it is written.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from time import time_ns
from typing import Literal

from msgspec import Struct

from keydesk.text.file_errors import file_trouble
from keydesk.text.sanitize import SafeText, clean
from keydesk.trading.line_file import LineFile, newest_text
from keydesk_client.account.values import READ_ERRORS, checked_time_ns
from keydesk_client.arithmetic.constants import DAY
from keydesk_client.errors import UnsafeFile
from keydesk_client.orders.outcome import NotSent, Outcome, Unconfirmed

MAX_LENGTH = 2000  # characters of one entry
MAX_BYTES = 2_000_000  # bytes of one file
OLD_FILES = 4
READ_AT_ONCE = 1_000_000  # bytes that the viewer reads from the end
Kind = Literal[
    "start",
    "key",
    "preview",
    "confirm",
    "refused",
    "guard",
    "arm",
    "disarm",
    "decided",
    "sending",
    "unknown",
    "outcome",
    "showed up",
    "recovered",
    "limit",
    "plan",
    "settings",
    "replay",
    "leave",
]


def _as_it_is(text: str) -> str:
    return text


def _no_own_time(_wall_ns: int) -> int | None:
    return None


class AuditLog(Struct):
    """An append-only file; write errors are recorded in `failed`, so that exits are never blocked."""

    path: Path
    wall_ns: Callable[[], int] = time_ns
    market_ns: Callable[[int], int | None] = _no_own_time  # of a market with a time of its own
    redact: Callable[[str], str] = _as_it_is  # returns text without the account's token
    largest: int = MAX_BYTES
    failed: str = ""  # why the last write failed

    def write_outcome(self, outcome: Outcome, text: str) -> None:
        """Append the outcome of a request of a command, which knows the market's time by its transactions only."""
        transaction_ns = None
        if not isinstance(outcome, NotSent | Unconfirmed):
            with suppress(*READ_ERRORS):
                transaction_ns = checked_time_ns(outcome.transactions[-1].time)
        self.write("outcome", f"{outcome.intent.id} {text}", transaction_ns)

    def write(self, what: str, text: str, transaction_ns: int | None = None) -> None:
        """Append an entry; `transaction_ns` is the time of a transaction of this moment."""
        wall_ns = self.wall_ns()
        entry: dict[str, object] = {
            "time_ns": wall_ns,
            "desk": os.getpid(),
            "what": clean(self.redact(what)),
            "words": clean(self.redact(text), MAX_LENGTH),
        }
        market_ns = self.market_ns(wall_ns)
        if transaction_ns is not None and abs(transaction_ns - wall_ns) > DAY:
            market_ns = transaction_ns
        if market_ns is not None:
            entry["market_ns"] = market_ns
        line = json.dumps(entry).encode() + b"\n"
        try:
            LineFile(self.path, self.largest, OLD_FILES).append(line)
        except OSError as error:
            self.failed = file_trouble(error, self.path)
        else:
            self.failed = ""


class AuditEntry(Struct, frozen=True):
    """One entry as the viewer shows it; entries are in the order of the wall clock."""

    time_ns: int
    desk: int
    what: SafeText
    text: SafeText
    market_ns: int | None = None  # where the market has a time of its own, as messages show it


def read_entries(path: Path, max_bytes: int = READ_AT_ONCE) -> list[AuditEntry]:
    """Return the newest entries of the log, newest first; lines that are not valid entries are skipped.

    Raises:
        OSError: the log cannot be read.
    """
    text = newest_text(path, max_bytes)
    return sorted(_entries(text), key=lambda entry: entry.time_ns, reverse=True)


def _entries(text: bytes) -> Iterator[AuditEntry]:
    for line in text.splitlines():
        with suppress(ValueError, KeyError, TypeError):
            members = json.loads(line)
            time, desk, market = (
                members["time_ns"],
                members.get("desk", 0),
                members.get("market_ns"),
            )
            if isinstance(time, int) and isinstance(desk, int) and isinstance(market, int | None):
                what, words = clean(str(members["what"])), clean(str(members["words"]))
                yield AuditEntry(time, desk, what, words, market)


def try_to_read(path: Path) -> tuple[list[AuditEntry], str]:
    """Return the newest entries, and why there are none to read."""
    try:
        return read_entries(path), ""
    except FileNotFoundError:
        return [], ""
    except (OSError, UnsafeFile) as error:
        return [], clean(f"{error}")


def matching(entries: list[AuditEntry], text: str) -> list[AuditEntry]:
    """Return the entries that have every word of the text, in any case; "what:key" looks at the kind only."""
    words = text.lower().split()
    return [entry for entry in entries if all(_has(entry, word) for word in words)]


def _has(entry: AuditEntry, word: str) -> bool:
    kind, colon, rest = word.partition(":")
    if colon and kind == "what":
        return rest in entry.what.lower()
    return word in entry.what.lower() or word in entry.text.lower()
