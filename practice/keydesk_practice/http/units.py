"""How many units to close: `ALL`, `NONE` where the interface has it, or a positive number."""

from decimal import Decimal
from typing import Literal

from keydesk_practice.http.members import Members
from keydesk_practice.http.refusals import invalid


def read_close_units(body: Members, member: str) -> Literal["ALL"] | Decimal:
    """Return the units of a trade close; `ALL` when the member is left out."""
    if body.values.get(member) in (None, "ALL"):
        return "ALL"
    units = body.decimal(member)
    if units is None or units <= 0:
        raise invalid(body.name(member))
    return units


def read_side_units(body: Members, member: str) -> Literal["ALL", "NONE"] | Decimal | None:
    """Return the units of one side of a position close; None when the side is not asked."""
    value = body.values.get(member)
    if value == "ALL":
        return "ALL"
    if value == "NONE":
        return "NONE"
    units = body.decimal(member)
    if units is not None and units <= 0:
        raise invalid(body.name(member))
    return units
