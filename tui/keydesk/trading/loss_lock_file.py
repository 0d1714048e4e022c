"""The file of the daily loss lock of an account: a record for each of its ledgers."""

import json
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from keydesk.calc.daily_loss import LossLock
from keydesk.store.account_records import record_of, with_record
from keydesk_client.auth.private_files import locked, read_private, replace_file
from keydesk_client.errors import UnsafeFile

LOCK_TIMEOUT = 0.2  # seconds that another desk may hold the file
MAX_BYTES = 16_000  # bytes


class LossRecord(NamedTuple):
    """The lock of a ledger, and the ledger as it was then."""

    account_ns: int  # when its account was created
    newest: int  # transaction
    clock_ns: int
    lock: LossLock


def write_record(path: Path, record: LossRecord) -> None:
    """Write the record of a ledger; raise OSError if the file cannot be written."""
    with locked(path, patience_s=LOCK_TIMEOUT):
        members = with_record(_members(path), record.account_ns, _content(record))
        replace_file(path, json.dumps(members).encode())


def _members(path: Path) -> Mapping[str, Any]:
    """Return the content of the file, empty where it is missing or damaged."""
    with suppress(OSError, UnsafeFile, ValueError, RecursionError):
        content = json.loads(read_private(path, MAX_BYTES))
        if isinstance(content, dict):
            return content
    return {}


def read_record(path: Path, account_ns: int) -> LossRecord | None:
    """Return the record of a ledger from the file; None if there is none, or a damaged one."""
    with suppress(ValueError, ArithmeticError, TypeError, KeyError):
        if (record := record_of(_members(path), account_ns)) is not None:
            lock = _lock_of(record)
            clock = _whole(record.get("clock_ns", lock.day_ns))  # earlier desks did not write it
            return LossRecord(account_ns, _whole(record.get("transaction", 0)), clock, lock)
    return None


def _content(record: LossRecord) -> Mapping[str, object]:
    lock = record.lock
    amounts = {
        "amount": lock.amount,
        "percent": lock.percent,
        "limit": lock.limit,
        "start_nav": lock.start_nav,
    }
    return {
        "transaction": record.newest,
        "clock_ns": record.clock_ns,
        "day_ns": lock.day_ns,
        "is_on": lock.is_on,
        "warned": lock.warned,
        "accepted": str(lock.accepted),
        "unlock_at_ns": lock.unlock_at_ns,
        **{name: None if each is None else str(each) for name, each in amounts.items()},
    }


def _lock_of(content: Mapping[str, Any]) -> LossLock:
    """Return the lock of a record; raise ValueError or TypeError if it cannot be one."""
    unlock = content["unlock_at_ns"]
    lock = LossLock(
        day_ns=_whole(content["day_ns"]),
        amount=_amount_or_none(content.get("amount")),
        percent=_amount_or_none(content.get("percent")),
        limit=_amount_or_none(content["limit"]),
        is_on=content["is_on"] is True,
        warned=_whole(content["warned"]),
        accepted=_amount(content["accepted"]),
        start_nav=_amount_or_none(content.get("start_nav")),
    )
    return lock if unlock is None else replace(lock, unlock_at_ns=_whole(unlock))


def _whole(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is not a whole number")
    return value


def _amount_or_none(value: object) -> Decimal | None:
    return None if value is None else _amount(value)


def _amount(value: object) -> Decimal:
    try:
        number = Decimal(str(value))
    except InvalidOperation as error:
        raise ValueError(f"{value!r} is not a number") from error
    if not number.is_finite():
        raise ValueError(f"{value!r} is not an amount")
    return number
