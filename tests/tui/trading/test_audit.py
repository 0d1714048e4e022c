"""The audit log: private, bounded, shared by two desks, without the account's token, and read newest first."""

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from keydesk.trading.audit import (
    OLD_FILES,
    AuditLog,
    Kind,
    matching,
    read_entries,
    try_to_read,
)
from keydesk.trading.line_file import old_file
from keydesk_client.auth.secret import Secret
from keydesk_client.orders.outcome import NotSent
from support.data.outcomes import done, intent, opening_fill

TOKEN = "b7d9f2aa-very-secret-token-0123456789"


@pytest.fixture
def log(tmp_path: Path) -> AuditLog:
    ticks = iter(range(1, 1_000_000))
    return AuditLog(tmp_path / "log", wall_ns=lambda: next(ticks))


def test_every_entry_is_one_json_line_that_only_the_owner_reads(log: AuditLog) -> None:
    log.write("key", "B")
    log.write("outcome", "FILLED\nwith a second line \x1b[31m")
    lines = log.path.read_text().splitlines()
    assert [json.loads(line)["what"] for line in lines] == ["key", "outcome"]
    assert "\x1b" not in json.loads(lines[1])["words"]
    assert log.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("kind", get_args(Kind))
def test_the_token_is_in_no_field_of_any_entry(tmp_path: Path, kind: str) -> None:
    log = AuditLog(tmp_path / "log", redact=Secret(TOKEN).redact)
    log.write(kind, f"before {TOKEN} after {TOKEN}")
    log.write(f"{kind} {TOKEN}", json.dumps({TOKEN: TOKEN, "Authorization": f"Bearer {TOKEN}"}))
    log.write(kind, "x" * 1980 + TOKEN)  # where the entry is cut
    text = log.path.read_text()
    assert TOKEN not in text
    assert TOKEN[:12] not in text
    assert text.count("[token]") >= 5


def test_the_files_are_bounded_and_the_oldest_one_goes(log: AuditLog) -> None:
    log.largest = 2_000
    for number in range(400):
        log.write("key", f"{number:03} {'x' * 50}")
    files = sorted(path.name for path in log.path.parent.iterdir() if path.suffix != ".lock")
    assert len(files) <= OLD_FILES + 1
    assert all(path.stat().st_size < 2_300 for path in log.path.parent.iterdir())
    assert all(path.stat().st_mode & 0o077 == 0 for path in log.path.parent.iterdir())
    newest = read_entries(log.path)
    assert newest[0].text.startswith("399 ")


def test_the_reader_goes_on_in_the_file_before(log: AuditLog) -> None:
    log.largest = 500
    for number in range(7):
        log.write("key", f"{number} {'x' * 50}")
    assert old_file(log.path, 1).exists()
    times = [entry.time_ns for entry in read_entries(log.path)]
    assert times == sorted(times, reverse=True)
    assert len(times) > 1


TWO = """
import sys
from pathlib import Path
from keydesk.trading.audit import AuditLog
log = AuditLog(Path(sys.argv[1]), largest=20_000)
for number in range(300):
    log.write("key", f"{sys.argv[2]} {number} " + "x" * 200)
assert not log.failed, log.failed
"""


@pytest.mark.e2e
def test_two_desks_at_once_lose_and_mix_no_entry(tmp_path: Path) -> None:
    path = tmp_path / "log"
    desks = [
        subprocess.Popen([sys.executable, "-c", TWO, str(path), name]) for name in ("one", "two")
    ]
    assert [desk.wait(60) for desk in desks] == [0, 0]
    lines = [
        json.loads(line)["words"].split()[:2]
        for file in tmp_path.glob("log*")
        if not file.name.endswith(".lock")
        for line in file.read_text().splitlines()
    ]
    for name in ("one", "two"):  # what is left of each is its newest entries, without a gap
        numbers = sorted(int(number) for desk, number in lines if desk == name)
        assert numbers == list(range(numbers[0], 300))


def test_lines_that_are_none_are_left_out(log: AuditLog) -> None:
    log.write("key", "B")
    with log.path.open("a") as file:
        file.write('{"time_ns": 5\nnull\n[1]\n{"time_ns": "x", "what": 1, "words": 2}\n')
    log.write("key", "S")
    assert [entry.text for entry in read_entries(log.path)] == ["S", "B"]


def test_a_log_that_cannot_be_written_or_read_says_so_and_stops_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    log = AuditLog(folder)
    log.write("key", "B")
    assert str(folder) in log.failed
    assert try_to_read(folder)[1]
    assert try_to_read(tmp_path / "none") == ([], "")


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_text("")
    (tmp_path / "log").symlink_to(target)
    log = AuditLog(tmp_path / "log")
    log.write("key", "B")
    assert log.failed
    assert target.read_text() == ""


def test_the_filter_wants_every_word_and_may_name_the_kind(log: AuditLog) -> None:
    log.write("key", "B")
    log.write("preview", "BUY 10,000 EUR/USD")
    log.write("confirm", "y on BUY 10,000 EUR/USD")
    log.write("outcome", "FILLED 10,000 EUR/USD with key")
    entries = read_entries(log.path)
    assert [each.what for each in matching(entries, "eur/usd 10,000")] == [
        "outcome",
        "confirm",
        "preview",
    ]
    assert [each.what for each in matching(entries, "what:key")] == ["key"]
    assert matching(entries, "") == entries


@pytest.mark.parametrize(("ahead_ns", "is_own"), [(10**9, False), (10**17, True)])
def test_a_command_knows_a_market_with_its_own_time_by_the_transactions_of_the_outcome(
    tmp_path: Path, ahead_ns: int, is_own: bool
) -> None:
    filled = opening_fill()
    wall = itertools.count(filled.time.ns + ahead_ns)
    log = AuditLog(tmp_path / "log", wall_ns=wall.__next__)
    log.write_outcome(done(filled), "FILLED")
    log.write_outcome(done(), "without transactions")
    log.write_outcome(NotSent(intent(), "no connection"), "NOT SENT")
    assert [entry.market_ns for entry in reversed(read_entries(log.path))] == [
        filled.time.ns if is_own else None,
        None,
        None,
    ]
    assert json.loads(log.path.read_text().splitlines()[0])["words"] == "kd-1 FILLED"
