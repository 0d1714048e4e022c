"""The records of a ledger, and the rows that hold them, each with its checksum."""

import json
import zlib
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

from msgspec import Struct


class LedgerAccount(Struct, frozen=True):
    """An account's owner, the number of its token from 0, and its terms."""

    id: str
    owner: int
    currency: str
    hedging: bool
    fifo: bool = False  # the rules of a US division


class Entry(Struct, frozen=True):
    """One transaction as the ledger stores it; `body` is its JSON text."""

    id: int
    time: int
    type: str
    body: str


class MarkRecord(NamedTuple):
    """The price level that an order has observed, such as a trailing stop's."""

    order_id: int
    level: Decimal


class EndedRecord(NamedTuple):
    """An ended order or closed trade as JSON text, with the columns that lists filter by."""

    kind: str
    id: int
    state: str
    instrument: str
    record: bytes


SEPARATOR = b"\x1f"  # of the values that a checksum covers
Value = str | int | bytes | None
Row = tuple[Value, ...]  # as the ledger stores it, its checksum last
_encode = json.JSONEncoder(separators=(",", ":")).encode


class LedgerBatch:
    """The rows that one batch adds to the ledger, prepared one by one before any is written."""

    def __init__(
        self, account: str, records: Iterable[Entry | EndedRecord | MarkRecord] = ()
    ) -> None:
        self.account = account
        self.entries: list[Entry] = []
        self.transactions: list[Row] = []
        self.ended: list[Row] = []
        self.marks: list[Row] = []
        for record in records:
            self.add(record)

    def add(self, record: Entry | EndedRecord | MarkRecord) -> None:
        """Add the row of a record."""
        match record:
            case Entry():
                self.entries.append(record)
                self.transactions.append(transaction_row(self.account, record))
            case EndedRecord():
                self.ended.append(with_checksum(self.account, *record))
            case MarkRecord():
                self.marks.append(with_checksum(self.account, record.order_id, str(record.level)))


class WireTransaction(dict[str, Any]):
    """A transaction as a JSON object that is encoded once, for the ledger and for the response."""

    __slots__ = ("_text",)
    _text: str

    def text(self) -> str:
        """Return the JSON text."""
        try:
            return self._text
        except AttributeError:
            self._text = _encode(self)
            return self._text


def entry_of(transaction: WireTransaction, time: int) -> Entry:
    """Return the ledger's entry of a transaction."""
    return Entry(int(transaction["id"]), time, str(transaction["type"]), transaction.text())


def checksum(*values: Value) -> int:
    """Return the CRC-32 of a row's values and types; it detects every flipped bit and every burst of up to 32 bits."""
    return zlib.crc32(SEPARATOR.join(map(_typed, values)))


def _typed(value: Value) -> bytes:
    if isinstance(value, str):
        return b"text " + value.encode()
    if isinstance(value, bytes):
        return b"blob " + value
    return b"null" if value is None else b"integer %d" % value


def with_checksum(*values: Value) -> Row:
    """Return the values of a row followed by their checksum."""
    return (*values, checksum(*values))


def transaction_row(account: str, entry: Entry) -> Row:
    """Return a transaction as the ledger stores it, with its checksum."""
    return with_checksum(account, entry.id, entry.time, entry.type, entry.body)
