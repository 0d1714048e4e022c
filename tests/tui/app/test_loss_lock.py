"""The daily loss lock as the desk keeps it: held over a restart, shared by two desks, whatever happens to its file."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from keydesk.app.loss_lock import DailyLossLock
from keydesk.app.settings_changes import SettingsChanges
from keydesk.calc.market.market_state import ControlledMarket, MarketState
from keydesk.calc.market.trading_day import day_start
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.keys.guard import Cause
from keydesk.keys.guarded_app import GuardedKeys
from keydesk.records.desk_records import DeskRecords
from keydesk.store.risk import exit_only_text
from keydesk.store.store import Store
from keydesk.store.valuation import revalue_day
from keydesk.values import Today
from support.data.desk_store import example_store

D = Decimal
NOON = 1_772_557_200_000_000_000  # 2026-03-03 17:00 UTC, noon in New York
HOUR = 3_600_000_000_000


@dataclass
class Desk:
    """One desk on the account of the example: NAV was 10,000 at 17:00 New York."""

    path: Path
    loss: str = "0"
    limits: Limits = field(default_factory=lambda: Limits(daily_loss=D(300)))
    recorded: list[str] = field(default_factory=list)
    disarmed: list[Cause] = field(default_factory=list)
    store: Store = field(default_factory=example_store)
    seconds: float = 0.0
    wanted: bool = False  # the account is to be read again

    def __post_init__(self) -> None:
        self.lock = DailyLossLock(
            self.store,
            cast("SettingsChanges", self),
            cast("GuardedKeys", SimpleNamespace(disarm=self.disarmed.append)),
        )
        self.store.audit.listen(lambda _what, text: self.recorded.append(text))
        self.store.clock_ns = NOON
        self.loses(self.loss)
        self.lock.open(DeskRecords(self.path), lambda: setattr(self, "wanted", True))

    def loses(self, amount: str | None) -> None:
        account = self.store.account
        assert account is not None
        account.day_pl = None if amount is None else -D(amount)
        account.day_start_nav = D(10_000)

    def glances(self, later_ns: int = 0) -> "Desk":
        """Look once, before anything is read again."""
        self.store.clock_ns += later_ns
        self.seconds += 1
        self.lock.check(self.seconds)
        return self

    def looks(self, later_ns: int = 0) -> "Desk":
        """Look, and once more when account and clock were read again."""
        self.glances(later_ns)
        return self.reads().glances() if self.wanted else self

    def reads(self) -> "Desk":
        """Read clock, account and day."""
        self.wanted = False
        self.seconds += 0.5
        self.store.day_asked_at = self.seconds
        return self.hears()

    def hears(self, later_ns: int = 0) -> "Desk":
        """Hear the broker's time."""
        self.store.see_clock(self.store.clock_ns + later_ns)
        return self

    def replaced(self, created_ns: int, loss: str) -> "Desk":
        """Take the account of another ledger."""
        assert self.store.account is not None
        self.store.account.created_time_ns += created_ns
        self.loses(loss)
        return self

    @property
    def said(self) -> list[str]:
        return [str(each.text) for each in self.store.notices]

    @property
    def waiting(self) -> list[str]:
        """What stays on the screen until it is seen."""
        return [str(each.text) for each in self.store.notices if each.waits]

    @property
    def exit_only(self) -> str:
        return exit_only_text(self.store, self.limits, self.store.now_ns)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    return tmp_path / "account.sqlite"


def test_at_the_limit_the_desk_is_exit_only_and_says_why(path: Path) -> None:
    desk = Desk(path).looks()
    assert (desk.exit_only, desk.disarmed) == ("", [])
    desk.loses("300")
    desk.looks()
    assert desk.disarmed == [Cause.DAILY_LOSS]
    assert "the daily loss limit of 300.00 was reached" in desk.exit_only
    assert "Lost today: 300.00 USD" in desk.said[-1]
    assert desk.recorded == [desk.said[-1].partition(". 1 entry")[0]]


def test_the_message_names_entry_orders_that_can_still_fill(path: Path) -> None:
    desk = Desk(path, "300").looks()
    assert "at the broker and can still fill" in desk.said[-1]


def test_a_restart_holds_the_lock_although_the_loss_is_smaller_now(path: Path) -> None:
    Desk(path, "300").looks()
    again = Desk(path, "20").looks()
    assert again.disarmed == [Cause.DAILY_LOSS]
    assert again.said == [f"{again.exit_only}. Exits work"]


@pytest.mark.parametrize(("later", "is_on"), [(0, True), (5 * HOUR - 1, True), (5 * HOUR, False)])
def test_a_lock_that_is_kept_is_shown_with_the_account_before_the_broker_tells_the_time(
    path: Path, later: int, is_on: bool
) -> None:
    Desk(path, "300").looks()
    again = Desk(path, limits=Limits())
    again.loses(None)
    again.store.clock_ns, again.store.wall_ns = 0, lambda: NOON + later
    again.lock.check(again.seconds)
    assert (again.lock.is_on, bool(again.exit_only)) == (is_on, is_on)
    assert (again.disarmed, again.said) == ([], []), "the broker's time judges"
    again.store.clock_ns = NOON + later
    again.loses("20")
    again.looks()
    assert again.lock.is_on is is_on
    assert len(again.said) == 1, "said once: the lock, or that it is released"


def test_without_its_file_the_loss_itself_locks(path: Path) -> None:
    Desk(path, "300").looks()
    path.unlink()
    assert Desk(path, "300").looks().lock.is_on


@pytest.mark.parametrize("content", [b"", b"x" * 5000])
def test_a_damaged_file_is_as_none(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(0o600)
    assert not Desk(path, "20").looks().lock.is_on
    desk = Desk(path, "300").looks().looks()
    assert desk.lock.is_on
    assert sum("kept in this desk only" in text for text in desk.said) == bool(content)


@pytest.mark.parametrize("text", ["{", "null", '{"account_ns": 1}', "limit", "accepted"])
def test_a_damaged_record_is_as_none_and_written_over(path: Path, text: str) -> None:
    Desk(path, "300").looks()
    with closing(sqlite3.connect(path)) as connection, connection:
        [[record]] = connection.execute("SELECT record FROM records").fetchall()
        wrong = re.sub(rf'"{text}":"[^"]*"', f'"{text}":"NaN"', record)
        connection.execute("UPDATE records SET record = ?", (text if wrong == record else wrong,))
    assert not Desk(path, "20").looks().lock.is_on
    assert Desk(path, "300").looks().lock.is_on
    assert Desk(path, "20").looks().lock.is_on, "it is kept again"


def test_a_lock_taken_off_the_disk_while_the_desk_runs_stays(path: Path) -> None:
    desk = Desk(path, "300").looks()
    path.unlink()
    desk.loses("0")
    assert desk.looks().lock.is_on


def test_another_desk_on_the_account_is_locked_with_the_first(path: Path) -> None:
    first, second = Desk(path), Desk(path)
    first.loses("300")
    first.looks()
    assert second.looks().lock.is_on
    assert "was reached" in second.said[-1]


def test_the_file_is_private(path: Path) -> None:
    Desk(path, "300").looks()
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_practice_account_that_began_anew_is_not_locked(path: Path) -> None:
    Desk(path, "300").looks()
    fresh = Desk(path, "0")
    assert fresh.store.account is not None
    fresh.store.account.created_time_ns += 1
    assert not fresh.looks().lock.is_on


def test_the_new_day_releases_it_and_says_so(path: Path) -> None:
    desk = Desk(path, "300").looks()
    desk.loses("0")
    assert desk.looks(5 * HOUR - 1).lock.is_on
    assert len(desk.waiting) == 1
    assert not desk.looks(1).lock.is_on
    assert "released" in desk.said[-1]
    assert desk.exit_only == ""
    assert desk.waiting == [], "what denies entries is over"


def test_an_early_unlock_survives_a_restart_and_is_recorded(path: Path) -> None:
    desk = Desk(path, "300").looks()
    desk.lock.ask_unlock()
    assert "released in 10m" in desk.recorded[-1]
    again = Desk(path, "300").looks(HOUR // 6 - 1)
    assert again.exit_only
    again.looks(1)
    assert again.exit_only == ""
    assert "released early" in again.recorded[-1]


def test_a_desk_that_is_opened_after_an_early_unlock_is_armed_by_hand_only(path: Path) -> None:
    Desk(path, "300").looks().lock.ask_unlock()
    late = Desk(path, "300").looks(HOUR)
    assert late.exit_only == ""
    assert late.disarmed == [Cause.DAILY_LOSS]
    late.looks()
    assert late.disarmed == [Cause.DAILY_LOSS], "once"


def test_a_loss_that_is_not_known_yet_opens_nothing(path: Path) -> None:
    desk = Desk(path)
    desk.loses(None)
    assert "still being read" in desk.looks().exit_only
    desk.limits = Limits()
    assert desk.exit_only == ""


class Meanwhile:
    """Limits of 300 during whose first look another desk locks."""

    def __init__(self, other: Desk) -> None:
        self.other, self.waits = other, True

    @property
    def limits(self) -> Limits:
        if self.waits:
            self.waits = False
            self.other.looks()
        return self.other.limits


def test_a_lock_that_another_desk_writes_while_this_one_looks_stays(path: Path) -> None:
    first = Desk(path, "210")
    settings = cast("SettingsChanges", Meanwhile(Desk(path, "300")))
    first.lock._settings = settings
    first.looks()
    assert any("70 %" in text for text in first.said), "it has a warning to keep"
    assert Desk(path, "20").looks().lock.is_on
    first.loses("20")
    assert first.looks().lock.is_on


def test_while_another_desk_writes_the_lock_holds_and_nothing_is_judged(path: Path) -> None:
    desk = Desk(path, "300").looks()
    said = list(desk.said)
    desk.loses("0")
    with closing(sqlite3.connect(path, isolation_level=None)) as theirs:
        theirs.execute("BEGIN EXCLUSIVE")
        assert desk.looks().lock.is_on
        desk.lock.ask_unlock()
        assert "ask for the early unlock again" in desk.said[-1]
    assert desk.said[:-1] == said
    assert desk.looks().lock.is_on


LOCKS = """
import os, signal, sys
from decimal import Decimal
from pathlib import Path
from keydesk.calc.daily_loss import LossLock
from keydesk.records.desk_records import DeskRecords
from keydesk.records.loss_lock import LossRecord, write_record
account_ns, day_ns = map(int, sys.argv[2:])
lock = LossLock(day_ns=day_ns, amount=Decimal(300), limit=Decimal(300), is_on=True)
write_record(DeskRecords(Path(sys.argv[1])), LossRecord(account_ns, 0, 0, lock), None)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_desk_that_is_killed_once_it_has_locked_leaves_the_lock(path: Path) -> None:
    next_desk = Desk(path, "20")
    assert next_desk.store.account is not None
    numbers = str(next_desk.store.account.created_time_ns), str(day_start(NOON))
    done = subprocess.run([sys.executable, "-c", LOCKS, str(path), *numbers], check=False)
    assert done.returncode == -signal.SIGKILL
    assert next_desk.looks().lock.is_on


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing stops root from writing")
def test_a_lock_on_a_disk_that_cannot_be_written_is_found(path: Path) -> None:
    Desk(path, "300").looks()
    path.parent.chmod(0o500)
    assert Desk(path, "20").looks().lock.is_on


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing stops root from writing")
def test_a_folder_that_takes_no_file_is_said_once_and_locks(path: Path) -> None:
    path.parent.chmod(0o500)
    desk = Desk(path, "300").looks().looks()
    assert desk.lock.is_on
    assert sum("kept in this desk only" in text for text in desk.said) == 1


def test_a_file_that_cannot_be_written_is_said_once_and_locks(path: Path) -> None:
    path.mkdir()
    desk = Desk(path, "300").looks().looks()
    assert desk.lock.is_on
    assert sum("kept in this desk only" in text for text in desk.said) <= 1


def test_a_clock_set_back_over_the_beginning_of_the_day_releases_nothing(path: Path) -> None:
    desk = Desk(path, "300").looks()
    desk.loses("0")
    assert desk.looks(-20 * HOUR).lock.is_on
    again = Desk(path, "0")
    assert again.looks(-20 * HOUR).lock.is_on, "nor at a restart"
    assert again.looks(24 * HOUR).lock.is_on
    assert not again.looks(2 * HOUR).lock.is_on


def test_a_replay_that_begins_anew_at_the_same_time_is_not_locked(path: Path) -> None:
    desk = Desk(path, "300").looks()
    for each in (desk, Desk(path)):
        assert each.store.account is not None
        each.store.account.last_transaction_id -= 1
        each.loses("0")
        assert not each.looks(-20 * HOUR).lock.is_on


def test_a_replay_that_begins_anew_within_the_day_is_not_locked(path: Path) -> None:
    desk = Desk(path, "300").looks()
    for each in (desk, Desk(path, "0")):
        assert each.store.account is not None
        each.store.account.last_transaction_id -= 1
        each.loses("0")
        each.store.clock_ns = NOON
        assert not each.looks(-HOUR).lock.is_on


def test_each_ledger_finds_its_own_lock_again_and_another_one_is_told_that_it_has_none(
    path: Path,
) -> None:
    desk = Desk(path, "300").looks()
    account = desk.store.account
    assert account is not None
    account.created_time_ns += 1  # a replay
    desk.loses("0")
    assert not desk.looks(-1000 * HOUR).lock.is_on
    assert "this one is not locked" in desk.said[-1]
    assert desk.waiting == [], "the lock of the account that was left"
    account.created_time_ns -= 1
    assert desk.looks(1001 * HOUR).lock.is_on
    assert desk.said[-1] == f"{desk.exit_only}. Exits work"
    assert Desk(path).looks(HOUR).lock.is_on


def test_a_desk_that_goes_from_a_locked_ledger_to_another_one_says_the_lock_of_that_one(
    path: Path,
) -> None:
    desk = Desk(path, "300").looks()
    account = desk.store.account
    assert account is not None
    account.created_time_ns += 1  # a replay
    desk.limits = Limits(daily_loss=D(500))
    desk.loses("500")
    assert desk.looks(-1000 * HOUR).lock.is_on
    account.created_time_ns -= 1
    desk.loses("300")
    assert desk.looks(1001 * HOUR).lock.is_on
    assert "limit of 300.00" in desk.said[-1]
    assert desk.waiting == [desk.said[-1]]


def test_the_clock_of_another_ledger_before_its_account_changes_no_lock(path: Path) -> None:
    desk = Desk(path, "300").looks()
    desk.loses(None)
    assert desk.looks(1000 * HOUR).lock.is_on
    assert Desk(path).looks().lock.is_on


def test_a_desk_that_is_opened_on_the_next_day_is_not_disarmed_before_the_day_is_counted(
    path: Path,
) -> None:
    Desk(path, "300").looks()
    again = Desk(path)
    again.loses(None)
    assert not again.looks(24 * HOUR).lock.is_on
    again.loses("0")
    assert not again.looks().lock.is_on
    assert again.disarmed == []
    assert "released" in again.said[-1]


def test_a_limit_in_per_cent_counts_what_was_paid_in_today(path: Path) -> None:
    """An account that is funded today had nothing at 17:00."""
    desk = Desk(path, limits=Limits(daily_loss_percent=D(2)))
    account = desk.store.account
    assert account is not None
    account.day_start_nav, account.day_transfers, account.day_pl = D(0), D(100_000), D(-14)
    assert desk.looks().exit_only == ""
    account.day_pl = D(-2000)
    assert "the daily loss limit of 2,000.00 was reached" in desk.looks().exit_only


def test_a_day_whose_start_cannot_be_counted_takes_the_first_nav_over_a_restart(path: Path) -> None:
    desk = Desk(path, limits=Limits(daily_loss_percent=D(3)))
    account, start = desk.store.account, day_start(NOON)
    assert account is not None
    desk.store.today = Today(start, transfers=D(500))
    revalue_day(desk.store)
    assert account.day_pl == 0
    assert account.day_start_nav == account.nav - 500
    desk.looks()

    again = Desk(path, limits=desk.limits)
    assert again.store.account is not None
    again.store.today = Today(start, transfers=D(500))
    again.store.account.nav -= 100
    revalue_day(again.store)
    again.looks()
    revalue_day(again.store)
    assert again.store.account.day_pl == -100


def test_a_desk_that_is_one_transaction_behind_another_takes_its_lock(path: Path) -> None:
    Desk(path, "300").looks()
    behind = Desk(path, "0")
    assert behind.store.account is not None
    behind.store.account.last_transaction_id -= 1
    assert behind.looks().lock.is_on


# A practice market that goes on with another ledger, whose clock and account come one after the other.


def test_the_clock_of_another_ledger_with_the_account_that_was_left_releases_nothing(
    path: Path,
) -> None:
    desk = Desk(path, "300").looks()
    before, said = path.read_bytes(), len(desk.said)
    desk.loses("0")
    desk.hears(1000 * HOUR).glances().glances()
    assert desk.lock.is_on
    assert desk.wanted
    assert (desk.said[said:], path.read_bytes()) == ([], before)
    assert desk.disarmed == [Cause.DAILY_LOSS] * 3, "exits only, as before"


def test_the_account_of_another_ledger_with_the_clock_that_was_left_does_not_lock(
    path: Path,
) -> None:
    desk = Desk(path).looks()
    before = path.read_bytes()
    desk.replaced(1, "119205.38").glances().glances()
    assert not desk.lock.is_on
    assert (desk.said, path.read_bytes()) == ([], before)
    desk.seconds += 0.5
    desk.store.day_asked_at = desk.seconds
    assert not desk.glances().lock.is_on, "its clock is not read yet"
    assert not desk.hears(-1000 * HOUR).glances().lock.is_on, "its day is of the clock before"
    assert desk.reads().glances().lock.is_on, "its own day lost that"


@pytest.mark.parametrize("away_ns", [-1000 * HOUR, 1000 * HOUR])
def test_a_transaction_of_another_ledger_on_the_account_that_was_left_does_not_lock(
    path: Path, away_ns: int
) -> None:
    """Its ids go on from those of the account that was left, and its fills are valued at the prices there."""
    desk = Desk(path).looks()
    desk.store.event_ns = NOON + away_ns
    desk.loses("88520")
    assert not desk.glances().glances().lock.is_on
    assert desk.wanted
    assert desk.reads().glances().lock.is_on


def test_a_fill_of_now_locks_at_once(path: Path) -> None:
    desk = Desk(path).looks()
    desk.store.event_ns = NOON + 1
    desk.loses("300")
    assert desk.glances().lock.is_on


def test_an_answer_that_was_asked_for_before_the_clock_jumped_is_not_judged(path: Path) -> None:
    desk = Desk(path).looks()
    desk.hears(1000 * HOUR).glances()
    desk.store.day_asked_at = desk.seconds - 0.5
    desk.loses("300")
    assert not desk.hears().glances().lock.is_on
    assert desk.reads().glances().lock.is_on


def test_the_clock_and_the_account_of_another_ledger_find_its_lock(path: Path) -> None:
    desk = Desk(path, "300").looks()
    desk.hears(-1000 * HOUR).glances()
    desk.replaced(1, "0").reads().glances()
    assert desk.lock.is_on, "the account came with the last look: it is read once more"
    assert not desk.reads().glances().lock.is_on
    assert "this one is not locked" in desk.said[-1]


def test_after_a_suspension_of_this_machine_the_lock_works_with_the_first_reading(
    path: Path,
) -> None:
    desk = Desk(path).looks()
    desk.loses("300")
    assert not desk.hears(3 * HOUR).glances().lock.is_on
    assert desk.reads().glances().lock.is_on


def test_an_account_that_cannot_be_read_for_half_a_minute_is_judged_as_it_is_known(
    path: Path,
) -> None:
    desk = Desk(path).looks()
    desk.loses("300")
    desk.hears(3 * HOUR).glances()
    desk.seconds += 30
    assert desk.glances().lock.is_on


def test_a_clock_that_runs_as_fast_as_the_time_that_passes_here_is_no_jump(path: Path) -> None:
    desk = Desk(path).looks()
    desk.loses("300")
    desk.seconds += 3600
    assert desk.glances(HOUR).lock.is_on
    assert not desk.wanted


def test_a_market_at_a_high_speed_is_judged_at_each_look(path: Path) -> None:
    desk = Desk(path).looks()
    desk.store.set_market(ControlledMarket(MarketState(speed=1200)))
    desk.loses("300")
    assert desk.glances(HOUR // 3).lock.is_on


@pytest.mark.parametrize("clock_ns", [0, NOON + 1000 * HOUR])
def test_an_early_unlock_is_not_begun_while_the_clock_is_in_doubt(
    path: Path, clock_ns: int
) -> None:
    desk = Desk(path, "300").looks()
    desk.store.clock_ns = clock_ns
    desk.lock.ask_unlock()
    assert desk.store.loss_lock.unlock_at_ns is None
    assert "ask for the early unlock again" in desk.said[-1]
