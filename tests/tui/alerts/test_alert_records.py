"""The file of alerts: kept over restarts, private, safe against a second desk, a kill and damage."""

import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from keydesk.alerts.alert_list import (
    MAX_ALERTS,
    TAKE_OVER_NS,
    AlertList,
    AlertListError,
    ClaimFirings,
    TakeOver,
    add_alert,
    delete_alerts,
    expire_alerts,
    mark_delivered,
    mark_watched,
    replace_alert,
    set_alert_state,
)
from keydesk.alerts.alert_records import ALERTS, ALL_LEDGERS, AlertRecords, KeptAlert
from keydesk.calc.alerts.alert import Alert, Firing
from keydesk.calc.alerts.candle_conditions import AtrMultiple, MovingAverageCross, RsiLevel
from keydesk.calc.alerts.condition_base import Condition, Facts, PriceSnapshot
from keydesk.calc.alerts.fact_conditions import (
    AccountResult,
    ClientLongPercent,
    ClockTime,
    MarginLevel,
    RolloverSoon,
    StreamSilence,
    TradeResult,
)
from keydesk.calc.alerts.price_conditions import (
    SIDES,
    DayHighLow,
    PriceCross,
    PriceMove,
    SpreadLevel,
)
from keydesk.calc.market.granularity import SECONDS
from keydesk.parse.alerts import KINDS, parse_alert
from keydesk.records.desk_records import DeskRecords
from keydesk.records.json_text import JsonText

ABOVE = Alert(
    "",
    PriceCross(instrument="EUR_USD", side="mid", direction="up", level=Decimal("1.12")),
    made_ns=5,
    note="retest",
)
KEPT = JsonText(KeptAlert)
WALL = 1_700_000_000_000_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "orders"
    folder.mkdir(mode=0o700)
    return folder / "101.sqlite"


def fired(alert: Alert, time_ns: int = 9) -> Firing:
    return Firing(alert, time_ns, Decimal("1.12"), time_ns - 1, time_ns)


def test_alerts_are_found_again_exactly_and_the_file_is_private(path: Path) -> None:
    ours = AlertRecords(DeskRecords(path))
    ours.change(add_alert(ABOVE))
    ours.change(add_alert(replace(ABOVE, repeat_s=60, expires_ns=99)))
    ours.change(mark_watched(7, {"1": -1}))
    again = AlertRecords(DeskRecords(path))
    assert again.load() == ""
    assert again.alert_list == ours.alert_list
    assert [each.id for each in again.alert_list.alerts] == ["1", "2"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


FACTS = Facts(
    1_772_445_600_000_000_000,
    UTC,
    {
        "EUR_USD": PriceSnapshot(
            Decimal("1.08490"), Decimal("1.08511"), Decimal("0.0001"), precision=5
        )
    },
)
NUMBERS = st.decimals(-(10**9), 10**9, places=7).map(lambda each: f"{each:f}")
ABOVE_ZERO = st.decimals("0.0000001", 10**9, places=7).map(lambda each: f"{each:f}")
PERCENT = st.decimals(0, 100, places=3).map(lambda each: f"{each:f}")
SIGNS = st.sampled_from((">", "<"))
PERIODS = st.integers(2, 200)
CANDLES = st.sampled_from(tuple(SECONDS))
LINES: Mapping[type[Condition], st.SearchStrategy[str]] = {
    PriceCross: st.builds("{} {} {}".format, st.sampled_from(sorted(SIDES)), SIGNS, ABOVE_ZERO),
    PriceMove: st.builds("{:+f}{}".format, st.decimals(1, 90, places=4), st.sampled_from("p%")),
    SpreadLevel: st.builds("spread {} {}p".format, SIGNS, ABOVE_ZERO),
    DayHighLow: st.sampled_from(("high", "low")),
    MovingAverageCross: st.builds(
        "ema 1 {} {} {}".format, PERIODS, st.sampled_from(("up", "down", "cross")), CANDLES
    ),
    RsiLevel: st.builds("rsi {} {} {} {}".format, PERIODS, SIGNS, PERCENT, CANDLES),
    AtrMultiple: st.builds(
        "atr {} {} {}".format, PERIODS, st.decimals("0.1", 50, places=2), CANDLES
    ),
    TradeResult: st.builds(
        "trade {} {} {}{}".format,
        st.integers(1, 10**12),
        SIGNS,
        NUMBERS,
        st.sampled_from(("", "r")),
    ),
    AccountResult: st.builds("pl {} {}{}".format, SIGNS, NUMBERS, st.sampled_from(("", "r"))),
    MarginLevel: st.builds("margin {} {}".format, SIGNS, PERCENT),
    ClockTime: st.sampled_from(("time 14:30", "time 90m", "time 2026-11-25 14:30")),
    RolloverSoon: st.builds("rollover {}m".format, st.integers(1, 1439)),
    ClientLongPercent: st.builds("clients {} {}%".format, SIGNS, PERCENT),
    StreamSilence: st.builds(
        "silence {} {}s".format, st.sampled_from(("prices", "events")), st.integers(1, 3600)
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_every_condition_is_written_and_read_exactly(
    kind: type[Condition], data: st.DataObject
) -> None:
    line = parse_alert(data.draw(LINES[kind]), ("EUR_USD",), "EUR_USD")
    alert = replace(line.make(FACTS, "1"), note=data.draw(st.text(max_size=30)))
    assert type(alert.condition) is kind
    assert KEPT.read(KEPT.write(KeptAlert.of(alert))).alert == alert
    typed = parse_alert(alert.line(UTC).partition(" note ")[0], ("EUR_USD",), "")
    level = typed.make(FACTS).condition.level  # what is edited begins as it was made
    assert level == alert.condition.level


def test_records_that_a_newer_program_wrote_are_left_as_they_are(path: Path) -> None:
    AlertRecords(DeskRecords(path)).change(add_alert(ABOVE))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    kept = AlertRecords(DeskRecords(path))
    assert "a newer Keydesk wrote the records" in kept.load()
    kept.change(add_alert(ABOVE))
    assert len(kept.alert_list.alerts) == 1
    assert path.read_bytes() == before


def test_words_of_a_firing_are_cleaned_when_they_are_read(path: Path) -> None:
    kept = AlertRecords(DeskRecords(path))
    (alert,) = kept.change(add_alert(ABOVE)).alerts
    kept.change(ClaimFirings([fired(alert)], WALL))
    changed(path, lambda record: record["history"][0].update(text="crossed \x1b[2J"))
    again = AlertRecords(DeskRecords(path))
    assert again.load() == ""
    assert "crossed" in again.alert_list.history[0].text
    assert "\x1b" not in again.alert_list.history[0].text


def test_two_desks_at_once_lose_nothing(path: Path) -> None:
    ours, theirs = AlertRecords(DeskRecords(path)), AlertRecords(DeskRecords(path))
    ours.change(add_alert(ABOVE))
    theirs.change(add_alert(replace(ABOVE, note="theirs")))
    ours.change(delete_alerts(["1"]))
    assert ours.alert_list.alerts == theirs.change(lambda alert_list: alert_list).alerts
    assert [each.note for each in ours.alert_list.alerts] == ["theirs"]
    assert not theirs.has_changed()


@pytest.mark.e2e
def test_many_processes_at_once_lose_nothing(path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from decimal import Decimal\n"
        "from keydesk.alerts.alert_list import add_alert; from keydesk.alerts.alert_records import AlertRecords\n"
        "from keydesk.calc.alerts.alert import Alert; from keydesk.records.desk_records import DeskRecords\n"
        "from keydesk.calc.alerts.price_conditions import PriceCross\n"
        "file = AlertRecords(DeskRecords(Path(sys.argv[1])))\n"
        "for n in range(8):\n"
        "    one = PriceCross(instrument='EUR_USD', level=Decimal(n + 1))\n"
        "    file.change(add_alert(Alert('', one, note=sys.argv[2])))\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(path), str(number)])
        for number in range(3)
    ]
    assert [each.wait() for each in running] == [0, 0, 0]
    file = AlertRecords(DeskRecords(path))
    assert file.load() == ""
    assert sorted(int(each.id) for each in file.alert_list.alerts) == list(range(1, 25))


def test_a_crossing_is_claimed_once_whatever_the_program_that_saw_it_knows(path: Path) -> None:
    ours, theirs = AlertRecords(DeskRecords(path)), AlertRecords(DeskRecords(path))
    alert = ours.change(add_alert(replace(ABOVE, repeat_s=0))).alerts[0]
    first = ClaimFirings([fired(alert, 20)], WALL)
    ours.change(first)
    assert [each.text for each in first.records] == [alert.text]
    again = [
        Firing(alert, 20, Decimal("1.12"), 19, 20),  # the same
        Firing(alert, 21, Decimal("1.13"), 18, 21),  # seen with the next price
        Firing(alert, 10, Decimal("1.12"), 9, 25),  # worked out from a candle
        Firing(alert, 7, Decimal("1.12"), 6, 7),  # an older one
    ]
    late = ClaimFirings(again, WALL)
    theirs.change(late)
    assert late.records == []
    fresh = ClaimFirings([Firing(alert, 30, Decimal("1.12"), 20, 30)], WALL)
    theirs.change(fresh)
    assert [(each.number, each.time_ns) for each in fresh.records] == [(2, 30)]


def test_what_fired_before_an_alert_was_edited_is_not_said_of_its_new_condition(
    path: Path,
) -> None:
    file = AlertRecords(DeskRecords(path))
    alert = file.change(add_alert(replace(ABOVE, repeat_s=0))).alerts[0]
    file.change(ClaimFirings([fired(alert)], WALL))
    other = PriceCross(instrument="EUR_USD", side="mid", direction="up", level=Decimal("1.3"))
    file.change(replace_alert(replace(alert, condition=other)))
    assert file.alert_list.alerts[0].count == 1  # its firings go on being counted
    stale = ClaimFirings([fired(alert, 30)], WALL)
    file.change(stale)
    assert stale.records == []


def test_a_repeated_alert_pauses_also_after_a_firing_that_another_program_claimed(
    path: Path,
) -> None:
    file = AlertRecords(DeskRecords(path))
    alert = file.change(add_alert(replace(ABOVE, repeat_s=10))).alerts[0]
    seconds = [each * 1_000_000_000 for each in (5, 14, 15)]
    claims = [ClaimFirings([fired(alert, each)], WALL) for each in seconds]
    for each in claims:
        file.change(each)
    assert [len(each.records) for each in claims] == [1, 0, 1]


def test_a_claim_that_was_not_delivered_is_taken_over_once_after_a_while(path: Path) -> None:
    ours = AlertRecords(DeskRecords(path))
    alert = ours.change(add_alert(replace(ABOVE, repeat_s=0))).alerts[0]
    ours.change(ClaimFirings([fired(alert)], WALL))
    started = AlertRecords(DeskRecords(path))
    started.load()
    assert not started.alert_list.abandoned(WALL + TAKE_OVER_NS - 1)
    later = WALL + TAKE_OVER_NS
    taking, second = TakeOver(later), TakeOver(later)
    started.change(taking)
    ours.change(second)
    assert [(each.number, each.late) for each in taking.records] == [(1, True)]
    assert second.records == []
    started.change(mark_delivered(taking.records))
    once_more = AlertRecords(DeskRecords(path))
    once_more.load()
    assert not once_more.alert_list.abandoned(later + TAKE_OVER_NS)
    assert once_more.alert_list.alerts[0].count == 1


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"alerts": []}', "[" * 5000])
def test_a_damaged_list_is_set_aside_and_said(path: Path, text: str) -> None:
    AlertRecords(DeskRecords(path)).change(add_alert(ABOVE))
    put(path, text)
    kept = AlertRecords(DeskRecords(path))
    assert "The alerts were damaged: they are set aside" in kept.load()
    assert kept.alert_list == AlertList()
    kept.change(add_alert(ABOVE))
    again = AlertRecords(DeskRecords(path))
    assert again.load() == ""
    assert len(again.alert_list.alerts) == 1
    with closing(sqlite3.connect(path)) as connection:
        [[aside]] = connection.execute("SELECT record FROM records WHERE kind LIKE '%damaged%'")
    assert aside == text


def test_a_file_that_is_no_database_is_kept_aside_and_said(path: Path) -> None:
    path.write_bytes(b"x" * 5000)
    path.chmod(0o600)
    kept = AlertRecords(DeskRecords(path))
    assert "damaged: they are kept as" in kept.load()
    kept.change(add_alert(ABOVE))
    assert DeskRecords(path).read(ALERTS, ALL_LEDGERS) is not None


def test_a_list_that_is_damaged_while_the_desk_runs_is_written_again_from_what_it_knows(
    path: Path,
) -> None:
    kept = AlertRecords(DeskRecords(path))
    kept.change(add_alert(ABOVE))
    put(path, "{")
    kept.change(add_alert(replace(ABOVE, note="second")))
    assert "damaged" in kept.news
    again = AlertRecords(DeskRecords(path))
    assert again.load() == ""
    assert [each.note for each in again.alert_list.alerts] == ["retest", "second"]


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("id", 5),
        ("state", "gone"),
        ("line", "mid > x"),
        ("line", 7),
        ("repeat_s", -1),
        ("note", "x" * 300),
        ("fired_ns", "now"),
    ],
)
def test_an_alert_with_a_wrong_member_is_damage(path: Path, member: str, value: object) -> None:
    AlertRecords(DeskRecords(path)).change(add_alert(ABOVE))
    changed(path, lambda record: record["alerts"][0].update({member: value}))
    assert "damaged" in AlertRecords(DeskRecords(path)).load()


def put(path: Path, text: str) -> None:
    """Write a text in the place of the list, as another program would."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE records SET number = number + 100, record = ?", (text,))


def changed(path: Path, change: Callable[[Any], object]) -> None:
    """Change the list in the file."""
    with closing(sqlite3.connect(path)) as connection:
        [[text]] = connection.execute("SELECT record FROM records").fetchall()
    record = json.loads(text)
    change(record)
    put(path, json.dumps(record))


def test_a_file_that_others_may_read_is_not_used_and_stays(path: Path) -> None:
    AlertRecords(DeskRecords(path)).change(add_alert(ABOVE))
    path.chmod(0o644)
    before = path.read_bytes()
    file = AlertRecords(DeskRecords(path))
    assert "kept in this desk only" in file.load()
    file.change(add_alert(replace(ABOVE, note="in memory")))
    assert [each.note for each in file.alert_list.alerts] == ["in memory"]
    assert path.read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_without_room_the_book_goes_on_in_memory_and_is_written_later(path: Path) -> None:
    file = AlertRecords(DeskRecords(path))
    file.change(add_alert(ABOVE))
    path.parent.chmod(0o500)
    file.change(add_alert(ABOVE))
    assert file.trouble
    assert len(file.alert_list.alerts) == 2
    path.parent.chmod(0o700)


def test_the_book_has_an_end() -> None:
    full = AlertList(alerts=tuple(replace(ABOVE, id=str(n)) for n in range(MAX_ALERTS)))
    with pytest.raises(AlertListError, match="delete some"):
        add_alert(ABOVE)(full)


def test_an_alert_that_was_deleted_elsewhere_cannot_be_edited() -> None:
    with pytest.raises(AlertListError, match="deleted elsewhere"):
        replace_alert(replace(ABOVE, id="9"))(AlertList())


def test_pausing_forgets_where_the_price_was_and_expiry_ends() -> None:
    alert_list = replace(add_alert(ABOVE)(AlertList()), sides={"1": -1})
    assert set_alert_state("1", "paused")(alert_list).sides == {}
    timed = add_alert(replace(ABOVE, expires_ns=10))(AlertList())
    assert expire_alerts(9)(timed) == timed
    assert expire_alerts(10)(timed).alerts[0].state == "expired"
    assert mark_watched(5, {"1": 1})(replace(alert_list, seen_ns=6)).sides == {"1": -1}
