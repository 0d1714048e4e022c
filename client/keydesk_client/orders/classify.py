"""Classify the answer to a request, or the transactions that a look-up found, as an outcome."""

from collections.abc import Iterable, Sequence
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
from keydesk_client.resources.answers import creates_order, text, transaction_members

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


def _transactions_in(answer: WriteResponse) -> tuple[Transaction, ...]:
    """Return the transactions of an answer in the order of their ids; reissues belong to other requests' orders."""
    values = (getattr(answer, name) for name in transaction_members(type(answer)))
    return tuple(sorted((each for each in values if each is not None), key=_number))


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
