"""Find the transactions that an intent's request made, when its answer was lost.

`RULES` has a row for each action: the types of the transactions that show its effect or its refusal, how they are
compared with the intent, and what may have ended its target first.

A new order, and each order that closes a side of a position, is found by its client id. A request whose id the
transactions do not repeat is found by its target and terms: the order that was replaced or cancelled, the trade that was
closed and by how much, the dependent order that was set; for an account without client ids, the terms of the new order,
the position and how much of it was closed. Transactions that another intent claimed are not taken twice. A client id
made for one order overrides such claims, also after the account's history and its ids have begun anew.

Each request makes at most one batch of transactions, and each batch was made by one request. What another open intent
of the journal may have made as well is this intent's only if every such assignment of batches to requests gives it to
this one. Otherwise the outcome is Ambiguous. When an answer at least had the service's id of the request, the
transactions that repeat it belong to the request.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, get_args

from keydesk_client.models.orders import Order
from keydesk_client.models.reject_reasons import OrderCancelReason, OrderFillReason
from keydesk_client.models.transactions.fills import OrderCancelTransaction, OrderFillTransaction
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.orders.classify import (
    batch_id,
    batch_of,
    done_by_transactions,
    rejected_by_transaction,
)
from keydesk_client.orders.outcome import Action, Ambiguous, Done, Intent, Rejected
from keydesk_client.resources.answers import (
    DEPENDENT_ORDERS,
    Comparison,
    creates_order,
    has_terms,
    is_dependent_order,
    is_named,
    is_new_order,
    is_position_close,
    is_quantity,
    is_replaced_order,
    is_target_order,
    is_trade_close,
    text,
)

CANCELLED_BY_CLIENT: Final = "CLIENT_REQUEST"
REPLACED: Final = "CLIENT_REQUEST_REPLACED"
CANCEL_REASONS: Final = frozenset[str](get_args(get_args(get_args(OrderCancelReason)[0])[0]))
FILL_REASONS: Final = frozenset[str](get_args(get_args(get_args(OrderFillReason)[0])[0]))
MAX_REQUESTS: Final = 6
"""With more identical requests than this, no outcome is concluded: the assignments are too many to try."""

OrdersById: TypeAlias = Mapping[str, Order]


@dataclass(frozen=True, slots=True)
class Context:
    """What decides, besides the transactions, which of them are an intent's."""

    claimed: Mapping[str, str]
    """The transactions that settled intents made, each with the intent's id."""
    competing_intents: tuple[Intent, ...]
    """Other intents, of every process that shares the journal, that may have made some of the transactions."""
    shared: Mapping[str, frozenset[str]]
    """The intents that ended as Ambiguous, each with the transactions of which it made some."""
    request_id: str = ""
    """The service's id of the intent's request, if an answer with its headers came."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How the transactions of an account show what became of one kind of request."""

    made: str
    """Type of the transaction that shows that the request took effect; its end when it begins with "_"."""
    refused: tuple[str, ...]
    """Types of the transactions that refuse the request, likewise."""
    is_same: Comparison
    """Compares such a transaction with the target and the body of the intent."""
    reason: str = ""
    """The reason that the transaction in `made` must have; empty for any."""
    ended_first: Callable[[Intent, Transaction], str | None] = lambda _intent, _transaction: None
    """Says why the request can no longer take effect, when a transaction ended its target in another way."""


def find_outcome(
    intent: Intent,
    transactions: Sequence[Transaction],
    context: Context,
    cancelled: OrdersById | None = None,
) -> Done | Rejected | Ambiguous | None:
    """Return the outcome that the account's transactions show, None while they do not show one.

    `cancelled` are the orders of `unclear_cancels`, by id.
    """
    since = [each for each in transactions if int(each.id) > intent.since]
    cancelled = cancelled or {}
    named = [each for each in since if _repeats_request_id(intent, each, context.request_id)]
    own = _origins(intent, named, since, context.claimed, cancelled)
    if own or intent.has_own_id:
        origins = own or _origins(intent, since, since, context.claimed, cancelled)
        return _outcome_of_first(intent, origins, since)
    makers = _makers(intent, since, context, cancelled)
    batches, may_be_none = _possible_batches(makers, intent.id)
    if not batches:
        return _too_late(intent, since)
    origins = _origins(intent, since, since, context.claimed, cancelled)
    if len(batches) == 1 and not may_be_none:
        return _outcome(intent, origins[batches[0]], since)
    return _ambiguous(intent, [origins[batch] for batch in batches], since, makers)


def is_answer_to(
    intent: Intent,
    outcome: Done | Rejected,
    claimed: Mapping[str, str],
    cancelled: OrdersById,
) -> bool:
    """Whether the answer that gave this outcome is the intent's: its transactions are newer, and name what it names.

    A connection may bring the answer to an earlier request once more. A refusal without transactions names nothing; only
    its last transaction can show that it is older.
    """
    transactions = outcome.transactions
    ids = [*outcome.related_transaction_ids, *(each.id for each in transactions)]
    if any(int(each) <= intent.since for each in ids):
        return False
    if isinstance(outcome, Rejected) and not transactions:
        last = int(outcome.last_transaction_id)
        return not last or last >= intent.since
    return bool(_origins(intent, transactions, transactions, claimed, cancelled))


def concerns(intent: Intent, transaction: Transaction) -> bool:
    """Whether a transaction shows something of what became of the intent."""
    return (
        _is_made(intent, transaction, {})
        or _is_refused(intent, transaction)
        or RULES[intent.action].ended_first(intent, transaction) is not None
    )


def unclear_cancels(intent: Intent, transactions: Sequence[Transaction]) -> tuple[str, ...]:
    """Return ids of cancelled orders to read before `find_outcome`: a cancel does not name the trade of a dependent order."""
    if intent.action is not Action.SET_DEPENDENT_ORDERS or any(intent.body.values()):
        return ()
    cancels = (each for each in transactions if _is_cancel(each, CANCELLED_BY_CLIENT))
    ids = (text(each, "order_id") for each in cancels if int(each.id) > intent.since)
    return tuple(order_id for order_id in ids if order_id is not None)


def _outcome_of_first(
    intent: Intent, origins: Mapping[str, Transaction], since: Sequence[Transaction]
) -> Done | Rejected | None:
    """Return the outcome of the first batch that was not refused, or else of the first refusal."""
    if not origins:
        return _too_late(intent, since)
    made = (each for each in origins.values() if not _is_refused(intent, each))
    return _outcome(intent, next(made, next(iter(origins.values()))), since)


def _outcome(
    intent: Intent, origin: Transaction, since: Sequence[Transaction]
) -> Done | Rejected | None:
    if _is_refused(intent, origin):
        return rejected_by_transaction(intent, origin)
    return done_by_transactions(intent, origin, since)


def _ambiguous(
    intent: Intent,
    origins: Sequence[Transaction],
    since: Sequence[Transaction],
    makers: Mapping[str, frozenset[str]],
) -> Ambiguous | None:
    """Return all outcomes that this request may have had; None while a batch is incomplete."""
    outcomes = [_outcome(intent, origin, since) for origin in origins]
    findings = tuple(outcome for outcome in outcomes if outcome is not None)
    if len(findings) < len(outcomes):
        return None
    requests = frozenset[str]().union(*makers.values())
    are_all_found = len(makers) >= len(requests)
    is_complete = are_all_found or _too_late(intent, since) is not None
    like = tuple(sorted(requests - {intent.id}))
    return Ambiguous(intent, findings, like, is_complete, are_all_found)


def _too_late(intent: Intent, since: Sequence[Transaction]) -> Rejected | None:
    """Return a rejection when the target ended in another way, so that the request can no longer take effect."""
    ended_first = RULES[intent.action].ended_first
    for each in since:
        reason = ended_first(intent, each)
        if reason is not None and not _may_be_own_close(each, since):
            return Rejected(intent, reason, last_transaction_id=each.id, looked_up=True)
    return None


def _may_be_own_close(each: Transaction, since: Sequence[Transaction]) -> bool:
    """Whether a transaction is the fill of a requested close whose quantity cannot be read."""
    if not isinstance(each, OrderFillTransaction) or not getattr(each, "trades_closed", None):
        return False
    if text(each, "reason") in FILL_REASONS - {"MARKET_ORDER_TRADE_CLOSE"}:
        return False
    order = next((one for one in since if one.id == text(each, "order_id")), None)
    return not is_quantity(text(getattr(order, "trade_close", None), "units"))


def _makers(
    intent: Intent, since: Sequence[Transaction], context: Context, cancelled: OrdersById
) -> dict[str, frozenset[str]]:
    """Return, for each batch that bears on this intent, the intents that may have made it.

    These are the batches that this intent may have made, those that their other possible makers may have made, and so
    on.
    """
    competing_intents = [
        each for each in context.competing_intents if _may_be_confused(intent, each)
    ]
    batches_of = {
        each.id: _origins(each, since, since, context.claimed, cancelled).keys()
        for each in (intent, *competing_intents)
    }
    makers: dict[str, frozenset[str]] = {}
    reached, pending = {intent.id}, [intent.id]
    while pending:
        for batch in batches_of[pending.pop()]:
            possible = frozenset(name for name, batches in batches_of.items() if batch in batches)
            makers[batch] = possible
            pending += possible - reached
            reached |= possible
    ids: dict[str, set[str]] = {batch: set() for batch in makers}
    for each in since:
        ids.get(batch_id(each), set()).add(each.id)
    sharing = {name: shared for name, shared in context.shared.items() if name != intent.id}
    return {
        batch: names | {name for name, shared in sharing.items() if ids[batch] & shared}
        for batch, names in makers.items()
    }


def _possible_batches(makers: Mapping[str, frozenset[str]], request: str) -> tuple[list[str], bool]:
    """Return the batches that a request may have made, and whether it may have made none.

    `makers` has for each batch the requests that may have made it. More batches than requests show that requests
    outside the journal made some of them; then every batch that fits is possible.
    """
    fitting = [batch for batch, names in makers.items() if request in names]
    if not fitting:
        return [], True
    requests = frozenset[str]().union(*makers.values())
    assignments = [] if len(requests) > MAX_REQUESTS else _assignments(list(makers.values()))
    if not assignments:
        return fitting, True
    batches = list(makers)
    places = {each.index(request) for each in assignments if request in each}
    may_be_none = any(request not in each for each in assignments)
    return [batches[place] for place in sorted(places)], may_be_none


def _assignments(makers: Sequence[frozenset[str]]) -> list[tuple[str, ...]]:
    """Return every way to name a different maker for each batch."""
    assignments: list[tuple[str, ...]] = [()]
    for names in makers:
        assignments = [
            (*chosen, name)
            for chosen in assignments
            for name in sorted(names)
            if name not in chosen
        ]
    return assignments


def _may_be_confused(intent: Intent, other: Intent) -> bool:
    """Whether both may be about the same target, by ids that the account's transactions do not repeat."""
    if other.id == intent.id or other.has_own_id:
        return False
    is_one_account = None in {intent.account_id, other.account_id} or (
        intent.account_id == other.account_id
    )
    is_one_target = intent.target == other.target or "@" in {intent.target[:1], other.target[:1]}
    return is_one_account and is_one_target


def _origins(
    intent: Intent,
    among: Iterable[Transaction],
    since: Sequence[Transaction],
    claimed: Mapping[str, str],
    cancelled: OrdersById,
) -> dict[str, Transaction]:
    """Return, for each batch that the intent may have made, the transaction that shows it, in the order of ids."""
    origins: dict[str, Transaction] = {}
    unclaimed = [
        each
        for each in among
        if int(each.id) > intent.since
        and (intent.has_own_id or claimed.get(each.id, intent.id) == intent.id)
    ]
    for each in unclaimed:
        if _is_made(intent, each, cancelled) and not _is_other_replacement(intent, each, since):
            origins.setdefault(batch_id(each), each)
    for each in unclaimed:
        if _is_refused(intent, each):
            origins.setdefault(batch_id(each), each)
    return dict(sorted(origins.items(), key=lambda item: int(item[1].id)))


def _repeats_request_id(intent: Intent, each: Transaction, request_id: str) -> bool:
    """Whether a transaction names the request that made it, by the service's id or by the intent's."""
    named = text(each, "request_id")
    if named is not None and named in {request_id, intent.id}:
        return True
    return each.unknown.get("clientRequestID") == intent.id


def _is_made(intent: Intent, each: Transaction, cancelled: OrdersById) -> bool:
    rule = RULES[intent.action]
    if _has_type(each, rule.made) and (not rule.reason or text(each, "reason") == rule.reason):
        return rule.is_same(intent.target, intent.body, each)
    return _cancels_dependent_order(intent, each, cancelled)


def _is_refused(intent: Intent, each: Transaction) -> bool:
    rule = RULES[intent.action]
    return any(_has_type(each, kind) for kind in rule.refused) and rule.is_same(
        intent.target, intent.body, each
    )


def _has_type(each: Transaction, kind: str) -> bool:
    return each.type.endswith(kind) if kind.startswith("_") else each.type == kind


def _is_cancel(each: Transaction, reason: str) -> bool:
    return isinstance(each, OrderCancelTransaction) and text(each, "reason") == reason


def _is_other_replacement(
    intent: Intent, origin: Transaction, since: Sequence[Transaction]
) -> bool:
    """Whether the order was replaced by one that this intent did not ask for."""
    if intent.action is not Action.REPLACE:
        return False
    orders = (each for each in batch_of(origin, since) if creates_order(each))
    successor = text(origin, "replaced_by_order_id")
    return not all(has_terms(each, intent.body) for each in orders if successor in {None, each.id})


def _cancels_dependent_order(intent: Intent, each: Transaction, cancelled: OrdersById) -> bool:
    """Whether a cancel takes away a dependent order that the intent cancels; `cancelled` has the order."""
    if intent.action is not Action.SET_DEPENDENT_ORDERS or not _is_cancel(
        each, CANCELLED_BY_CLIENT
    ):
        return False
    order = cancelled.get(text(each, "order_id") or "")
    members = (member for member, details in intent.body.items() if details is None)
    return (
        order is not None
        and f"{order.type}_ORDER" in {DEPENDENT_ORDERS[member] for member in members}
        and is_named(intent.target, order, "trade_id", "client_trade_id")
    )


def _order_ended_first(intent: Intent, each: Transaction) -> str | None:
    if not is_target_order(intent.target, intent.body, each):
        return None
    if isinstance(each, OrderFillTransaction):
        return "the order was filled first"
    if isinstance(each, OrderCancelTransaction):
        # An unknown reason may be the one that the service gives for this request.
        reason = text(each, "reason")
        return f"the order ended first: {reason}" if reason in CANCEL_REASONS else None
    return None


def _trade_ended_first(intent: Intent, each: Transaction) -> str | None:
    if not isinstance(each, OrderFillTransaction):
        return None
    closed = getattr(each, "trades_closed", None) or ()  # MissingMember is an AttributeError
    if any(is_named(intent.target, trade, "trade_id", "client_trade_id") for trade in closed):
        return f"the trade was closed first: {text(each, 'reason') or each.type}"
    return None


RULES: Final[Mapping[Action, Rule]] = {
    Action.CREATE: Rule("_ORDER", ("_ORDER_REJECT",), is_new_order),
    Action.REPLACE: Rule(
        "ORDER_CANCEL",
        ("_ORDER_REJECT", "ORDER_CANCEL_REJECT"),
        is_replaced_order,
        reason=REPLACED,
        ended_first=_order_ended_first,
    ),
    Action.CANCEL: Rule(
        "ORDER_CANCEL",
        ("ORDER_CANCEL_REJECT",),
        is_target_order,
        reason=CANCELLED_BY_CLIENT,
        ended_first=_order_ended_first,
    ),
    Action.CLOSE_TRADE: Rule(
        "MARKET_ORDER",
        ("MARKET_ORDER_REJECT",),
        is_trade_close,
        ended_first=_trade_ended_first,
    ),
    Action.CLOSE_POSITION: Rule("MARKET_ORDER", ("MARKET_ORDER_REJECT",), is_position_close),
    Action.SET_DEPENDENT_ORDERS: Rule("_ORDER", ("_ORDER_REJECT",), is_dependent_order),
}
