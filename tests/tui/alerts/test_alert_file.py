"""The file of alerts: kept over restarts, private, safe against a second desk, a kill and damage."""

import json
import os
import stat
import subprocess
import sys
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk.alerts.alert_file import CONDITIONS, AlertFile, read_alert, written_alert
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
from keydesk.calc.alerts.alert import Alert, Firing
from keydesk.calc.alerts.conditions import Condition, PriceCross

ABOVE = Alert("", PriceCross("EUR_USD", "mid", "up", Decimal("1.12")), made_ns=5, note="retest")
WALL = 1_700_000_000_000_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "orders"
    folder.mkdir(mode=0o700)
    return folder / "101.alerts"


def fired(alert: Alert, time_ns: int = 9) -> Firing:
    return Firing(alert, time_ns, Decimal("1.12"), time_ns - 1, time_ns)


def test_alerts_are_found_again_exactly_and_the_file_is_private(path: Path) -> None:
    ours = AlertFile(path)
    ours.change(add_alert(ABOVE))
    ours.change(add_alert(replace(ABOVE, repeat_s=60, expires_ns=99)))
    ours.change(mark_watched(7, {"1": -1}))
    again = AlertFile(path)
    assert again.load() == ""
    assert again.alert_list == ours.alert_list
    assert [each.id for each in again.alert_list.alerts] == ["1", "2"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@given(st.data())
def test_every_condition_is_written_and_read_exactly(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(get_args(Condition)))
    number = st.decimals(-(10**9), 10**9, places=7)
    texts = st.text(max_size=30)
    condition = data.draw(st.builds(kind, **_members(kind, number, texts)))
    alert = Alert("1", condition, note=data.draw(texts))
    assert read_alert(json.loads(json.dumps(written_alert(alert)))) == alert


def test_the_names_of_conditions_in_the_file_are_those_of_earlier_versions() -> None:
    assert set(CONDITIONS.values()) == set(get_args(Condition))
    renamed = {"StrengthLevel", "RangeMultiple", "AverageCross", "DayExtreme", "ClientsLong"}
    assert renamed <= set(CONDITIONS)


def test_the_members_of_a_firing_in_the_file_are_those_of_earlier_versions(path: Path) -> None:
    file = AlertFile(path)
    (alert,) = file.change(add_alert(ABOVE)).alerts
    file.change(ClaimFirings([fired(alert)], WALL))
    (firing,) = json.loads(path.read_text())["history"]
    named = {"alert_id", "number", "time_ns", "words", "value", "late", "told"}
    assert set(firing) == named | {"claimed_ns", "taken_over"}
    again = AlertFile(path)
    again.load()
    assert again.alert_list.history[0].text == firing["words"] != ""


def _members(
    kind: type[object], number: st.SearchStrategy[Decimal], texts: st.SearchStrategy[str]
) -> dict[str, st.SearchStrategy[object]]:
    names = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]
    whole = st.integers(0, 2**60)
    known: dict[object, st.SearchStrategy[object]] = {Decimal: number, str: texts, int: whole}
    return {
        name: known[each.type] if each.type in known else st.sampled_from(get_args(each.type))
        for name, each in names.items()
    }


def test_two_desks_at_once_lose_nothing(path: Path) -> None:
    ours, theirs = AlertFile(path), AlertFile(path)
    ours.change(add_alert(ABOVE))
    theirs.change(add_alert(replace(ABOVE, note="theirs")))
    ours.change(delete_alerts(["1"]))
    assert ours.alert_list.alerts == theirs.change(lambda alert_list: alert_list).alerts
    assert [each.note for each in ours.alert_list.alerts] == ["theirs"]
    assert not theirs.has_changed()


def test_many_processes_at_once_lose_nothing(path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from decimal import Decimal\n"
        "from keydesk.alerts.alert_list import add_alert; from keydesk.alerts.alert_file import AlertFile\n"
        "from keydesk.calc.alerts.alert import Alert\n"
        "from keydesk.calc.alerts.conditions import PriceCross\n"
        "file = AlertFile(Path(sys.argv[1]))\n"
        "for n in range(8):\n"
        "    one = PriceCross('EUR_USD', 'mid', 'up', Decimal(n + 1))\n"
        "    file.change(add_alert(Alert('', one, note=sys.argv[2])))\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(path), str(number)])
        for number in range(3)
    ]
    assert [each.wait() for each in running] == [0, 0, 0]
    file = AlertFile(path)
    assert file.load() == ""
    assert sorted(int(each.id) for each in file.alert_list.alerts) == list(range(1, 25))


def test_a_crossing_is_claimed_once_whatever_the_program_that_saw_it_knows(path: Path) -> None:
    ours, theirs = AlertFile(path), AlertFile(path)
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
    file = AlertFile(path)
    alert = file.change(add_alert(replace(ABOVE, repeat_s=0))).alerts[0]
    file.change(ClaimFirings([fired(alert)], WALL))
    other = PriceCross("EUR_USD", "mid", "up", Decimal("1.3"))
    file.change(replace_alert(replace(alert, condition=other)))
    assert file.alert_list.alerts[0].count == 1  # its firings go on being counted
    stale = ClaimFirings([fired(alert, 30)], WALL)
    file.change(stale)
    assert stale.records == []


def test_a_repeated_alert_pauses_also_after_a_firing_that_another_program_claimed(
    path: Path,
) -> None:
    file = AlertFile(path)
    alert = file.change(add_alert(replace(ABOVE, repeat_s=10))).alerts[0]
    seconds = [each * 1_000_000_000 for each in (5, 14, 15)]
    claims = [ClaimFirings([fired(alert, each)], WALL) for each in seconds]
    for each in claims:
        file.change(each)
    assert [len(each.records) for each in claims] == [1, 0, 1]


def test_a_claim_that_was_not_delivered_is_taken_over_once_after_a_while(path: Path) -> None:
    ours = AlertFile(path)
    alert = ours.change(add_alert(replace(ABOVE, repeat_s=0))).alerts[0]
    ours.change(ClaimFirings([fired(alert)], WALL))
    started = AlertFile(path)
    started.load()
    assert not started.alert_list.abandoned(WALL + TAKE_OVER_NS - 1)
    later = WALL + TAKE_OVER_NS
    taking, second = TakeOver(later), TakeOver(later)
    started.change(taking)
    ours.change(second)
    assert [(each.number, each.late) for each in taking.records] == [(1, True)]
    assert second.records == []
    started.change(mark_delivered(taking.records))
    once_more = AlertFile(path)
    once_more.load()
    assert not once_more.alert_list.abandoned(later + TAKE_OVER_NS)
    assert once_more.alert_list.alerts[0].count == 1


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'{"version": 2}', b"\xff\xfe", b"[" * 5000, b'{"version": 1}'],
)
def test_a_damaged_file_is_kept_aside_and_said(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(0o600)
    file = AlertFile(path, wall_ns=lambda: 77)
    assert "101.alerts.damaged-77" in file.load()
    assert file.alert_list == AlertList()
    assert path.with_name("101.alerts.damaged-77").read_bytes() == content
    file.change(add_alert(ABOVE))
    assert json.loads(path.read_bytes())["alerts"]


@pytest.mark.parametrize(
    ("member", "value"),
    [("id", 5), ("state", "gone"), ("repeat_s", -1), ("note", "x" * 300), ("fired_ns", "now")],
)
def test_an_alert_with_a_wrong_member_is_damage(path: Path, member: str, value: object) -> None:
    AlertFile(path).change(add_alert(ABOVE))
    said = json.loads(path.read_bytes())
    said["alerts"][0][member] = value
    path.write_text(json.dumps(said), encoding="utf-8")
    assert "damaged" in AlertFile(path).load()


def test_a_file_that_others_may_read_is_not_used_and_stays(path: Path) -> None:
    AlertFile(path).change(add_alert(ABOVE))
    path.chmod(0o644)
    before = path.read_bytes()
    file = AlertFile(path)
    assert "kept in this desk only" in file.load()
    file.change(add_alert(replace(ABOVE, note="in memory")))
    assert [each.note for each in file.alert_list.alerts] == ["in memory"]
    assert path.read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_without_room_the_book_goes_on_in_memory_and_is_written_later(path: Path) -> None:
    file = AlertFile(path)
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
