"""The ledgers that are kept beside the one in use, and its checkpoints: `FolderLedgerStore` has files, `PostgresLedgerStore` schemas."""

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from msgspec import Struct

from keydesk_practice.errors import LedgerUnavailable
from keydesk_practice.ledger.interface import LedgerInterface

HOME = "home"  # the ledger that was left for a replay
HOME_IN_USE = f"{HOME!r} is what this replay goes back to: go back first"
NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")
NAME_HINT = "use 1 to 64 letters, digits, dots, hyphens and underscores"


class UnknownLedger(LedgerUnavailable):
    """No kept ledger, or no checkpoint, has this name."""


class KeptLedger(Struct, frozen=True):
    """A kept ledger; its facts are empty where it cannot be read."""

    name: str
    size: int  # bytes
    facts: Mapping[str, str]


class Source(Struct, frozen=True):
    """What takes the place of the ledger in use: a kept ledger, or the copy of a checkpoint."""

    name: str
    is_checkpoint: bool = False

    @property
    def kind(self) -> str:
        """What it is, in words."""
        return "checkpoint" if self.is_checkpoint else "kept ledger"


class LedgerStore(Protocol):
    """The kept ledgers and the checkpoints of a broker."""

    def kept(self) -> list[KeptLedger]:
        """Return the kept ledgers, that of the account which was left for a replay first, then the newest first."""

    def rename(self, name: str, new: str) -> None:
        """Give a kept ledger another name; raise `LedgerUnavailable` for one that cannot be used."""

    def delete(self, name: str) -> None:
        """Delete a kept ledger for ever."""

    def checkpoints(self) -> list[str]:
        """Return the names of the checkpoints."""

    def save_checkpoint(self, ledger: LedgerInterface, name: str) -> None:
        """Copy the committed ledger; a checkpoint of the same name is replaced."""

    def facts(self, source: Source) -> Mapping[str, str]:
        """Return the facts of a kept ledger or a checkpoint; raise `UnknownLedger`, which lists those that there are."""

    async def problem(self, source: Source) -> str | None:
        """Return what is damaged in it, None when nothing is."""

    def change(
        self, ledger: LedgerInterface, source: Source | None, *, as_home: bool, keep: bool
    ) -> AbstractContextManager[LedgerInterface]:
        """Put another ledger, a new one without a source, in the place of the one in use, which is kept, or else deleted.

        The change is complete when the block ends. When it fails, `former` returns the ledger that was in use.
        """

    def former(self) -> LedgerInterface:
        """Return the ledger that was in use before a change that failed."""


def named(kept: Sequence[KeptLedger], name: str) -> KeptLedger:
    """Return a kept ledger; raise `UnknownLedger`."""
    for one in kept:
        if one.name == name:
            return one
    raise unknown(Source(name), [one.name for one in kept])


def unknown(source: Source, known: Sequence[str]) -> UnknownLedger:
    """Return the error for a name that nothing has, with those that there are."""
    done = "saved" if source.is_checkpoint else "kept"
    names = f"{done} are: {', '.join(known)}" if known else f"none is {done}"
    return UnknownLedger(f"there is no {source.kind} {source.name!r}; {names}")


def check_new_name(kept: Sequence[KeptLedger], name: str, new: str) -> None:
    """Raise `LedgerUnavailable` when a kept ledger cannot have another name."""
    if named(kept, name).name == HOME:
        raise LedgerUnavailable(
            f"{HOME!r} cannot be renamed: a replay goes back to it by this name"
        )
    if new == HOME or not NAME.fullmatch(new):
        raise LedgerUnavailable(f"invalid name {new!r}: {NAME_HINT}, other than {HOME!r}")
    if any(one.name == new for one in kept):
        raise LedgerUnavailable(f"there is a kept ledger {new!r} already: choose another name")
