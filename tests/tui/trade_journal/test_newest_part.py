"""An account whose records lack much: its newest transactions are shown at once, the others are read into them meanwhile."""

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from keydesk.calc.trade_journal.rebuild import Journal, trades_of
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.records.journal import JournalRecords
from keydesk.trade_journal.files import JournalFiles
from keydesk.trade_journal.live import RETRY_AFTER, LiveJournal
from keydesk.trade_journal.loading import load_journal, read_into
from keydesk.trade_journal.newest_part import Portions
from keydesk.trade_journal.reading import events_of
from keydesk_client.errors import Unreachable, UnreadableAnswer
from support.data.desk_store import long_euro
from support.data.journal_service import JournalService, journal_store
from support.full_disk import no_room
from support.journal_history import TERMS, Step, journal_of, play, transactions_of
from support.practised_account import PractisedAccount

D = Decimal
SMALL = Portions(page=10, first=20, few=40, step=25)
KINDS = ("stop", "market", "tick", "close a part", "reversal", "finance", "close longs")


def long_history() -> PractisedAccount:
    """An account of more than a hundred transactions; its first trade is closed by its last transactions."""
    steps = [Step(kind, "EUR_USD", D(5000), 9, 0) for kind in (*KINDS, "close shorts") * 9]
    first = Step("market", "USD_JPY", D(1000), 9, 0)
    return play(TERMS[0], [first, *steps, dataclasses.replace(first, kind="close longs")])


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
    store = journal_store()
    store.trades.update({str(each): long_euro() for each in broker.account.state.trades})
    return LiveJournal(
        broker.client,
        files,
        store,
        sleep=(waits or Waits()).sleep,
        portions=SMALL,
    )


def listed(journal: LiveJournal) -> dict[str, JournalTrade]:
    """Return what the list shows."""
    lines = [journal.line(id_) for (id_,) in journal.rows(())]
    return {line.trade.id: line.trade for line in lines if line is not None}


def kept(folder: Path) -> Journal:
    """Return what the file of the records has."""
    return JournalRecords(folder / "records" / "main.sqlite").journal()


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
    assert 0 < len(listed(journal)) < len(whole.trades)


async def test_no_trade_of_a_part_is_shown_otherwise_than_it_is_and_those_left_out_are_counted(
    account: PractisedAccount, tmp_path: Path
) -> None:
    broker = Broker(account)
    journal = open_journal(broker, tmp_path)
    await journal.read()
    known = {each.id: each for each in journal_of(account).trades}
    for id_, trade in listed(journal).items():
        entries = [replace(each, slippage=None) for each in trade.entries]
        expected = known[id_]
        assert entries == [replace(each, slippage=None) for each in expected.entries]
        assert (trade.exits, trade.costs) == (expected.exits, expected.costs)
        assert trade.initial_stop == expected.initial_stop
    touched = {id_ for each in events_of(broker.history[-20:]) for id_ in trades_of(each)}
    left_out = {id_ for id_ in touched if int(id_) < int(broker.history[-20].id)}
    assert "USD_JPY" in {known[id_].instrument for id_ in left_out}
    assert f"{len(left_out)} trades opened before are left out" in part_of(journal)
    assert touched - left_out <= listed(journal).keys()
    assert not left_out & listed(journal).keys()


async def test_filled_the_journal_and_its_records_equal_those_that_were_read_at_once(
    account: PractisedAccount, tmp_path: Path
) -> None:
    journal = open_journal(Broker(account), tmp_path)
    await journal.read()
    assert part_of(journal)
    await journal.fill()
    assert not part_of(journal)
    assert journal.is_whole
    assert journal.journal == kept(tmp_path) == journal_of(account)


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


@dataclass
class Exaggerating(Broker):
    """Says that its newest transaction is another one than it has."""

    newest: int = 10**18

    async def summary(self) -> SimpleNamespace:
        answer = await super().summary()
        answer.account.last_transaction_id = str(self.newest)
        return answer

    async def range(self, first: int, last: int) -> object:  # type: ignore[override]
        assert self.pages < 20, "it is asked page after page"
        return await super().range(first, last)


@pytest.mark.parametrize("beyond", [SMALL.page + 1, 10**18])
async def test_a_newest_transaction_that_is_made_up_is_said_and_not_looked_for(
    account: PractisedAccount, tmp_path: Path, beyond: int
) -> None:
    last = int(transactions_of(account)[-1].id)
    broker = Exaggerating(account, newest=last + beyond)
    journal = open_journal(broker, tmp_path)
    await journal.read()
    assert "has no transactions" in journal.trouble
    records = JournalRecords()
    with pytest.raises(UnreadableAnswer, match="has no transactions"):
        await read_into(broker.client, records, written_every=25)
    assert records.kept().last_id <= last


async def test_older_transactions_that_are_made_up_meanwhile_are_said_and_not_looked_for(
    account: PractisedAccount, tmp_path: Path
) -> None:
    broker = Exaggerating(account, newest=int(transactions_of(account)[-1].id))
    journal = open_journal(broker, tmp_path)
    await journal.read()
    assert part_of(journal)
    broker.newest, broker.pages = 10**18, 0
    filling = asyncio.create_task(journal.fill())
    while not journal.trouble and not filling.done():  # noqa: ASYNC110 - it wakes nobody
        await asyncio.sleep(0)
    filling.cancel()
    await asyncio.gather(filling, return_exceptions=True)
    assert "Older transactions are not read: " in journal.trouble
    assert "has no transactions" in journal.trouble


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


async def test_two_desks_that_fill_the_records_lose_nothing(
    account: PractisedAccount, tmp_path: Path
) -> None:
    desks = [open_journal(Broker(account), tmp_path) for _ in range(2)]
    for each in desks:
        await each.read()
    async with asyncio.TaskGroup() as group:
        for each in desks:
            group.create_task(each.fill())
    assert [each.journal for each in desks] == [journal_of(account)] * 2
    assert kept(tmp_path) == journal_of(account)


async def test_without_room_for_the_records_the_part_stays_and_all_is_read_when_wanted(
    account: PractisedAccount, tmp_path: Path
) -> None:
    journal = open_journal(Broker(account), tmp_path)
    with no_room():
        await journal.read()
        await journal.fill()
        assert part_of(journal)
        assert "Older transactions are not kept: " in journal.trouble
        assert f"{journal.files.records}" in journal.trouble
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
    records, broker = JournalRecords(tmp_path / "records" / "main.sqlite"), Broker(account)
    broker.refuse_from = 4
    with pytest.raises(Unreachable, match="HTTP 503"):
        await read_into(broker.client, records, written_every=25)
    after = Broker(account)
    await read_into(after.client, records, written_every=25)
    assert after.asked_since[0] == 75
    assert records.journal() == journal_of(account)


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


async def test_records_that_another_desk_has_just_continued_are_not_read_from_the_broker_again(
    tmp_path: Path,
) -> None:
    account, path = long_history(), tmp_path / "records" / "main.sqlite"
    await load_journal(Broker(account).client, path)

    async def trade() -> None:
        account.trade("EUR_USD", 3000)
        await load_journal(Broker(account).client, path)

    broker = Overtaken(account, other_desk=trade)
    _, journal = await load_journal(broker.client, path)
    assert journal == journal_of(account)
    assert not broker.asked_since


async def test_records_are_not_taken_for_those_of_an_account_that_began_anew_between_two_answers(
    tmp_path: Path,
) -> None:
    before, after = long_history(), long_history()
    path = tmp_path / "records" / "main.sqlite"
    await load_journal(Broker(before).client, path)
    broker = Overtaken(before)

    async def resync() -> None:
        before.trade("EUR_USD", 3000)
        await load_journal(Broker(before).client, path)
        for _ in range(3):
            after.trade("USD_JPY", 1000)
        broker.account, broker.created_ns = after, 8

    broker.other_desk = resync
    _, journal = await load_journal(broker.client, path)
    assert journal == journal_of(after)


async def test_the_list_is_read_while_another_desk_adds_to_the_records(tmp_path: Path) -> None:
    account, path = long_history(), tmp_path / "records" / "main.sqlite"
    ours = open_journal(Broker(account), tmp_path)
    await ours.read(whole=True)
    await ours.fill()
    theirs, seen = JournalRecords(path), set[int]()
    for _ in range(4):
        account.trade("EUR_USD", 3000)
        await asyncio.gather(read_into(Broker(account).client, theirs), ours.read())
        known = {each.id: each for each in journal_of(account).trades}
        found = listed(ours)
        assert all(each == known[id_] for id_, each in found.items())
        seen.add(len(found))
    assert len(seen) > 1
    assert theirs.journal() == journal_of(account)
