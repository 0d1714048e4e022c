"""The order journal and the audit log of an account.

An account whose journal cannot be written still opens: exits are sent unjournalled with a warning, new orders are
refused. The journal is opened again at the next start only, because intents in an unreadable journal must be looked up
before a new order is sent.
"""

import errno
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import time_ns

from keydesk.text.sanitize import clean
from keydesk_client.errors import UnsafeFile
from keydesk_client.orders.journal import FileJournal, Release
from keydesk_client.orders.outcome import Intent

LONGEST = 2000  # characters of one entry


@dataclass(slots=True)
class AuditLog:
    """An append-only file, mode 0600; a full disk never stands before an exit."""

    path: Path
    wall_ns: Callable[[], int] = time_ns
    failed: str = field(default="", init=False)  # why the last write failed

    def write(self, what: str, words: str) -> None:
        """Append one entry."""
        entry = {"time_ns": self.wall_ns(), "what": what, "words": clean(words, LONGEST)}
        try:
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(handle, "a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
        except OSError as error:
            self.failed = f"{error.strerror}: {self.path}"
        else:
            self.failed = ""


REMEDY = "mend that or choose another folder with --data, then start again"
FULL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
UNTIL_THEN = "until then only exits leave"
ROOM = f"make room there, {UNTIL_THEN}"


class DeskJournal(FileJournal):
    """A journal whose trouble while the desk is open comes with its remedy."""

    def write(self, intent: Intent) -> None:
        """Keep an intent; what went wrong is told in words."""
        try:
            super().write(intent)
        except OSError as error:
            if error.errno is None:  # says it in words already
                raise
            raise OSError(trouble(error, self.path)) from error


def trouble(error: OSError, path: Path) -> str:
    """Say what is wrong with a file while the desk is open, where, and what to do."""
    remedy = ROOM if error.errno in FULL else f"mend that, {UNTIL_THEN}"
    return clean(f"{error.strerror or error}: {error.filename or path}; {remedy}")


@dataclass(frozen=True, slots=True)
class UnavailableJournal:
    """Takes no intent and says why."""

    why: str

    def write(self, intent: Intent) -> None:  # noqa: ARG002 - the journal's own form
        """Refuse, so that only exits leave."""
        raise OSError(self.why)

    def settle(
        self,
        intent: Intent,
        verdict: str,
        claimed: Iterable[str] = (),
        *,
        shared: Iterable[str] = (),
    ) -> None:
        """Nothing was written, so nothing is settled."""

    def open_intents(self) -> tuple[Intent, ...]:
        """What an earlier session left open is not known."""
        return ()

    def claimed(self) -> Mapping[str, str]:
        """Nor is what its intents made."""
        return {}

    def shared(self) -> Mapping[str, frozenset[str]]:
        """Nor what they may have made."""
        return {}

    def unattributed(self) -> tuple[Intent, ...]:
        """Nor which of them that is."""
        return ()

    def claim_target(self, key: str) -> Release | None:  # noqa: ARG002 - the journal's own form
        """Raise OSError: like exits leave without waiting for each other."""
        raise OSError(self.why)


def open_journal(path: Path) -> DeskJournal | UnavailableJournal:
    """Open the journal, made on first use; never fails."""
    try:
        journal = DeskJournal(path)
        journal.open_intents()  # what cannot be read cannot be settled either
    except OSError as error:
        reason = error.strerror or str(error)
        return UnavailableJournal(clean(f"{reason}: {error.filename or path}; {REMEDY}"))
    except UnsafeFile as error:
        return UnavailableJournal(clean(f"{error}; {REMEDY}"))
    return journal
