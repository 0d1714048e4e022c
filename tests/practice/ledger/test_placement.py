"""Accounts are found again whatever the number of workers: each is in the ledger of its worker, whole and once."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from keydesk_practice.errors import LedgerUnavailable
from keydesk_practice.ledger import placement
from keydesk_practice.ledger.ledger import Ledger
from keydesk_practice.ledger.ledger_file import FILE_NAME, LedgerLocked, check_ledger_file
from keydesk_practice.ledger.placement import (
    CHECKPOINTS,
    folder_lock,
    ledger_folders,
    place_accounts,
    worker_folder,
    worker_of,
)
from keydesk_practice.ledger.records import Entry, LedgerAccount

IDS = [f"101-001-{user}-{number:03}" for user in range(1_000_001, 1_000_005) for number in (1, 2)]
FACTS = {"seed": "7", "token 100000": "ab", "last_seen": "5"}


def history(account: str, length: int = 3) -> list[Entry]:
    return [
        Entry(number, number, "CREATE", f'{{"id":"{number}","accountID":"{account}"}}')
        for number in range(1, length + 1)
    ]


def fill(folder: Path, ids: Sequence[str] = IDS) -> None:
    ledger = Ledger.open(folder)
    for name, value in FACTS.items():
        ledger.set_fact(name, value)
    for number, id_ in enumerate(ids):
        terms = LedgerAccount(id_, number // 2, "USD", hedging=False, fifo=number % 2 == 0)
        ledger.create_account(terms, history(id_))
        ledger.save_snapshot(id_, 3, "form", b"state")
    ledger.close()


Contents = dict[str, tuple[LedgerAccount, list[str], tuple[int, bytes] | None]]


def contents(data: Path) -> Contents:
    """Return account, transactions and snapshot of every ledger; an account that is there twice fails the test."""
    found: Contents = {}
    for folder in ledger_folders(data):
        ledger = Ledger.open(folder)
        for account in ledger.accounts():
            assert account.id not in found
            bodies = ledger.bodies(account.id, 1, 99)
            found[account.id] = (account, bodies, ledger.snapshot(account.id, "form"))
        ledger.close()
    return found


def test_the_accounts_of_one_token_and_the_first_of_each_are_dealt_in_turn() -> None:
    assert [worker_of(f"101-001-1000001-{number:03}", 3) for number in (1, 2, 3, 4)] == [0, 1, 2, 0]
    assert {worker_of(id_, 4) for id_ in IDS if id_.endswith("001")} == {0, 1, 2, 3}
    assert worker_of("odd", 2) in {0, 1}


def test_every_number_of_workers_finds_every_account_whole_and_once(tmp_path: Path) -> None:
    fill(tmp_path)
    before = contents(tmp_path)
    for workers in (2, 5, 3, 1):
        place_accounts(tmp_path, workers)
        assert contents(tmp_path) == before
        assert len(ledger_folders(tmp_path)) == workers
        for number in range(workers):
            folder = worker_folder(tmp_path, number)
            assert check_ledger_file(folder).problems == ()
            ledger = Ledger.open(folder)
            assert {worker_of(one.id, workers) for one in ledger.accounts()} <= {number}
            assert {name: ledger.fact(name) for name in FACTS} == FACTS
            ledger.close()


def test_the_same_number_of_workers_moves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path)
    place_accounts(tmp_path, 2)
    monkeypatch.setattr(placement, "_place", lambda *_: pytest.fail("accounts were moved"))
    place_accounts(tmp_path, 2)


def test_an_interrupted_move_is_finished_by_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path)
    before = contents(tmp_path)
    original, moved = placement._delete_account, []

    def interrupted(ledger: object, account: str) -> None:
        moved.append(account)
        if len(moved) == 3:
            raise KeyboardInterrupt
        original(ledger, account)  # type: ignore[arg-type]

    monkeypatch.setattr(placement, "_delete_account", interrupted)
    with pytest.raises(KeyboardInterrupt):
        place_accounts(tmp_path, 2)
    monkeypatch.setattr(placement, "_delete_account", original)
    place_accounts(tmp_path, 2)
    assert contents(tmp_path) == before


def test_the_accounts_of_checkpoints_move_with_the_others(tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / CHECKPOINTS).mkdir()
    ledger = Ledger.open(tmp_path)
    ledger.copy_to(tmp_path / CHECKPOINTS / "before.sqlite3")
    ledger.close()
    for workers in (3, 2, 1):
        place_accounts(tmp_path, workers)
        found = []
        for number in range(workers):
            folder = worker_folder(tmp_path, number)
            copy = tmp_path / f"copy-{workers}-{number}"
            copy.mkdir(mode=0o700)
            shutil.copyfile(folder / CHECKPOINTS / "before.sqlite3", copy / FILE_NAME)
            found += list(contents(copy))
        assert sorted(found) == IDS


def test_a_folder_without_a_ledger_stays_empty(tmp_path: Path) -> None:
    place_accounts(tmp_path, 4)
    assert list(tmp_path.iterdir()) == []


def test_ledgers_of_different_markets_are_refused_with_the_remedy(tmp_path: Path) -> None:
    fill(tmp_path)
    place_accounts(tmp_path, 2)
    ledger = Ledger.open(tmp_path)
    ledger.set_fact("replay", '{"began": 5}')
    ledger.close()
    with pytest.raises(LedgerUnavailable, match="keydesk practice reset"):
        place_accounts(tmp_path, 2)


def test_a_folder_is_held_by_one_run_of_several_workers(tmp_path: Path) -> None:
    with folder_lock(tmp_path), pytest.raises(LedgerLocked, match="in use"), folder_lock(tmp_path):
        pass
    with folder_lock(tmp_path):
        pass
