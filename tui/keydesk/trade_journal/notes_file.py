"""The file of an account's notes: one line of JSON for each trade, sorted by id, so that it reads and merges well in git.

It is written atomically under a lock, each change on the file as it is then: two desks lose nothing. Lines that cannot be
read, and members that this version does not know, are kept as they are.

Editors ignore the lock: saving a file that was opened before a desk wrote to it loses that change. So a copy of the file is kept as
the desks left it (`.written`), and at the next change every line of it that is gone from the file is appended to another (`.replaced`).
"""

import json
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from keydesk.calc.trade_journal.notes import (
    MAX_NAME_LENGTH,
    MAX_NOTE_LENGTH,
    NO_NOTE,
    RATINGS,
    BadNote,
    TradeNote,
    checked_tags,
)
from keydesk.text.file_errors import file_trouble
from keydesk.text.sanitize import clean, clean_name
from keydesk.values import id_order
from keydesk_client.auth.private_files import locked, private_folder, read_private, replace_file
from keydesk_client.errors import UnsafeFile

MAX_BYTES = 20_000_000  # bytes
WRITTEN, REPLACED = ".written", ".replaced"  # of the files beside it
MAX_NAMED = 5  # lines that cannot be read
LOCK_TIMEOUT = 2.0  # seconds that another desk may hold the file
KNOWN = ("trade", "tags", "setup", "note", "rating", "mistake")
UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
Change = Callable[[TradeNote], TradeNote]


class NotesNotWritten(Exception):
    """A note could not be written to the file; the message says why."""


class Notes(Struct, frozen=True):
    """The notes of an account by trade id, and what is wrong with their file."""

    by_trade: Mapping[str, TradeNote] = field(default_factory=dict)
    trouble: str = ""


class _Content(Struct):
    """The lines of the file: notes with their other members, and lines that cannot be read as notes."""

    notes: dict[str, TradeNote] = field(default_factory=dict)
    others: dict[str, dict[str, Any]] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)  # of those lines, from 1


def read_notes(path: Path) -> Notes:
    """Return the notes of a file; a missing file has none, a damaged one those that can be read."""
    try:
        content = _parsed(read_private(path, MAX_BYTES))
    except FileNotFoundError:
        return Notes()
    except (OSError, UnsafeFile) as error:
        return Notes(trouble=f"The notes are not read: {file_trouble(error, path)}")
    return Notes(content.notes, _trouble(path, content.numbers))


def _trouble(path: Path, numbers: Sequence[int]) -> str:
    """Return which lines of the file cannot be read, "" if all can."""
    if not numbers:
        return ""
    named = ", ".join(map(str, numbers[:MAX_NAMED])) + (" …" if numbers[MAX_NAMED:] else "")
    lines = (
        f"line {named} cannot be read; it is"
        if len(numbers) == 1
        else f"lines {named} cannot be read; they are"
    )
    return f"{clean(path.name)}: {lines} kept: repair the file by hand"


def change_note(path: Path, trade_id: str, change: Change) -> TradeNote:
    """Change the note on a trade as the file has it now; return it. An empty note leaves no line.

    Raises:
        NotesNotWritten: the file or its folder cannot be written, or is accessible to others.
        BadNote: the new note cannot be kept; nothing was written.
    """
    try:
        private_folder(path.parent)
        with locked(path, patience_s=LOCK_TIMEOUT):
            _refuse_read_only(path)
            found = _bytes_or_nothing(path)
            _keep_replaced(path, found)
            content = _parsed(found)
            note = checked(change(content.notes.get(trade_id, NO_NOTE)))
            if note.is_empty and not content.others.get(trade_id):
                content.notes.pop(trade_id, None)
            else:
                content.notes[trade_id] = note
            written = _written(content)
            if len(written) > MAX_BYTES:
                raise NotesNotWritten(
                    f"the notes are larger than {MAX_BYTES} bytes: move old lines to another file"
                )
            replace_file(path, written)
            replace_file(companion_file(path, WRITTEN), written)
    except (OSError, UnsafeFile) as error:
        raise NotesNotWritten(f"the note was not saved: {file_trouble(error, path)}") from error
    return note


def companion_file(path: Path, what: str) -> Path:
    """Return a file that belongs to that of the notes."""
    return path.with_name(f"{path.name}{what}")


def _refuse_read_only(path: Path) -> None:
    """Raise for a file that its owner may not write: an atomic replacement would succeed all the same."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if not mode & stat.S_IWUSR:
        raise NotesNotWritten(f"the note was not saved: {clean(str(path))} is read-only: chmod 600")


def _keep_replaced(path: Path, content: bytes) -> None:
    """Keep the lines that a desk wrote and that are gone: somebody changed them, or an editor saved over them."""
    now = frozenset(content.splitlines())
    before = _bytes_or_nothing(companion_file(path, WRITTEN)).splitlines()
    gone = [line for line in before if line not in now]
    if gone:
        copy = companion_file(path, REPLACED)
        lines = [*_bytes_or_nothing(copy).splitlines(), *gone]
        replace_file(copy, b"".join(line + b"\n" for line in lines)[-MAX_BYTES:])


def checked(note: TradeNote) -> TradeNote:
    """Return a note with cleaned text; raise BadNote if a part is too long or the rating is not 1 to 5."""
    if note.rating is not None and note.rating not in RATINGS:
        raise BadNote(f"rating {note.rating}: type 1 to 5, or leave it empty")
    for name, text, most in (
        ("setup", note.setup, MAX_NAME_LENGTH),
        ("mistake", note.mistake, MAX_NAME_LENGTH),
        ("note", note.note, MAX_NOTE_LENGTH),
    ):
        if len(text) > most:
            raise BadNote(f"{name}: {len(text)} characters, at most {most}")
    return TradeNote(
        checked_tags(clean(each) for each in note.tags),
        clean(note.setup.strip()),
        clean(note.note.strip(), MAX_NOTE_LENGTH),
        note.rating,
        clean(note.mistake.strip()),
    )


def _bytes_or_nothing(path: Path) -> bytes:
    try:
        return read_private(path, MAX_BYTES)
    except FileNotFoundError:
        return b""


def _parsed(found: bytes) -> _Content:
    text = found.decode(errors="surrogateescape")
    content = _Content()
    for number, line in enumerate(text.split("\n"), 1):  # a note may hold U+2028
        if line.strip():
            _take(content, line, number)
    return content


def _take(content: _Content, line: str, number: int) -> None:
    """Take one line; of two for a trade the later counts, the earlier is kept as unreadable."""
    try:
        members = json.loads(line)
        trade_id, note = str(members["trade"]), _note(members)
        if clean_name(trade_id) != trade_id or not trade_id or trade_id in content.notes:
            raise ValueError(trade_id)
    except (*UNREADABLE, BadNote):
        content.unreadable.append(line)
        content.numbers.append(number)
        return
    content.notes[trade_id] = note
    content.others[trade_id] = {name: members[name] for name in members if name not in KNOWN}


def _note(members: Mapping[str, Any]) -> TradeNote:
    rating, tags = members.get("rating"), members.get("tags", [])
    if isinstance(rating, bool) or not isinstance(rating, int | None):
        raise TypeError(rating)
    if not isinstance(tags, list):
        raise TypeError(tags)
    texts = [members.get(name, "") for name in ("setup", "note", "mistake")]
    if not all(isinstance(each, str) for each in (*texts, *tags)):
        raise TypeError(texts)
    return checked(TradeNote(tuple(tags), texts[0], texts[1], rating, texts[2]))


def _written(content: _Content) -> bytes:
    lines = []
    for trade_id in sorted(content.notes, key=id_order):
        note = content.notes[trade_id]
        members = {
            "trade": trade_id,
            "tags": list(note.tags),
            "setup": note.setup,
            "note": note.note,
            "rating": note.rating,
            "mistake": note.mistake,
        }
        record = {name: value for name, value in members.items() if value or name == "trade"}
        lines.append(json.dumps(record | content.others.get(trade_id, {}), ensure_ascii=False))
    text = "".join(f"{line}\n" for line in [*lines, *content.unreadable])
    return text.encode(errors="surrogateescape")
