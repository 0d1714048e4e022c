"""The journal in the records: whatever was taken at once, after a kill, or by two desks, it is the one of its transactions."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk.calc.trade_journal.events import StopSet
from keydesk.calc.trade_journal.rebuild import Journal, rebuild
from keydesk.calc.trade_journal.trades import roll_up
from keydesk.records.errors import DamagedRecords
from keydesk.records.journal import JournalRecords
from keydesk.records.trades import columns_of, count, line_of, trade_of
from keydesk.trade_journal.loading import read_into
from keydesk.trade_journal.reading import events_of
from keydesk_client.models import Transaction
from keydesk_practice.engine.state.account import Terms
from support.data.journal_service import PIPS, JournalService
from support.journal_history import HISTORIES, TERMS, Step, play, transactions_of
from support.large_history import WrittenAccount, write_history
from support.practised_account import ID

D = Decimal
CREATED = 7
TRADES = 120


def take(records: JournalRecords, transactions: list[Transaction], portions: list[int]) -> None:
    """Take transactions, so many at a time."""
    records.begin(ID, CREATED)
    start = 0
    for portion in [*portions, len(transactions)]:
        part = transactions[start : start + portion]
        if part:
            records.add(records.kept(), int(part[-1].id), list(events_of(part)))
        start += portion


def same(found: Journal, expected: Journal) -> bool:
    """Return whether two journals are the same to the last digit: 1.0 equals 1, but is not written as it."""
    return found == expected and repr(found.trades) == repr(expected.trades)


@given(
    history=HISTORIES,
    portions=st.lists(st.integers(1, 9), max_size=9),
    terms=st.sampled_from(TERMS),
)
def test_the_records_hold_the_journal_that_transactions_alone_make(
    history: list[Step], portions: list[int], terms: Terms
) -> None:
    transactions = transactions_of(play(terms, history))
    records, events = JournalRecords(), list(events_of(transactions))
    take(records, transactions, portions)
    expected = rebuild(events)
    assert same(records.journal(), expected)
    connection = records.connection
    for each in expected.trades:
        assert trade_of(connection, each.id) == each
        stops = [e for e in events if isinstance(e, StopSet) and e.trade_id == each.id]
        assert list(records.stops(each.id)) == stops
    positions = {each.id: each for each in roll_up(expected.trades)}
    listed = [id_ for (id_,) in columns_of(connection, (), by_position=True)]
    assert {id_: trade_of(connection, id_, by_position=True) for id_ in listed} == positions
    assert count(connection, by_position=True) == len(positions)


@given(history=HISTORIES)
def test_every_column_is_what_its_trade_says_exactly_and_the_newest_is_first(
    history: list[Step],
) -> None:
    transactions, records = transactions_of(play(TERMS[1], history)), JournalRecords()
    take(records, transactions, [7])
    for by_position in (False, True):
        columns = ("is_open", "time_ns", "result", "r", "profit", "financing", "units", "words")
        rows = list(columns_of(records.connection, columns, by_position=by_position))
        assert rows == sorted(rows, key=lambda row: (row[1], row[2]), reverse=True)
        for id_, is_open, time_ns, result, r, profit, financing, units, words in rows:
            trade = trade_of(records.connection, id_, by_position=by_position)
            assert trade is not None
            line = line_of(trade, PIPS)
            assert (bool(is_open), time_ns, words) == (line.is_open, line.time_ns, line.text)
            assert r == (None if line.r is None else str(line.r))
            assert (result, profit) == (str(line.result), str(line.profit))
            assert (financing, units) == (str(trade.costs.financing), str(abs(trade.units)))


async def test_what_another_desk_added_meanwhile_is_not_added_again(tmp_path: Path) -> None:
    service = JournalService(play(TERMS[0], [Step("market", "EUR_USD", D(-1000), 5, 0)] * 5))
    path = tmp_path / "records" / "main.sqlite"
    ours, theirs = JournalRecords(path), JournalRecords(path)
    ours.begin(ID, CREATED)
    before = ours.kept()
    history = service.history
    events = list(events_of(history))
    theirs.add(before, int(history[-1].id), events)
    ours.add(before, int(history[-1].id), events)
    assert same(ours.journal(), rebuild(events))


def test_another_account_or_one_that_began_anew_has_nothing_of_the_one_before() -> None:
    records = JournalRecords()
    take(records, transactions_of(play(TERMS[0], [Step("market", "EUR_USD", D(1000), 5, 0)])), [])
    assert records.journal().trades
    records.begin(ID, CREATED + 1)
    assert records.journal() == Journal()
    assert records.kept() == (ID, CREATED + 1, 0)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE trades SET rebuilt = '[['",
        "UPDATE trades SET rebuilt = replace(rebuilt, '1000', 'NaN')",
        "UPDATE balances SET balance = 'NaN'",
        "UPDATE balances SET balance = 'soon'",
    ],
)
def test_what_was_changed_by_hand_is_damaged(damage: str) -> None:
    records = JournalRecords()
    take(records, transactions_of(play(TERMS[0], [Step("market", "EUR_USD", D(1000), 5, 0)])), [])
    records.connection.execute(damage)
    with pytest.raises(DamagedRecords):
        records.journal()


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("history") / "transactions.jsonl"
    write_history(path, TRADES)
    return path


def expected_of(history: Path) -> Journal:
    account = WrittenAccount(history)
    return rebuild(events_of(account.read(1, account.last)))


FILL = """
import asyncio, sys
from pathlib import Path
from keydesk.records.journal import JournalRecords
from keydesk.trade_journal.loading import read_into
from support.large_history import WrittenAccount
client = WrittenAccount(Path(sys.argv[1])).client
asyncio.run(read_into(client, JournalRecords(Path(sys.argv[2])), lambda *_: print("read", flush=True), written_every=20))
"""


def filling(history: Path, path: Path) -> subprocess.Popen[bytes]:
    folder = Path(__file__).parents[2]
    return subprocess.Popen(
        [sys.executable, "-c", FILL, history, path],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(folder)},
    )


@pytest.mark.e2e
def test_a_desk_that_is_killed_while_it_fills_leaves_what_the_next_one_completes(
    history: Path, tmp_path: Path
) -> None:
    path, rng = tmp_path / "records" / "main.sqlite", random.Random(3)
    for _ in range(4):
        with filling(history, path) as process:
            assert process.stdout is not None
            for _ in range(rng.randint(2, 6)):
                process.stdout.readline()
            process.send_signal(signal.SIGKILL)
    records, account = JournalRecords(path), WrittenAccount(history)
    assert 0 < records.kept().last_id < account.last
    asyncio.run(read_into(account.client, records))
    assert same(records.journal(), expected_of(history))


@pytest.mark.e2e
def test_two_desks_that_fill_at_once_leave_the_right_records(history: Path, tmp_path: Path) -> None:
    path = tmp_path / "records" / "main.sqlite"
    with filling(history, path) as one, filling(history, path) as other:
        one.communicate()
        other.communicate()
        assert (one.returncode, other.returncode) == (0, 0)
    assert same(JournalRecords(path).journal(), expected_of(history))
