"""An account whose cache lacks much: its newest transactions are shown at once, the others are read into the cache meanwhile."""

import asyncio
import errno
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pytest

from keydesk.calc.trade_journal.rebuild import Journal, rebuild, trades_of
from keydesk.trade_journal.cache import CachedEvents, mark_of
from keydesk.trade_journal.files import JournalFiles
from keydesk.trade_journal.live import RETRY_AFTER, LiveJournal
from keydesk.trade_journal.loading import load_events, load_newest
from keydesk.trade_journal.newest_part import Portions, gap_of
from keydesk.trade_journal.reading import events_of
from keydesk_client.errors import Unreachable
from support.data.journal_service import PIPS, JournalService
from support.full_disk import no_room
from support.journal_history import TERMS, Step, journal_of, play
from support.practised_account import PractisedAccount

D = Decimal
SMALL = Portions(page=10, first=20, few=40, step=25)
KINDS = ("stop", "market", "tick", "close a part", "reversal", "finance", "close longs")


def long_history() -> PractisedAccount:
    """An account of more than a hundred transactions; its first trade is closed by its last transactions."""
    steps = [Step(kind, "EUR_USD", D(5000), 9, 0) for kind in (*KINDS, "close shorts") * 9]
    first = Step("market", "USD_JPY", D(1000), 9, 0)
    return play(TERMS[0], [first, *steps, replace(first, kind="close longs")])


@pytest.fixture(scope="module")
def account() -> PractisedAccount:
    """One history for the tests that only read it."""
    return long_history()


class Broker(JournalService):
    """Counts the pages it gave; `refuse_from` makes every later one fail."""

    pages = 0
    refuse_from = 1_000_000

    async def range(self, first: int, last: int) -> object:  # type: ignore[override]
        self.pages += 1
        if self.pages >= self.refuse_from:
            raise Unreachable("HTTP 503")
        return await super().range(first, last)


class Waits:
    """Sleeps that end at once; `mend` is done at the first long one."""

    def __init__(self, broker: Broker | None = None) -> None:
        self.broker, self.long = broker, 0

    async def sleep(self, seconds: float) -> None:
        self.long += seconds >= RETRY_AFTER
        if seconds >= RETRY_AFTER and self.broker is not None:
            self.broker.refuse_from = 1_000_000
        await asyncio.sleep(0)


def open_journal(broker: Broker, folder: Path, waits: Waits | None = None) -> LiveJournal:
    files = JournalFiles.of(folder / "journal", "main")
    trades = [str(each) for each in broker.account.state.trades]
    return LiveJournal(
        broker.client,
        files,
        lambda: PIPS,
        sleep=(waits or Waits()).sleep,
        open_trades=lambda: trades,
        portions=SMALL,
    )


def files_of(journal: LiveJournal) -> tuple[bytes, bytes]:
    path = journal.files.events
    return path.read_bytes(), mark_of(path).read_bytes()


def part_of(journal: LiveJournal) -> str:
    """Return it anew: a type checker takes it for what was asserted before."""
    return journal.part


async def test_the_newest_transactions_are_shown_and_said_before_the_others_are_read(
    account: PractisedAccount, tmp_path: Path
) -> None:
    broker = Broker(account)
    last, whole = int(broker.history[-1].id), journal_of(account)
    journal = open_journal(broker, tmp_path)
    await journal.read()
    assert broker.pages == 2
    assert min(broker.asked_since) == last - 20  # beside what comes after the newest
    assert journal.is_read
    assert not journal.is_whole
    assert part_of(journal).startswith(f"newest 20 of {last} transactions")
    assert 0 < len(journal.lines.trades) < len(whole.trades)


async def test_no_trade_of_a_part_is_shown_otherwise_than_it_is_and_those_left_out_are_counted(
    account: PractisedAccount, tmp_path: Path
) -> None:
    broker = Broker(account)
    journal = open_journal(broker, tmp_path)
    await journal.read()
    known = {each.id: each for each in journal_of(account).trades}
    for id_, line in journal.lines.trades.items():
        entries = [replace(each, slippage=None) for each in line.trade.entries]
        expected = known[id_]
        assert entries == [replace(each, slippage=None) for each in expected.entries]
        assert (line.trade.exits, line.trade.costs) == (expected.exits, expected.costs)
        assert line.trade.initial_stop == expected.initial_stop
    touched = {id_ for each in events_of(broker.history[-20:]) for id_ in trades_of(each)}
    left_out = {id_ for id_ in touched if int(id_) < int(broker.history[-20].id)}
    assert "USD_JPY" in {known[id_].instrument for id_ in left_out}
    assert f"{len(left_out)} trades opened before are left out" in part_of(journal)
    assert touched - left_out <= journal.lines.trades.keys()
    assert not left_out & journal.lines.trades.keys()


async def test_filled_the_journal_and_its_cache_equal_those_that_were_read_at_once(
    account: PractisedAccount, tmp_path: Path
) -> None:
    at_once = JournalService(account).journal(tmp_path / "at once")
    await at_once.read()
    journal = open_journal(Broker(account), tmp_path / "in parts")
    await journal.read()
    await journal.fill()
    assert not part_of(journal)
    assert journal.is_whole
    assert journal.journal == journal_of(account)
    assert files_of(journal) == files_of(at_once)
    journal.files.events.unlink()
    again = open_journal(Broker(account), tmp_path / "in parts")
    await again.read()
    await again.fill()
    assert files_of(again) == files_of(at_once)


async def test_an_interruption_loses_one_step_at_most(
    account: PractisedAccount, tmp_path: Path
) -> None:
    broker = Broker(account)
    journal = open_journal(broker, tmp_path)
    await journal.read()
    filling = asyncio.create_task(journal.fill())
    while broker.pages < 2 + 3 + 2:  # noqa: ASYNC110 - the newest part, a step, a part of the next
        await asyncio.sleep(0)
    filling.cancel()
    await asyncio.gather(filling, return_exceptions=True)
    after = Broker(account)
    again = open_journal(after, tmp_path)
    await again.read()
    await again.fill()
    assert min(after.asked_since) == SMALL.step
    assert again.journal == journal_of(account)


async def test_a_broker_that_refuses_is_said_and_asked_again_after_a_pause(
    account: PractisedAccount, tmp_path: Path
) -> None:
    broker = Broker(account)
    broker.refuse_from = 7
    waits = Waits(broker)
    journal = open_journal(broker, tmp_path, waits)
    await journal.read()
    said = set()
    filling = asyncio.create_task(journal.fill())
    while not filling.done():
        said.add(str(journal.trouble))
        await asyncio.sleep(0)
    assert "Older transactions are not read: HTTP 503" in said
    assert waits.long == 1
    assert not journal.trouble
    assert journal.journal == journal_of(account)


async def test_what_comes_while_it_is_filled_is_in_it(tmp_path: Path) -> None:
    broker = Broker(long_history())
    journal = open_journal(broker, tmp_path)
    await journal.read()
    filling = asyncio.create_task(journal.fill())
    for _ in range(3):
        await asyncio.sleep(0)
        seen = len(broker.history)
        broker.account.trade("EUR_USD", 3000)
        for each in broker.history[seen:]:
            journal.apply(each)
    await filling
    await journal.read()
    assert journal.journal == journal_of(broker.account)


async def test_two_desks_that_fill_one_cache_lose_nothing(
    account: PractisedAccount, tmp_path: Path
) -> None:
    desks = [open_journal(Broker(account), tmp_path) for _ in range(2)]
    for each in desks:
        await each.read()
    async with asyncio.TaskGroup() as group:
        for each in desks:
            group.create_task(each.fill())
    assert [each.journal for each in desks] == [journal_of(account)] * 2
    at_once = JournalService(account).journal(tmp_path / "at once")
    await at_once.read()
    assert files_of(desks[0]) == files_of(at_once)


async def test_without_room_for_the_cache_the_part_stays_and_all_is_read_when_wanted(
    account: PractisedAccount, tmp_path: Path
) -> None:
    journal = open_journal(Broker(account), tmp_path)
    with no_room():
        await journal.read()
        await journal.fill()
        assert part_of(journal)
        why = os.strerror(errno.EFBIG)
        assert f"Older transactions are not kept: {why}: {journal.files.events}" in journal.trouble
        assert journal.trouble.endswith("; make room there")
        assert whole_of(journal) != journal_of(account)
        await journal.read(whole=True)
    assert not part_of(journal)
    assert whole_of(journal) == journal_of(account)


def whole_of(journal: LiveJournal) -> Journal:
    return journal.journal


async def test_an_account_that_began_anew_while_it_is_filled_is_read_anew(tmp_path: Path) -> None:
    broker = Broker(long_history())
    journal = open_journal(broker, tmp_path)
    await journal.read()
    broker.account = play(TERMS[0], [Step("market", "EUR_USD", D(5000), 9, 0)])
    broker.created_ns = 8
    await journal.fill()
    assert journal.journal == journal_of(broker.account)
    assert not part_of(journal)


async def test_a_refusal_at_a_prompt_loses_only_what_was_not_written_yet(
    account: PractisedAccount, tmp_path: Path
) -> None:
    path, broker = tmp_path / "journal" / "main.events", Broker(account)
    broker.refuse_from = 4
    with pytest.raises(Unreachable, match="HTTP 503"):
        await load_events(broker.client, path, written_every=25)
    after = Broker(account)
    found = await load_events(after.client, path, written_every=25)
    assert after.asked_since[0] == 75
    assert rebuild(found.events) == journal_of(account)


@dataclass
class Overtaken(Broker):
    """After its first answer another desk writes to the cache, before the caller reads it."""

    other_desk: Callable[[], Awaitable[object]] | None = None

    async def summary(self) -> SimpleNamespace:
        answer = await super().summary()
        if (write := self.other_desk) is not None:
            self.other_desk = None
            await write()
        return answer


@pytest.mark.parametrize("by", ["whole", "newest", "gap"])
async def test_a_cache_that_another_desk_has_just_continued_is_not_read_from_the_broker_again(
    tmp_path: Path, by: str
) -> None:
    account = long_history()
    path = tmp_path / "journal" / "main.events"
    await load_events(Broker(account).client, path)

    async def trade() -> None:
        account.trade("EUR_USD", 3000)
        await load_events(Broker(account).client, path)

    broker = Overtaken(account, other_desk=trade)
    match by:
        case "whole":
            assert rebuild((await load_events(broker.client, path)).events) == journal_of(account)
        case "newest":
            assert (await load_newest(broker.client, path, 10, lambda: ())).skipped
        case _:
            assert (await gap_of(broker.client, path)).missing == 0
    assert not broker.asked_since


async def test_a_cache_is_not_taken_for_an_account_that_began_anew_between_two_answers(
    tmp_path: Path,
) -> None:
    before, after = long_history(), long_history()
    path = tmp_path / "journal" / "main.events"
    await load_events(Broker(before).client, path)
    broker = Overtaken(before)

    async def begin_anew() -> None:
        before.trade("EUR_USD", 3000)
        await load_events(Broker(before).client, path)
        for _ in range(3):
            after.trade("USD_JPY", 1000)
        broker.account, broker.created_ns = after, 8

    broker.other_desk = begin_anew
    assert rebuild((await load_events(broker.client, path)).events) == journal_of(after)


async def test_the_newest_part_of_a_cache_is_read_while_another_desk_appends_to_it(
    tmp_path: Path,
) -> None:
    account = long_history()
    path = tmp_path / "journal" / "main.events"
    await load_events(Broker(account).client, path, written_every=25)
    ours, theirs = Broker(account), Broker(account)
    appended = 0

    async def append() -> None:
        nonlocal appended
        while not reading.done():
            account.trade("EUR_USD", 3000)
            await load_newest(theirs.client, path, 10, lambda: ())
            appended += 1

    async def read() -> list[CachedEvents]:
        open_trades = [str(each) for each in account.state.trades]
        return [await load_newest(ours.client, path, 10, lambda: open_trades) for _ in range(4)]

    reading = asyncio.create_task(read())
    await append()
    known = {each.id: each for each in journal_of(account).trades}
    for found in await reading:
        assert found.skipped
        for each in rebuild(found.events).trades:
            assert (each.entries, each.position_id) == (
                known[each.id].entries,
                known[each.id].position_id,
            )
    assert appended
    whole = await load_events(Broker(account).client, path)
    assert rebuild(whole.events) == journal_of(account)
