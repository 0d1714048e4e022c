"""From a good answer to its outcome: what a request that was acted on turned into."""

from collections.abc import Iterable
from typing import TypeAlias

from keydesk_client.errors import MissingMember
from keydesk_client.models.responses_orders import (
    OrderCancelResponse,
    OrderCreateResponse,
    OrderReplaceResponse,
)
from keydesk_client.models.responses_positions import PositionCloseResponse
from keydesk_client.models.responses_trades import TradeCloseResponse, TradeDependentOrdersResponse
from keydesk_client.models.transactions.cancels import OrderCancelTransaction
from keydesk_client.models.transactions.fills import OrderFillTransaction
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.orders.content import text
from keydesk_client.orders.intent import Intent
from keydesk_client.orders.outcome import Became, Done

WriteResponse: TypeAlias = (
    OrderCreateResponse
    | OrderReplaceResponse
    | OrderCancelResponse
    | TradeCloseResponse
    | PositionCloseResponse
    | TradeDependentOrdersResponse
)

EDITS = (OrderCancelResponse, TradeDependentOrdersResponse)


def outcome_of(intent: Intent, answer: WriteResponse) -> Done:
    """The outcome that an answer tells; MissingMember when it does not tell it."""
    made = transactions_in(answer)
    is_edit = isinstance(answer, EDITS)
    became, reason = (Became.APPLIED, "") if is_edit else became_of(made)
    if became is Became.RESTING and not any(_rests(each) for each in made):
        raise MissingMember("the answer does not tell what became of the order")
    return Done(
        intent=intent,
        became=became,
        transactions=made,
        reason=reason,
        order_id=None if is_edit else created_order_id(made),
        related_transaction_ids=answer.related_transaction_ids,
        last_transaction_id=int(answer.last_transaction_id),
        request_id=answer.request_id,
    )


def transactions_in(answer: WriteResponse) -> tuple[Transaction, ...]:
    """The transactions that a body holds, in the order of their ids."""
    values = (getattr(answer, name) for name in type(answer).model_fields if _is_one(name))
    return tuple(sorted((each for each in values if each is not None), key=_transaction_number))


def became_of(made: Iterable[Transaction]) -> tuple[Became, str]:
    """What the orders among these transactions came to, and why one was cancelled if one was."""
    made = tuple(made)
    orders = {each.id for each in made if creates_order(each) and not _came_with_a_fill(each)}
    fills = [each for each in made if isinstance(each, OrderFillTransaction)]
    cancels = [each for each in made if isinstance(each, OrderCancelTransaction)]
    ended = (each for each in cancels if each.order_id in orders)
    reason = next((text(each, "reason") or each.type for each in ended), "")
    if any(each.order_id in orders for each in fills):
        return Became.FILLED, reason
    return (Became.CANCELLED, reason) if reason else (Became.RESTING, "")


def created_order_id(made: Iterable[Transaction]) -> str | None:
    """The id of the order among the transactions: that of the one which created it."""
    return next((each.id for each in made if creates_order(each)), None)


def creates_order(transaction: Transaction) -> bool:
    """Whether an order was made by it, and so carries its id."""
    return transaction.type.endswith("_ORDER")


def _came_with_a_fill(transaction: Transaction) -> bool:
    """Whether it protects a trade of another order: its own end is another story."""
    return text(transaction, "reason") == "ON_FILL"


def _rests(transaction: Transaction) -> bool:
    return creates_order(transaction) and transaction.type != "MARKET_ORDER"


def _is_one(name: str) -> bool:
    return name.endswith("_transaction") and "reissue" not in name


def _transaction_number(transaction: Transaction) -> int:
    return int(transaction.id)
