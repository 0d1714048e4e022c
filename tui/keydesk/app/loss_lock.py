"""Keep the daily loss lock: check the day's loss once a second, and keep the lock in the desk's records.

The records are of the account, so that every desk and every restart finds the lock of the ledger. It only adds to what transactions show: a lock that was reached holds although the loss is smaller now, and an early unlock
waits across a restart. Without the records, or where they cannot be written, the loss itself still locks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from keydesk.app.settings_changes import SettingsChanges
from keydesk.calc.daily_loss import (
    LossEvent,
    LossLock,
    advance,
    ask_unlock,
    event_text,
    lock_text,
)
from keydesk.keys.guard import Cause
from keydesk.keys.guarded_app import GuardedKeys
from keydesk.records.errors import FAILURES
from keydesk.records.loss_lock import LossRecord, read_record, write_record
from keydesk.store.ledger_watch import LedgerWatch
from keydesk.store.risk import day_result, keep_day_start
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.text.file_errors import file_trouble
from keydesk.text.format import duration

if TYPE_CHECKING:
    from keydesk.records.desk_records import DeskRecords

CHECK_INTERVAL = 1.0  # seconds
BEHIND_NS = 5_000_000_000  # by which one of two desks may see the clock and transactions later
LEFT_BEHIND = "The daily loss lock is on the account you came from: this one is not locked"
NOT_NOW = "The early unlock was not requested, for the account is being read: ask for the early unlock again in a moment"


class DailyLossLock:
    """The daily loss lock of the account.

    Args:
        store: Has the day's loss; `store.loss_lock` is what forms and commands look at.
        settings: Have the trader's limits.
        keys: Are made exit-only.
    """

    def __init__(
        self,
        store: Store,
        settings: SettingsChanges,
        keys: GuardedKeys,
    ) -> None:
        self._store, self._settings, self._keys = store, settings, keys
        self._ledgers = LedgerWatch(store)
        self._read_account: Callable[[], object] = lambda: None
        self._records: DeskRecords | None = None
        self._seen = LossRecord(0, 0, 0, LossLock())  # at the last look
        self._found: LossRecord | None = None  # in the records, as last read
        self._told: list[str] = []  # messages that wait to be seen, true while the lock is on
        self._checked_at = float("-inf")
        self._locked_now = self._released_early = self._new_day = False
        self._failed = False  # the records could not be written, which was reported
        self._kept_is_read = False  # before the broker's time was known

    @property
    def is_on(self) -> bool:
        """Whether the desk is exit-only for the rest of the day."""
        return self._store.loss_lock.is_on

    def open(self, records: DeskRecords, read_account: Callable[[], object]) -> None:
        """Take the lock that an earlier desk left, or that another one holds now; have the account read when in doubt of it."""
        self._records, self._read_account = records, read_account
        self._kept_is_read = False

    def check(self, now: float) -> None:
        """Judge the loss of the day; at most once a second."""
        is_due = now - self._checked_at >= CHECK_INTERVAL
        if self._records is None or self._store.account is None or not is_due:
            return
        if not self._store.clock_ns:
            self._hold_until_the_clock_is_known()
            return
        self._checked_at = now
        if not self._ledgers.agrees(now, self._read_account):
            if self.is_on:
                self._keys.disarm(Cause.DAILY_LOSS)
            return
        try:
            self._judge()
        except BlockingIOError:  # another desk writes: the next look judges
            if self.is_on:
                self._keys.disarm(Cause.DAILY_LOSS)

    def _judge(self) -> None:
        if self._waits_for_the_new_day():
            return
        was_on, self._locked_now, self._released_early = self.is_on, False, False
        is_same = self._seen.account_ns == self._account_ns  # ledger as at the last look
        self._new_day = False
        self._change(self._advance)
        if not self.is_on:
            if was_on and not (self._released_early or self._new_day):
                self._leave_behind()
            if self._released_early:  # also by a desk that was opened after the wait, and is armed
                self._keys.disarm(Cause.DAILY_LOSS)
            return
        # By another desk, before this one was opened, or of a ledger it came (back) to.
        if not (was_on and is_same) and not self._locked_now:
            self._say_locked()
        self._keys.disarm(Cause.DAILY_LOSS)

    def _hold_until_the_clock_is_known(self) -> None:
        """Let the lock of the records refuse entries, and show it: the broker's time comes with the first price, perhaps seconds later.

        Whether the lock's day is over is judged then; until then nothing is said, and the keyboard is not disarmed.
        """
        if self._records is None or self._kept_is_read:
            return
        try:
            found = read_record(self._records, self._account_ns)
        except BlockingIOError:
            return  # another desk writes: the next look reads it
        self._kept_is_read = True
        if found is None or not found.lock.is_on or self._store.now_ns >= found.lock.ends_ns:
            return
        if self._record_of(found.lock).newest >= found.newest:  # else a ledger that began anew
            self._set(found.lock)

    def _say_locked(self) -> None:
        lock, now_ns = self._store.loss_lock, self._store.now_ns
        self._take_back()
        self._tell_while_on(f"{lock_text(lock, now_ns)}. Exits work")

    def _tell_while_on(self, text: str) -> None:
        self._told.append(text)
        self._store.notify("bad", text)

    def _take_back(self) -> None:
        """Let the messages of a lock that is no longer on wait no more: they would deny what can be sent."""
        for text in self._told:
            self._store.take_back(text)
        self._told.clear()

    def _leave_behind(self) -> None:
        """Say that the lock was that of another ledger; the trader arms this one."""
        self._take_back()
        self._store.notify("info", LEFT_BEHIND)
        arming = self._store.arming
        if arming.reason == Cause.DAILY_LOSS.value.text:
            self._store.arming = replace(arming, reason="the account was replaced")
            self._store.mark(Topic.ARMING)

    def _waits_for_the_new_day(self) -> bool:
        """Return whether the lock is of a day that is over by the clock, and the new one is not counted yet.

        It is neither released, for the clock may be that of another ledger whose account is being read, nor does it lock.
        """
        lock = self._read()
        is_over = bool(lock.day_ns) and self._store.clock_ns >= lock.ends_ns
        return is_over and day_result(self._store).loss is None

    def ask_unlock(self) -> None:
        """Begin the wait of an early unlock."""
        now_ns = self._store.clock_ns
        if not now_ns or not self._ledgers.agrees(self._checked_at, self._read_account):
            self._store.notify("warn", NOT_NOW)
            return
        try:
            self._change(lambda lock: ask_unlock(self._advance(lock), now_ns))
        except BlockingIOError:
            self._store.notify("warn", NOT_NOW)
            return
        until = self._store.loss_lock.unlock_at_ns
        if until is not None:
            left = duration((until - now_ns) / 1e9)
            text = f"Early unlock of the daily loss lock requested: it is released in {left}"
            self._store.audit.record("limit", text)
            self._store.notify("warn", text)

    def _advance(self, lock: LossLock) -> LossLock:
        now_ns, result = self._store.clock_ns, day_result(self._store)
        after, events = advance(lock, now_ns, result, self._settings.limits)
        for event in events:
            text = event_text(event, after, result, now_ns)
            self._store.audit.record("limit", text)
            match event:
                case LossEvent.WARNED:
                    self._tell_while_on(text)
                case LossEvent.LOCKED:
                    self._tell_while_on(text + self._resting())
                case LossEvent.UNLOCKED:
                    self._take_back()
                    self._store.notify("warn", text)
                case LossEvent.NEW_DAY:
                    self._take_back()
                    self._store.notify("info", text)
            self._locked_now |= event is LossEvent.LOCKED
            self._released_early |= event is LossEvent.UNLOCKED
            self._new_day |= event is LossEvent.NEW_DAY
        return keep_day_start(self._store, after)

    def _resting(self) -> str:
        """Return a warning of entry orders, which can fill although nothing new is sent."""
        count = sum(each.trade_id is None for each in self._store.orders.values())
        if not count:
            return ""
        are = "1 entry order rests" if count == 1 else f"{count} entry orders rest"
        return f". {are} at the broker and can still fill"

    def _change(self, change: Callable[[LossLock], LossLock]) -> None:
        """Change the lock as the records have it now, and write it if that made a difference."""
        before = self._read()
        after = change(before)
        self._set(after)
        self._seen = self._record_of(after)
        if after != before:
            self._write(self._seen)

    def _set(self, lock: LossLock) -> None:
        if lock != self._store.loss_lock:
            self._store.loss_lock = lock
            self._store.mark(Topic.ACCOUNT)
            self._store.mark(Topic.ARMING)

    # The records: one of each ledger, so that none takes the lock of another one and each finds its own again.

    def _read(self) -> LossLock:
        """Return the lock of this ledger: that of the records, else that of this desk; another ledger has none."""
        kept = self._seen.lock if self._goes_on(self._seen) else LossLock()
        self._found = None
        if self._records is not None:
            self._found = read_record(self._records, self._account_ns)
        found = self._found
        return kept if found is None or not self._goes_on(found) else found.lock

    def _write(self, record: LossRecord) -> None:
        if self._records is None:
            return
        try:
            write_record(self._records, record, self._found)
        except FAILURES as error:
            if not self._failed:
                reason = file_trouble(error, self._records.path)
                text = f"The daily loss lock is kept in this desk only: {reason}"
                self._store.notify("warn", text)
            self._failed = True
        else:
            self._failed = False

    def _goes_on(self, record: LossRecord) -> bool:
        """Return whether the ledger is the one of a record: created at that time, and not earlier than it in clock and transactions.

        A replay that begins anew may have the same time of creation, but an earlier clock and fewer transactions. A clock
        alone that goes back releases no lock.
        """
        now = self._record_of(record.lock)
        is_earlier = now.clock_ns < record.clock_ns - BEHIND_NS and now.newest < record.newest
        return record.account_ns == now.account_ns and not is_earlier

    def _record_of(self, lock: LossLock) -> LossRecord:
        """Return the record of a lock of the ledger as it is now."""
        account = self._store.account
        newest = 0 if account is None else account.last_transaction_id
        return LossRecord(self._account_ns, newest, self._store.clock_ns, lock)

    @property
    def _account_ns(self) -> int:
        """When the account of the ledger was created."""
        account = self._store.account
        return 0 if account is None else account.created_time_ns
