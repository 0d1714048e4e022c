"""Classify the answer to a request, or the transactions that a look-up found, as an outcome."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Final, TypeAlias, cast

from keydesk_client.errors import (
    HttpStatusError,
    InvalidRequest,
    KeydeskClientError,
    MissingMember,
    RateLimited,
    Refused,
    UnreadableAnswer,
    message_of,
)
from keydesk_client.models._core.json import JsonValue
from keydesk_client.models.responses import (
    OrderCancelResponse,
    OrderCreateResponse,
    OrderReplaceResponse,
    PositionCloseResponse,
    TradeCloseResponse,
    TradeDependentOrdersResponse,
)
from keydesk_client.models.transactions.fills import OrderCancelTransaction, OrderFillTransaction
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.orders.outcome import (
    NO_TRANSACTION,
    Action,
    Done,
    Intent,
    NotSent,
    OrderResult,
    Rejected,
    Unknown,
)

WriteResponse: TypeAlias = (
    OrderCreateResponse
    | OrderReplaceResponse
    | OrderCancelResponse
    | TradeCloseResponse
    | PositionCloseResponse
    | TradeDependentOrdersResponse
)

EDITS: Final = frozenset({Action.CANCEL, Action.SET_DEPENDENT_ORDERS})
"""Actions that are done when they took effect: no order of theirs fills or rests."""
REQUEST_TIMEOUT: Final = 408
"""The one 4xx status that refuses nothing: a proxy stopped waiting for the request."""
TERMS: Final = ("instrument", "units", "price", "distance", "tradeID", "priceBound")
"""The members that tell one order from another."""


def outcome_of_answer(intent: Intent, answer: WriteResponse) -> Done | Unknown:
    """Return the outcome that a success answer reports; Unknown when it does not report it."""
    try:
        return _done_by_answer(intent, answer)
    except MissingMember as error:
        return Unknown(intent, f"the answer is incomplete: {error}", request_id=answer.request_id)


def outcome_of_error(intent: Intent, error: KeydeskClientError) -> Rejected | NotSent | Unknown:
    """Return the outcome of a request that ended with an error."""
    message = message_of(error)
    if not error.sent or (isinstance(error, RateLimited) and error.settled):
        field = error.field if isinstance(error, InvalidRequest) else ""
        retry_after = error.retry_after if isinstance(error, HttpStatusError) else None
        return NotSent(intent, message, field, retry_after)
    if isinstance(error, Refused) and error.settled:
        return Rejected(
            intent=intent,
            message=error.error_message,
            error_code=error.error_code,
            reject_reason=error.reject_reason,
            transactions=cast("tuple[Transaction, ...]", error.reject_transactions),
            status=error.status,
            request_id=error.request_id,
            last_transaction_id=error.last_transaction_id or NO_TRANSACTION,
            related_transaction_ids=error.related_transaction_ids,
        )
    request_id = error.request_id if isinstance(error, HttpStatusError | UnreadableAnswer) else ""
    return Unknown(intent, message, request_id=request_id)


def _done_by_answer(intent: Intent, answer: WriteResponse) -> Done:
    transactions = _transactions_in(answer)
    is_edit = intent.action in EDITS
    became, reason = (OrderResult.APPLIED, "") if is_edit else became_of(transactions)
    if became is OrderResult.RESTING and not any(_can_rest(each) for each in transactions):
        raise MissingMember("it does not show what the order became")
    return Done(
        intent=intent,
        result=became,
        transactions=transactions,
        reason=reason,
        order_id=None if is_edit else _created_order_id(transactions),
        related_transaction_ids=answer.related_transaction_ids,
        last_transaction_id=answer.last_transaction_id,
        request_id=answer.request_id,
    )


def done_by_transactions(
    intent: Intent, origin: Transaction, since: Sequence[Transaction]
) -> Done | None:
    """Return the outcome of the request that made `origin`; None while the rest of its batch is missing.

    `since` are the account's transactions after the intent.
    """
    batch = batch_of(origin, since)
    transactions = _with_later_transactions(batch, since)
    result = _became_when_complete(intent, transactions)
    if result is None:
        return None
    became, reason = result
    return Done(
        intent=intent,
        result=became,
        transactions=transactions,
        reason=reason,
        order_id=None if became is OrderResult.APPLIED else _created_order_id(transactions),
        related_transaction_ids=tuple(each.id for each in batch),
        last_transaction_id=since[-1].id,
        looked_up=True,
    )


def rejected_by_transaction(intent: Intent, refusal: Transaction) -> Rejected:
    """Return the outcome that a reject transaction reports."""
    reason = text(refusal, "reject_reason") or refusal.type
    return Rejected(
        intent=intent,
        message=reason,
        error_code=reason,
        reject_reason=reason,
        transactions=(refusal,),
        related_transaction_ids=(refusal.id,),
        last_transaction_id=refusal.id,
        looked_up=True,
    )


def became_of(transactions: Iterable[Transaction]) -> tuple[OrderResult, str]:
    """Return what the orders among these transactions became, and the reason if one was cancelled."""
    transactions = tuple(transactions)
    orders = {
        each.id for each in transactions if creates_order(each) and not _is_created_on_fill(each)
    }
    fills = [each for each in transactions if isinstance(each, OrderFillTransaction)]
    cancels = [each for each in transactions if isinstance(each, OrderCancelTransaction)]
    own_cancels = (each for each in cancels if each.order_id in orders)
    reason = next((text(each, "reason") or each.type for each in own_cancels), "")
    if any(each.order_id in orders for each in fills):
        return OrderResult.FILLED, reason
    return (OrderResult.CANCELLED, reason) if reason else (OrderResult.RESTING, "")


def batch_of(origin: Transaction, since: Sequence[Transaction]) -> tuple[Transaction, ...]:
    """Return the transactions that one request made at once, among those in `since`."""
    batch = batch_id(origin)
    successor = text(origin, "replaced_by_order_id")
    return tuple(
        each
        for each in since
        if each is origin or each.id == successor or text(each, "batch_id") == batch
    )


def batch_id(transaction: Transaction) -> str:
    """Return the id of the batch of a transaction: of the first transaction that its request made."""
    return text(transaction, "batch_id") or transaction.id


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


def has_terms(
    transaction: Transaction, body: Mapping[str, JsonValue], members: Iterable[str] = TERMS
) -> bool:
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


def _transactions_in(answer: WriteResponse) -> tuple[Transaction, ...]:
    """Return the transactions of an answer in the order of their ids; reissues belong to other requests' orders."""
    values = (getattr(answer, name) for name in _transaction_members(type(answer)))
    return tuple(sorted((each for each in values if each is not None), key=_number))


@cache
def _transaction_members(kind: type[WriteResponse]) -> tuple[str, ...]:
    members = kind.model_fields
    return tuple(
        each for each in members if each.endswith("_transaction") and "reissue" not in each
    )


def _number(transaction: Transaction) -> int:
    return int(transaction.id)


def _became_when_complete(
    intent: Intent, transactions: Sequence[Transaction]
) -> tuple[OrderResult, str] | None:
    """Return what the request became, and the reason; None while the rest of the batch is missing."""
    if intent.action in EDITS:
        return OrderResult.APPLIED, ""
    orders = [each for each in transactions if creates_order(each)]
    if not orders:  # a replacement of which only the cancel took effect
        reasons = (text(each, "reject_reason") for each in transactions)
        return next(((OrderResult.CANCELLED, reason) for reason in reasons if reason), None)
    ended = {text(each, "order_id") for each in transactions}
    is_open = any(each.type == "MARKET_ORDER" and each.id not in ended for each in orders)
    if is_open or len(orders) < len(intent.closed_sides):  # market orders never rest
        return None
    return became_of(transactions)


def _with_later_transactions(
    batch: Sequence[Transaction], since: Sequence[Transaction]
) -> tuple[Transaction, ...]:
    """Return a batch and the later transactions of the orders that it created."""
    ids = {each.id for each in batch}
    orders = {each.id for each in batch if creates_order(each)}
    return tuple(each for each in since if each.id in ids or text(each, "order_id") in orders)


def _created_order_id(transactions: Iterable[Transaction]) -> str | None:
    return next((each.id for each in transactions if creates_order(each)), None)


def _is_created_on_fill(transaction: Transaction) -> bool:
    """Whether the transaction creates a dependent order on fill; its fate does not decide the outcome."""
    return text(transaction, "reason") == "ON_FILL"


def _can_rest(transaction: Transaction) -> bool:
    return creates_order(transaction) and transaction.type != "MARKET_ORDER"


def _finite_number(value: object) -> Decimal | None:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None  # comparing with a signaling NaN raises
