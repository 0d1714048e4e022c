"""What happens to the ledger's file from outside is noticed, said in words, and never answered with a new account."""

import asyncio
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from keydesk_practice.__main__ import main
from keydesk_practice.broker.startup import open_broker
from keydesk_practice.errors import LedgerFull, LedgerUnavailable, LedgerWriteFailed
from keydesk_practice.ledger.checksums import SUMMED
from keydesk_practice.ledger.ledger_file import FILE_NAME, check_ledger_file, move_ledger_aside
from keydesk_practice.ledger.records import (
    EndedRecord,
    Entry,
    LedgerAccount,
    LedgerBatch,
    MarkRecord,
    Row,
    WireTransaction,
    entry_of,
    transaction_row,
)
from keydesk_practice.ledger.sqlite_ledger import SqliteLedger
from keydesk_practice.options import Options
from keydesk_practice.server import load_token
from support.broker import START_SECONDS, practice_server
from support.data.large_account import large_ledger
from support.data.practice_market import store_rates
from support.fakes.still_market import NOON, SECOND

ACCOUNT = LedgerAccount("101-001-1-001", 0, "USD", hedging=False)
Accident = Callable[[Path], None]
SERVE = [sys.executable, "-m", "keydesk_practice.__main__"]
LIMITED = """
import resource, sys
sys.dont_write_bytecode = True  # a module's compiled file would be cut off at the limit, and stay so
from keydesk_practice.__main__ import main
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))  # the nearest thing to a full disk
sys.exit(main(sys.argv[1:]))
"""


def entry(id_: int) -> Entry:
    return entry_of(
        WireTransaction({"id": str(id_), "type": "ORDER_FILL", "comment": f"number {id_}"}), id_
    )


def fill(folder: Path, count: int = 60) -> Path:
    """Make a ledger that has rows in every table."""
    ledger = SqliteLedger.open(folder)
    ledger.set_fact("seed", "7")
    ledger.create_account(ACCOUNT, [entry(id_) for id_ in range(1, count)])
    batch = LedgerBatch(ACCOUNT.id, [entry(count), MarkRecord(5, Decimal("1.10250"))])
    for id_ in range(5, 25):
        record = EndedRecord("Order", id_, "FILLED", "EUR_USD", b'{"id":"5","units":"1000"}')
        ledger.stage_ended(ACCOUNT.id, record)
    ledger.commit([batch])
    ledger.save_snapshot(ACCOUNT.id, count, "form", b'{"balance":"100000.0000"}')
    ledger.close()
    return folder / FILE_NAME


def content(file: Path) -> dict[str, list[tuple[object, ...]]]:
    with sqlite3.connect(file) as connection:
        found = {
            table: connection.execute("SELECT * FROM " + table).fetchall()  # noqa: S608 - of ours
            for table in SUMMED
        }
    connection.close()
    return found


def execute(file: Path, statement: str) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute(statement)
    connection.close()


def said_by_check(folder: Path) -> tuple[str, ...]:
    try:
        return check_ledger_file(folder).problems
    except LedgerUnavailable as error:
        return (str(error),)


def test_a_whole_ledger_has_no_problems(tmp_path: Path) -> None:
    fill(tmp_path)
    report = check_ledger_file(tmp_path)
    assert (report.accounts, report.transactions, report.problems) == (1, 60, ())


def test_no_flipped_bit_changes_a_row_unnoticed(tmp_path: Path) -> None:
    file = fill(tmp_path)
    whole, rows = file.read_bytes(), content(file)
    rng, unnoticed = random.Random(6), 0
    for _ in range(60):
        bit = rng.randrange(len(whole) * 8)
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        file.write_bytes(damaged)
        if not said_by_check(tmp_path):
            unnoticed += 1
            assert content(file) == rows, f"bit {bit} changed a row"
    assert unnoticed < 60  # such as one in a page that is not used


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("transactions", "body = replace(body, 'number 7', 'number 8') WHERE id = 7"),
        ("transactions", "time = time + 1 WHERE id = 7"),
        ("facts", "value = '8'"),
        ("accounts", "currency = 'EUR'"),
        ("marks", "level = '1.10350'"),
        ("ended", "record = CAST('{}' AS BLOB) WHERE id = 7"),
        ("snapshots", "id = 59"),
        ("heads", "id = 61"),
    ],
)
def test_a_changed_value_is_named(tmp_path: Path, table: str, change: str) -> None:
    file = fill(tmp_path)
    execute(file, f"UPDATE {table} SET {change}")  # noqa: S608 - of this test
    assert any(problem.startswith(f"{table}: the row of ") for problem in said_by_check(tmp_path))


@pytest.mark.parametrize(
    ("lost", "text"),
    [
        ("transactions WHERE id = 60", "ends at transaction 59, but 60 was committed"),
        ("transactions WHERE id = 30", "has 59 of its transactions 1 to 60"),
        ("transactions", "has no transactions"),
        ("accounts", "is not in the table of accounts"),
    ],
)
def test_a_lost_row_is_noticed(tmp_path: Path, lost: str, text: str) -> None:
    file = fill(tmp_path)
    execute(file, f"DELETE FROM {lost}")  # noqa: S608 - of this test
    assert text in "; ".join(said_by_check(tmp_path))


# --- the start, and the verb ---


@pytest.fixture
def traded_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder whose ledger has an account that traded."""
    folder = tmp_path / "data"
    large_ledger(folder, 60)
    store_rates(folder)
    yield folder
    shutil.rmtree(folder)


def start(folder: Path) -> None:
    open_broker(Options(command="serve", data=folder, start=NOON), owners=1).close()


def change(folder: Path, statement: str) -> None:
    execute(folder / FILE_NAME, statement)


def test_a_start_on_a_damaged_row_is_refused_in_words(traded_folder: Path) -> None:
    change(traded_folder, "UPDATE transactions SET body=replace(body, '1000', '1001') WHERE id=9")
    with pytest.raises(LedgerUnavailable, match=r"the row of .* 9 does not match its checksum"):
        start(traded_folder)


def test_check_says_whole_and_damaged(
    traded_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--data", str(traded_folder)]) == 0
    assert "is undamaged: accounts: 1, transactions: 63" in capsys.readouterr().out
    change(traded_folder, "UPDATE transactions SET time=time+1 WHERE id=9")
    assert main(["check", "--data", str(traded_folder)]) == 1
    said = capsys.readouterr().err
    assert "9 does not match its checksum" in said
    assert "keydesk practice reset" in said


def test_check_makes_no_ledger_where_there_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--data", str(tmp_path / "none")]) == 1
    assert "there is no ledger in" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


@pytest.mark.e2e
async def test_check_leaves_a_running_brokers_ledger_alone(practice_folder: Path) -> None:
    async with practice_server(practice_folder) as practice:
        check = await asyncio.create_subprocess_exec(
            *(*SERVE, "check", "--data", str(practice.data)), stderr=subprocess.PIPE
        )
        _, said = await check.communicate()
        assert (check.returncode, b"is in use by another running" in said) == (1, True)
        assert (await practice.get("{a}/summary")).status_code == 200


# --- ledgers from before the checksums ---


def to_format_1(folder: Path) -> None:
    for table in SUMMED:
        change(
            folder,
            f"ALTER TABLE {table} DROP COLUMN crc" if table != "heads" else "DROP TABLE heads",
        )
    change(folder, "PRAGMA user_version=1")


def test_an_older_ledger_is_read_and_gets_checksums(traded_folder: Path) -> None:
    before = content(traded_folder / FILE_NAME)
    to_format_1(traded_folder)
    assert said_by_check(traded_folder) == ()
    start(traded_folder)
    after = content(traded_folder / FILE_NAME)
    assert after["transactions"][: len(before["transactions"])] == before["transactions"]
    assert said_by_check(traded_folder) == ()
    change(traded_folder, "UPDATE transactions SET time=time+1 WHERE id=9")
    assert said_by_check(traded_folder)


def test_an_older_ledger_with_a_body_that_cannot_be_read_is_refused(traded_folder: Path) -> None:
    to_format_1(traded_folder)
    change(traded_folder, "UPDATE transactions SET body=substr(body, 2) WHERE id=9")
    assert "9 cannot be read" in "; ".join(said_by_check(traded_folder))
    with pytest.raises(LedgerUnavailable, match="9 cannot be read"):
        start(traded_folder)


@pytest.mark.parametrize(("old", "new"), [('"units":"1000"', '"units":"1x00"'), ('"type":"ORDER_FILL"', '"type":"ORDER_FULL"'), ('"orderID":"', '"orderID":"9')])  # fmt: skip
def test_an_older_ledger_whose_transactions_make_no_sense_is_refused(
    traded_folder: Path, old: str, new: str
) -> None:
    to_format_1(traded_folder)
    change(traded_folder, "DELETE FROM snapshots")
    change(traded_folder, f"UPDATE transactions SET body=replace(body, '{old}', '{new}')")  # noqa: S608 - of this test
    with pytest.raises(LedgerUnavailable, match=r"transaction \d+ of account .* cannot be applied"):
        start(traded_folder)


# --- ledgers that lost their content ---


def test_an_emptied_file_is_no_new_ledger(traded_folder: Path) -> None:
    (traded_folder / FILE_NAME).write_bytes(b"")
    with pytest.raises(LedgerUnavailable, match="is empty"):
        start(traded_folder)
    assert (traded_folder / FILE_NAME).stat().st_size == 0


def test_a_file_without_tables_is_no_new_ledger(traded_folder: Path) -> None:
    (traded_folder / FILE_NAME).unlink()
    change(traded_folder, "PRAGMA user_version=2")
    with pytest.raises(LedgerUnavailable, match="has no tables"):
        start(traded_folder)


def test_a_ledger_without_its_accounts_is_no_new_ledger(traded_folder: Path) -> None:
    for table in SUMMED:
        if table != "facts":
            change(traded_folder, f"DELETE FROM {table}")  # noqa: S608 - of ours
    change(traded_folder, "INSERT OR REPLACE INTO facts (name, value) VALUES ('last_seen', '1')")
    with pytest.raises(LedgerUnavailable, match="has lost its accounts"):
        start(traded_folder)


def test_a_ledger_with_only_some_of_the_accounts_is_refused_with_the_remedy(tmp_path: Path) -> None:
    ledger = SqliteLedger.open(tmp_path)
    ledger.set_fact("workers", "2")  # as a broker of several processes left it
    ledger.close()
    with pytest.raises(LedgerUnavailable, match=r"only some of the accounts.*practice reset"):
        SqliteLedger.open(tmp_path)


def test_a_log_without_its_ledger_is_no_new_ledger(traded_folder: Path) -> None:
    (traded_folder / FILE_NAME).rename(traded_folder / f"{FILE_NAME}-wal")
    with pytest.raises(LedgerUnavailable, match=r"is missing but ledger\.sqlite3-wal is there"):
        start(traded_folder)


@pytest.mark.parametrize("bytes_left", [0, 5000, 100_000])
def test_reset_keeps_a_damaged_file_too_and_begins_anew(
    traded_folder: Path, bytes_left: int
) -> None:
    os.truncate(
        traded_folder / FILE_NAME, min(bytes_left, (traded_folder / FILE_NAME).stat().st_size)
    )
    kept = move_ledger_aside(traded_folder)
    assert kept is not None
    assert kept.exists()
    start(traded_folder)
    assert said_by_check(traded_folder) == ()


# --- what happens to the file of a running broker ---


def removed(file: Path) -> None:
    file.unlink()


def replaced(file: Path) -> None:
    shutil.copy(file, file.with_suffix(".copy"))
    file.with_suffix(".copy").replace(file)


def cut_short(file: Path) -> None:
    os.truncate(file, 0)


def log_removed(file: Path) -> None:
    file.with_name(f"{FILE_NAME}-wal").unlink()


def log_emptied(file: Path) -> None:
    os.truncate(file.with_name(f"{FILE_NAME}-wal"), 0)


def log_halved(file: Path) -> None:
    log = file.with_name(f"{FILE_NAME}-wal")
    os.truncate(log, log.stat().st_size // 2)


@pytest.mark.e2e
@pytest.mark.parametrize(
    "accident", [removed, replaced, cut_short, log_removed, log_emptied, log_halved]
)
async def test_nothing_is_acknowledged_once_the_ledger_is_gone(
    practice_folder: Path, accident: Accident
) -> None:
    async with practice_server(practice_folder) as practice:
        assert (
            await practice.send("PATCH", "{a}/configuration", {"alias": "a"})
        ).status_code == 200
        accident(practice.data / FILE_NAME)
        refused = await practice.send("PATCH", "{a}/configuration", {"alias": "b"})
        assert refused.status_code == 503
        assert "while the broker runs" in refused.json()["errorMessage"]
        assert practice.process is not None
        assert await practice.process.wait() == 1


@pytest.mark.parametrize("accident", [log_emptied, log_halved])
@pytest.mark.parametrize("still_cached", [True, False])
def test_a_ledger_whose_log_was_cut_while_in_use_can_be_opened_again(
    tmp_path: Path, accident: Accident, still_cached: bool
) -> None:
    fill(tmp_path)
    ledger = SqliteLedger.open(tmp_path)
    ledger.commit([LedgerBatch(ACCOUNT.id, [entry(id_) for id_ in range(61, 1_000)])])
    accident(tmp_path / FILE_NAME)
    if not still_cached:
        ledger._connection.execute("PRAGMA shrink_memory")  # forgets the pages of the log
    with pytest.raises(LedgerWriteFailed, match=r"-wal was truncated while the broker runs"):
        ledger.commit([LedgerBatch(ACCOUNT.id, [entry(1_000)])])
    ledger.close()
    assert said_by_check(tmp_path) == ()
    again = SqliteLedger.open(tmp_path)
    again.verify()
    kept = again.last_id(ACCOUNT.id)
    assert kept == 999 if still_cached else kept in range(60, 1_000)
    again.close()


def test_a_log_that_was_cut_during_a_commit_is_noticed_before_the_commit_is_acknowledged(
    tmp_path: Path,
) -> None:
    fill(tmp_path)
    ledger = SqliteLedger.open(tmp_path)
    ledger.commit([LedgerBatch(ACCOUNT.id, [entry(61)])])

    class CutDuringCommit(LedgerBatch):
        """A batch whose rows are taken when the log's size was looked at already."""

        @property
        def transactions(self) -> list[Row]:
            log_emptied(tmp_path / FILE_NAME)
            return [transaction_row(ACCOUNT.id, entry(62))]

        @transactions.setter
        def transactions(self, _: list[Row]) -> None:
            pass

    with pytest.raises(LedgerWriteFailed, match=r"-wal was truncated while the broker runs"):
        ledger.commit([CutDuringCommit(ACCOUNT.id)])
    ledger.close()
    assert said_by_check(tmp_path) == ()


def test_a_commit_that_the_disk_refuses_says_so_and_keeps_nothing(tmp_path: Path) -> None:
    fill(tmp_path)
    ledger = SqliteLedger.open(tmp_path)
    (pages,) = ledger._connection.execute("PRAGMA page_count").fetchone()  # no other way to fill it
    ledger._connection.execute(f"PRAGMA max_page_count={pages}")
    batch = LedgerBatch(ACCOUNT.id, [entry(id_) for id_ in range(61, 5_000)])
    with pytest.raises(LedgerFull, match="disk is full: make room on the disk of"):
        ledger.commit([batch])
    assert ledger.last_id(ACCOUNT.id) == 60
    ledger.close()
    assert said_by_check(tmp_path) == ()


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("below", "beyond"),
    [([20_000], [0]), pytest.param([1, 20_000], [0, 1000, 8000], marks=pytest.mark.soak)],
)
def test_a_start_on_a_full_disk_is_refused_in_words(
    traded_folder: Path, below: list[int], beyond: list[int]
) -> None:
    """Whatever length of file the system allows, from none to enough: words, or a start, never a traceback."""
    size = (traded_folder / FILE_NAME).stat().st_size
    allowed = [*below, *(size + each for each in beyond)]
    whole, outcomes = (traded_folder / FILE_NAME).read_bytes(), set[int | None]()
    for limit in allowed:
        (traded_folder / FILE_NAME).write_bytes(whole)
        (traded_folder / f"{FILE_NAME}-wal").unlink(missing_ok=True)
        outcomes.add(_started_with(traded_folder, limit))
    assert 1 in outcomes


@pytest.mark.e2e
@pytest.mark.parametrize(
    "limit", [4096, *(pytest.param(each, marks=pytest.mark.soak) for each in (0, 20_000))]
)
def test_a_first_start_on_a_full_disk_is_refused_in_words(tmp_path: Path, limit: int) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    load_token(folder)  # its file is not what is asked about
    assert _started_with(folder, limit) == 1


async def test_a_start_that_cannot_book_the_time_it_missed_is_refused_in_words(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "data"
    large_ledger(folder, 60, trades=2)
    store_rates(folder)
    start(folder)  # with everything that a start enters
    change(folder, "CREATE TRIGGER full BEFORE INSERT ON transactions BEGIN SELECT RAISE(ABORT, 'disk is full'); END")  # fmt: skip
    options = Options(command="serve", data=folder, start=NOON + 86_400 * SECOND)
    with pytest.raises(LedgerWriteFailed, match="cannot be written: disk is full"):
        open_broker(options, owners=1)  # a day has ended: financing is due


def _started_with(folder: Path, limit: int) -> int | None:
    process = subprocess.Popen(
        [sys.executable, "-c", LIMITED, str(limit), "--data", str(folder), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    if process.stdout.readline():
        process.terminate()
    _, said = process.communicate(timeout=START_SECONDS)
    assert b"Traceback" not in said, said.decode()
    if process.returncode:
        assert said.splitlines()[-1].startswith(b"keydesk practice: "), said.decode()
    return process.returncode
