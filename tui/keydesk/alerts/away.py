"""What happened while the trader was away: transactions, alerts, profit and connection gaps since the last seen state.

The seen state is in the desk's records of the account, so that a start knows where the last desk ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import tzinfo
from decimal import Decimal
from typing import TYPE_CHECKING

from msgspec import Struct

from keydesk.records.errors import FAILURES
from keydesk.records.json_text import Kind
from keydesk.text.format import at, date_and_time, duration, money, pair
from keydesk.text.sanitize import Printable, clean, clean_name, safe
from keydesk.words.log_line import LogKind, LogLine
from keydesk_client.arithmetic.constants import SECOND

if TYPE_CHECKING:
    from keydesk.calc.alerts.alert import FiringRecord
    from keydesk.records.desk_records import DeskRecords

MAX_LISTED = 60
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


SEEN = Kind("seen", LastVisit)


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


def read_last_visit(records: DeskRecords, account_ns: int) -> LastVisit | None:
    """Return what was last seen of an account; None without records that can be read."""
    with suppress(*FAILURES):
        return records.read(SEEN, account_ns)
    return None


def write_last_visit(records: DeskRecords, visit: LastVisit) -> None:
    """Write what was seen; of two desks the later one stays."""
    before = read_last_visit(records, visit.account_ns)
    if before is None or before.time_ns <= visit.time_ns:
        with suppress(*FAILURES):
            records.write(SEEN, visit.account_ns, visit)
