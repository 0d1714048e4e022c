"""From bytes to records: one pass of the validator over the body, and salvage.py when that refuses."""

import json
from functools import cached_property
from typing import Generic, NoReturn, TypeVar

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypeForm

from keydesk_client.errors import UnreadableAnswer
from keydesk_client.models.salvage import WrittenFloat, read_value

T = TypeVar("T")


class Reader(Generic[T]):
    """Reads one kind of record, or one union of them, again and again."""

    def __init__(self, kind: TypeForm[T]) -> None:
        self._kind = kind

    def read(self, text: bytes | str) -> T:
        """The record; UnreadableAnswer only when the text is no JSON of this shape at all."""
        try:
            return self._adapter.validate_json(text, by_alias=True, by_name=False)
        except ValidationError:
            return self._salvaged(text)

    @cached_property
    def _adapter(self) -> TypeAdapter[T]:
        return TypeAdapter(self._kind)

    def _salvaged(self, text: bytes | str) -> T:
        try:
            held = json.loads(text, parse_float=WrittenFloat, parse_constant=_refuse)
            found: T = read_value(self._kind, held)
        except (ValueError, RecursionError):
            failure = UnreadableAnswer(f"the answer is no {_name(self._kind)} in JSON")
        else:
            return found
        raise failure


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _name(kind: object) -> str:
    return getattr(kind, "__name__", "known record")
