"""The order journal: on disk before anything is sent, readable after any crash."""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keydesk_client.auth.private_files import locked
from keydesk_client.errors import UnsafeFile
from keydesk_client.orders.journal import NEAR, FileJournal
from keydesk_client.orders.outcome import Action, Intent
from support.examples import examples


def intent(name: str, since: int = 10) -> Intent:
    return Intent(name, Action.CREATE, since, 1_700_000_000_000_000_000, "001", "", {"units": "1"})


def journal_at(folder: Path, max_settled: int = 1000) -> FileJournal:
    return FileJournal(folder / "private" / "orders.jsonl", max_settled=max_settled)


def test_an_intent_is_open_until_it_is_settled(tmp_path: Path) -> None:
    journal = journal_at(tmp_path)
    journal.write(intent("a"))
    journal.write(intent("b"))
    journal.settle(intent("a"), "done", ("11",))
    assert journal_at(tmp_path).open_intents() == (intent("b"),)
    assert journal_at(tmp_path).claimed() == {"11": "a"}


def test_the_file_is_private_in_a_private_folder(tmp_path: Path) -> None:
    journal = journal_at(tmp_path)
    assert journal.path.stat().st_mode & 0o777 == 0o600
    assert journal.path.parent.stat().st_mode & 0o777 == 0o700


def test_a_journal_that_others_can_read_is_refused(tmp_path: Path) -> None:
    journal_at(tmp_path).path.chmod(0o644)
    with pytest.raises(UnsafeFile, match="chmod 600"):
        journal_at(tmp_path)


@pytest.mark.parametrize("mode", [0o755, 0o775])
def test_a_journal_may_be_in_an_ordinary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    tmp_path.chmod(mode)
    monkeypatch.chdir(tmp_path)
    journal = FileJournal("orders.jsonl")
    journal.write(intent("a"))
    assert FileJournal("orders.jsonl").open_intents() == (intent("a"),)
    made = [path.stat().st_mode & 0o777 for path in tmp_path.iterdir()]
    assert made
    assert set(made) == {0o600}


def test_a_folder_that_anybody_can_write_to_is_refused(tmp_path: Path) -> None:
    journal_at(tmp_path).path.parent.chmod(0o777)
    with pytest.raises(UnsafeFile, match="chmod o-w"):
        journal_at(tmp_path)


def test_a_link_in_a_folder_that_a_group_can_write_to_is_not_followed(tmp_path: Path) -> None:
    """Its maker could have any private file of ours appended to, or cut."""
    path = journal_at(tmp_path).path
    other = tmp_path / "other"
    other.write_text("secret without a line end")
    other.chmod(0o600)
    path.unlink()
    path.symlink_to(other)
    path.parent.chmod(0o770)
    with pytest.raises(UnsafeFile, match="symbolic link"):
        journal_at(tmp_path)
    assert other.read_text() == "secret without a line end"


@pytest.mark.parametrize("torn_at", range(1, 40, 3))
def test_a_torn_last_line_was_never_sent_and_does_not_spoil_the_next(
    tmp_path: Path, torn_at: int
) -> None:
    journal = journal_at(tmp_path)
    journal.write(intent("whole"))
    line = json.dumps({"intent": intent("torn").to_wire()}).encode()
    with journal.path.open("ab") as file:
        file.write(line[:torn_at])
    again = journal_at(tmp_path)
    assert again.open_intents() == (intent("whole"),)
    again.write(intent("next"))
    assert journal_at(tmp_path).open_intents() == (intent("whole"), intent("next"))
    assert again.unreadable_lines == 0


def test_a_damaged_line_in_the_middle_is_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    journal = journal_at(tmp_path)
    journal.write(intent("a"))
    with journal.path.open("ab") as file:
        file.write(b'\x00\xff nonsense\n[1]\n{}\n{"intent":{"id":"c","action":"create"}}\n')
    journal.write(intent("b"))
    assert journal.open_intents() == (intent("a"), intent("b"))
    assert journal.unreadable_lines == 4


def test_settled_intents_do_not_pile_up(tmp_path: Path) -> None:
    journal = journal_at(tmp_path, max_settled=20)
    journal.write(intent("open", since=5))
    for number in range(200):
        name = f"i{number}"
        journal.write(intent(name, since=number))
        journal.settle(intent(name), "done", (str(number),))
    journal.write(intent("last"))
    journal.settle(intent("last"), "done", (str(2 * NEAR),))
    assert len(journal.path.read_bytes().splitlines()) < 300
    assert journal.open_intents() == (intent("open", since=5),)
    assert "6" in journal.claimed()


def test_claims_that_no_intent_can_make_as_well_are_dropped(tmp_path: Path) -> None:
    journal = journal_at(tmp_path, max_settled=4)
    for number in (5, 6, 7, 6 + NEAR, 7 + NEAR):
        journal.write(intent(f"i{number}"))
        journal.settle(intent(f"i{number}"), "done", (str(number),))
    assert journal.claimed() == {str(each): f"i{each}" for each in (6 + NEAR, 7 + NEAR)}


def test_two_processes_share_a_journal_even_when_one_compacts_it(tmp_path: Path) -> None:
    one, other = journal_at(tmp_path, max_settled=1), journal_at(tmp_path)
    one.write(intent("a"))
    for name in ("x", "y"):
        one.write(intent(name))
        one.settle(intent(name), "done")
    other.write(intent("b"))
    assert one.open_intents() == (intent("a"), intent("b"))


def test_a_line_that_a_full_disk_cuts_short_is_removed(tmp_path: Path) -> None:
    journal = journal_at(tmp_path)
    journal.write(intent("a"))
    before = journal.path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 30, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            journal.write(intent("b"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert journal.path.read_bytes() == before
    journal.write(intent("c"))
    assert journal.open_intents() == (intent("a"), intent("c"))


def test_a_stopped_process_that_holds_the_lock_delays_others_only_briefly(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "private" / "orders.jsonl", patience_s=0.02)
    with (
        locked(journal.path),
        pytest.raises(TimeoutError, match="another process holds"),
    ):
        journal.write(intent("a"))
    journal.write(intent("b"))
    assert journal.open_intents() == (intent("b"),)


@pytest.mark.parametrize(
    "line",
    [
        {"settled": 5},
        {"settled": "a", "claimed": 7},
        {"settled": "a", "claimed": [None, "x", "12", 3, "\u0661"]},
        {"intent": {**intent("b").to_wire(), "since": "10"}},
        {"intent": {**intent("b").to_wire(), "body": []}},
        {"intent": [1]},
    ],
)
def test_a_line_with_members_of_wrong_types_is_counted_as_unreadable(
    tmp_path: Path, line: object
) -> None:
    journal = journal_at(tmp_path, max_settled=2)
    journal.write(intent("open"))
    with journal.path.open("ab") as file:
        file.write(json.dumps(line).encode() + b"\n")
    for number in range(4):
        journal.write(intent(f"i{number}"))
        journal.settle(intent(f"i{number}"), "done", (str(20 + number), "not a number"))
    assert journal_at(tmp_path).open_intents() == (intent("open"),)
    assert {"20", "21", "22", "23"} <= set(journal.claimed()) <= {"12", "20", "21", "22", "23"}


WRITER = """
import sys
from keydesk_client.orders.outcome import Action, Intent
from keydesk_client.orders.journal import FileJournal
from keydesk_client.auth.private_files import locked
journal = FileJournal(sys.argv[1], max_settled=5, patience_s=30.0)
for number in range(60):
    intent = Intent(f"{sys.argv[2]}{number}", Action.CREATE, number, 0, None, "", {})
    journal.write(intent)
    if number % 10:
        journal.settle(intent, "done", [str(number)])
"""


@pytest.mark.e2e
def test_processes_that_write_and_compact_at_once_lose_nothing(tmp_path: Path) -> None:
    journal = journal_at(tmp_path)
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(journal.path), name]) for name in "abc"
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    still_open = {each.id for each in journal.open_intents()}
    assert still_open == {f"{name}{number}" for name in "abc" for number in range(0, 60, 10)}
    assert journal.unreadable_lines == 0


def test_a_full_disk_is_an_os_error_and_not_a_torn_journal(tmp_path: Path) -> None:
    journal = journal_at(tmp_path)
    journal.write(intent("a"))
    journal.path.chmod(0o400)
    if os.geteuid() == 0:
        journal.path.unlink()
        journal.path.mkdir()
    with pytest.raises(OSError, match=r"."):
        journal.write(intent("b"))


def facts(journal: FileJournal) -> tuple[object, ...]:
    return (
        journal.open_intents(),
        journal.claimed(),
        journal.shared(),
        journal.unattributed(),
        journal.unreadable_lines,
    )


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["write", "done", "shared", "unattributed", "torn", "spoilt", "read"]),
        st.integers(0, 1),
        st.integers(0, 5),
    ),
    max_size=40,
)


@settings(max_examples=examples(12, soak=60), deadline=None)
@given(steps=STEPS, max_settled=st.sampled_from([0, 2, 1000]))
def test_reading_only_what_was_appended_finds_the_same_as_reading_everything(
    steps: list[tuple[str, int, int]], max_settled: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "j" / "orders.jsonl"
        journals = [FileJournal(path, max_settled=max_settled) for _ in range(2)]
        for place, (step, which, number) in enumerate(steps):
            journal, one = journals[which], intent(f"i{number}")
            match step:
                case "write":
                    journal.write(one)
                case "done":
                    journal.settle(one, "done", (str(100 + place),))
                case "shared":
                    journal.settle(one, "ambiguous", shared=("8", str(100 + place)))
                case "unattributed":
                    journal.settle(one, "ambiguous")
                case "torn" | "spoilt":
                    with path.open("ab") as file:
                        file.write(b"{torn" if step == "torn" else b"{spoilt\n")
            assert facts(journal) == facts(FileJournal(path))


def test_ambiguous_intents_are_kept_while_any_intent_is_open(tmp_path: Path) -> None:
    path = tmp_path / "j" / "orders.jsonl"
    journal = FileJournal(path, max_settled=2)
    for name in ("open", "counted", "any", "other"):
        journal.write(intent(name))
    journal.settle(intent("counted"), "ambiguous", shared=("11", "12"))
    journal.settle(intent("any"), "ambiguous")
    journal.settle(intent("other"), "done", ("13",))  # puts it in order
    again = FileJournal(path)
    assert again.shared() == {"counted": frozenset({"11", "12"})}
    assert [each.id for each in again.unattributed()] == ["any"]
    assert [each.id for each in again.open_intents()] == ["open"]


def test_the_instrument_of_an_exit_is_kept_and_a_line_without_it_still_reads(
    tmp_path: Path,
) -> None:
    journal = FileJournal(tmp_path / "j" / "orders.jsonl")
    known = Intent("kd-1", Action.CLOSE_TRADE, 7, 1, None, "5", {"units": "ALL"}, "EUR_USD")
    older = Intent("kd-2", Action.CANCEL, 7, 1, None, "6", {})
    journal.write(known)
    journal.write(older)
    assert '"instrument"' not in journal.path.read_text().splitlines()[1]
    assert journal.open_intents() == (known, older)
