"""The record of the daily loss lock of an account, one for each of its ledgers."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from keydesk.calc.daily_loss import LossLock
from keydesk.records.errors import FAILURES
from keydesk.records.json_text import Kind

if TYPE_CHECKING:
    from keydesk.records.desk_records import DeskRecords


class LossRecord(Struct, frozen=True):
    """The lock of a ledger, and the ledger as it was then."""

    account_ns: int  # when its account was created
    newest: int  # transaction
    clock_ns: int
    lock: LossLock


LOSS_LOCK = Kind("loss lock", LossRecord)


def write_record(records: DeskRecords, record: LossRecord) -> None:
    """Write the record of a ledger; raise `FAILURES` if that cannot be done."""
    records.write(LOSS_LOCK, record.account_ns, record)


def read_record(records: DeskRecords, account_ns: int) -> LossRecord | None:
    """Return the record of a ledger; None if there is none that can be read."""
    with suppress(*FAILURES):
        return records.read(LOSS_LOCK, account_ns)
    return None
