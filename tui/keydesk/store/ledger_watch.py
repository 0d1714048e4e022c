"""Tell whether the clock, the account and its day that the desk has are of one ledger.

A practice market may go on with another ledger at any time, which others begin as well: its clock and its account then come
one after the other, within seconds. Signs of it are a clock that jumps, another account, transactions that went back, and
one of another time than the clock: its id may go on from those of the account that was left. After a sign, all has to be
read again. The clock of a real broker jumps only where this machine was suspended.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from keydesk.store.store import CLOCK_LAG_NS, Store
from keydesk_client.arithmetic.constants import SECOND

AHEAD_NS = 300 * SECOND  # by which a clock runs ahead of the time that passed here, not more
LONGEST_WAIT = 30.0  # seconds for the account: of one that cannot be read, the loss as known counts


class _Look(NamedTuple):
    """What was known at a time, in monotonic seconds."""

    at: float
    clock_ns: int
    account_ns: int  # when the account was created
    newest: int  # transaction
    event_ns: int  # when the newest one happened that was applied


class _Doubt(NamedTuple):
    """Since when it is not known whether all is of one ledger, in monotonic seconds."""

    since: float
    sign_at: float  # the newest sign
    clock_reads: int  # up to then: there has to be one more


class LedgerWatch:
    """Compare clock and account with those of the look before.

    Args:
        store: Has both.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._look: _Look | None = None
        self._doubt: _Doubt | None = None

    def agrees(self, now: float, read_account: Callable[[], object]) -> bool:
        """Return whether all is of one ledger; after a sign that it is not, call `read_account`."""
        before, look = self._look, self._present(now)
        self._look = look
        if before is not None:
            self._note_signs(before, look, read_account)
        if self._doubt is not None and self._is_over(self._doubt, now):
            self._doubt = None
        return self._doubt is None

    def _note_signs(self, before: _Look, look: _Look, read_account: Callable[[], object]) -> None:
        jumped = self._jumped(before, look)
        is_another = look.account_ns != before.account_ns or look.newest < before.newest
        if jumped or is_another or self._is_elsewhere(before, look):
            since = look.at if self._doubt is None else self._doubt.since
            reads = self._store.clock_reads - (1 if jumped else 0)
            self._doubt = _Doubt(since, look.at, reads)
            read_account()

    def _jumped(self, before: _Look, look: _Look) -> bool:
        passed_ns = int(max(0.0, look.at - before.at) * self._speed * SECOND)
        ahead_ns = look.clock_ns - before.clock_ns
        return ahead_ns < -CLOCK_LAG_NS or ahead_ns > passed_ns + AHEAD_NS

    def _is_elsewhere(self, before: _Look, look: _Look) -> bool:
        """Return whether a transaction came that is far from the clock."""
        away_ns = abs(look.event_ns - look.clock_ns)
        return look.event_ns != before.event_ns and away_ns > AHEAD_NS * self._speed

    @property
    def _speed(self) -> float:
        market = self._store.market
        return 1.0 if market is None else max(1.0, market.state.speed)

    def _is_over(self, doubt: _Doubt, now: float) -> bool:
        store = self._store
        is_read = store.day_asked_at > doubt.sign_at and store.clock_reads > doubt.clock_reads
        return is_read or now - doubt.since > LONGEST_WAIT

    def _present(self, now: float) -> _Look:
        account = self._store.account
        created, newest = (
            (0, 0) if account is None else (account.created_time_ns, account.last_transaction_id)
        )
        return _Look(now, self._store.clock_ns, created, newest, self._store.event_ns)
