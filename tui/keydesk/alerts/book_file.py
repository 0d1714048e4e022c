"""The file of an account's alerts: private, written atomically under a lock, so that two desks at once lose nothing.

A damaged file never stops the desk: it is kept under another name, which is reported, and the book begins empty. Where the
file cannot be written, the book goes on in memory, which is reported as well.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import time_ns
from typing import Any

from keydesk.alerts.book import MOST_ALERTS, MOST_HISTORY, Book, Change
from keydesk.alerts.codec import read_alert, written_alert
from keydesk.calc.alerts.alert import FiringRecord
from keydesk.text.file_errors import file_trouble
from keydesk.text.sanitize import clean
from keydesk_client.auth.private_files import locked, private_folder, read_private, replace_file
from keydesk_client.errors import UnsafeFile

VERSION = 1
LARGEST = 2_000_000  # bytes
PATIENCE = 2.0  # seconds that another desk may hold the file
LONGEST_WORDS = 400
LARGEST_WHOLE = 2**63
UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError)


@dataclass(slots=True)
class BookFile:
    """The book of an account in a file, or in memory alone where there is none."""

    path: Path | None
    wall_ns: Callable[[], int] = time_ns
    book: Book = field(default_factory=Book)
    trouble: str = field(default="", init=False)  # why it is not kept; "": it is
    news: str = field(default="", init=False)  # what is wrong with it, found while it was changed
    _stamp: tuple[int, int, int] | None = field(default=None, init=False)

    def load(self) -> str:
        """Read the file; return what is wrong with it, "" if nothing is."""
        if self.path is None:
            return ""
        self._stamp = self._stamp_now()
        try:
            self.book = _book(json.loads(read_private(self.path, LARGEST)))
        except FileNotFoundError:
            return ""
        except UNREADABLE:
            return self._keep_aside(self.path)
        except (OSError, UnsafeFile) as error:
            self.trouble = file_trouble(error, self.path)
            return f"Alerts are not read, and kept in this desk only: {self.trouble}"
        return ""

    def has_changed(self) -> bool:
        """Return whether another desk wrote the file since it was read here."""
        return self.path is not None and self._stamp_now() != self._stamp

    def change(self, change: Change) -> Book:
        """Apply a change to the book as the file has it now, and write it; return the new book.

        Raises:
            BookError: the change makes no sense; nothing was written.
        """
        if self.path is None or (self.trouble and not self._is_mendable()):
            self.book = change(self.book)
            return self.book
        try:
            private_folder(self.path.parent)
            with locked(self.path, patience_s=PATIENCE):
                if self.has_changed():
                    self.news = self.load() or self.news
                if self.trouble and not self._is_mendable():
                    self.book = change(self.book)
                    return self.book
                after = change(self.book)
                if after != self.book:
                    replace_file(self.path, _written(after))
                    self._stamp = self._stamp_now()
        except (OSError, UnsafeFile) as error:
            self.trouble = file_trouble(error, self.path)
            self.book = change(self.book)
        else:
            self.trouble = ""
            self.book = after
        return self.book

    def _is_mendable(self) -> bool:
        """Return whether what stood in the way may have gone: a full disk has, a file of another user has not."""
        if self.path is None:
            return False
        with suppress(FileNotFoundError):
            try:
                read_private(self.path, LARGEST)
            except (OSError, UnsafeFile):
                return False
        return True

    def _keep_aside(self, path: Path) -> str:
        aside = path.with_name(f"{path.name}.damaged-{self.wall_ns()}")
        try:
            path.rename(aside)
        except OSError as error:
            self.trouble = file_trouble(error, path)
            return f"The file of alerts is damaged and cannot be kept aside: {self.trouble}"
        return f"The file of alerts was damaged; it is kept as {clean(aside.name)}, and there are no alerts"

    def _stamp_now(self) -> tuple[int, int, int] | None:
        if self.path is None:
            return None
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino, found.st_size


def _written(book: Book) -> bytes:
    said = {
        "version": VERSION,
        "next_id": book.next_id,
        "seen_ns": book.seen_ns,
        "account_ns": book.account_ns,
        "sides": dict(book.sides),
        "alerts": [written_alert(each) for each in book.alerts],
        "history": [_written_firing(each) for each in book.history],
    }
    return json.dumps(said, indent=1).encode() + b"\n"


def _written_firing(firing: FiringRecord) -> dict[str, object]:
    said = asdict(firing)
    said["told"] = said.pop("delivered")  # its name in the file
    return said


def _book(said: Mapping[str, Any]) -> Book:
    if said["version"] != VERSION:
        raise ValueError(f"version {said['version']!r} is not known")
    alerts = tuple(read_alert(each) for each in said["alerts"][:MOST_ALERTS])
    history = tuple(_firing(each) for each in said["history"][-MOST_HISTORY:])
    sides = {str(id_): int(side) for id_, side in said["sides"].items()}
    highest = max((int(each.id) for each in alerts), default=0)
    return Book(
        alerts,
        history,
        max(_whole(said["next_id"]), highest + 1),
        _whole(said["seen_ns"]),
        sides,
        _whole(said.get("account_ns", 0)),
    )


def _firing(said: Mapping[str, Any]) -> FiringRecord:
    return FiringRecord(
        str(said["alert_id"])[:20],
        _whole(said["number"]),
        _whole(said["time_ns"]),
        clean(str(said["words"]), LONGEST_WORDS),
        clean(str(said["value"])),
        late=said["late"] is True,
        delivered=said["told"] is True,
    )


def _whole(value: object) -> int:
    if not isinstance(value, int) or not 0 <= value < LARGEST_WHOLE:
        raise TypeError(f"{str(value)[:20]!r} is not a whole number")
    return value
