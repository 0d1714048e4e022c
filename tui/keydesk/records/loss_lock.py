"""The record of the daily loss lock of an account, one for each of its ledgers."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from keydesk.calc.daily_loss import LossLock
from keydesk.records.errors import FAILURES, DamagedRecords
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


def read_record(records: DeskRecords, account_ns: int) -> LossRecord | None:
    """Return the record of a ledger; None if there is none that can be read.

    Raises:
        BlockingIOError: another desk writes just now: it may be locking.
    """
    try:
        return records.read(LOSS_LOCK, account_ns)
    except BlockingIOError:
        raise
    except FAILURES:
        return None


def write_record(records: DeskRecords, record: LossRecord, before: LossRecord | None) -> None:
    """Write the record of a ledger in the place of the one that was read; what another desk wrote meanwhile stays.

    Raises `FAILURES` if it cannot be written.
    """
    with records.row(LOSS_LOCK, record.account_ns) as row:
        kept = None
        with suppress(DamagedRecords):
            kept = row.read()
        if kept == before:
            row.write(record)
