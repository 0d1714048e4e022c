import json
import multiprocessing
import resource
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from msgspec.structs import replace

from keydesk.calc.trade_journal.notes import BadNote, TradeNote
from keydesk.trade_journal.notes_file import (
    REPLACED,
    Change,
    NotesNotWritten,
    change_note,
    companion_file,
    read_notes,
)
from keydesk_client.auth.private_files import replace_file

WRITES = 25


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal" / "main.notes.jsonl"


def note_of(path: Path, trade_id: str) -> TradeNote:
    return read_notes(path).by_trade[trade_id]


def test_a_note_is_found_again(path: Path) -> None:
    whole = TradeNote(("news", "trend"), "breakout", "Waited für the retest.", 4, "late exit")
    change_note(path, "6411", lambda _: whole)
    assert note_of(path, "6411") == whole
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_the_file_has_one_readable_line_for_each_trade_in_order(path: Path) -> None:
    change_note(path, "100", lambda note: replace(note, setup="fade"))
    change_note(path, "99", lambda note: replace(note, rating=5, note="Größe"))
    assert path.read_text().splitlines() == [
        '{"trade": "99", "note": "Größe", "rating": 5}',
        '{"trade": "100", "setup": "fade"}',
    ]


def test_an_empty_note_leaves_no_line(path: Path) -> None:
    change_note(path, "1", lambda note: replace(note, setup="x"))
    change_note(path, "1", lambda _: TradeNote())
    assert path.read_text() == ""


def test_lines_and_members_that_are_not_known_are_kept(path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    path.write_text('<<<<<<< HEAD\n{"trade": "1", "setup": "x", "mood": 3}\n\xff{"trade"\n')
    path.chmod(0o600)
    assert (
        read_notes(path).trouble
        == "main.notes.jsonl: lines 1, 3 cannot be read; they are kept: repair the file by hand"
    )
    change_note(path, "1", lambda note: replace(note, rating=2))
    assert json.loads(path.read_text().splitlines()[0]) == {
        "trade": "1",
        "setup": "x",
        "rating": 2,
        "mood": 3,
    }
    assert path.read_text().splitlines()[1:] == ["<<<<<<< HEAD", '\xff{"trade"']


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "7",
        "null",
        '{"trade": "1", "rating": 9}',
        '{"trade": "1", "rating": true}',
        '{"trade": "1", "tags": "news"}',
        '{"trade": "1", "tags": [3]}',
        '{"trade": "1", "setup": {}}',
        '{"setup": "x"}',
        '{"trade": "\\u001b[31m", "setup": "x"}',
        "[" * 100_000,
    ],
)
def test_a_damaged_line_never_stops_the_desk(path: Path, line: str) -> None:
    path.parent.mkdir(mode=0o700)
    path.write_text(line + "\n")
    path.chmod(0o600)
    found = read_notes(path)
    assert found.by_trade == {}
    assert "cannot be read" in found.trouble


def test_binary_noise_survives_a_change_byte_for_byte(path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    path.write_bytes(b"\x80\xff noise\n")
    path.chmod(0o600)
    change_note(path, "1", lambda note: replace(note, setup="x"))
    assert path.read_bytes().endswith(b"\x80\xff noise\n")


def test_a_file_that_others_may_read_is_not_used(path: Path) -> None:
    change_note(path, "1", lambda note: replace(note, setup="x"))
    path.chmod(0o644)
    assert "chmod 600" in read_notes(path).trouble
    with pytest.raises(NotesNotWritten, match="chmod 600"):
        change_note(path, "1", lambda note: note)


def test_text_is_cleaned_and_bounded_before_it_is_kept(path: Path) -> None:
    note = change_note(path, "1", lambda _: TradeNote(("a\x1bb",), "s\x07", "n\u202e"))
    assert all(each.isprintable() for each in (*note.tags, note.setup, note.note))
    with pytest.raises(BadNote, match="at most 4000"):
        change_note(path, "1", lambda _: TradeNote(note="x" * 4001))
    assert note_of(path, "1") == note


def _write_many(path: Path, tag: str) -> None:
    for number in range(WRITES):
        _write_until_kept(path, str(number % 5 + 1), partial(_with, f"{tag}{number // 5}"))


def _write_until_kept(path: Path, trade_id: str, change: Change) -> None:
    """Write as a user does: again where the other desk held the lock for too long, on a busy machine."""
    while True:
        try:
            change_note(path, trade_id, change)
        except NotesNotWritten as error:
            if "holds the lock" not in str(error):
                raise
        else:
            return


def _with(tag: str, note: TradeNote) -> TradeNote:
    return replace(note, tags=(*note.tags, tag))


@pytest.mark.e2e
def test_two_desks_that_write_at_once_lose_nothing(path: Path) -> None:
    context = multiprocessing.get_context("fork")
    desks = [context.Process(target=_write_many, args=(path, name)) for name in "ab"]
    for each in desks:
        each.start()
    for each in desks:
        each.join()
    assert [each.exitcode for each in desks] == [0, 0]
    wanted = {f"{name}{number}" for name in "ab" for number in range(WRITES // 5)}
    assert all(set(note.tags) == wanted for note in read_notes(path).by_trade.values())


def test_what_an_editor_saved_over_is_kept(path: Path) -> None:
    change_note(path, "1", lambda note: replace(note, setup="range"))
    opened = path.read_bytes()  # in an editor
    change_note(path, "2", lambda note: replace(note, note="of a desk"))
    path.write_bytes(opened.replace(b"range", b"fade"))
    change_note(path, "3", lambda note: replace(note, setup="later"))
    assert note_of(path, "1").setup == "fade"
    assert note_of(path, "3").setup == "later"
    kept = companion_file(path, REPLACED)
    assert b"of a desk" in kept.read_bytes()
    assert kept.stat().st_mode & 0o777 == 0o600
    once = kept.read_bytes()
    change_note(path, "3", lambda note: replace(note, setup="again"))
    assert kept.read_bytes() == once


@pytest.mark.e2e
def test_two_desks_and_an_editor_at_once_lose_nothing(path: Path) -> None:
    change_note(path, "9", lambda note: replace(note, setup="first"))
    context = multiprocessing.get_context("fork")
    desks = [context.Process(target=_write_many, args=(path, name)) for name in "ab"]
    for each in desks:
        each.start()
    for number in range(WRITES):
        mine = json.dumps({"trade": f"7{number:02}", "setup": "by hand"}).encode() + b"\n"
        replace_file(path, path.read_bytes() + mine)  # as an editor saves, without the lock
    for each in desks:
        each.join()
    change_note(path, "9", lambda note: replace(note, setup="last"))
    everything = path.read_bytes()
    with suppress(FileNotFoundError):
        everything += companion_file(path, REPLACED).read_bytes()
    assert all(f'"{name}{n}"'.encode() in everything for name in "ab" for n in range(WRITES // 5))


def test_a_read_only_file_is_refused_and_stays(path: Path) -> None:
    change_note(path, "1", lambda note: replace(note, setup="range"))
    before = path.read_bytes()
    path.chmod(0o400)
    with pytest.raises(NotesNotWritten, match="read-only: chmod 600"):
        change_note(path, "1", lambda note: replace(note, setup="fade"))
    assert path.read_bytes() == before


def _without_room(path: Path, told: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
    try:
        change_note(path, "1", lambda note: replace(note, note="long " * 100))
    except NotesNotWritten as error:
        told.send(str(error))


@pytest.mark.e2e
def test_without_room_on_the_disk_the_file_stays_and_the_reason_is_said(path: Path) -> None:
    change_note(path, "1", lambda note: replace(note, setup="range"))
    before = path.read_bytes()
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    desk = context.Process(target=_without_room, args=(path, theirs))
    desk.start()
    assert ours.recv().startswith("the note was not saved: ")
    desk.join()
    assert path.read_bytes() == before
    assert not [each for each in path.parent.iterdir() if "tmp" in each.name]
