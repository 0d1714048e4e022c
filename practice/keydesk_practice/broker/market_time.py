"""The market's time over restarts: where a ledger was left, and where its market goes on, also after a kill.

A market that follows the wall clock goes on at the present. One with a time of its own (begun with `--start` at another time, a
replay, a speed that took it ahead) goes on where it was left, and clients must not see its time go back: they know what
follows. So the ledger holds, ahead of need, a time up to which prices may be shown; a start after a kill goes on from there.
One write in `AHEAD_SECONDS` does that, instead of one a price.
"""

import logging
import sqlite3
import time
from collections.abc import Callable

from keydesk_practice.broker.replay_facts import load_replay
from keydesk_practice.engine.wire_form import SECOND
from keydesk_practice.errors import LedgerFull, LedgerUnreachable, LedgerWriteFailed
from keydesk_practice.ledger.interface import LedgerInterface
from keydesk_practice.options import Options

LAST_SEEN = "last_seen"  # the ledger's fact with the market's time at the last stop
SHOWN_UNTIL = "shown_until"  # the ledger's fact with a time that no client has seen yet
OWN_TIME = "own_time"  # the ledger's fact: not empty where the market was begun with --start at another time than now
AT_PRESENT_NS = 60 * SECOND  # so near to the wall clock a start is the present
AHEAD_SECONDS = 5  # of the wall clock, at the market's speed
log = logging.getLogger("keydesk.practice")


def time_left(ledger: LedgerInterface) -> int:
    """Return the time up to which a ledger's accounts are known to have followed the market, 0 for a new one."""
    return max(int(ledger.fact(LAST_SEEN) or 0), ledger.last_time())


def time_shown(ledger: LedgerInterface) -> int:
    """Return a time that no client of a ledger has seen anything after, 0 for a new one."""
    return max(time_left(ledger), int(ledger.fact(SHOWN_UNTIL) or 0))


def present_time(options: Options, ledger: LedgerInterface, shown: int) -> int:
    """Return the time at which a market that is not a replay goes on: its time never goes back.

    A ledger whose market was begun at another time than the present (`--start`) goes on where it was left.
    """
    if options.start is None and shown and ledger.fact(OWN_TIME):
        return shown
    return max(time.time_ns() if options.start is None else options.start, shown)


def note_start(ledger: LedgerInterface, options: Options) -> None:
    """Note in the ledger whether its market has a time of its own; `--start now` gives it the present again."""
    if options.start is None:
        return
    own = "1" if abs(options.start - time.time_ns()) > AT_PRESENT_NS else ""
    if (ledger.fact(OWN_TIME) or "") != own:
        ledger.set_fact(OWN_TIME, own)


class ShownTime:
    """The time up to which the market of an open ledger may be shown, stored in the ledger before it is."""

    def __init__(self, ledger: LedgerInterface, wall: Callable[[], int] = time.time_ns) -> None:
        self._ledger = ledger
        self._wall = wall
        self._until = int(ledger.fact(SHOWN_UNTIL) or 0)
        self._has_own_time = bool(ledger.fact(OWN_TIME)) or load_replay(ledger) is not None

    def reserve(self, now: int, until: int, speed: float) -> None:
        """Make sure that the market of this speed may be shown from now until a time, and for a while after it."""
        ahead = until + round(AHEAD_SECONDS * SECOND * speed)
        is_reserved = until <= self._until <= ahead  # more where it ran faster before
        if not is_reserved and not self._is_safe(now):
            self._store(ahead)

    def settle(self, now: int) -> None:
        """Store the exact time of a market that stands still."""
        if now != self._until and (self._until or not self._is_safe(now)):
            self._store(now)

    def _is_safe(self, now: int) -> bool:
        """Return whether a start goes on later anyway, at the present."""
        return not self._has_own_time and now <= self._wall()

    def _store(self, until: int) -> None:
        """Store a time; on a full disk, or without the database, the market goes on, and the next step tries again."""
        try:
            self._ledger.set_fact(SHOWN_UNTIL, str(until))
        except (sqlite3.Error, LedgerFull, LedgerUnreachable, LedgerWriteFailed) as error:
            log.debug("cannot store the time shown: %s", error)
            return
        self._until = until
