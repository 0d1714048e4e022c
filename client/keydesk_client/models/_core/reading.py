"""From bytes to records: one pass of the validator over the body, and salvage.py when that refuses."""

from functools import cached_property
from typing import Final, Generic, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypeForm

from keydesk_client.errors import UnreadableAnswer
from keydesk_client.models._core.body_limits import SMALL, BodyLimits
from keydesk_client.models._core.fail_fast import Incomplete
from keydesk_client.models._core.lenient import loads
from keydesk_client.models._core.record import Record
from keydesk_client.models._core.salvage import read_value

T = TypeVar("T")

LARGE: Final = 100_000
"""Bytes from which a body is large: 700 candles, 170 trades."""


class Reader(Generic[T]):
    """Reads one kind of record, or one union of them, again and again."""

    def __init__(self, kind: TypeForm[T], limits: BodyLimits = SMALL) -> None:
        self._kind = kind
        self.limits: BodyLimits = limits

    def read(self, text: bytes | str) -> T:
        """The record; UnreadableAnswer only when the text is no JSON of this shape at all, or exceeds the limits."""
        found = self.read_quickly(text)
        return self.salvage(text) if found is None else found

    def read_quickly(self, text: bytes | str) -> T | None:
        """The record, when the text is just what it should be."""
        self.limits.check(text)
        try:
            return self._adapter.validate_json(text, by_alias=True, by_name=False)
        except (ValidationError, Incomplete):
            return None

    @cached_property
    def _adapter(self) -> TypeAdapter[T]:
        build_records(self._kind)
        return TypeAdapter(self._kind)

    def salvage(self, text: bytes | str) -> T:
        """The record, member by member; large bodies take a second of pure Python, so they belong into a thread."""
        self.limits.check(text, counted=True)
        try:
            found: T = read_value(self._kind, loads(text))
        except RecursionError:
            failure = UnreadableAnswer("the answer is nested too deeply to be read")
        except ValueError:
            failure = UnreadableAnswer(f"the answer is no {_name(self._kind)} in JSON")
        else:
            return found
        raise failure


def build_records(kind: object) -> None:
    """Build the validators of the records inside a type, the innermost first.

    A validator takes those that are ready as they are, and makes its own copy of the others: three answers that
    hold transactions would hold three validators of each kind of transaction, 2 MB and 20 ms every time.
    """
    if isinstance(kind, type) and issubclass(kind, Record) and not kind.__pydantic_complete__:
        for field in kind.__pydantic_fields__.values():
            build_records(field.annotation)
        kind.model_rebuild()
    for part in get_args(kind):
        build_records(part)


def _name(kind: object) -> str:
    return getattr(kind, "__name__", "known record")
