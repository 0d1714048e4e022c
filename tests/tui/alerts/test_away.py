"""The away card: what happened since what was last seen, in sums and lines."""

import sqlite3
from contextlib import closing
from datetime import UTC
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace

from keydesk.alerts.away import (
    MAX_LISTED,
    LastVisit,
    Outage,
    away_report,
    read_last_visit,
    write_last_visit,
)
from keydesk.calc.alerts.alert import FiringRecord
from keydesk.records.desk_records import DeskRecords
from keydesk.text.sanitize import safe
from keydesk.words.log_line import LogLine

TEN = 1_772_445_600_000_000_000  # 2026-03-02 10:00 UTC
SECOND = 1_000_000_000
D = Decimal
VISIT = LastVisit(5, 100, TEN, D("10000"))


def line(id_: int, kind: str = "FILL", pl: str | None = None, amount: str | None = None) -> LogLine:
    return LogLine(
        str(id_),
        TEN + id_ * SECOND,
        kind,  # type: ignore[arg-type]
        "EUR_USD",
        safe("Stop of #90 at 1.08"),
        None if amount is None else D(amount),
        None if pl is None else D(pl),
    )


def test_the_card_sums_and_lists_what_came_after_what_was_seen() -> None:
    log = [line(99), line(100), line(101, "CLOSE", "-25.5"), line(102, "FINANCE", amount="-1.25")]
    log += [line(103, "ORDER"), line(104, "CLOSE", "10")]
    told = [
        FiringRecord("1", 1, TEN - 5, "old"),
        FiringRecord("1", 2, TEN + 150 * SECOND, "EUR/USD crossed"),
    ]
    gap = Outage("not connected", TEN + 60 * SECOND, TEN + 120 * SECOND)
    report = away_report(
        VISIT, TEN + 3600 * SECOND, log, told, outages=[gap], nav=D("9983.25"), currency="USD"
    )
    assert report.title == "While you were away: 1h00"
    rows = dict(report.rows(UTC))
    assert rows["not connected"] == "02 Mar 10:01:00 to 02 Mar 10:02:00, 1m"
    assert rows["realized"] == "−15.50 USD"
    assert rows["financing"] == "−1.25 USD"
    assert rows["NAV"] == "10,000.00 to 9,983.25, −16.75 USD"
    assert rows["happened"] == "closed 2, financing 1, alerts 1"
    words = [words for _, words in report.rows(UTC)]
    assert words[-1] == "ALERT EUR/USD crossed"
    assert "CLOSE EUR/USD Stop of #90 at 1.08 −25.50" in words
    assert not any("ORDER" in each for each in words)


def test_nothing_happened_is_no_card() -> None:
    assert away_report(VISIT, TEN, [line(100), line(101, "ORDER")], []).is_empty


def test_a_card_that_is_longer_than_the_log_says_so() -> None:
    many = away_report(VISIT, TEN, [line(id_) for id_ in range(300, 400)], [])
    rows = many.rows(UTC)
    assert ("earlier", f"{100 - MAX_LISTED} more in the log") in rows
    assert rows.count(rows[-1]) == 1
    assert any(text == "there is more than the log holds" for _, text in rows)


@pytest.fixture
def records(tmp_path: Path) -> DeskRecords:
    folder = tmp_path / "orders"
    folder.mkdir(mode=0o700)
    return DeskRecords(folder / "101.sqlite")


def test_what_was_seen_is_found_again_and_the_later_of_two_desks_stays(
    records: DeskRecords,
) -> None:
    assert read_last_visit(records, VISIT.account_ns) is None
    write_last_visit(records, VISIT)
    write_last_visit(records, replace(VISIT, transaction=90, time_ns=TEN - 1))
    assert read_last_visit(records, VISIT.account_ns) == VISIT
    write_last_visit(records, replace(VISIT, account_ns=6, time_ns=TEN - 1))  # a replay
    assert read_last_visit(records, 6) == replace(VISIT, account_ns=6, time_ns=TEN - 1)
    assert read_last_visit(records, VISIT.account_ns) == VISIT  # that of the account that was left


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"account_ns": 5}',
        '{"account_ns": 5, "transaction": 1, "time_ns": 1, "nav": "NaN"}',
    ],
)
def test_a_damaged_record_is_as_good_as_none(records: DeskRecords, text: str) -> None:
    write_last_visit(records, VISIT)
    with closing(sqlite3.connect(records.path)) as connection, connection:
        connection.execute("UPDATE records SET record = ?", (text,))
    assert read_last_visit(records, VISIT.account_ns) is None
    write_last_visit(records, VISIT)
    assert read_last_visit(records, VISIT.account_ns) == VISIT
