"""How a member is called in Python and on the wire: `unrealized_pl` is `unrealizedPL`."""

CAPITALS = {"id": "ID", "ids": "IDs", "pl": "PL", "nav": "NAV", "vwap": "VWAP"}
"""Words that the wire writes in capitals, unless they come first."""


def wire_name(name: str) -> str:
    """The member's name on the wire."""
    first, *others = name.rstrip("_").split("_")
    return first + "".join(CAPITALS.get(word) or word.capitalize() for word in others)
