"""Keep the daily loss lock: check the day's loss once a second, and keep the lock in a file beside the order journal.

The file is of the account, so that every desk and every restart finds it. It only adds to what transactions show: a lock
that was reached holds although the loss is smaller now, and an early unlock waits across a restart. Without the file,
or with one that cannot be written, the loss itself still locks.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from pathlib import Path

from keydesk.calc.daily_loss import (
    LossEvent,
    LossLock,
    advance,
    ask_unlock,
    event_text,
    lock_text,
)
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.keys.guard import Cause
from keydesk.keys.guarded_app import NoticeLevel
from keydesk.store.risk import day_result
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.text.format import duration
from keydesk.text.sanitize import clean
from keydesk_client.auth.private_files import locked, read_private, replace_file
from keydesk_client.errors import UnsafeFile

CHECK_INTERVAL = 1.0  # seconds
LOCK_TIMEOUT = 0.2  # seconds that another desk may hold the file
MAX_BYTES = 4_000  # bytes
LEVELS: dict[LossEvent, NoticeLevel] = {
    LossEvent.WARNED: "bad",
    LossEvent.LOCKED: "bad",
    LossEvent.UNLOCKED: "warn",
    LossEvent.NEW_DAY: "info",
}


class DailyLossLock:
    """The daily loss lock of the account.

    Args:
        store: Has the day's loss; `store.loss_lock` is what forms and commands look at.
        limits: Returns the trader's limits.
        tell: Shows a message until it is seen.
        disarm: Makes the keyboard exit-only.
        record: Writes to the audit log.
    """

    def __init__(
        self,
        store: Store,
        limits: Callable[[], Limits],
        *,
        tell: Callable[[NoticeLevel, str], None],
        disarm: Callable[[Cause], None],
        record: Callable[[str, str], None],
    ) -> None:
        self._store, self._limits = store, limits
        self._tell, self._disarm, self._record = tell, disarm, record
        self._path: Path | None = None
        self._newest = 0  # transaction of the account at the last look
        self._created_ns = 0  # when the account of that look was created
        self._checked_at = float("-inf")
        self._locked_now = self._released_early = False
        self._failed = False  # the file could not be written, which was reported

    @property
    def is_on(self) -> bool:
        """Whether the desk is exit-only for the rest of the day."""
        return self._store.loss_lock.is_on

    def open(self, path: Path) -> None:
        """Take the lock that an earlier desk left, or that another one holds now."""
        self._path = path

    def check(self, now: float) -> None:
        """Judge the loss of the day; at most once a second."""
        if self._path is None or now - self._checked_at < CHECK_INTERVAL:
            return
        self._checked_at = now
        if self._store.account is None or not self._store.clock_ns:
            self._checked_at = float("-inf")  # as soon as both are known
            return
        was_on, self._locked_now, self._released_early = self.is_on, False, False
        self._change(self._advance)
        if not self.is_on:
            if self._released_early:  # also by a desk that was opened after the wait, and is armed
                self._disarm(Cause.DAILY_LOSS)
            return
        if not was_on and not self._locked_now:  # by another desk, or before this one was opened
            self._tell(
                "bad", f"{lock_text(self._store.loss_lock, self._store.clock_ns)}. Exits work"
            )
        self._disarm(Cause.DAILY_LOSS)

    def ask_unlock(self) -> None:
        """Begin the wait of an early unlock."""
        now_ns = self._store.clock_ns
        self._change(lambda lock: ask_unlock(self._advance(lock), now_ns))
        until = self._store.loss_lock.unlock_at_ns
        if until is not None:
            left = duration((until - now_ns) / 1e9)
            text = f"Early unlock of the daily loss lock requested: it is released in {left}"
            self._record("limit", text)
            self._tell("warn", text)

    def _advance(self, lock: LossLock) -> LossLock:
        now_ns, result = self._store.clock_ns, day_result(self._store)
        after, events = advance(lock, now_ns, result, self._limits())
        for event in events:
            text = event_text(event, after, result, now_ns)
            self._record("limit", text)
            self._tell(LEVELS[event], text + self._resting(event))
            self._locked_now |= event is LossEvent.LOCKED
            self._released_early |= event is LossEvent.UNLOCKED
        return after

    def _resting(self, event: LossEvent) -> str:
        """Return a warning of entry orders, which can fill although nothing new is sent."""
        if event is not LossEvent.LOCKED:
            return ""
        count = sum(each.trade_id is None for each in self._store.orders.values())
        if not count:
            return ""
        are = "1 entry order rests" if count == 1 else f"{count} entry orders rest"
        return f". {are} at the broker and can still fill"

    def _change(self, change: Callable[[LossLock], LossLock]) -> None:
        """Change the lock as the file has it now, and write it if that made a difference."""
        before = self._read()
        after = change(before)
        if after != self._store.loss_lock:
            self._store.loss_lock = after
            self._store.mark(Topic.ACCOUNT)
            self._store.mark(Topic.ARMING)
        if after != before:
            self._write(after)

    # The file.

    def _read(self) -> LossLock:
        """Return the lock of the file; that of this desk where the file is missing, damaged or of an earlier account."""
        if self._path is None:
            return self._store.loss_lock
        kept = self._store.loss_lock
        if self._created_ns and not self._goes_on(self._created_ns, self._newest, kept):
            kept = LossLock()
        self._created_ns, self._newest = self._account_ns, self._newest_transaction
        with suppress(OSError, UnsafeFile, ValueError, ArithmeticError, TypeError, KeyError):
            content = json.loads(read_private(self._path, MAX_BYTES))
            lock, newest = _lock_of(content), _whole(content.get("transaction", 0))
            if self._goes_on(_whole(content["account_ns"]), newest, lock):
                return lock
        return kept

    def _write(self, lock: LossLock) -> None:
        if self._path is None:
            return
        content = {
            "account_ns": self._account_ns,
            "transaction": self._newest_transaction,
            "day_ns": lock.day_ns,
            "limit": None if lock.limit is None else str(lock.limit),
            "is_on": lock.is_on,
            "warned": lock.warned,
            "accepted": str(lock.accepted),
            "unlock_at_ns": lock.unlock_at_ns,
        }
        try:
            with locked(self._path, patience_s=LOCK_TIMEOUT):
                replace_file(self._path, json.dumps(content).encode())
        except OSError as error:
            if not self._failed:
                reason = clean(error.strerror or str(error))
                text = f"The daily loss lock is kept in this desk only: {reason}: {self._path}"
                self._tell("warn", text)
            self._failed = True
        else:
            self._failed = False

    def _goes_on(self, created_ns: int, newest: int, lock: LossLock) -> bool:
        """Return whether the account goes on from the one of a lock: created at that time, with that newest transaction.

        A replay that begins anew has the same ids and may have the same time of creation, but an earlier clock and fewer
        transactions. A clock alone that goes back releases no lock.
        """
        is_earlier = self._store.clock_ns < lock.day_ns and self._newest_transaction < newest
        return created_ns == self._account_ns and not is_earlier

    @property
    def _newest_transaction(self) -> int:
        account = self._store.account
        return 0 if account is None else account.last_transaction_id

    @property
    def _account_ns(self) -> int:
        """When the account was created: a practice market that began anew has the same account ids."""
        account = self._store.account
        return 0 if account is None else account.created_time_ns


def _lock_of(content: dict[str, object]) -> LossLock:
    """Return the lock of the file's content; raise ValueError or TypeError if it cannot be one."""
    limit, unlock = content["limit"], content["unlock_at_ns"]
    lock = LossLock(
        day_ns=_whole(content["day_ns"]),
        limit=None if limit is None else _amount(limit),
        is_on=content["is_on"] is True,
        warned=_whole(content["warned"]),
        accepted=_amount(content["accepted"]),
    )
    return lock if unlock is None else replace(lock, unlock_at_ns=_whole(unlock))


def _whole(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is not a whole number")
    return value


def _amount(value: object) -> Decimal:
    try:
        number = Decimal(str(value))
    except InvalidOperation as error:
        raise ValueError(f"{value!r} is not a number") from error
    if not number.is_finite():
        raise ValueError(f"{value!r} is not an amount")
    return number
