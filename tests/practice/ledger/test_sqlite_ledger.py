"""The ledger keeps what was committed, all of it, in order, for its owner only."""

import json
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from keydesk_practice.errors import LedgerUnavailable, LedgerWriteFailed
from keydesk_practice.ledger import ledger_file
from keydesk_practice.ledger.interface import LedgerInterface, first_id_not_before
from keydesk_practice.ledger.ledger_file import FILE_NAME, _reason, move_ledger_aside
from keydesk_practice.ledger.records import (
    EndedRecord,
    Entry,
    LedgerAccount,
    LedgerBatch,
    WireTransaction,
    entry_of,
)
from keydesk_practice.ledger.sqlite_ledger import SqliteLedger
from support.ledgers import OpenLedger

ACCOUNT = LedgerAccount("101-001-1-001", 0, "USD", hedging=False)


def entry(id_: int, type_: str = "ORDER_FILL", time: int | None = None) -> Entry:
    return entry_of(
        WireTransaction({"id": str(id_), "type": type_}), id_ * 10 if time is None else time
    )


def ids(bodies: list[str]) -> list[int]:
    return [int(json.loads(body)["id"]) for body in bodies]


def filled(open_ledger: OpenLedger, count: int) -> LedgerInterface:
    ledger = open_ledger()
    ledger.create_account(ACCOUNT, [entry(id_) for id_ in range(1, count + 1)])
    return ledger


def test_a_committed_batch_is_there_after_a_restart(open_ledger: OpenLedger) -> None:
    ledger = filled(open_ledger, 1)
    ledger.commit([LedgerBatch(ACCOUNT.id, [entry(2), entry(3)])])
    ledger.close()
    again = open_ledger()
    assert again.accounts() == [ACCOUNT]
    assert ids(again.bodies(ACCOUNT.id, 1, 99)) == [1, 2, 3]
    again.close()


def test_a_staged_item_without_commit_never_happened(open_ledger: OpenLedger) -> None:
    ledger = filled(open_ledger, 1)
    ledger.stage_ended(ACCOUNT.id, EndedRecord("Order", 1, "FILLED", "EUR_USD", b"{}"))
    assert ledger.ended(ACCOUNT.id, "Order", 1) == b"{}"
    ledger.close()
    again = open_ledger()
    assert again.ended(ACCOUNT.id, "Order", 1) is None
    again.close()


def test_one_commit_writes_the_batches_of_all_who_wait(open_ledger: OpenLedger) -> None:
    ledger = filled(open_ledger, 1)
    ledger.commit([LedgerBatch(ACCOUNT.id, [entry(id_)]) for id_ in range(2, 50)])
    assert ids(ledger.bodies(ACCOUNT.id, 1, 99)) == list(range(1, 50))
    ledger.close()


def test_a_commit_that_fails_keeps_nothing_of_the_batch(open_ledger: OpenLedger) -> None:
    ledger = filled(open_ledger, 3)
    with pytest.raises(LedgerWriteFailed):
        ledger.commit([LedgerBatch(ACCOUNT.id, [entry(4), entry(3)])])
    assert ledger.last_id(ACCOUNT.id) == 3
    ledger.close()


def test_an_account_begins_anew_whole_or_stays_as_it_was(open_ledger: OpenLedger) -> None:
    ledger = filled(open_ledger, 3)

    def interrupted() -> Iterator[Entry]:
        yield entry(1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ledger.replace_account(ACCOUNT, interrupted())
    assert ids(ledger.bodies(ACCOUNT.id, 1, 9)) == [1, 2, 3]
    in_euros = replace(ACCOUNT, currency="EUR", hedging=True)
    ledger.replace_account(in_euros, [entry(1, "CREATE")])
    assert ledger.accounts() == [in_euros]
    assert ledger.ids_of_types(ACCOUNT.id, 1, 9, ["CREATE"]) == [1]
    assert ledger.last_id(ACCOUNT.id) == 1


def test_ranges_are_inclusive_and_filters_do_not_widen_them(open_ledger: OpenLedger) -> None:
    ledger = filled(open_ledger, 2)
    ledger.commit(
        [LedgerBatch(ACCOUNT.id, [entry(3, "LIMIT_ORDER"), entry(4), entry(5, "LIMIT_ORDER")])]
    )
    assert ids(ledger.bodies(ACCOUNT.id, 2, 4)) == [2, 3, 4]
    assert ids(ledger.bodies(ACCOUNT.id, 2, 4, types=["LIMIT_ORDER"])) == [3]
    assert ids(ledger.bodies(ACCOUNT.id, 1, 5, limit=2)) == [1, 2]
    assert ledger.ids_of_types(ACCOUNT.id, 1, 5, ["LIMIT_ORDER", "CREATE"]) == [3, 5]
    ledger.close()


@pytest.mark.parametrize(("time", "id_"), [(0, 1), (10, 1), (11, 2), (50, 5), (51, 6)])
def test_times_are_found_by_halving(open_ledger: OpenLedger, time: int, id_: int) -> None:
    ledger = filled(open_ledger, 5)
    assert first_id_not_before(ledger, ACCOUNT.id, time) == id_
    ledger.close()


def test_a_batch_shares_its_time_and_is_found_from_its_first(open_ledger: OpenLedger) -> None:
    ledger = filled(open_ledger, 1)
    ledger.commit(
        [LedgerBatch(ACCOUNT.id, [entry(2, time=20), entry(3, time=20), entry(4, time=20)])]
    )
    assert first_id_not_before(ledger, ACCOUNT.id, 20) == 2
    assert ledger.last_time() == 20
    ledger.close()


def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    ledger = filled(lambda: SqliteLedger.open(folder), 1)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert set(modes.values()) == {0o600}
    assert FILE_NAME in modes
    ledger.close()


def test_an_open_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    (folder / "letters.txt").write_text("mine")
    with pytest.raises(LedgerUnavailable, match="a folder of your own, such as --data"):
        SqliteLedger.open(folder)


@pytest.mark.e2e
def test_a_second_process_is_told_that_the_ledger_is_held(tmp_path: Path) -> None:
    ledger = filled(lambda: SqliteLedger.open(tmp_path), 1)
    code = "import sys; from pathlib import Path; from keydesk_practice.ledger.sqlite_ledger import SqliteLedger; SqliteLedger.open(Path(sys.argv[1]))"
    second = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert second.returncode == 1
    assert "is in use by another running practice broker" in second.stderr
    ledger.close()


def test_a_file_that_is_no_ledger_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"not a database, not at all" * 100)
    with pytest.raises(LedgerUnavailable, match="cannot be opened"):
        SqliteLedger.open(tmp_path)


def test_reset_keeps_the_old_ledger_beside_the_new_one(tmp_path: Path) -> None:
    filled(lambda: SqliteLedger.open(tmp_path), 3).close()
    kept = move_ledger_aside(tmp_path)
    assert kept is not None
    assert kept.parent == tmp_path
    fresh = SqliteLedger.open(tmp_path)
    assert fresh.accounts() == []
    fresh.close()
    (tmp_path / FILE_NAME).unlink()
    kept.rename(tmp_path / FILE_NAME)
    old = SqliteLedger.open(tmp_path)
    assert old.last_id(ACCOUNT.id) == 3
    old.close()


def test_reset_without_a_ledger_has_nothing_to_keep(tmp_path: Path) -> None:
    assert move_ledger_aside(tmp_path) is None


def test_a_snapshot_is_given_back_only_to_the_code_that_made_it(open_ledger: OpenLedger) -> None:
    ledger = filled(open_ledger, 3)
    ledger.save_snapshot(ACCOUNT.id, 3, "version a", b"state")
    assert ledger.snapshot(ACCOUNT.id, "version a") == (3, b"state")
    assert ledger.snapshot(ACCOUNT.id, "version b") is None
    ledger.close()


def test_facts_are_kept(open_ledger: OpenLedger) -> None:
    ledger = filled(open_ledger, 1)
    assert ledger.fact("seed") is None
    ledger.set_fact("seed", "7")
    ledger.set_fact("seed", "8")
    assert ledger.fact("seed") == "8"
    ledger.close()


def test_a_full_disk_is_told_with_its_remedy() -> None:
    small = sqlite3.connect(":memory:")
    small.execute("PRAGMA max_page_count=1")
    with pytest.raises(sqlite3.OperationalError) as full:
        small.execute("CREATE TABLE too_much (words TEXT)")
    small.close()
    text = _reason(full.value, Path("/x/ledger.sqlite3"))
    assert text == "the disk is full: make room for /x/ledger.sqlite3, then start again"


def test_a_ledger_with_smaller_pages_of_an_earlier_version_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_file, "PAGE_BYTES", 4096)
    ledger = SqliteLedger.open(tmp_path)
    ledger.create_account(ACCOUNT, [entry(1)])
    ledger.close()
    monkeypatch.undo()
    ledger = SqliteLedger.open(tmp_path)
    ledger.commit([LedgerBatch(ACCOUNT.id, [entry(2)])])
    assert ids(ledger.bodies(ACCOUNT.id, 1, 2)) == [1, 2]
    ledger.close()
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as file:
        assert file.execute("PRAGMA page_size").fetchone() == (4096,)
