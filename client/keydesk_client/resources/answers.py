"""Tell whether a transaction is the effect or the refusal of a write, by the target and the body of its request.

A broken proxy may bring the answer to one request as that to another. So each write compares the transactions of its
answer, and the look-up of a lost answer those of the account, with what was sent: the client id of a new order, or its
terms when it has none; the order, trade or instrument that is changed.
"""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Final, TypeAlias, cast

from keydesk_client.errors import HttpStatusError
from keydesk_client.models._core.json import JsonValue
from keydesk_client.models._core.record import Response
from keydesk_client.models.transactions.base import TransactionIdentity
from keydesk_client.models.transactions.unions import Transaction

Body: TypeAlias = Mapping[str, JsonValue]
"""The JSON object of a request; of an order, what stands inside `order`."""
Comparison: TypeAlias = Callable[[str, Body, Transaction], bool]
"""Whether a transaction is about what a request names: its target, "" for a new order, and its body."""

DEPENDENT_ORDERS: Final = {
    "takeProfit": "TAKE_PROFIT_ORDER",
    "stopLoss": "STOP_LOSS_ORDER",
    "trailingStopLoss": "TRAILING_STOP_LOSS_ORDER",
    "guaranteedStopLoss": "GUARANTEED_STOP_LOSS_ORDER",
}
TERMS: Final = ("instrument", "units", "price", "distance", "tradeID", "priceBound")
"""The members that tell one order from another."""


def is_answer(
    answer: Response | HttpStatusError, account_id: str, is_own: Callable[[Transaction], bool]
) -> bool:
    """Whether an answer names what its request names: one of its transactions does, in the same account.

    A refusal without reject transactions names nothing.
    """
    found: Iterable[object]
    if isinstance(answer, Response):
        found = (getattr(answer, name, None) for name in transaction_members(type(answer)))
    elif answer.reject_transactions:
        found = answer.reject_transactions
    else:
        return True
    return any(
        isinstance(each, TransactionIdentity)
        and text(each, "account_id") in {None, account_id}
        and is_own(cast("Transaction", each))
        for each in found
    )


def is_new_order(_target: str, body: Body, each: Transaction) -> bool:
    """Whether a transaction creates or refuses the order of a body."""
    expected = client_id_in(body)
    client_id = client_id_of(each)
    if expected is not None:
        return client_id == expected
    # On an account without client ids, an order with one is not ours.
    is_own = client_id is None and text(each, "reason") == "CLIENT_ORDER"
    return is_own and has_terms(each, body)


def is_target_order(target: str, _body: Body, each: Transaction) -> bool:
    """Whether a transaction changes or ends the order that a request names."""
    return is_named(target, each, "order_id", "client_order_id")


def is_target_trade(target: str, _body: Body, each: Transaction) -> bool:
    """Whether a transaction changes the trade that a request names."""
    return is_named(target, each, "trade_id", "client_trade_id")


def is_replaced_order(target: str, body: Body, each: Transaction) -> bool:
    """Whether a transaction ends the order that a request replaces, or refuses the replacement."""
    if not each.type.endswith("_ORDER_REJECT"):
        return is_target_order(target, body, each)
    replaces = text(each, "intended_replaces_order_id")
    if target.startswith("@"):  # the reject names the order only by its id
        return replaces is not None and has_terms(each, body)
    return replaces == target


def is_trade_close(target: str, body: Body, each: Transaction) -> bool:
    """Whether a transaction creates or refuses the market order that closes a trade, or as much of it."""
    close = getattr(each, "trade_close", None)
    return is_named(target, close, "trade_id", "client_trade_id") and is_same_quantity(
        body.get("units"), text(close, "units")
    )


def is_position_close(target: str, body: Body, each: Transaction) -> bool:
    """Whether a transaction creates or refuses a market order that closes a side of a position."""
    return any(_is_side_close(target, body, each, side) for side in closed_sides(body))


def is_dependent_order(target: str, body: Body, each: Transaction) -> bool:
    """Whether a transaction creates or refuses a dependent order of a body."""
    if not is_target_trade(target, body, each):
        return False
    if text(each, "reason") == "ON_FILL":  # came with the trade
        return False
    order_type = each.type.removesuffix("_REJECT")
    return any(
        isinstance(details, dict)
        and order_type == DEPENDENT_ORDERS[member]
        and has_terms(each, details, ("price", "distance"))
        for member, details in body.items()
    )


def is_dependent_edit(target: str, body: Body, each: Transaction) -> bool:
    """Whether a transaction is of an edit of dependent orders: a cancel names its order and not the trade."""
    if each.type in {"ORDER_CANCEL", "ORDER_CANCEL_REJECT"}:
        return None in body.values()
    return is_dependent_order(target, body, each)


def is_configuration(_target: str, body: Body, each: Transaction) -> bool:
    """Whether a transaction sets, or refuses to set, the alias and the margin rate of a body."""
    alias, rate = body.get("alias"), body.get("marginRate")
    return (
        each.type.startswith("CLIENT_CONFIGURE")
        and (alias is None or alias == (text(each, "alias") or ""))
        and (rate is None or is_same_quantity(rate, getattr(each, "margin_rate", None)))
    )


def closed_sides(body: Body) -> tuple[str, ...]:
    """Return the sides of a position, "long" and "short", that a body closes."""
    units = ((side, body.get(f"{side}Units")) for side in ("long", "short"))
    return tuple(side for side, size in units if isinstance(size, str) and size != "NONE")


def client_id_in(body: Body, member: str = "clientExtensions") -> str | None:
    """Return the client id in client extensions of a body, if it has one."""
    extensions = body.get(member)
    client_id = extensions.get("id") if isinstance(extensions, dict) else None
    return client_id if isinstance(client_id, str) else None


@cache
def transaction_members(kind: type[Response]) -> tuple[str, ...]:
    """Return the names of the transactions of an answer; reissues belong to other requests' orders."""
    members = kind.model_fields
    return tuple(
        each for each in members if each.endswith("_transaction") and "reissue" not in each
    )


def creates_order(transaction: Transaction) -> bool:
    """Whether the transaction creates an order, whose id is the transaction's."""
    return transaction.type.endswith("_ORDER")


def text(record: object, member: str) -> str | None:
    """Return a member that is a string; None when the record lacks it or was sent without it."""
    value = getattr(record, member, None)  # MissingMember is an AttributeError
    return value if isinstance(value, str) else None


def client_id_of(record: object) -> str | None:
    """Return the client id of an order, a trade or a transaction that creates an order; None when it has none."""
    return text(getattr(record, "client_extensions", None), "id")


def is_named(specifier: str, record: object, member: str, client_member: str) -> bool:
    """Whether a specifier, an id or `@` and a client id, names what a record names in one of two members."""
    if specifier.startswith("@"):
        return specifier[1:] == text(record, client_member)
    return specifier == text(record, member)


def has_terms(transaction: Transaction, body: Body, members: Iterable[str] = TERMS) -> bool:
    """Whether a transaction has the order type and the terms of a request's body."""
    wire = transaction.to_wire()
    kind = body.get("type")
    if kind is not None and wire.get("type") not in {f"{kind}_ORDER", f"{kind}_ORDER_REJECT"}:
        return False
    terms = {member: body[member] for member in members if body.get(member) is not None}
    return all(is_same_quantity(value, wire.get(member)) for member, value in terms.items())


def is_same_quantity(one: object, other: object) -> bool:
    """Whether two quantities are equal by value: 1.20 is 1.2, ALL is ALL, and None equals nothing."""
    if one is None or other is None:
        return False
    return one == other or _finite_number(one) == _finite_number(other) is not None


def is_quantity(value: object) -> bool:
    """Whether a value is a quantity: ALL, or a number."""
    return value == "ALL" or _finite_number(value) is not None


def _is_side_close(target: str, body: Body, each: Transaction, side: str) -> bool:
    close = getattr(each, f"{side}_position_closeout", None)
    return (
        text(close, "instrument") == target
        and is_same_quantity(body.get(f"{side}Units"), text(close, "units"))
        and client_id_in(body, f"{side}ClientExtensions") in {None, client_id_of(each)}
    )


def _finite_number(value: object) -> Decimal | None:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None  # comparing with a signaling NaN raises
