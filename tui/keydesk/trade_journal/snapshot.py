"""What statistics and pages of the journal are computed from, as it was at one moment, with the limits that were hit."""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from msgspec import Struct, field

from keydesk.calc.trade_journal.excursions import Excursion
from keydesk.calc.trade_journal.price_paths import PricePath
from keydesk.calc.trade_journal.rebuild import Journal
from keydesk.trade_journal.csv_rows import RowContext
from keydesk.trade_journal.report import LimitHit
from keydesk.trading.audit import AuditEntry, try_to_read

KINDS = ("limit", "refused")


class JournalSnapshot(Struct, frozen=True):
    """The journal of an account with the trader's notes; threads may read it."""

    journal: Journal = field(default_factory=Journal)
    context: RowContext = field(default_factory=RowContext)
    limits: tuple[LimitHit, ...] = ()
    account: str = ""
    currency: str = ""
    trouble: str = ""  # why it is not whole
    part: str = ""  # what it is of the account, "" if all is read


OpenProfits = Mapping[int, Decimal]
"""Open profit by the end of the day."""
Excursions = Mapping[str, Excursion]
Paths = Mapping[str, PricePath]


def read_limit_hits(audit: Path) -> tuple[LimitHit, ...]:
    """Return what the newest part of the log has, oldest first; empty without a log."""
    entries, _ = try_to_read(audit)
    return tuple(_hit(each) for each in reversed(entries) if each.what in KINDS)


def _hit(entry: AuditEntry) -> LimitHit:
    if entry.what == "limit":
        return LimitHit(entry.time_ns, entry.text)
    _, _, reason = entry.text.partition(": ")  # the key comes before it
    return LimitHit(entry.time_ns, f"refused: {reason or entry.text}")
