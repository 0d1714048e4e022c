"""The limits of the trader that were hit, and the tickets that were refused, from the audit log of the account."""

from pathlib import Path

from keydesk.trade_journal.report import LimitHit
from keydesk.trading.audit import AuditEntry, try_to_read

KINDS = ("limit", "refused")


def read_limit_hits(audit: Path) -> tuple[LimitHit, ...]:
    """Return what the newest part of the log has, oldest first; empty without a log."""
    entries, _ = try_to_read(audit)
    return tuple(_hit(each) for each in reversed(entries) if each.what in KINDS)


def _hit(entry: AuditEntry) -> LimitHit:
    if entry.what == "limit":
        return LimitHit(entry.time_ns, entry.words)
    _, _, reason = entry.words.partition(": ")  # form and key come before it
    return LimitHit(entry.time_ns, f"refused: {reason or entry.words}")
