"""Names and enumerations of the wire: member names in both spellings, and known values."""

from typing import Final, Literal, get_args, get_origin

from pydantic import AfterValidator
from pydantic.fields import FieldInfo

CAPITALS: Final = {"id": "ID", "ids": "IDs", "pl": "PL", "nav": "NAV", "vwap": "VWAP"}
"""Words that the wire writes in capitals, unless they come first."""
ALTERNATIVE_SPELLINGS: Final = {"NAV": ("nav",)}
"""Other wire names that some services use for a member."""


def wire_name(name: str) -> str:
    """Return the wire name of a member: `unrealizedPL` for `unrealized_pl`."""
    first, *others = name.rstrip("_").split("_")
    return first + "".join(CAPITALS.get(word) or word.capitalize() for word in others)


def accepted_names(field: FieldInfo) -> tuple[str, ...]:
    """Return the wire names under which a member is read; it is written under the first."""
    alias = field.validation_alias
    return (alias, *ALTERNATIVE_SPELLINGS.get(alias, ())) if isinstance(alias, str) else ()


def enum_values(kind: object) -> tuple[str, ...]:
    """Return the known values of an enumeration, however its Literals are annotated and joined."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(value for part in get_args(kind) for value in enum_values(part))


def unknown_type(*known: object) -> AfterValidator:
    """Return a validator that accepts every `type` except those of the known records.

    Without it, a known record with one broken member would be read as an unknown one, and a fill would not be seen as
    a fill.
    """
    types = frozenset(
        kind.model_fields["type"].default for union in known for kind in get_args(union)
    )

    def refuse_known(value: str) -> str:
        if value in types:
            raise ValueError(f"{value} has a record of its own")
        return value

    return AfterValidator(refuse_known)
