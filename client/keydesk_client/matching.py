"""Which transactions an intent made: the answer was lost, the account's history was not.

A new order is found by its client id. What carries none is found by what it is about and what was asked: the order
that was replaced or cancelled, the trade or position that was closed and by how much, the protection that was set.
Transactions that another intent claimed are not taken twice.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from keydesk_client.became import became_of, created_order_id, creates_order
from keydesk_client.content import asked_for, names, same_quantity, text
from keydesk_client.intent import Action, Intent
from keydesk_client.models.orders import Order
from keydesk_client.models.transactions.cancels import OrderCancelTransaction
from keydesk_client.models.transactions.fills import OrderFillTransaction
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.outcome import Became, Done, Rejected

Endings = Mapping[str, Order]
"""Ended orders by id, as far as they had to be read to know what they were."""

DEPENDENTS: Final = {
    "takeProfit": "TAKE_PROFIT",
    "stopLoss": "STOP_LOSS",
    "trailingStopLoss": "TRAILING_STOP_LOSS",
    "guaranteedStopLoss": "GUARANTEED_STOP_LOSS",
}
CANCELLED_BY_CLIENT: Final = "CLIENT_REQUEST"
REPLACED: Final = "CLIENT_REQUEST_REPLACED"


def verdict(
    intent: Intent,
    transactions: Sequence[Transaction],
    claimed: Collection[str] = (),
    endings: Endings | None = None,
) -> Done | Rejected | None:
    """What became of the intent, or None while its transactions are not all there."""
    since = [each for each in transactions if int(each.id) > intent.since]
    fresh = [each for each in since if each.id not in claimed]
    made = [each for each in fresh if _made(intent, each, endings or {})]
    if made:
        return _done(intent, made[0], since)
    refused = next((each for each in fresh if _refused(intent, each)), None)
    if refused is not None:
        return _rejected(intent, refused)
    return _too_late(intent, since)


def concerns(intent: Intent, transaction: Transaction) -> bool:
    """Whether a transaction says something about what became of the intent."""
    return (
        _made(intent, transaction, {})
        or _refused(intent, transaction)
        or _ended(intent, transaction) is not None
    )


def unclear_cancels(intent: Intent, transactions: Sequence[Transaction]) -> tuple[str, ...]:
    """Orders to read before a verdict: a cancel does not tell whose protection it took away."""
    if intent.action is not Action.SET_DEPENDENT_ORDERS or any(intent.body.values()):
        return ()
    return tuple(
        each.order_id
        for each in transactions
        if isinstance(each, OrderCancelTransaction) and each.reason == CANCELLED_BY_CLIENT
    )


def _made(intent: Intent, each: Transaction, endings: Endings) -> bool:
    match intent.action:
        case Action.CREATE:
            return creates_order(each) and _is_our_order(intent, each)
        case Action.REPLACE:
            return _cancels(intent, each, REPLACED)
        case Action.CANCEL:
            return _cancels(intent, each, CANCELLED_BY_CLIENT)
        case Action.CLOSE_TRADE | Action.CLOSE_POSITION:
            return each.type == "MARKET_ORDER" and _closes(intent, each)
        case Action.SET_DEPENDENT_ORDERS:
            return _protects(intent, each, "_ORDER") or _unprotects(intent, each, endings)


def _refused(intent: Intent, each: Transaction) -> bool:
    match intent.action:
        case Action.CREATE:
            return each.type.endswith("_ORDER_REJECT") and _is_our_order(intent, each)
        case Action.REPLACE:
            return _replacement_refused(intent, each) or _cancel_refused(intent, each)
        case Action.CANCEL:
            return _cancel_refused(intent, each)
        case Action.CLOSE_TRADE | Action.CLOSE_POSITION:
            return each.type == "MARKET_ORDER_REJECT" and _closes(intent, each)
        case Action.SET_DEPENDENT_ORDERS:
            return _protects(intent, each, "_ORDER_REJECT")


def _is_our_order(intent: Intent, each: Transaction) -> bool:
    if intent.client_id is None:  # an account that takes no client ids
        return text(each, "reason") == "CLIENT_ORDER" and asked_for(intent.body, each)
    return text(getattr(each, "client_extensions", None), "id") == intent.client_id


def _cancels(intent: Intent, each: Transaction, reason: str) -> bool:
    return (
        isinstance(each, OrderCancelTransaction)
        and each.reason == reason
        and names(intent.target, each, "order_id", "client_order_id")
    )


def _cancel_refused(intent: Intent, each: Transaction) -> bool:
    return each.type == "ORDER_CANCEL_REJECT" and names(
        intent.target, each, "order_id", "client_order_id"
    )


def _replacement_refused(intent: Intent, each: Transaction) -> bool:
    intended = text(each, "intended_replaces_order_id")
    if intent.target.startswith("@"):  # the refusal names the order by its id alone
        return intended is not None and asked_for(intent.body, each)
    return intended == intent.target


def _closes(intent: Intent, each: Transaction) -> bool:
    if intent.action is Action.CLOSE_TRADE:
        close = getattr(each, "trade_close", None)
        return names(intent.target, close, "trade_id", "client_trade_id") and same_quantity(
            intent.body.get("units"), text(close, "units")
        )
    return _closes_side(intent, each, "long") or _closes_side(intent, each, "short")


def _closes_side(intent: Intent, each: Transaction, side: str) -> bool:
    close = getattr(each, f"{side}_position_closeout", None)
    return text(close, "instrument") == intent.target and same_quantity(
        intent.body.get(f"{side}Units"), text(close, "units")
    )


def _protects(intent: Intent, each: Transaction, ending: str) -> bool:
    if not names(intent.target, each, "trade_id", "client_trade_id"):
        return False
    if text(each, "reason") == "ON_FILL":  # came with the trade
        return False
    return any(
        details is not None
        and each.type == DEPENDENTS[member] + ending
        and asked_for(details, each, ("price", "distance"))
        for member, details in intent.body.items()
    )


def _unprotects(intent: Intent, each: Transaction, endings: Endings) -> bool:
    if not isinstance(each, OrderCancelTransaction) or each.reason != CANCELLED_BY_CLIENT:
        return False
    order = endings.get(each.order_id)
    kinds = {DEPENDENTS[member] for member, details in intent.body.items() if details is None}
    return (
        order is not None
        and order.type in kinds
        and names(intent.target, order, "trade_id", "client_trade_id")
    )


def _done(intent: Intent, origin: Transaction, since: Sequence[Transaction]) -> Done | None:
    family = _family(origin, since)
    is_edit = intent.action in {Action.CANCEL, Action.SET_DEPENDENT_ORDERS}
    became, reason = (Became.APPLIED, "") if is_edit else became_of(family)
    if became is Became.RESTING and any(each.type == "MARKET_ORDER" for each in family):
        return None  # market orders never rest: the rest of the batch is still to come
    return Done(
        intent=intent,
        became=became,
        transactions=family,
        reason=reason,
        order_id=None if is_edit else created_order_id(family),
        related_transaction_ids=tuple(each.id for each in family),
        last_transaction_id=int(since[-1].id),
        looked_up=True,
    )


def _family(origin: Transaction, since: Sequence[Transaction]) -> tuple[Transaction, ...]:
    """The batch that a request made, and what became of its orders later."""
    batch = text(origin, "batch_id") or origin.id
    orders = {each.id for each in since if text(each, "batch_id") == batch and creates_order(each)}
    return tuple(
        each
        for each in since
        if each is origin or text(each, "batch_id") == batch or text(each, "order_id") in orders
    )


def _rejected(intent: Intent, refused: Transaction) -> Rejected:
    reason = text(refused, "reject_reason") or refused.type
    return Rejected(
        intent=intent,
        message=reason,
        error_code=reason,
        reject_reason=reason,
        related_transaction_ids=(refused.id,),
        last_transaction_id=int(refused.id),
        looked_up=True,
    )


def _too_late(intent: Intent, since: Sequence[Transaction]) -> Rejected | None:
    """What it was about ended in another way, so that it can not take effect any more."""
    for each in since:
        how = _ended(intent, each)
        if how is not None:
            number = int(each.id)
            return Rejected(intent, how, last_transaction_id=number, looked_up=True)
    return None


def _ended(intent: Intent, each: Transaction) -> str | None:
    match intent.action, each:
        case ((Action.CANCEL | Action.REPLACE), OrderFillTransaction()):
            filled = names(intent.target, each, "order_id", "client_order_id")
            return "the order was filled first" if filled else None
        case ((Action.CANCEL | Action.REPLACE), OrderCancelTransaction()):
            gone = names(intent.target, each, "order_id", "client_order_id")
            return f"the order ended first: {each.reason}" if gone else None
        case Action.CLOSE_TRADE, OrderFillTransaction():
            closed = each.trades_closed or ()
            gone = any(names(intent.target, one, "trade_id", "client_trade_id") for one in closed)
            return f"the trade was closed first: {each.reason}" if gone else None
        case _:
            return None
