"""What happened while the trader was away: transactions, alerts, profit and connection gaps since the last seen state.

The seen state is kept in a private file of the account, so that a start knows where the last desk ended.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import tzinfo
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from keydesk.store.account_records import record_of, with_record
from keydesk.text.format import at, date_and_time, duration, money, pair
from keydesk.text.sanitize import Printable, clean, clean_name, safe
from keydesk.words.log_line import LogKind, LogLine
from keydesk_client.arithmetic.constants import SECOND
from keydesk_client.auth.private_files import locked, read_private, replace_file
from keydesk_client.errors import UnsafeFile

if TYPE_CHECKING:
    from keydesk.calc.alerts.alert import FiringRecord

MAX_BYTES = 8_000  # bytes
UNREADABLE = (OSError, UnsafeFile, ValueError, TypeError, KeyError, InvalidOperation)
LOCK_TIMEOUT = 0.2  # seconds
MAX_LISTED = 60
MAX_WHOLE_NUMBER = 2**63
NAMES: dict[LogKind, str] = {
    "FILL": "fills",
    "CLOSE": "closed",
    "CANCEL": "orders ended",
    "REJECT": "rejected",
    "FINANCE": "financing",
    "FUNDS": "funds",
    "MARGIN": "margin",
}
"""The kinds of transactions that the card counts and lists; others change nothing by themselves."""
Rows = list[tuple[Printable, str]]


class LastVisit(Struct, frozen=True):
    """What the trader has seen: the last transaction, when, and the net asset value then."""

    account_ns: int  # when the account was created: a market that began anew has the same ids
    transaction: int
    time_ns: int
    nav: Decimal


class Outage(Struct, frozen=True):
    """A time without a connection, or without a desk."""

    text: Printable
    from_ns: int
    to_ns: int


class AwayReport(Struct, frozen=True):
    """What happened since."""

    since: LastVisit
    until_ns: int
    lines: Sequence[LogLine]  # oldest first
    alerts: Sequence[FiringRecord]
    outages: Sequence[Outage] = ()
    nav: Decimal | None = None
    currency: str = ""
    is_whole: bool = True  # the log reaches back to what was seen

    @property
    def is_empty(self) -> bool:
        """Return whether nothing happened that is worth a card."""
        return not self.lines and not self.alerts

    @property
    def title(self) -> Printable:
        """Return the title of the card."""
        seconds = (self.until_ns - self.since.time_ns) / SECOND
        return safe(f"While you were away: {duration(seconds)}")

    def rows(self, zone: tzinfo) -> Rows:
        """Return the card: sums first, then what happened, oldest first."""
        rows: Rows = [("since", date_and_time(self.since.time_ns, zone))]
        for each in self.outages:
            when = f"{_clock(each.from_ns, zone)} to {_clock(each.to_ns, zone)}"
            rows.append((each.text, f"{when}, {_length(each)}"))
        rows += self._sums()
        listed = sorted(
            [(each.time_ns, self._line(each)) for each in self.lines]
            + [(each.time_ns, f"ALERT {clean(each.text)}") for each in self.alerts]
        )
        if not self.is_whole:
            rows.append(("earlier", "there is more than the log holds"))
        if len(listed) > MAX_LISTED:
            rows.append(("earlier", f"{len(listed) - MAX_LISTED:,} more in the log"))
        for time, text in listed[-MAX_LISTED:]:
            rows.append((_clock(time, zone), text))
        return rows

    def _sums(self) -> Rows:
        rows: Rows = []
        closed = [each.pl for each in self.lines if each.pl is not None]
        if closed:
            rows.append(("realized", self._cash(sum(closed, Decimal(0)))))
        paid = [each.amount or Decimal(0) for each in self.lines if each.kind == "FINANCE"]
        if paid:
            rows.append(("financing", self._cash(sum(paid, Decimal(0)))))
        if self.nav is not None:
            change = self._cash(self.nav - self.since.nav)
            rows.append(("NAV", f"{money(self.since.nav)} to {money(self.nav)}, {change}"))
        kinds = [each.kind for each in self.lines]
        counts = [f"{name} {kinds.count(kind)}" for kind, name in NAMES.items() if kind in kinds]
        counts += [f"alerts {len(self.alerts)}"] if self.alerts else []
        rows.append(("happened", ", ".join(counts)))
        return rows

    def _cash(self, amount: Decimal) -> str:
        return f"{money(amount, signed=True)} {clean_name(self.currency)}"

    def _line(self, line: LogLine) -> str:
        name = f"{pair(line.instrument)} " if line.instrument else ""
        result = "" if line.pl is None else f" {money(line.pl, signed=True)}"
        return f"{line.kind} {name}{line.text}{result}"


def away_report(
    since: LastVisit,
    until_ns: int,
    log: Iterable[LogLine],
    fired: Iterable[FiringRecord],
    *,
    outages: Sequence[Outage] = (),
    nav: Decimal | None = None,
    currency: str = "",
) -> AwayReport:
    """Return what happened after what was seen."""
    numbered = [(int(each.id), each) for each in log if each.id.isdecimal()]
    lines = [each for id_, each in numbered if id_ > since.transaction and each.kind in NAMES]
    first = min((id_ for id_, _ in numbered), default=0)
    fresh = [each for each in fired if each.time_ns > since.time_ns]
    is_whole = not numbered or first <= since.transaction + 1
    return AwayReport(since, until_ns, lines, fresh, outages, nav, currency, is_whole=is_whole)


def _clock(time_ns: int, zone: tzinfo) -> Printable:
    return safe(f"{at(time_ns, zone):%d %b %H:%M:%S}")


def _length(outage: Outage) -> str:
    return duration((outage.to_ns - outage.from_ns) / SECOND)


def read_last_visit(path: Path, account_ns: int) -> LastVisit | None:
    """Return what was seen of an account when the file was written; None without a usable file."""
    with suppress(*UNREADABLE):
        record = record_of(_members(path), account_ns)
        return None if record is None else _visit_of(record, account_ns)
    return None


def write_last_visit(path: Path, visit: LastVisit) -> None:
    """Write what was seen; of two desks the later transaction stays."""
    record = {"transaction": visit.transaction, "time_ns": visit.time_ns, "nav": str(visit.nav)}
    with suppress(OSError, UnsafeFile), locked(path, patience_s=LOCK_TIMEOUT):
        before = read_last_visit(path, visit.account_ns)
        if before is not None and before.time_ns > visit.time_ns:
            return
        members: Mapping[str, Any] = {}
        with suppress(*UNREADABLE):
            members = _members(path)
        content = with_record(members, visit.account_ns, record)
        replace_file(path, json.dumps(content).encode())


def _members(path: Path) -> Mapping[str, Any]:
    return dict(json.loads(read_private(path, MAX_BYTES)))


def _visit_of(record: Mapping[str, Any], account_ns: int) -> LastVisit | None:
    last, time, nav = record["transaction"], record["time_ns"], Decimal(str(record["nav"]))
    whole = all(
        isinstance(each, int) and 0 <= each < MAX_WHOLE_NUMBER for each in (account_ns, last, time)
    )
    return LastVisit(account_ns, last, time, nav) if whole and nav.is_finite() else None
