"""The audit log of an account: one JSON line for everything that touched money, and the reading of it.

The file is the user's alone (0600) and bounded: a full one is renamed, the oldest of five is removed. Several desks append
to it: each entry is one write to the end of the file that has the name at that moment, so entries neither mix nor get lost
when another desk renames it. The account's token is taken out of every text before it is written.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import time_ns
from typing import Literal, get_args

from keydesk.text.sanitize import SafeText, clean
from keydesk_client.auth.private_files import locked
from keydesk_client.errors import UnsafeFile

LONGEST = 2000  # characters of one entry
LARGEST = 2_000_000  # bytes of one file
OLD_FILES = 4
READ_AT_ONCE = 1_000_000  # bytes that the viewer reads from the end
WRITE = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
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
KINDS: tuple[str, ...] = get_args(Kind)


def _as_it_is(text: str) -> str:
    return text


@dataclass(slots=True)
class AuditLog:
    """An append-only file; write errors are recorded in `failed`, so that exits are never blocked."""

    path: Path
    wall_ns: Callable[[], int] = time_ns
    redact: Callable[[str], str] = _as_it_is  # returns text without the account's token
    largest: int = LARGEST
    failed: str = field(default="", init=False)  # why the last write failed

    def write(self, what: str, words: str) -> None:
        """Append an entry."""
        entry = {
            "time_ns": self.wall_ns(),
            "desk": os.getpid(),
            "what": clean(self.redact(what)),
            "words": clean(self.redact(words), LONGEST),
        }
        line = json.dumps(entry).encode() + b"\n"
        try:
            handle = os.open(self.path, WRITE, 0o600)
            try:
                size = os.fstat(handle).st_size + os.write(handle, line)
            finally:
                os.close(handle)
            if size >= self.largest:
                self._rotate()
        except OSError as error:
            self.failed = f"{error.strerror or error}: {self.path}"
        else:
            self.failed = ""

    def _rotate(self) -> None:
        """Rename the full file; of two desks that find it full one does, and without the lock neither waits."""
        with suppress(TimeoutError), locked(self.path, patience_s=0.0):
            if self.path.stat().st_size < self.largest:
                return
            for number in range(OLD_FILES, 1, -1):
                with suppress(FileNotFoundError):
                    self._old(number - 1).replace(self._old(number))
            self.path.replace(self._old(1))

    def _old(self, number: int) -> Path:
        return old_file(self.path, number)


def old_file(path: Path, number: int) -> Path:
    """Return the file that was renamed so many times."""
    return path.with_name(f"{path.name}.{number}")


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One entry as the viewer shows it."""

    time_ns: int
    desk: int
    what: SafeText
    words: SafeText


def read_entries(path: Path, most: int = READ_AT_ONCE) -> list[AuditEntry]:
    """Return the newest entries of the log, newest first; lines that are none are left out.

    Raises:
        OSError: the log cannot be read.
    """
    text = _tail(path, most)
    if len(text) < most:
        with suppress(OSError):
            text = _tail(old_file(path, 1), most - len(text)) + text
    return sorted(_entries(text), key=lambda entry: entry.time_ns, reverse=True)


def _tail(path: Path, most: int) -> bytes:
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - most))
        return file.read(most)


def _entries(text: bytes) -> Iterator[AuditEntry]:
    for line in text.splitlines():
        with suppress(ValueError, KeyError, TypeError):
            said = json.loads(line)
            time, desk = said["time_ns"], said.get("desk", 0)
            if isinstance(time, int) and isinstance(desk, int):
                yield AuditEntry(time, desk, clean(str(said["what"])), clean(str(said["words"])))


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
    wanted = text.lower().split()
    return [entry for entry in entries if all(_has(entry, word) for word in wanted)]


def _has(entry: AuditEntry, word: str) -> bool:
    kind, colon, rest = word.partition(":")
    if colon and kind == "what":
        return rest in entry.what.lower()
    return word in entry.what.lower() or word in entry.words.lower()
