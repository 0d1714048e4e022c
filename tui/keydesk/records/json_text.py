"""Records as JSON text, as a column of the database holds them whole."""

from decimal import Decimal
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from keydesk.records.errors import DamagedRecords

Record = TypeVar("Record", bound=Struct)
_encoder = msgspec.json.Encoder(enc_hook=str)  # a `TransactionID` is text of a class of its own


class JsonText(Generic[Record]):
    """Writes records of a kind as text and reads them."""

    def __init__(self, kind: type[Record]) -> None:
        self._decoder = msgspec.json.Decoder(kind)

    def write(self, record: Record) -> str:
        """Return the text of a record."""
        return _encoder.encode(record).decode()

    def read(self, text: str) -> Record:
        """Return the record of a text; raise DamagedRecords if that makes no sense."""
        try:
            record = self._decoder.decode(text)
        except (msgspec.DecodeError, TypeError) as error:
            raise DamagedRecords(str(error)) from error
        if not _is_finite(record):  # msgspec takes "NaN" for a number
            raise DamagedRecords("a number is not finite")
        return record


class Kind(JsonText[Record]):
    """A kind of the desk's records: its name in their file, and the class that a record is an instance of."""

    def __init__(self, name: str, record: type[Record]) -> None:
        super().__init__(record)
        self.name = name


def _is_finite(value: object) -> bool:
    if isinstance(value, Decimal):
        return value.is_finite()
    members = astuple(value) if isinstance(value, Struct) else value
    if isinstance(members, dict):
        members = tuple(members.values())
    return not isinstance(members, tuple | list) or all(map(_is_finite, members))
