"""A place in a union for kinds that are newer than this library.

The value of a member that is not mentioned: neither changed nor taken away.
How a member is called in Python and on the wire: `unrealized_pl` is `unrealizedPL`.
Words of a request: answers keep those that are new, a request with one that there is not is refused at once.
"""

from enum import Enum
from typing import Final, Literal, get_args, get_origin

from pydantic import AfterValidator
from pydantic.fields import FieldInfo

from keydesk_client.errors import InvalidRequest


class Unset(Enum):
    """Its only member is UNSET; None means something else: take it away."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset.UNSET


CAPITALS = {"id": "ID", "ids": "IDs", "pl": "PL", "nav": "NAV", "vwap": "VWAP"}
"""Words that the wire writes in capitals, unless they come first."""


def wire_name(name: str) -> str:
    """The member's name on the wire."""
    first, *others = name.rstrip("_").split("_")
    return first + "".join(CAPITALS.get(word) or word.capitalize() for word in others)


ALTERNATIVE_SPELLINGS: Final = {"NAV": ("nav",)}
"""Members that services spell in more than one way: the other spellings."""


def accepted_names(field: FieldInfo) -> tuple[str, ...]:
    """The names that a member may have on the wire; it is written under the first."""
    alias = field.validation_alias
    return (alias, *ALTERNATIVE_SPELLINGS.get(alias, ())) if isinstance(alias, str) else ()


def enum_values(kind: object) -> tuple[str, ...]:
    """The words that an enumeration is known to have."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    return next((found for part in get_args(kind) if (found := enum_values(part))), ())


def validate_choice(field: str, value: object, known: tuple[str, ...]) -> str:
    """The word; InvalidRequest, naming the known ones, for any other."""
    if isinstance(value, str) and value in known:
        return value
    raise InvalidRequest(f"{field}: {str(value)[:20]!r} is none of {', '.join(known)}", field=field)


def unknown_type(*known: object) -> AfterValidator:
    """Accepts a `type` that none of the known records has.

    Without it a known record with one bad member would pass as an unknown one, and a fill would not be seen as a fill.
    """
    enum_values = frozenset(
        kind.model_fields["type"].default for union in known for kind in get_args(union)
    )

    def refuse_known(word: str) -> str:
        if word in enum_values:
            raise ValueError(f"{word} is known, so its record must be readable")
        return word

    return AfterValidator(refuse_known)
