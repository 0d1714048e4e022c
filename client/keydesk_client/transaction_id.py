"""`TransactionID`: text as on the wire, ordered as the number that it is."""

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

PATTERN: Final = r"^[0-9]+$"
MAX_ID_LENGTH: Final = 20


class TransactionID(str):
    """The id of a transaction: decimal digits, text as on the wire, ordered as the number that they are.

    It is a str, with the equality and the hash of one. `<`, `>`, `sorted` and `max` compare numbers, with ids in plain
    text as well: "9" comes before "10". `int(id)` is the number.
    """

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        number = _number_of(other)
        return NotImplemented if number is None else int(self) < number

    def __le__(self, other: str) -> bool:
        number = _number_of(other)
        return NotImplemented if number is None else int(self) <= number

    def __gt__(self, other: str) -> bool:
        number = _number_of(other)
        return NotImplemented if number is None else int(self) > number

    def __ge__(self, other: str) -> bool:
        number = _number_of(other)
        return NotImplemented if number is None else int(self) >= number

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: "GetCoreSchemaHandler"
    ) -> "CoreSchema":
        from pydantic_core import core_schema  # noqa: PLC0415 - errors are imported without pydantic

        # Only digits, so that `int()` of an id cannot fail.
        digits = core_schema.str_schema(pattern=PATTERN, max_length=MAX_ID_LENGTH)
        return core_schema.no_info_after_validator_function(cls, digits)


def _number_of(value: object) -> int | None:
    """Return the number of an id; None if it is not text. Raise ValueError for text that is not a number."""
    return int(value) if isinstance(value, str) else None
