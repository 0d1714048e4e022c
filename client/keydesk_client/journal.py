"""The order journal: what was sent, and what became of it, on disk before anything leaves.

One JSON object a line, appended and synced: an intent that is in here may have reached the broker, one that is not was
never sent. A crash can tear the last line only, and a torn intent was never sent. What a full disk cut short is taken
back at once, so that nothing stands here that the caller was told is not.

Several processes may share a journal (a second login that flattens the account): each append takes the lock beside the
file, each reading sees what the others have settled, and putting the file in order keeps what they have open. An intent
of a process that still runs may be looked up by one that starts: both find the same, and either may settle it.
"""

import hashlib
import json
import os
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol, TypeAlias

from keydesk_client.intent import Intent
from keydesk_client.json_values import JsonObject, JsonValue
from keydesk_client.private_files import (
    locked,
    private_folder,
    refuse_unsafe,
    release_lock,
    replace_file,
    sync_folder,
    take_lock,
)

MOST_SETTLED = 1000
AMBIGUOUS = "ambiguous"
TURN = ".turn"
TURN_DIGITS = 20
PATIENCE_S = 1.0
"""How long another process may hold the lock; it needs it for milliseconds, and may have been stopped within them."""

Line = JsonObject
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
        self._read_version = 0, -1, 0
        self._read_lines: list[Line] = []
        private_folder(self.path.parent)
        with self._opened():  # refuses an unsafe file now rather than at the first order
            self._settled = _settled(self._lines())
        self._remove_turns_left_behind()

    def write(self, intent: Intent) -> None:
        """Keep an intent; it is on disk when this returns."""
        self._append({"intent": intent.to_wire()}, sync=True)

    def settle(
        self,
        intent: Intent,
        verdict: str,
        claimed: Iterable[str] = (),
        *,
        shared: Iterable[str] = (),
    ) -> None:
        """Note what became of an intent. Lost in a power cut, it is looked up once more."""
        line: Line = {"settled": intent.id, "as": verdict, "claimed": [*_numeric(claimed)]}
        if perhaps := _numeric(shared):
            line["shared"] = [*perhaps]
        self._append(line, sync=False)
        self._settled += 1
        if self._settled > self._most_settled:
            self._compact()

    def open_intents(self) -> tuple[Intent, ...]:
        """Intents of which nobody knows what became, oldest first."""
        return _open_intents(self._lines())

    def claimed(self) -> Mapping[str, str]:
        """Transactions that settled intents made, each with its intent's id."""
        return {each: _settled_id(line) for line in self._lines() for each in _claims(line)}

    def shared(self) -> Mapping[str, frozenset[str]]:
        """Intents that ended as Ambiguous, each with the transactions that it may have made."""
        lines = ((_settled_id(line), _claims(line, "shared")) for line in self._lines())
        return {name: frozenset(ids) for name, ids in lines if ids}

    def unattributed(self) -> tuple[Intent, ...]:
        """Intents that ended as Ambiguous and may have made any transaction."""
        lines = self._lines()
        names = {_settled_id(line) for line in lines if _is_unattributed(line)}
        intents = (Intent.from_wire(line["intent"]) for line in lines if "intent" in line)
        return tuple(intent for intent in intents if intent.id in names)

    def claim_target(self, key: str) -> Release | None:
        """Lock a file of that key beside the journal; the system unlocks it when the process ends, however it does."""
        digest = hashlib.sha256(key.encode()).hexdigest()[:TURN_DIGITS]
        path = self.path.with_name(f"{self.path.name}.{digest}{TURN}")
        descriptor = take_lock(path)
        return None if descriptor is None else lambda: release_lock(path, descriptor)

    def _remove_turns_left_behind(self) -> None:
        for path in self.path.parent.glob(f"{self.path.name}.*{TURN}"):
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

    def _lines(self) -> list[Line]:
        status = self.path.stat()
        version = status.st_ino, status.st_size, status.st_mtime_ns
        if version != self._read_version:
            self._read_lines, self.unreadable_lines = _read(self.path.read_bytes())
            self._read_version = version
        return self._read_lines

    def _compact(self) -> None:
        """Keep the open intents, and the claims that could matter to them."""
        with locked(self.path, patience_s=self._patience_s):
            lines = self._lines()
            still_open = _open_intents(lines)
            kept: list[Line] = [{"intent": intent.to_wire()} for intent in still_open]
            claims = _claims_that_matter(lines, still_open)
            if claims:
                kept.append({"settled": "", "as": "compacted", "claimed": claims})
            if still_open:
                kept += _ambiguous_lines(lines)
            content = b"".join(_line(each) for each in kept)
            replace_file(self.path, content)
            self._settled = 0


def _line(line: Line) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def _read(content: bytes) -> tuple[list[Line], int]:
    """Read the lines of a journal, and count those that are none; a torn last line is no line at all."""
    lines: list[Line] = []
    unreadable = 0
    for text in content.split(b"\n")[:-1]:
        try:
            lines.append(_checked(json.loads(text)))
        except (ValueError, KeyError):
            unreadable += 1
    return lines, unreadable


def _checked(line: JsonValue) -> Line:
    """The line, if it is one of a journal."""
    if not isinstance(line, dict):
        raise ValueError("no line of a journal")  # noqa: TRY004 - a line that can not be read is one error
    if "intent" in line:
        Intent.from_wire(line["intent"])
    elif not isinstance(line["settled"], str):
        raise ValueError("settled: no text")
    return line


def _settled_id(line: Line) -> str:
    found = line.get("settled")
    return found if isinstance(found, str) else ""


def _claims(line: Line, member: str = "claimed") -> tuple[str, ...]:
    found = line.get(member)
    return _numeric(found) if isinstance(found, list) else ()


def _numeric(ids: Iterable[JsonValue]) -> tuple[str, ...]:
    """The ids that are numbers, lowest first; what is none is no transaction of a v20 account."""
    found = (each for each in ids if isinstance(each, str) and each.isascii() and each.isdecimal())
    return tuple(sorted(found, key=int))


def _open_intents(lines: Iterable[Line]) -> tuple[Intent, ...]:
    found: dict[str, Intent] = {}
    for line in lines:
        if "intent" in line:
            intent = Intent.from_wire(line["intent"])
            found[intent.id] = intent
        else:
            found.pop(_settled_id(line), None)
    return tuple(found.values())


def _settled(lines: Iterable[Line]) -> int:
    return sum("settled" in line for line in lines)


def _claims_that_matter(lines: Iterable[Line], still_open: Collection[Intent]) -> list[JsonValue]:
    """Claimed transactions that an open intent could take for its own."""
    if not still_open:
        return []
    oldest = min(intent.since for intent in still_open)
    claimed = {each for line in lines for each in _claims(line)}
    return [each for each in _numeric(claimed) if int(each) > oldest]


def _is_unattributed(line: Line) -> bool:
    return line.get("as") == AMBIGUOUS and not _claims(line, "shared")


def _ambiguous_lines(lines: Iterable[Line]) -> list[Line]:
    """The intents that ended as Ambiguous, and how."""
    ended = {_settled_id(line): line for line in lines if line.get("as") == AMBIGUOUS}
    kept: list[Line] = []
    for line in lines:
        if "intent" in line:
            intent = Intent.from_wire(line["intent"])
            kept += [line, ended[intent.id]] if intent.id in ended else []
    return kept


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
