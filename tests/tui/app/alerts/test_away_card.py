"""When the away card is shown: at a start, after a lost connection, after a long time without keys; never over a form."""

from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from keydesk.alerts.away import AwayReport, LastVisit, read_last_visit, write_last_visit
from keydesk.app.alerts.away_card import PRESENT_FOR, AwayCard
from keydesk.records.desk_records import DeskRecords
from keydesk.screens.desk import DeskScreen
from keydesk.store.store import Store
from keydesk.text.sanitize import safe
from keydesk.values import Today
from keydesk.words.log_line import LogLine
from support.data.desk_data import desk_store

if TYPE_CHECKING:
    from textual.app import App

    from keydesk.keys.guarded_app import GuardedKeys

TEN = 1_772_445_600_000_000_000
SECOND = 1_000_000_000
MAIN_SCREEN = DeskScreen()


class SeenCard(AwayCard):
    """Keeps what it shows."""

    shown: list[AwayReport]

    def _show(self, report: AwayReport) -> None:
        self.shown.append(report)


@dataclass
class Desk:
    """A card over a store, with a trader's keys and forms."""

    records: DeskRecords
    store: Store = field(default_factory=lambda: desk_store(4))
    last_key_at: float = 0.0
    free: bool = True
    shown: list[AwayReport] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.card = SeenCard(cast("App[None]", self), self.store, cast("GuardedKeys", self))
        self.card.shown = self.shown
        account = self.store.account
        assert account is not None
        account.last_transaction_id = 100
        self.store.today, self.store.clock_ns = Today(TEN), TEN
        self.store.log = [fill(99), fill(100)]
        self.store.health.events = "OK"

    @property
    def screen(self) -> object:
        return MAIN_SCREEN if self.free else None

    @property
    def created_ns(self) -> int:
        assert self.store.account is not None
        return self.store.account.created_time_ns

    def open(self) -> None:
        self.card.open(self.records, 0.0)

    def check(self, now: float) -> None:
        self.store.clock_ns = TEN + int(now * SECOND)
        self.card.check(now)

    def happens(self, id_: int) -> None:
        assert self.store.account is not None
        self.store.log.append(fill(id_))
        self.store.account.last_transaction_id = id_


def fill(id_: int) -> LogLine:
    return LogLine(str(id_), TEN, "FILL", "EUR_USD", safe("filled"))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folder = tmp_path / "orders"
    folder.mkdir(mode=0o700)
    return Desk(DeskRecords(folder / "101.sqlite"))


def left_at(desk: Desk, transaction: int, seconds_ago: int) -> None:
    account = desk.store.account
    assert account is not None
    write_last_visit(
        desk.records,
        LastVisit(account.created_time_ns, transaction, TEN - seconds_ago * SECOND, Decimal(1)),
    )


def test_a_start_shows_what_came_since_the_last_desk_once(desk: Desk) -> None:
    left_at(desk, 99, 3600)
    desk.open()
    desk.check(2.0)
    desk.check(4.0)
    assert [[each.id for each in report.lines] for report in desk.shown] == [["100"]]
    assert desk.shown[0].outages[0].text == "desk closed"
    desk.card.close()
    visit = read_last_visit(desk.records, desk.created_ns)
    assert visit is not None
    assert visit.transaction == 100


def test_a_first_start_and_one_after_nothing_show_no_card(desk: Desk) -> None:
    desk.open()
    desk.check(2.0)
    left_at(desk, 100, 3600)
    again = Desk(desk.records)
    again.open()
    again.check(2.0)
    assert desk.shown == again.shown == []


def test_the_card_waits_for_an_open_form_and_for_a_pause_of_the_keys(desk: Desk) -> None:
    left_at(desk, 99, 3600)
    desk.open()
    desk.free = False
    desk.check(2.0)
    desk.free, desk.last_key_at = True, 2.9
    desk.check(3.0)
    assert desk.shown == []
    desk.card.close()
    visit = read_last_visit(desk.records, desk.created_ns)
    assert visit is not None
    assert visit.transaction == 99  # it was not shown: the next start shows it
    desk.check(5.0)
    assert len(desk.shown) == 1


def test_after_a_lost_connection_the_card_has_the_gap(desk: Desk) -> None:
    desk.open()
    desk.check(1.0)
    desk.store.health.events = "DOWN"
    desk.check(10.0)
    desk.happens(101)
    desk.store.health.events = "OK"
    desk.check(70.0)
    desk.check(72.0)
    assert [each.id for each in desk.shown[0].lines] == ["101"]
    assert desk.shown[0].outages[0].text == "not connected"


def test_what_happens_under_the_traders_eyes_is_no_card(desk: Desk) -> None:
    desk.open()
    desk.check(1.0)
    desk.happens(101)
    for now in range(2, 60):
        desk.check(float(now))
    assert desk.shown == []


def test_the_first_key_after_a_long_time_shows_what_came_meanwhile(desk: Desk) -> None:
    desk.open()
    desk.check(1.0)
    desk.check(PRESENT_FOR + 1)
    desk.happens(101)
    desk.check(PRESENT_FOR + 100)
    assert desk.shown == []
    desk.last_key_at = PRESENT_FOR + 200
    desk.check(PRESENT_FOR + 202)
    assert [each.id for each in desk.shown[0].lines] == ["101"]


def test_a_market_that_began_anew_shows_no_card(desk: Desk) -> None:
    write_last_visit(desk.records, LastVisit(1, 50, TEN - 3600 * SECOND, Decimal(1)))
    desk.open()
    desk.check(2.0)
    assert desk.shown == []


def test_back_from_a_replay_the_card_shows_what_came_in_the_account_that_was_left(
    desk: Desk,
) -> None:
    desk.open()
    desk.check(2.0)
    account, created = desk.store.account, desk.created_ns
    assert account is not None
    account.created_time_ns, account.last_transaction_id = 7, 3  # a replay begins
    desk.store.log = [fill(3)]
    desk.check(4.0)
    desk.happens(4)
    desk.check(100.0)
    assert desk.shown == []
    account.created_time_ns, account.last_transaction_id = created, 101
    desk.store.log = [fill(99), fill(100), fill(101)]
    desk.last_key_at = 3598.0
    desk.check(3600.0)
    desk.check(3602.0)
    assert [[each.id for each in report.lines] for report in desk.shown] == [["101"]]
    assert desk.shown[0].outages[0].text == "in another market"
    desk.card.close()
    replayed = read_last_visit(desk.records, 7)
    assert replayed is not None
    assert replayed.transaction == 4
