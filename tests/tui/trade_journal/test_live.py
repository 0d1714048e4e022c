"""The journal of an open account: read, followed, read again."""

import asyncio
import sqlite3
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from keydesk.calc.trade_journal.notes import TradeNote
from keydesk.calc.trade_journal.rebuild import Journal
from keydesk.calc.trade_journal.trades import JournalTrade, roll_up
from keydesk.trade_journal.live import RETRY_AFTER, LiveJournal
from keydesk.trade_journal.notes_file import change_note
from keydesk_client.errors import Unreachable
from keydesk_practice.engine.commands import Finance
from support.data.journal_service import PIPS, JournalService
from support.full_disk import no_room
from support.journal_history import TERMS, Step, journal_of, play
from support.practised_account import PractisedAccount

D = Decimal
KINDS = ("stop", "market", "tick", "close a part", "reversal", "finance", "transfer", "market")


def history(count: int = 1) -> PractisedAccount:
    steps = [Step(kind, "EUR_USD", D(5000), 9, 0) for kind in KINDS * count]
    return play(TERMS[0], steps)


def history_that_closes(count: int) -> PractisedAccount:
    kinds = (*KINDS, "close longs", "close shorts")
    return play(TERMS[0], [Step(kind, "EUR_USD", D(5000), 9, 0) for kind in kinds * count])


def trade_on(account: PractisedAccount) -> None:
    account.market.wait(60)
    account.trade("EUR_USD", 3000)
    account.do(Finance())


def is_behind(journal: LiveJournal) -> bool:
    """Return it anew: a type checker takes it for what was asserted before."""
    return journal.is_behind


def is_due(journal: LiveJournal) -> bool:
    """Return it anew: a type checker takes it for what was asserted before."""
    return journal.excursions_due


def listed(journal: LiveJournal, *, by_position: bool = False) -> dict[str, JournalTrade]:
    """Return what the list shows."""
    ids = [id_ for (id_,) in journal.rows((), by_position=by_position)]
    lines = {id_: journal.line(id_, by_position=by_position) for id_ in ids}
    return {id_: line.trade for id_, line in lines.items() if line is not None}


def shown(journal: LiveJournal) -> tuple[Journal, dict[str, JournalTrade], dict[str, JournalTrade]]:
    return journal.journal, listed(journal), listed(journal, by_position=True)


async def test_the_journal_is_read_with_the_lines_of_trades_and_positions(tmp_path: Path) -> None:
    service = JournalService(history(3))
    journal = service.journal(tmp_path)
    await journal.read()
    expected = journal_of(service.account)
    assert journal.journal == expected
    assert {each.id for each in expected.trades} == set(listed(journal))
    positions = {each.id: each for each in roll_up(expected.trades)}
    assert listed(journal, by_position=True) == positions
    assert journal.is_read
    assert not journal.trouble


async def test_followed_by_transactions_it_equals_one_rebuilt_without_its_records(
    tmp_path: Path,
) -> None:
    service = JournalService(history())
    followed = service.journal(tmp_path)
    await followed.read()
    before = followed.version
    seen = len(service.history)
    trade_on(service.account)
    for each in service.history[seen:]:
        followed.apply(each)
    assert followed.version > before
    assert len(service.asked_since) == 1  # nothing was asked for beyond the first reading
    rebuilt = service.journal(tmp_path / "anew")
    await rebuilt.read()
    assert shown(followed) == shown(rebuilt)


async def test_what_comes_while_it_is_read_is_in_it(tmp_path: Path) -> None:
    service = JournalService(history())
    journal = service.journal(tmp_path)
    left = 2

    def between() -> None:
        nonlocal left
        if left:
            left -= 1
            trade_on(service.account)
            journal.apply(service.history[-1])

    service.between = between
    await journal.read()
    assert journal.journal == journal_of(service.account)


async def test_a_transaction_that_misses_one_before_it_is_not_taken_but_asks_for_a_reading(
    tmp_path: Path,
) -> None:
    service = JournalService(history())
    journal = service.journal(tmp_path)
    await journal.read()
    before = journal.journal
    trade_on(service.account)
    journal.apply(service.history[0])  # one that it has
    assert not is_behind(journal)
    journal.apply(service.history[-1])
    assert is_behind(journal)
    assert journal.journal == before
    await journal.read()
    assert journal.journal == journal_of(service.account)


async def test_an_account_that_began_anew_is_read_anew(tmp_path: Path) -> None:
    service = JournalService(history(2))
    journal = service.journal(tmp_path)
    await journal.read()
    service.account, service.created_ns = history(), 8
    await journal.read()
    assert journal.journal == journal_of(service.account)
    assert set(listed(journal)) == {each.id for each in journal.journal.trades}


async def test_lower_numbers_than_before_tell_that_the_account_began_anew(tmp_path: Path) -> None:
    service = JournalService(history(2))
    journal = service.journal(tmp_path)
    journal.apply(service.history[-1])
    await journal.read()
    assert not is_behind(journal)
    service.account, service.created_ns = history(), 8
    journal.apply(service.history[2])
    assert is_behind(journal)
    await journal.read()
    assert journal.journal == journal_of(service.account)


async def test_a_broker_that_does_not_answer_is_said_and_leaves_what_was_read(
    tmp_path: Path,
) -> None:
    service = JournalService(history())
    journal = service.journal(tmp_path)
    await journal.read()
    service.error = Unreachable("no\x1b[31m route")
    await journal.read()
    assert "no␛[31m route" in journal.trouble
    assert listed(journal)
    service.error = None
    await journal.read()
    assert not journal.trouble


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir(mode=0o700)


def with_nonsense(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE trades SET rebuilt = '[['")
    connection.close()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a folder": as_folder,
    "noise": lambda path: path.write_bytes(b"\xff\x00" * 5000),
    "nonsense": with_nonsense,
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_records_that_cannot_be_read_are_set_aside_and_said_and_read_anew(
    damage: str, tmp_path: Path
) -> None:
    service = JournalService(history())
    before = service.journal(tmp_path)
    await before.read()
    before.records.database.close()
    journal = service.journal(tmp_path)
    DAMAGES[damage](journal.files.records)
    await journal.read()
    listed(journal)
    if is_behind(journal):  # as the list found out
        await journal.read()
    assert journal.journal == journal_of(service.account)
    assert not journal.trouble
    if damage == "a folder":  # which is left to its owner
        assert journal.files.records.is_dir()
    else:
        [aside] = journal.files.records.parent.glob("*.damaged-*")
        assert f"they are kept as {aside}" in journal.notice
        service.asked_since.clear()
        await service.journal(tmp_path).read()
        assert not service.asked_since  # they are written anew


async def test_statistics_of_records_that_were_changed_by_hand_are_over_what_is_read_anew(
    tmp_path: Path,
) -> None:
    service = JournalService(history())
    journal = service.journal(tmp_path)
    await journal.read()
    with_nonsense(journal.files.records)
    assert await journal.whole() == journal_of(service.account)
    assert "they are kept as" in journal.notice


async def test_a_disk_that_fills_up_leaves_the_journal_in_memory(tmp_path: Path) -> None:
    service = JournalService(history())
    journal = service.journal(tmp_path)
    await journal.read()
    with no_room():
        trade_on(service.account)
        journal.apply(service.history[-1])
        service.asked_since.clear()
        await journal.read()
        assert journal.journal == journal_of(service.account)
        assert 0 not in service.asked_since  # what the file has is not read again


async def test_a_note_of_another_desk_is_seen(tmp_path: Path) -> None:
    journal = JournalService(history()).journal(tmp_path)
    await journal.read()
    await journal.reread_notes()
    before = journal.version
    await journal.reread_notes()
    assert journal.version == before
    change_note(journal.files.notes, "4", lambda _: TradeNote(note="of the other desk"))
    await journal.reread_notes()
    assert journal.version > before
    assert journal.notes.by_trade["4"].note == "of the other desk"


async def test_trades_without_candles_are_not_asked_for_again(tmp_path: Path) -> None:
    service = JournalService(history())
    journal = service.journal(tmp_path)
    await journal.read()
    closed = journal.journal.closed
    await journal.read_excursions(closed)
    before = journal.excursions_read
    assert before == len(closed)
    await journal.read_excursions(closed)
    assert journal.excursions_read == before
    assert journal.excursions.known(closed[0]) is None


async def test_a_long_history_leaves_the_event_loop_its_turns(tmp_path: Path) -> None:
    journal = JournalService(history(30)).journal(tmp_path)
    reading = asyncio.create_task(journal.read())
    turns = 0
    while not reading.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 5
    assert PIPS.items() >= dict(journal.pips).items()


async def test_candles_of_a_host_that_was_silent_are_asked_for_again_after_a_pause(
    tmp_path: Path,
) -> None:
    now = 100.0
    service = JournalService(history(), clock=lambda: now)
    journal = service.journal(tmp_path)
    await journal.read()
    closed = journal.journal.closed
    service.candle_error = Unreachable("the read timeout has passed")
    await journal.read_excursions(closed)
    assert "the read timeout has passed" in journal.excursions_trouble
    asked, service.candle_error = service.candles_asked, None
    await journal.read_excursions(closed)
    assert (service.candles_asked, journal.excursions_due) == (asked, False)
    now += RETRY_AFTER
    assert is_due(journal)
    await journal.read_excursions(closed)
    assert service.candles_asked > asked
    assert not journal.excursions_trouble
    assert not is_due(journal)


async def test_reading_the_journal_again_asks_for_candles_without_a_pause(tmp_path: Path) -> None:
    service = JournalService(history(), clock=lambda: 100.0)
    journal = service.journal(tmp_path)
    await journal.read()
    service.candle_error = Unreachable("the read timeout has passed")
    await journal.read_excursions(journal.journal.closed)
    assert not is_due(journal)
    await journal.read()
    assert is_due(journal)


async def test_of_a_large_account_the_newest_trades_are_read_and_all_when_wanted(
    tmp_path: Path,
) -> None:
    service = JournalService(history_that_closes(12))
    await service.journal(tmp_path).read()
    whole = journal_of(service.account)
    journal = service.journal(tmp_path, newest=10)
    await journal.read()
    assert not is_whole(journal)
    shown = listed(journal)
    assert len(shown) == 10 < len(whole.trades)
    assert all(each == shown[each.id] for each in whole.trades if each.id in shown)
    assert {each.id for each in whole.trades if not each.is_closed} <= shown.keys()
    trade_on(service.account)
    journal.apply(service.history[-1])
    await journal.read(whole=True)
    assert is_whole(journal)
    assert listed(journal).keys() == {each.id for each in journal_of(service.account).trades}


async def test_all_trades_are_read_also_when_that_is_wanted_while_the_newest_are_read(
    tmp_path: Path,
) -> None:
    service = JournalService(history_that_closes(12))
    await service.journal(tmp_path).read()
    journal = service.journal(tmp_path, newest=10)
    async with asyncio.TaskGroup() as group:
        group.create_task(journal.read())
        group.create_task(journal.read(whole=True))
    assert is_whole(journal)
    assert journal.journal == journal_of(service.account)


def is_whole(journal: LiveJournal) -> bool:
    """Return it anew: a type checker takes it for what was asserted before."""
    return journal.is_whole
