"""Whether a record says what was asked for: members by name, quantities by value rather than by spelling."""

from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Final

from keydesk_client.models._core.json_values import JsonValue
from keydesk_client.models.transactions.unions import Transaction

TERMS: Final = ("instrument", "units", "price", "distance", "tradeID", "priceBound")
"""What makes one order differ from another."""


def text(record: object, member: str) -> str | None:
    """A member that is text; None when the record has none, or was sent without it."""
    value = getattr(record, member, None)  # MissingMember is an AttributeError
    return value if isinstance(value, str) else None


def names(specifier: str, record: object, member: str, client_member: str) -> bool:
    """Whether a specifier, an id or `@` and a client id, means what the record names."""
    if specifier.startswith("@"):
        return specifier[1:] == text(record, client_member)
    return specifier == text(record, member)


def same_quantity(asked: object, said: object) -> bool:
    """Whether two quantities are equal: 1.20 is 1.2, ALL is ALL, and nothing equals what is not there."""
    if asked is None or said is None:
        return False
    return asked == said or _finite_number(asked) == _finite_number(said) is not None


def asked_for(
    body: Mapping[str, JsonValue], transaction: Transaction, members: Iterable[str] = TERMS
) -> bool:
    """Whether the transaction has the kind and the terms of a request."""
    made = transaction.to_wire()
    kind = body.get("type")
    if kind is not None and made.get("type") not in {f"{kind}_ORDER", f"{kind}_ORDER_REJECT"}:
        return False
    asked = {member: body[member] for member in members if body.get(member) is not None}
    return all(same_quantity(value, made.get(member)) for member, value in asked.items())


def _finite_number(value: object) -> Decimal | None:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None  # comparing with a signaling NaN raises
