"""Which transactions an intent made: the answer was lost, the account's history was not.

A new order, and each order that closes a side of a position, is found by its client id. What carries none is found by
what it is about and what was asked: the order that was replaced or cancelled, the trade that was closed and by how
much, the protection that was set; on an account that takes no client ids, the terms of the new order, the position and
how much of it was closed. Transactions that another intent claimed are not taken
twice. Only an id that was made for this one order is beyond confusion: it is found whoever claims what, also where an
account's history has begun anew and its numbers with it.

What may as well have been made by another open intent of the journal is taken for this one's only when every way of
giving each request at most one batch, and each batch a request, gives it to this one. Otherwise the outcome is
Ambiguous. Where an answer told at least the service's id of the request, the transactions that repeat it are its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from keydesk_client.attribution import possible_batches
from keydesk_client.became import became_of, created_order_id, creates_order
from keydesk_client.content import asked_for, names, same_quantity, text
from keydesk_client.intent import Action, Intent
from keydesk_client.models.orders import Order
from keydesk_client.models.reasons import OrderCancelReason
from keydesk_client.models.transactions.cancels import OrderCancelTransaction
from keydesk_client.models.transactions.fills import OrderFillTransaction
from keydesk_client.models.transactions.unions import Transaction, UnknownTransaction
from keydesk_client.outcome import Ambiguous, Became, Done, Rejected

Endings = Mapping[str, Order]
"""Ended orders by id, as far as they had to be read to know what they were."""
Claimed = Mapping[str, str]
"""Transactions that intents made, each with the intent's id."""


@dataclass(frozen=True, slots=True)
class Context:
    """What is known beside the transactions when an intent is matched with them."""

    claimed: Claimed
    rivals: tuple[Intent, ...]
    """Other intents that may have made any transaction: of this process and of every one that shares the journal."""
    shared: Mapping[str, frozenset[str]]
    """Intents that ended as Ambiguous, each with the transactions of which some are its own."""
    request_id: str = ""
    """The service's id of this intent's request, where its answer told that much."""


DEPENDENTS: Final = {
    "takeProfit": "TAKE_PROFIT",
    "stopLoss": "STOP_LOSS",
    "trailingStopLoss": "TRAILING_STOP_LOSS",
    "guaranteedStopLoss": "GUARANTEED_STOP_LOSS",
}
CANCELLED_BY_CLIENT: Final = "CLIENT_REQUEST"
REPLACED: Final = "CLIENT_REQUEST_REPLACED"
CANCEL_REASONS: Final = frozenset[str](get_args(get_args(get_args(OrderCancelReason)[0])[0]))


def verdict(
    intent: Intent,
    transactions: Sequence[Transaction],
    context: Context,
    endings: Endings | None = None,
) -> Done | Rejected | Ambiguous | None:
    """What became of the intent, or None while its transactions are not all there."""
    since = [each for each in transactions if int(each.id) > intent.since]
    endings = endings or {}
    named = [each for each in since if _repeats_request_id(intent, each, context.request_id)]
    own = _origins(intent, named, since, context.claimed, endings)
    if own or names_itself(intent):
        origins = own or _origins(intent, since, since, context.claimed, endings)
        return _first_finding(intent, origins, since)
    makers = _makers(intent, since, context, endings)
    batches, may_be_none = possible_batches(makers, intent.id)
    if not batches:
        return _too_late(intent, since)
    origins = _origins(intent, since, since, context.claimed, endings)
    if len(batches) == 1 and not may_be_none:
        return _finding(intent, origins[batches[0]], since)
    return _ambiguous(intent, [origins[batch] for batch in batches], since, makers)


def _first_finding(
    intent: Intent, origins: Mapping[str, Transaction], since: Sequence[Transaction]
) -> Done | Rejected | None:
    """What the first batch that was not refused came to, or else the first refusal."""
    if not origins:
        return _too_late(intent, since)
    made = (each for each in origins.values() if not _refused(intent, each))
    return _finding(intent, next(made, next(iter(origins.values()))), since)


def _finding(
    intent: Intent, origin: Transaction, since: Sequence[Transaction]
) -> Done | Rejected | None:
    return _rejected(intent, origin) if _refused(intent, origin) else _done(intent, origin, since)


def _ambiguous(
    intent: Intent,
    origins: Sequence[Transaction],
    since: Sequence[Transaction],
    makers: Mapping[str, frozenset[str]],
) -> Ambiguous | None:
    """All that this request may have done; None while the rest of a batch is still to come."""
    findings = [_finding(intent, origin, since) for origin in origins]
    known = tuple(found for found in findings if found is not None)
    if len(known) < len(findings):
        return None
    requests = frozenset[str]().union(*makers.values())
    are_all_found = len(makers) >= len(requests)
    is_complete = are_all_found or _too_late(intent, since) is not None
    like = tuple(sorted(requests - {intent.id}))
    return Ambiguous(intent, known, like, is_complete, are_all_found)


def _makers(
    intent: Intent, since: Sequence[Transaction], context: Context, endings: Endings
) -> dict[str, frozenset[str]]:
    """For each batch that bears on this intent, the intents that may have made it.

    Those that this intent may have made, those that their other possible makers may have made, and so on.
    """
    rivals = [each for each in context.rivals if _may_be_confused(intent, each)]
    batches_of = {
        each.id: _origins(each, since, since, context.claimed, endings).keys()
        for each in (intent, *rivals)
    }
    makers: dict[str, frozenset[str]] = {}
    reached, pending = {intent.id}, [intent.id]
    while pending:
        for batch in batches_of[pending.pop()]:
            beside = frozenset(name for name, batches in batches_of.items() if batch in batches)
            makers[batch] = beside
            pending += beside - reached
            reached |= beside
    ids: dict[str, set[str]] = {batch: set() for batch in makers}
    for each in since:
        ids.get(_batch_id(each), set()).add(each.id)
    sharing = {name: shared for name, shared in context.shared.items() if name != intent.id}
    return {
        batch: names | {name for name, shared in sharing.items() if ids[batch] & shared}
        for batch, names in makers.items()
    }


def _may_be_confused(intent: Intent, other: Intent) -> bool:
    """Whether both may be about the same thing, by ids that the account's transactions do not repeat."""
    if other.id == intent.id or names_itself(other):
        return False
    is_one_account = None in {intent.account_id, other.account_id} or (
        intent.account_id == other.account_id
    )
    is_one_target = intent.target == other.target or "@" in {intent.target[:1], other.target[:1]}
    return is_one_account and is_one_target


def _origins(
    intent: Intent,
    among: Sequence[Transaction],
    since: Sequence[Transaction],
    claimed: Claimed,
    endings: Endings,
) -> dict[str, Transaction]:
    """For each batch that the intent may have made, the transaction that tells so."""
    found: dict[str, Transaction] = {}
    fresh = [
        each for each in among if int(each.id) > intent.since and _may_be_its(intent, each, claimed)
    ]
    for each in fresh:
        if _made(intent, each, endings) and not _anothers(intent, each, since):
            found.setdefault(_batch_id(each), each)
    for each in fresh:
        if _refused(intent, each):
            found.setdefault(_batch_id(each), each)
    return dict(sorted(found.items(), key=lambda item: int(item[1].id)))


def _batch_id(each: Transaction) -> str:
    return text(each, "batch_id") or each.id


def _repeats_request_id(intent: Intent, each: Transaction, request_id: str) -> bool:
    """Whether a transaction names the request that made it, by the service's id or by ours."""
    named = text(each, "request_id")
    if named is not None and named in {request_id, intent.id}:
        return True
    return each.unknown.get("clientRequestID") == intent.id


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
    cancels = (each for each in transactions if _is_cancel(each, CANCELLED_BY_CLIENT))
    ended = (text(each, "order_id") for each in cancels if int(each.id) > intent.since)
    return tuple(order_id for order_id in ended if order_id is not None)


def _may_be_its(intent: Intent, each: Transaction, claimed: Claimed) -> bool:
    return names_itself(intent) or claimed.get(each.id, intent.id) == intent.id


def names_itself(intent: Intent) -> bool:
    """Whether the account's transactions repeat an id that this request alone carries."""
    has_own_id = intent.action is Action.CREATE and intent.client_id == intent.id
    return has_own_id or _names_its_sides(intent)


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
    named = _client_id(each)
    if (
        intent.client_id is None
    ):  # an account that takes no client ids: an order with one is somebody else's
        ours = named is None and text(each, "reason") == "CLIENT_ORDER"
        return ours and asked_for(intent.body, each)
    return named == intent.client_id


def _cancels(intent: Intent, each: Transaction, reason: str) -> bool:
    return _is_cancel(each, reason) and names(intent.target, each, "order_id", "client_order_id")


def _is_cancel(each: Transaction, reason: str) -> bool:
    return isinstance(each, OrderCancelTransaction) and text(each, "reason") == reason


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
    return any(_closes_side(intent, each, side) for side in _sides(intent))


def _sides(intent: Intent) -> tuple[str, ...]:
    """The sides of a position that are to be closed."""
    asked = ((side, intent.body.get(f"{side}Units")) for side in ("long", "short"))
    return tuple(side for side, units in asked if isinstance(units, str) and units != "NONE")


def _closes_side(intent: Intent, each: Transaction, side: str) -> bool:
    close = getattr(each, f"{side}_position_closeout", None)
    return (
        text(close, "instrument") == intent.target
        and same_quantity(intent.body.get(f"{side}Units"), text(close, "units"))
        and intent.side_id(side) in {None, _client_id(each)}
    )


def _names_its_sides(intent: Intent) -> bool:
    """Whether the orders that close a position carry ids; older journals and linked accounts have none."""
    return any(intent.side_id(side) is not None for side in _sides(intent))


def _client_id(each: Transaction) -> str | None:
    return text(getattr(each, "client_extensions", None), "id")


def _protects(intent: Intent, each: Transaction, ending: str) -> bool:
    if not names(intent.target, each, "trade_id", "client_trade_id"):
        return False
    if text(each, "reason") == "ON_FILL":  # came with the trade
        return False
    return any(
        isinstance(details, dict)
        and each.type == DEPENDENTS[member] + ending
        and asked_for(details, each, ("price", "distance"))
        for member, details in intent.body.items()
    )


def _unprotects(intent: Intent, each: Transaction, endings: Endings) -> bool:
    order_id = text(each, "order_id") if _is_cancel(each, CANCELLED_BY_CLIENT) else None
    order = None if order_id is None else endings.get(order_id)
    kinds = {DEPENDENTS[member] for member, details in intent.body.items() if details is None}
    return (
        order is not None
        and order.type in kinds
        and names(intent.target, order, "trade_id", "client_trade_id")
    )


def _done(intent: Intent, origin: Transaction, since: Sequence[Transaction]) -> Done | None:
    batch = _batch(origin, since)
    family = _family(batch, since)
    told = _became(intent, family)
    if told is None:
        return None
    became, reason = told
    return Done(
        intent=intent,
        became=became,
        transactions=family,
        reason=reason,
        order_id=None if became is Became.APPLIED else created_order_id(family),
        related_transaction_ids=tuple(each.id for each in batch),
        last_transaction_id=int(since[-1].id),
        looked_up=True,
    )


def _became(intent: Intent, family: Sequence[Transaction]) -> tuple[Became, str] | None:
    """What it came to, and why if it came to nothing; None while the rest of the batch is still to come."""
    if intent.action in {Action.CANCEL, Action.SET_DEPENDENT_ORDERS}:
        return Became.APPLIED, ""
    orders = [each for each in family if creates_order(each)]
    if not orders:  # a replacement of which only the cancel took effect
        reasons = (text(each, "reject_reason") for each in family)
        return next(((Became.CANCELLED, reason) for reason in reasons if reason), None)
    over = {text(each, "order_id") for each in family}
    rests = any(each.type == "MARKET_ORDER" and each.id not in over for each in orders)
    if rests or len(orders) < len(_sides(intent)):  # market orders never rest
        return None
    return became_of(family)


def _batch(origin: Transaction, since: Sequence[Transaction]) -> tuple[Transaction, ...]:
    """What the request made at once."""
    batch = text(origin, "batch_id") or origin.id
    successor = text(origin, "replaced_by_order_id")
    return tuple(
        each
        for each in since
        if each is origin or each.id == successor or text(each, "batch_id") == batch
    )


def _family(batch: Sequence[Transaction], since: Sequence[Transaction]) -> tuple[Transaction, ...]:
    """The batch that a request made, and what became of its orders later."""
    made = {each.id for each in batch}
    orders = {each.id for each in batch if creates_order(each)}
    return tuple(each for each in since if each.id in made or text(each, "order_id") in orders)


def _anothers(intent: Intent, origin: Transaction, since: Sequence[Transaction]) -> bool:
    """Whether the order was replaced by one that this intent did not ask for."""
    if intent.action is not Action.REPLACE:
        return False
    orders = (each for each in _batch(origin, since) if creates_order(each))
    successor = text(origin, "replaced_by_order_id")
    return not all(asked_for(intent.body, each) for each in orders if successor in {None, each.id})


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
    foreign = {each.id for each in since if isinstance(each, UnknownTransaction)}
    for each in since:
        how = _ended(intent, each)
        if how is not None and text(each, "order_id") not in foreign:  # may be its own order
            number = int(each.id)
            return Rejected(intent, how, last_transaction_id=number, looked_up=True)
    return None


def _ended(intent: Intent, each: Transaction) -> str | None:
    reason = text(each, "reason") or each.type
    match intent.action, each:
        case ((Action.CANCEL | Action.REPLACE), OrderFillTransaction()):
            filled = names(intent.target, each, "order_id", "client_order_id")
            return "the order was filled first" if filled else None
        case ((Action.CANCEL | Action.REPLACE), OrderCancelTransaction()):
            # A reason that nobody knows may be the word for this very request.
            gone = reason in CANCEL_REASONS and names(
                intent.target, each, "order_id", "client_order_id"
            )
            return f"the order ended first: {reason}" if gone else None
        case Action.CLOSE_TRADE, OrderFillTransaction():
            closed = (
                getattr(each, "trades_closed", None) or ()
            )  # MissingMember is an AttributeError
            gone = any(names(intent.target, one, "trade_id", "client_trade_id") for one in closed)
            return f"the trade was closed first: {reason}" if gone else None
        case _:
            return None
