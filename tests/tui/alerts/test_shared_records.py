"""Programs that share an alert file: each crossing is delivered by one of them, also when that one is killed."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from keydesk.alerts.alert_list import add_alert
from keydesk.alerts.alert_records import AlertRecords
from keydesk.calc.alerts.alert import Alert
from keydesk.records.desk_records import DeskRecords
from support.alert_program import AlertProgram
from support.alert_watch import ABOVE, TEN

pytestmark = pytest.mark.e2e

CROSSINGS = 100
PATH = ("1.09", "1.11") * CROSSINGS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "orders"
    folder.mkdir(mode=0o700)
    file = folder / "101.sqlite"
    AlertRecords(DeskRecords(file)).change(
        add_alert(replace(Alert("", ABOVE), made_ns=TEN, repeat_s=0))
    )
    return file


@contextmanager
def programs(path: Path, *killed_at: int, ahead_s: int = 0) -> Iterator[Sequence[AlertProgram]]:
    running = [AlertProgram(path, each, ahead_s) for each in killed_at]
    try:
        for each in running:
            assert each.wait()
        yield running
    finally:
        for each in running:
            each.end()


def test_of_two_programs_that_see_the_same_prices_one_delivers_each_of_a_hundred_crossings(
    path: Path,
) -> None:
    with programs(path, 0, 0) as both:
        for at, mid in enumerate(PATH):
            for each in both:
                each.send(at, mid)
            assert all(each.wait(at) for each in both)
        told = Counter(number for each in both for number in each.own)
    assert set(told.values()) == {1}
    assert sorted(told) == list(range(1, CROSSINGS + 1))


@pytest.mark.parametrize("behind", [pytest.param(1, marks=pytest.mark.soak), 7])
def test_a_program_that_sees_the_prices_later_delivers_no_crossing_again(
    path: Path, behind: int
) -> None:
    with programs(path, 0, 0) as (first, second):
        for at in range(len(PATH) + behind):
            if at < len(PATH):
                first.send(at, PATH[at])
                assert first.wait(at)
            if at >= behind:
                second.send(at - behind, PATH[at - behind])
                assert second.wait(at - behind)
    assert first.own == list(range(1, CROSSINGS + 1))
    assert second.own == []


def test_a_firing_whose_program_is_killed_before_it_delivers_is_delivered_late_by_another(
    path: Path,
) -> None:
    with programs(path, 2) as (killed,):
        for at, mid in enumerate(PATH[:4]):
            killed.send(at, mid)
            assert killed.wait(at) is (at < 3)
    assert killed.own == [1]
    with programs(path, 0) as (at_once,):
        at_once.send(4, "1.09")
        assert at_once.wait(4)
        assert at_once.own == []  # the claim is fresh: its program may be about to deliver it
        with programs(path, 0, 0, ahead_s=60) as later:
            for each in later:
                each.send(4, "1.09")
                assert each.wait(4)
            taken = [each for other in later for each in other.delivered if each["mine"]]
    assert [(each["number"], each["late"]) for each in taken] == [(2, True)]
