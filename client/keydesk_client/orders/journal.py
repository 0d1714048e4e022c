"""The order journal: every request that changes an account, on disk before it is sent, and its outcome.

The file has one JSON object a line, appended and synced: an intent in it may have reached the broker, one that is not in
it was never sent. A crash can tear only the last line, and a torn intent was never sent. A line that a full disk cuts
short is removed at once, so that the file holds no intent whose writing was reported as failed.

Several processes may share a journal (as a second login that flattens the account). Each append holds a lock file beside
the journal, each reading sees what other processes have settled, and compacting keeps their open intents. An intent of
a running process may be looked up by one that starts: both find the same outcome, and either may settle it.

A look-up reads the open and claimed intents each time, so that reading goes on where the file grew.
"""

import hashlib
import json
import os
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from keydesk_client.auth.private_files import (
    locked,
    owned_folder,
    refuse_link,
    refuse_unsafe,
    release_lock,
    replace_file,
    sync_folder,
    try_lock,
)
from keydesk_client.models._core.json import JsonObject, JsonValue
from keydesk_client.orders.outcome import Intent

AMBIGUOUS: Final = "ambiguous"
DISMISSED: Final = "dismissed"
NEAR: Final = 500
"""Claims up to this many ids before the newest are kept: the next intent may come from a sender whose feed lags."""
MAX_SETTLED: Final = 1000
"""Settled intents after which the file is compacted."""
MAX_COMPARED: Final = 4096
"""Bytes before the end of the last reading that must be unchanged for reading to go on there."""
LOCK_SUFFIX: Final = ".turn"
LOCK_DIGITS: Final = 20
PATIENCE_S: Final = 1.0
"""How long to wait for the lock of another process, which holds it for milliseconds unless it was stopped."""

Release: TypeAlias = Callable[[], None]
_encode_json = json.JSONEncoder(separators=(",", ":")).encode


class Journal(Protocol):
    """Where a Sender writes what it is about to send."""

    def write(self, intent: Intent) -> None:
        """Write an intent so that it survives a crash; raise OSError when that fails."""

    def settle(
        self,
        intent: Intent,
        verdict: str,
        claimed: Iterable[str] = (),
        *,
        shared: Iterable[str] = (),
    ) -> None:
        """Note the outcome of an intent.

        Args:
            intent: The intent, which is open no longer.
            verdict: Name of the outcome.
            claimed: Ids of the transactions that it made, which no other intent may claim.
            shared: Ids of transactions of which it made some and identical intents the others. An "ambiguous" intent without
                them may have made any transaction.
        """

    def open_intents(self) -> tuple[Intent, ...]:
        """Return the intents without a known outcome, oldest first."""
        ...

    def claimed(self) -> Mapping[str, str]:
        """Return the transactions of settled intents, each with its intent's id, as far back as they may be confused."""
        ...

    def shared(self) -> Mapping[str, frozenset[str]]:
        """Return the intents that ended as "ambiguous", each with the transactions of which it made some."""
        ...

    def unattributed(self) -> tuple[Intent, ...]:
        """Return the intents that ended as "ambiguous" and may have made any transaction."""
        ...

    def claim_target(self, key: str) -> "Release | None":
        """Take the lock that identical requests share; return the function that releases it, None while another holds it.

        The lock ends with the process that holds it. Raise OSError when there cannot be one.
        """
        ...


class FileJournal:
    """A journal in a file of its own, which only its owner may read (0600).

    The folder is made if it is missing (0700). It may be any folder of this user that not everybody can write to; in one
    that a group can write to, the file may not be a symbolic link.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        max_settled: int = MAX_SETTLED,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.path: Path = Path(path)
        self.unreadable_lines: int = 0
        """Complete lines that are not lines of a journal: the file was changed or damaged."""
        self._most_settled, self._patience_s = max_settled, patience_s
        self._contents, self._read_to, self._compared, self._inode = _Contents(), 0, b"", 0
        self._may_be_link = owned_folder(self.path.parent)
        with self._open():  # refuses an unsafe file now rather than at the first order
            self._settled = self._read().settled
        self._remove_unused_locks()

    def write(self, intent: Intent) -> None:
        """Write an intent; it is on disk when this returns."""
        self._append(_intent_line(intent), sync=True)

    def settle(
        self,
        intent: Intent,
        verdict: str,
        claimed: Iterable[str] = (),
        *,
        shared: Iterable[str] = (),
    ) -> None:
        """Note the outcome of an intent, without a sync: lost in a power cut, the intent is looked up once more."""
        line: JsonObject = {"settled": intent.id, "as": verdict, "claimed": [*_numeric(claimed)]}
        if ids := _numeric(shared):
            line["shared"] = [*ids]
        self._append(line, sync=False)
        self._settled += 1
        if self._settled > self._most_settled:
            self._compact()

    def open_intents(self) -> tuple[Intent, ...]:
        """Return the intents without a known outcome, oldest first."""
        return tuple(self._read().open.values())

    def claimed(self) -> Mapping[str, str]:
        """Return the transactions of settled intents, each with its intent's id."""
        return dict(self._read().claimed)

    def shared(self) -> Mapping[str, frozenset[str]]:
        """Return the intents that ended as Ambiguous, each with the transactions of which it made some."""
        return dict(self._read().shared)

    def unattributed(self) -> tuple[Intent, ...]:
        """Return the intents that ended as Ambiguous and may have made any transaction."""
        return self._read().unattributed

    def claim_target(self, key: str) -> Release | None:
        """Lock a file of that key beside the journal; the system unlocks it when the process ends in any way."""
        digest = hashlib.sha256(key.encode()).hexdigest()[:LOCK_DIGITS]
        path = self.path.with_name(f"{self.path.name}.{digest}{LOCK_SUFFIX}")
        descriptor = try_lock(path)
        return None if descriptor is None else lambda: release_lock(path, descriptor)

    def _remove_unused_locks(self) -> None:
        for path in self.path.parent.glob(f"{escape(self.path.name)}.*{LOCK_SUFFIX}"):
            with suppress(OSError):
                descriptor = try_lock(path)
                if descriptor is not None:
                    release_lock(path, descriptor)

    def _append(self, line: JsonObject, *, sync: bool) -> None:
        with self._open() as descriptor:
            size = _remove_torn_line(descriptor)
            try:
                _write_whole(descriptor, _encode(line))
                if sync:
                    os.fsync(descriptor)
            except OSError:
                with suppress(OSError):
                    os.ftruncate(
                        descriptor, size
                    )  # the caller learns that the line is not in the file
                raise

    @contextmanager
    def _open(self) -> Generator[int]:
        """Yield the file under its lock; opened anew each time, because another process may have compacted it."""
        with locked(self.path, patience_s=self._patience_s):
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
            if not self._may_be_link:
                refuse_link(self.path)
                flags |= os.O_NOFOLLOW  # it may have become one meanwhile
            descriptor = os.open(self.path, flags, 0o600)
            try:
                status = os.fstat(descriptor)
                refuse_unsafe(self.path, status)
                if not status.st_size:  # it may be new
                    sync_folder(self.path.parent)
                yield descriptor
            finally:
                os.close(descriptor)

    def _read(self) -> "_Contents":
        """Return what the file holds now, reading only what was appended since the last time."""
        with self.path.open("rb") as file:
            status = os.fstat(file.fileno())
            begins_as_before = status.st_ino == self._inode and (
                os.pread(file.fileno(), len(self._compared), self._read_to - len(self._compared))
                == self._compared
            )
            if not begins_as_before:  # another process compacted it, or a line was removed
                self._contents, self._read_to, self._compared = _Contents(), 0, b""
                self._inode = status.st_ino
            file.seek(self._read_to)
            text = file.read()
        size = self._contents.add(text)
        self._read_to += size
        self._compared = (self._compared + text[:size])[-MAX_COMPARED:]
        self.unreadable_lines = self._contents.unreadable
        return self._contents

    def _compact(self) -> None:
        """Keep the open intents, and what may be confused with them or the next one."""
        with locked(self.path, patience_s=self._patience_s):
            contents = self._read()
            lines = [_intent_line(intent) for intent in contents.open.values()]
            for intent_id, claims in contents.relevant_claims().items():
                lines.append({"settled": intent_id, "as": "compacted", "claimed": claims})
            for intent, line in contents.ambiguous.values():
                if contents.open or intent.since >= contents.oldest_relevant:
                    lines += [_intent_line(intent), line]
            if not self._may_be_link:
                refuse_link(self.path)
            replace_file(self.path, b"".join(map(_encode, lines)))
            self._settled = 0


@dataclass(slots=True)
class _Contents:
    """What the lines of a journal say, in order."""

    unreadable: int = 0
    settled: int = 0
    open: dict[str, Intent] = field(default_factory=dict[str, Intent])
    """The intents without a known outcome by id, oldest first."""
    claimed: dict[str, str] = field(default_factory=dict[str, str])
    """The transactions of settled intents, each with its intent's id."""
    shared: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """The intents that ended as Ambiguous, each with the transactions of which it made some."""
    ambiguous: dict[str, tuple[Intent, JsonObject]] = field(
        default_factory=dict[str, tuple[Intent, JsonObject]]
    )
    """The intents that ended as Ambiguous or share transactions with identical ones, with the lines that settled them."""

    def add(self, text: bytes) -> int:
        """Add the complete lines of a text; return their bytes. A torn last line is left out."""
        size = text.rfind(b"\n") + 1
        for line in text[:size].split(b"\n")[:-1]:
            try:
                self._add_line(json.loads(line))
            except (ValueError, KeyError):
                self.unreadable += 1
        return size

    @property
    def unattributed(self) -> tuple[Intent, ...]:
        """The intents that ended as Ambiguous and may have made any transaction."""
        return tuple(each for each, _ in self.ambiguous.values() if each.id not in self.shared)

    @property
    def oldest_relevant(self) -> int:
        """The id after which an open intent, or the next one, could claim a transaction of another."""
        newest = max(map(int, self.claimed), default=0)
        return min([newest - NEAR, *(intent.since for intent in self.open.values())])

    def relevant_claims(self) -> dict[str, list[JsonValue]]:
        """Return, by intent, the transactions that an open intent, or the next one, could claim as well."""
        oldest, claims = self.oldest_relevant, dict[str, list[JsonValue]]()
        for each in _numeric(self.claimed):
            if int(each) > oldest:
                claims.setdefault(self.claimed[each], []).append(each)
        return claims

    def _add_line(self, line: JsonValue) -> None:
        if not isinstance(line, dict):
            raise ValueError("not a line of a journal")  # noqa: TRY004 - `add` counts ValueErrors
        if "intent" in line:
            intent = Intent.from_wire(line["intent"])
            self.open[intent.id] = intent
            return
        intent_id = line["settled"]
        if not isinstance(intent_id, str):
            raise ValueError("settled: not a string")  # noqa: TRY004 - same
        self.settled += 1
        settled = self.open.pop(intent_id, None)
        self.claimed.update(dict.fromkeys(_ids(line, "claimed"), intent_id))
        if ids := _ids(line, "shared"):
            self.shared[intent_id] = frozenset(ids)
        if settled is not None and (ids or line.get("as") == AMBIGUOUS):
            self.ambiguous[intent_id] = settled, line


def _ids(line: JsonObject, member: str) -> tuple[str, ...]:
    ids = line.get(member)
    return _numeric(ids) if isinstance(ids, list) else ()


def _numeric(ids: Iterable[JsonValue]) -> tuple[str, ...]:
    """Return the ids that are numbers, lowest first; the transactions of a v20 account have no others."""
    numeric = (
        each for each in ids if isinstance(each, str) and each.isascii() and each.isdecimal()
    )
    return tuple(sorted(numeric, key=int))


def _intent_line(intent: Intent) -> JsonObject:
    return {"intent": intent.to_wire()}


def _encode(line: JsonObject) -> bytes:
    return _encode_json(line).encode() + b"\n"


def _remove_torn_line(descriptor: int) -> int:
    """Remove a last line that a crash has torn; return the remaining size in bytes."""
    size = os.fstat(descriptor).st_size
    if size == 0 or os.pread(descriptor, 1, size - 1) == b"\n":
        return size
    whole = os.pread(descriptor, size, 0).rfind(b"\n") + 1
    os.ftruncate(descriptor, whole)
    return whole


def _write_whole(descriptor: int, text: bytes) -> None:
    while text:
        text = text[os.write(descriptor, text) :]
