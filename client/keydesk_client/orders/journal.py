"""The order journal: what was sent, and what became of it, on disk before anything leaves.

One JSON object a line, appended and synced: an intent that is in here may have reached the broker, one that is not was
never sent. A crash can tear the last line only, and a torn intent was never sent. What a full disk cut short is taken
back at once, so that nothing stands here that the caller was told is not.

Several processes may share a journal (a second login that flattens the account): each append takes the lock beside the
file, each reading sees what the others have settled, and putting the file in order keeps what they have open. An intent
of a process that still runs may be looked up by one that starts: both find the same, and either may settle it.

What a journal's lines say: read once, and continued where the file grew.

A look-up asks what is open and what is claimed each time, and there may be thousands of lines.
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
    private_folder,
    refuse_unsafe,
    release_lock,
    replace_file,
    sync_folder,
    take_lock,
)
from keydesk_client.models._core.json import JsonObject, JsonValue
from keydesk_client.orders.outcome import Intent

Line = JsonObject
AMBIGUOUS: Final = "ambiguous"
NEAR: Final = 500
"""Ids before the newest claimed one that are kept: the next intent may come from a sender whose feed lags behind."""


@dataclass(slots=True)
class Contents:
    """The lines of a journal, in order, and what follows from them."""

    unreadable: int = 0
    settled: int = 0
    open: dict[str, Intent] = field(default_factory=dict[str, Intent])
    """Intents of which nobody knows what became, oldest first."""
    claimed: dict[str, str] = field(default_factory=dict[str, str])
    """Transactions that settled intents made, each with its intent's id."""
    shared: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Intents that ended as Ambiguous, each with the transactions of which it made some."""
    ambiguous: dict[str, tuple[Intent, Line]] = field(
        default_factory=dict[str, tuple[Intent, Line]]
    )
    """Every intent that ended as Ambiguous or shares transactions with like ones, with the line that says so."""

    def add(self, text: bytes) -> int:
        """Take further lines; returns the bytes of those that are whole: a torn last line is no line at all."""
        whole = text.rfind(b"\n") + 1
        for each in text[:whole].split(b"\n")[:-1]:
            try:
                self._take(json.loads(each))
            except (ValueError, KeyError):
                self.unreadable += 1
        return whole

    @property
    def unattributed(self) -> tuple[Intent, ...]:
        """Intents that ended as Ambiguous and may have made any transaction."""
        return tuple(each for each, _ in self.ambiguous.values() if each.id not in self.shared)

    @property
    def oldest_that_matters(self) -> int:
        """The id after which an open intent, or the next one, could take a transaction for its own."""
        newest = max(map(int, self.claimed), default=0)
        return min([newest - NEAR, *(intent.since for intent in self.open.values())])

    def claims_that_matter(self) -> dict[str, list[JsonValue]]:
        """Claimed transactions that an open intent, or the next one, could take for its own; by intent."""
        oldest, claims = self.oldest_that_matters, dict[str, list[JsonValue]]()
        for each in numeric(self.claimed):
            if int(each) > oldest:
                claims.setdefault(self.claimed[each], []).append(each)
        return claims

    def _take(self, line: JsonValue) -> None:
        if not isinstance(line, dict):
            raise ValueError("no line of a journal")  # noqa: TRY004 - a line that can not be read is one error
        if "intent" in line:
            intent = Intent.from_wire(line["intent"])
            self.open[intent.id] = intent
            return
        name = line["settled"]
        if not isinstance(name, str):
            raise ValueError("settled: no text")  # noqa: TRY004 - same
        self.settled += 1
        ended = self.open.pop(name, None)
        self.claimed.update(dict.fromkeys(_ids(line, "claimed"), name))
        if ids := _ids(line, "shared"):
            self.shared[name] = frozenset(ids)
        if ended is not None and (ids or line.get("as") == AMBIGUOUS):
            self.ambiguous[name] = ended, line


def numeric(ids: Iterable[JsonValue]) -> tuple[str, ...]:
    """The ids that are numbers, lowest first; what is none is no transaction of a v20 account."""
    found = (each for each in ids if isinstance(each, str) and each.isascii() and each.isdecimal())
    return tuple(sorted(found, key=int))


def _ids(line: Line, member: str) -> tuple[str, ...]:
    found = line.get(member)
    return numeric(found) if isinstance(found, list) else ()


MOST_SETTLED = 1000
LONGEST_END = 4096
"""Bytes before the place where reading goes on, by which it is seen that the file is the same up to there."""
TURN = ".turn"
TURN_DIGITS = 20
PATIENCE_S = 1.0
"""How long another process may hold the lock; it needs it for milliseconds, and may have been stopped within them."""

Release: TypeAlias = Callable[[], None]


class Journal(Protocol):
    """Where a Sender writes down what it is about to do."""

    def write(self, intent: Intent) -> None:
        """Keep an intent; it is safe when this returns. OSError when it is not."""

    def settle(
        self,
        intent: Intent,
        verdict: str,
        claimed: Iterable[str] = (),
        *,
        shared: Iterable[str] = (),
    ) -> None:
        """Note what became of it; `claimed` are the transactions that it made, for no other intent to claim.

        `shared` are transactions of which it made some and like intents the others. An "ambiguous" intent without them
        may have made any.
        """

    def open_intents(self) -> tuple[Intent, ...]:
        """Intents of which nobody knows what became, oldest first."""
        ...

    def claimed(self) -> Mapping[str, str]:
        """Transactions that settled intents made, each with its intent's id, as far back as they could confuse."""
        ...

    def shared(self) -> Mapping[str, frozenset[str]]:
        """Intents that ended as "ambiguous", each with the transactions of which it made some."""
        ...

    def unattributed(self) -> tuple[Intent, ...]:
        """Intents that ended as "ambiguous" and may have made any transaction."""
        ...

    def claim_target(self, key: str) -> "Release | None":
        """Take the turn of requests that nothing tells apart; returns how to give it back, None while another has it.

        A turn ends with the process that has it. OSError when there are no turns to be had.
        """
        ...


class FileJournal:
    """A journal in a file of its own, 0600 in a 0700 folder."""

    def __init__(
        self,
        path: Path | str,
        *,
        most_settled: int = MOST_SETTLED,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.path: Path = Path(path)
        self.unreadable_lines: int = 0
        """Lines in the middle that are no lines of a journal: the disk, or somebody, changed the file."""
        self._most_settled, self._patience_s = most_settled, patience_s
        self._read, self._read_to, self._read_end, self._read_inode = Contents(), 0, b"", 0
        private_folder(self.path.parent)
        with self._opened():  # refuses an unsafe file now rather than at the first order
            self._settled = self._contents().settled
        self._remove_turns_left_behind()

    def write(self, intent: Intent) -> None:
        """Keep an intent; it is on disk when this returns."""
        self._append(_intent_line(intent), sync=True)

    def settle(
        self,
        intent: Intent,
        verdict: str,
        claimed: Iterable[str] = (),
        *,
        shared: Iterable[str] = (),
    ) -> None:
        """Note what became of an intent. Lost in a power cut, it is looked up once more."""
        line: Line = {"settled": intent.id, "as": verdict, "claimed": [*numeric(claimed)]}
        if perhaps := numeric(shared):
            line["shared"] = [*perhaps]
        self._append(line, sync=False)
        self._settled += 1
        if self._settled > self._most_settled:
            self._compact()

    def open_intents(self) -> tuple[Intent, ...]:
        """Intents of which nobody knows what became, oldest first."""
        return tuple(self._contents().open.values())

    def claimed(self) -> Mapping[str, str]:
        """Transactions that settled intents made, each with its intent's id."""
        return dict(self._contents().claimed)

    def shared(self) -> Mapping[str, frozenset[str]]:
        """Intents that ended as Ambiguous, each with the transactions of which it made some."""
        return dict(self._contents().shared)

    def unattributed(self) -> tuple[Intent, ...]:
        """Intents that ended as Ambiguous and may have made any transaction."""
        return self._contents().unattributed

    def claim_target(self, key: str) -> Release | None:
        """Lock a file of that key beside the journal; the system unlocks it when the process ends, however it does."""
        digest = hashlib.sha256(key.encode()).hexdigest()[:TURN_DIGITS]
        path = self.path.with_name(f"{self.path.name}.{digest}{TURN}")
        descriptor = take_lock(path)
        return None if descriptor is None else lambda: release_lock(path, descriptor)

    def _remove_turns_left_behind(self) -> None:
        for path in self.path.parent.glob(f"{escape(self.path.name)}.*{TURN}"):
            with suppress(OSError):
                descriptor = take_lock(path)
                if descriptor is not None:
                    release_lock(path, descriptor)

    def _append(self, line: Line, *, sync: bool) -> None:
        with self._opened() as descriptor:
            size = _without_torn_line(descriptor)
            try:
                _write_whole(descriptor, _line(line))
                if sync:
                    os.fsync(descriptor)
            except OSError:
                with suppress(OSError):
                    os.ftruncate(descriptor, size)  # the caller is told that it is not in here
                raise

    @contextmanager
    def _opened(self) -> Generator[int]:
        """Yield the file under its lock; opened anew each time, because another process may have compacted it."""
        with locked(self.path, patience_s=self._patience_s):
            fresh = not self.path.exists()
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                refuse_unsafe(self.path, os.fstat(descriptor))
                if fresh:
                    sync_folder(self.path.parent)
                yield descriptor
            finally:
                os.close(descriptor)

    def _contents(self) -> Contents:
        """What the file says by now; what was read before is not read again."""
        with self.path.open("rb") as file:
            status = os.fstat(file.fileno())
            begins_as_before = status.st_ino == self._read_inode and (
                os.pread(file.fileno(), len(self._read_end), self._read_to - len(self._read_end))
                == self._read_end
            )
            if not begins_as_before:  # put in order by another process, or a line was taken back
                self._read, self._read_to, self._read_end = Contents(), 0, b""
                self._read_inode = status.st_ino
            file.seek(self._read_to)
            text = file.read()
        whole = self._read.add(text)
        self._read_to += whole
        self._read_end = (self._read_end + text[:whole])[-LONGEST_END:]
        self.unreadable_lines = self._read.unreadable
        return self._read

    def _compact(self) -> None:
        """Keep the open intents, and what could matter to them."""
        with locked(self.path, patience_s=self._patience_s):
            found = self._contents()
            kept = [_intent_line(intent) for intent in found.open.values()]
            for name, claims in found.claims_that_matter().items():
                kept.append({"settled": name, "as": "compacted", "claimed": claims})
            for intent, line in found.ambiguous.values():
                if found.open or intent.since >= found.oldest_that_matters:
                    kept += [_intent_line(intent), line]
            content = b"".join(_line(each) for each in kept)
            replace_file(self.path, content)
            self._settled = 0


def _intent_line(intent: Intent) -> Line:
    return {"intent": intent.to_wire()}


def _line(line: Line) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def _without_torn_line(descriptor: int) -> int:
    """Cut off what a crash has torn; returns the size of what is whole."""
    size = os.fstat(descriptor).st_size
    if size == 0 or os.pread(descriptor, 1, size - 1) == b"\n":
        return size
    whole = os.pread(descriptor, size, 0).rfind(b"\n") + 1
    os.ftruncate(descriptor, whole)
    return whole


def _write_whole(descriptor: int, text: bytes) -> None:
    while text:
        text = text[os.write(descriptor, text) :]
