from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given

from keydesk.calc.trade_journal.rebuild import rebuild
from keydesk.trade_journal.cache import (
    CachedEvents,
    event_of,
    line_of,
    read_cache,
    write_cache,
)
from keydesk.trade_journal.reading import events_of
from support.journal_history import HISTORIES, TERMS, Step, play, transactions_of

ACCOUNT, CREATED = "101-001-1000001-001", 7
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
    write_cache(path, found)
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


@pytest.mark.parametrize("damage", ["cut", "noise", "missing line", "empty", "absent", "open"])
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
        case _:
            path.chmod(0o644)
    assert read_cache(path, ACCOUNT, CREATED).events == ()
