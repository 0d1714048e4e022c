"""The order journal of an account.

An account whose journal cannot be written still opens: exits are sent unjournalled with a warning, new orders are
refused. The journal is opened again at the next start only, because intents in an unreadable journal must be looked up
before a new order is sent.
"""

import errno
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from keydesk.text.sanitize import clean
from keydesk_client.errors import UnsafeFile
from keydesk_client.orders.journal import FileJournal, Release
from keydesk_client.orders.outcome import Intent

REMEDY = "fix that or choose another folder with --data, then start again"
FULL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
UNTIL_THEN = "until then only exits are sent"
ROOM = f"make room there, {UNTIL_THEN}"


class DeskJournal(FileJournal):
    """A file journal whose errors name the file and the remedy."""

    def write(self, intent: Intent) -> None:
        """Write an intent; raise OSError with the remedy."""
        try:
            super().write(intent)
        except OSError as error:
            if error.errno is None:  # says it in words already
                raise
            raise OSError(trouble(error, self.path)) from error


def trouble(error: OSError, path: Path) -> str:
    """Return the error of a file, its path and the remedy."""
    remedy = ROOM if error.errno in FULL else f"fix that, {UNTIL_THEN}"
    return clean(f"{error.strerror or error}: {error.filename or path}; {remedy}")


class UnavailableJournal(Struct, frozen=True):
    """Replaces a journal that cannot be opened; refuses intents with the reason."""

    why: str

    def write(self, intent: Intent) -> None:  # noqa: ARG002 - the journal's own form
        """Raise OSError, so that only exits are sent."""
        raise OSError(self.why)

    def settle(
        self,
        intent: Intent,
        verdict: str,
        claimed: Iterable[str] = (),
        *,
        shared: Iterable[str] = (),
    ) -> None:
        """Do nothing: no intent was written."""

    def open_intents(self) -> tuple[Intent, ...]:
        """Return nothing: earlier intents are unknown."""
        return ()

    def claimed(self) -> Mapping[str, str]:
        """Return nothing: claims are unknown."""
        return {}

    def shared(self) -> Mapping[str, frozenset[str]]:
        """Return nothing: shared claims are unknown."""
        return {}

    def unattributed(self) -> tuple[Intent, ...]:
        """Return nothing: unattributed intents are unknown."""
        return ()

    def claim_target(self, key: str) -> Release | None:  # noqa: ARG002 - the journal's own form
        """Raise OSError: similar exits are sent without waiting for each other."""
        raise OSError(self.why)


def open_journal(path: Path) -> DeskJournal | UnavailableJournal:
    """Open or create the journal; never raise."""
    try:
        journal = DeskJournal(path)
        journal.open_intents()  # what cannot be read cannot be settled either
    except OSError as error:
        reason = error.strerror or str(error)
        return UnavailableJournal(clean(f"{reason}: {error.filename or path}; {REMEDY}"))
    except UnsafeFile as error:
        return UnavailableJournal(clean(f"{error}; {REMEDY}"))
    return journal
