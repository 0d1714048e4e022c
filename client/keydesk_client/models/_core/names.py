"""How a member is called in Python and on the wire: `unrealized_pl` is `unrealizedPL`."""

from typing import Final

from pydantic.fields import FieldInfo

CAPITALS = {"id": "ID", "ids": "IDs", "pl": "PL", "nav": "NAV", "vwap": "VWAP"}
"""Words that the wire writes in capitals, unless they come first."""


def wire_name(name: str) -> str:
    """The member's name on the wire."""
    first, *others = name.rstrip("_").split("_")
    return first + "".join(CAPITALS.get(word) or word.capitalize() for word in others)


ALSO: Final = {"NAV": ("nav",)}
"""Members that services spell in more than one way: the other spellings."""


def spellings(field: FieldInfo) -> tuple[str, ...]:
    """The names that a member may have on the wire; it is written under the first."""
    alias = field.validation_alias
    return (alias, *ALSO.get(alias, ())) if isinstance(alias, str) else ()
