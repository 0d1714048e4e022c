from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given

from keydesk.calc.trade_journal.rebuild import rebuild
from keydesk.trade_journal.cache import (
    CachedEvents,
    append_cache,
    event_of,
    line_of,
    mark_of,
    read_cache,
)
from keydesk.trade_journal.reading import events_of
from support.journal_history import HISTORIES, TERMS, Step, play, transactions_of

ACCOUNT, CREATED = "101-001-1000001-001", 7
UNREAD = CachedEvents(
    ACCOUNT, CREATED
)  # where no cache is yet: what is appended becomes the whole file
KINDS = ("stop", "market", "reversal", "finance", "transfer", "close longs")


@given(history=HISTORIES)
def test_every_event_is_the_same_after_the_cache(history: list[Step]) -> None:
    for event in events_of(transactions_of(play(TERMS[1], history))):
        again = event_of(line_of(event))
        assert again == event
        assert repr(again) == repr(event)  # Decimal 1.0 equals 1: the digits count, too


@pytest.fixture
def cached(tmp_path: Path) -> tuple[Path, CachedEvents]:
    history = [Step(kind, "EUR_USD", Decimal(1000), 5, 0) for kind in KINDS]
    events = tuple(events_of(transactions_of(play(TERMS[0], history))))
    found = CachedEvents(ACCOUNT, CREATED, 99, events)
    path = tmp_path / "journal" / "main.events"
    append_cache(path, UNREAD, found)
    return path, found


def test_a_cache_is_read_again(cached: tuple[Path, CachedEvents]) -> None:
    path, written = cached
    found = read_cache(path, ACCOUNT, CREATED)
    assert found == written
    assert rebuild(found.events) == rebuild(written.events)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(("account", "created"), [("101-001-1000001-002", 7), (ACCOUNT, 8)])
def test_a_cache_of_another_account_or_of_one_before_its_reset_is_not_used(
    cached: tuple[Path, CachedEvents], account: str, created: int
) -> None:
    assert read_cache(cached[0], account, created) == CachedEvents(account, created)


def test_newer_events_are_appended_and_leave_the_file_that_a_rebuild_writes(
    cached: tuple[Path, CachedEvents],
) -> None:
    path, whole = cached
    before = replace(whole, last_id=50, events=whole.events[:4])
    append_cache(path, UNREAD, before)
    inode = path.stat().st_ino
    append_cache(path, read_cache(path, ACCOUNT, CREATED), whole)
    assert path.stat().st_ino == inode
    assert read_cache(path, ACCOUNT, CREATED) == whole
    appended = path.read_bytes(), mark_of(path).read_bytes()
    path.unlink()
    assert read_cache(path, ACCOUNT, CREATED).events == ()
    append_cache(path, UNREAD, whole)
    assert (path.read_bytes(), mark_of(path).read_bytes()) == appended


def test_what_a_crash_left_behind_the_events_is_ignored_and_written_over(
    cached: tuple[Path, CachedEvents],
) -> None:
    path, whole = cached
    before = replace(whole, last_id=50, events=whole.events[:4])
    append_cache(path, UNREAD, before)
    path.write_bytes(path.read_bytes() + b'["fill","tor')
    assert read_cache(path, ACCOUNT, CREATED) == before
    append_cache(path, before, whole)
    assert read_cache(path, ACCOUNT, CREATED) == whole


def test_two_desks_that_append_at_once_leave_the_longer_cache(
    cached: tuple[Path, CachedEvents],
) -> None:
    path, whole = cached
    before = replace(whole, last_id=50, events=whole.events[:4])
    longer = replace(whole, last_id=120)
    append_cache(path, UNREAD, before)
    append_cache(path, before, longer)
    append_cache(path, before, whole)
    assert read_cache(path, ACCOUNT, CREATED) == longer
    append_cache(path, before, replace(whole, last_id=130))
    assert read_cache(path, ACCOUNT, CREATED).last_id == 130


@pytest.mark.parametrize(
    "damage", ["cut", "noise", "missing line", "empty", "absent", "open", "mark", "odd mark"]
)
def test_a_damaged_cache_is_as_good_as_none(cached: tuple[Path, CachedEvents], damage: str) -> None:
    path, _ = cached
    whole = path.read_bytes()
    match damage:
        case "cut":
            path.write_bytes(whole[:-20])
        case "noise":
            path.write_bytes(whole.replace(b"booking", b"\xff\x00"))
        case "missing line":
            path.write_bytes(b"\n".join(whole.split(b"\n")[:-2]) + b"\n")
        case "empty":
            path.write_bytes(b"")
        case "absent":
            path.unlink()
        case "mark":
            mark_of(path).unlink()
        case "odd mark":
            mark_of(path).write_bytes(b'[2,"x",7,true,null,-1]')
        case _:
            path.chmod(0o644)
    assert read_cache(path, ACCOUNT, CREATED).events == ()
