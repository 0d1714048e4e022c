"""The card "while you were away": after a start, a lost connection, or ten minutes without a key, such as a detached tmux.

The trader counts as present while keys are pressed and the transaction stream is open. What is on the account then is seen.
When the trader is present again, the card shows what came after that. It waits while a form is open or keys are typed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.app import App

from keydesk.alerts.away import (
    AwayReport,
    LastVisit,
    Outage,
    away_report,
    read_last_visit,
    write_last_visit,
)
from keydesk.keys.guarded_app import GuardedKeys
from keydesk.screens.desk import DeskScreen
from keydesk.store.store import Store
from keydesk.text.sanitize import safe
from keydesk_client.arithmetic.constants import SECOND

if TYPE_CHECKING:
    from keydesk.records.desk_records import DeskRecords

CHECK_INTERVAL = 0.5  # seconds
PRESENT_FOR = 600.0  # seconds after a key
SHORTEST = 20 * SECOND  # an absence that is worth a card
WRITE_EVERY = 15.0  # seconds
QUIET = 1.0  # seconds without a key before the card is shown
MAX_OUTAGES = 10


class AwayCard:
    """Follows the trader's presence.

    Args:
        app: Shows the card, while no form is open.
        store: The state of the account.
        keys: When one was pressed last.
    """

    def __init__(self, app: App[Any], store: Store, keys: GuardedKeys) -> None:
        self._app, self._store, self._keys = app, store, keys
        self._records: DeskRecords | None = None
        self._account_ns = 0  # when the account was created; 0: none is known yet
        self._last_visit: LastVisit | None = None
        self._opened_at = 0.0
        self._was_present = False
        self._lost_ns: int | None = None  # since when the connection is lost
        self._outages: list[Outage] = []
        self._waiting: AwayReport | None = None
        self._checked_at = self._written_at = float("-inf")

    def open(self, records: DeskRecords, now: float) -> None:
        """Begin with what the last desk of the account saw."""
        self._records, self._opened_at = records, now

    def check(self, now: float) -> None:
        """Follow connection and keys; show a card that is due."""
        if self._records is None or now - self._checked_at < CHECK_INTERVAL:
            return
        self._checked_at = now
        store = self._store
        if store.account is None or store.today is None or not store.clock_ns:
            return  # the log is still being read
        self._find_visit(store.account.created_time_ns)
        self._follow_connection(store.clock_ns)
        present = self._is_present(now)
        if present and not self._was_present:
            self._prepare()
        self._was_present = present
        if self._waiting is not None:
            is_free = isinstance(self._app.screen, DeskScreen)
            if is_free and now - self._keys.last_key_at >= QUIET:
                report, self._waiting = self._waiting, None
                self._show(report)
        elif present:
            self._see(now)

    def _show(self, report: AwayReport) -> None:
        from keydesk.forms.details_form import DetailsForm  # noqa: PLC0415 - with the first form

        self._app.push_screen(DetailsForm(report.title, report.rows(self._store.zone)))

    def close(self) -> None:
        """Write what was seen."""
        if self._records is not None and self._last_visit is not None and self._waiting is None:
            write_last_visit(self._records, self._last_visit)

    def _find_visit(self, account_ns: int) -> None:
        """Take what was last seen of the account: at the start, and where a replay begins or is left for it."""
        if self._records is None or self._account_ns == account_ns:
            return
        text = safe("in another market" if self._account_ns else "desk closed")
        if self._last_visit is not None:
            write_last_visit(self._records, self._last_visit)
        self._account_ns = account_ns
        self._last_visit = read_last_visit(self._records, account_ns)
        self._was_present, self._waiting = False, None
        self._outages.clear()
        if self._last_visit is not None:
            self._outages.append(Outage(text, self._last_visit.time_ns, 0))

    def _is_present(self, now: float) -> bool:
        last = max(self._keys.last_key_at, self._opened_at)
        return now - last < PRESENT_FOR and self._store.health.events in ("OK", "SLOW")

    def _follow_connection(self, clock_ns: int) -> None:
        for at, each in enumerate(self._outages):
            if not each.to_ns:  # of the time before the start
                self._outages[at] = Outage(each.text, each.from_ns, clock_ns)
        is_lost = self._store.health.events in ("DOWN", "STALE")
        if is_lost and self._lost_ns is None:
            self._lost_ns = clock_ns
        elif not is_lost and self._lost_ns is not None:
            self._outages.append(Outage("not connected", self._lost_ns, clock_ns))
            del self._outages[:-MAX_OUTAGES]
            self._lost_ns = None

    def _prepare(self) -> None:
        store, visit = self._store, self._last_visit
        account = store.account
        if visit is None or account is None or visit.account_ns != account.created_time_ns:
            self._outages.clear()
            return
        if store.clock_ns - visit.time_ns < SHORTEST:
            return
        report = away_report(
            visit,
            store.clock_ns,
            store.log,
            store.alert_history,
            outages=[each for each in self._outages if each.to_ns - each.from_ns >= SECOND],
            nav=account.nav,
            currency=account.currency,
        )
        self._outages.clear()
        if not report.is_empty:
            self._waiting = report

    def _see(self, now: float) -> None:
        store = self._store
        account = store.account
        if account is None:
            return
        self._last_visit = LastVisit(
            account.created_time_ns, account.last_transaction_id, store.clock_ns, account.nav
        )
        if now - self._written_at >= WRITE_EVERY and self._records is not None:
            self._written_at = now
            write_last_visit(self._records, self._last_visit)
