"""The newest part of the cache: whole trades, few bytes."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keydesk.calc.trade_journal.events import Event, Fill
from keydesk.calc.trade_journal.rebuild import Journal, rebuild, trades_of
from keydesk.trade_journal.cache import UNREADABLE, CachedEvents, append_cache, mark_of
from keydesk.trade_journal.cache_tail import EventFile, read_tail, with_openings
from keydesk.trade_journal.reading import events_of
from support.journal_history import HISTORIES, TERMS, Step, play, transactions_of
from support.year_of_trades import events_of_days

ACCOUNT, CREATED = "101-001-1000001-001", 7
UNREAD = CachedEvents(
    ACCOUNT, CREATED
)  # where no cache is yet: what is appended becomes the whole file
WANTED = 100


def kept_in(folder: Path, events: tuple[Event, ...]) -> tuple[Path, CachedEvents]:
    path = folder / "journal" / "main.events"
    whole = CachedEvents(ACCOUNT, CREATED, 99_999, events)
    append_cache(path, UNREAD, whole)
    return path, whole


def newest(path: Path, whole: Journal, wanted: int) -> CachedEvents:
    found = read_tail(path, ACCOUNT, CREATED, wanted)
    open_ids = [each.id for each in whole.trades if not each.is_closed]
    return with_openings(path, found, open_ids) if found.skipped else found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(history=HISTORIES, hedging=st.booleans(), wanted=st.integers(1, 12))
def test_every_trade_of_the_newest_part_is_as_in_the_whole(
    tmp_path: Path, history: list[Step], hedging: bool, wanted: int
) -> None:
    events = tuple(events_of(transactions_of(play(TERMS[hedging], history))))
    path, _ = kept_in(tmp_path, events)
    whole = rebuild(events)
    tail = newest(path, whole, wanted)
    by_id = {each.id: each for each in whole.trades}
    found = rebuild(tail.events).trades
    assert all(each == by_id[each.id] for each in found)
    recent = {id_ for each in events[-wanted:] for id_ in trades_of(each)}
    still_open = {each.id for each in whole.trades if not each.is_closed}
    assert {each.id for each in found} >= (recent | still_open) & by_id.keys()
    assert tail.skipped + len(tail.events) == len(events)


@pytest.fixture(scope="module")
def months(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, CachedEvents]:
    """The cache of 1,200 trades: 3,601 lines."""
    return kept_in(tmp_path_factory.mktemp("months"), tuple(events_of_days(60)))


def test_what_is_read_is_in_proportion_to_what_is_wanted(
    months: tuple[Path, CachedEvents],
) -> None:
    path, whole = months
    found = newest(path, rebuild(whole.events), WANTED)
    assert WANTED <= len(found.events) < 4 * WANTED
    assert found.skipped > 3000
    with EventFile(path, path.stat().st_size) as file:
        assert file.place_of(int(whole.events[1800].id)) > 0  # type: ignore[union-attr]
        assert file.bytes_read < path.stat().st_size // 3  # some blocks, not the file


def test_older_parts_of_the_file_are_not_looked_at(
    months: tuple[Path, CachedEvents], tmp_path: Path
) -> None:
    path, whole = months
    copy, _ = kept_in(tmp_path, whole.events)
    expected = read_tail(path, ACCOUNT, CREATED, WANTED)
    with copy.open("r+b") as file:
        file.write(b"\0" * (path.stat().st_size // 2))
    assert read_tail(copy, ACCOUNT, CREATED, WANTED) == expected


def test_a_short_cache_is_read_whole(months: tuple[Path, CachedEvents]) -> None:
    path, whole = months
    assert read_tail(path, ACCOUNT, CREATED, len(whole.events) // 2 + 1) == whole
    assert read_tail(path, "another", CREATED, 5) == CachedEvents("another", CREATED)


def test_newer_events_are_appended_behind_a_tail_as_behind_the_whole(
    months: tuple[Path, CachedEvents], tmp_path: Path
) -> None:
    _, whole = months
    *older, last = whole.events
    written = []
    for name in ("by the whole", "by its tail"):
        path, before = kept_in(tmp_path / name, tuple(older))
        if name == "by its tail":
            before = read_tail(path, ACCOUNT, CREATED, WANTED)
            assert before.skipped
        append_cache(path, before, replace(before, last_id=100_000, events=(*before.events, last)))
        written.append((path.read_bytes(), mark_of(path).read_bytes()))
    assert written[0] == written[1]


def test_a_tail_never_takes_the_place_of_the_whole_file(
    months: tuple[Path, CachedEvents], tmp_path: Path
) -> None:
    path, whole = kept_in(tmp_path, months[1].events)
    before = read_tail(path, ACCOUNT, CREATED, WANTED)
    append_cache(path, UNREAD, replace(whole, last_id=100_001))  # another desk
    content = path.read_bytes()
    append_cache(path, before, replace(before, last_id=100_002))
    assert path.read_bytes() == content


def test_damage_is_told_from_what_the_cache_does_not_have(
    months: tuple[Path, CachedEvents], tmp_path: Path
) -> None:
    path, _ = kept_in(tmp_path, months[1].events)
    found = read_tail(path, ACCOUNT, CREATED, WANTED)
    unknown = with_openings(path, found, ["99999999", "no number"])
    assert [e.id for e in unknown.events if isinstance(e, Fill)][-1:]
    path.write_bytes(b"\0" * path.stat().st_size)
    with pytest.raises(UNREADABLE):
        with_openings(path, found, ["3"])
