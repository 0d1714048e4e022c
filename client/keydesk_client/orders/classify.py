"""Which of several like requests made which batch of transactions, as far as it can be told.

Each request makes at most one batch, and each batch was made by one request. Where that leaves only one way to give
the batches to the requests, it is known; where it leaves several, what they have in common is.

Whether a record says what was asked for: members by name, quantities by value rather than by spelling.
From a good answer to its outcome: what a request that was acted on turned into.
One request on the wire: which answers say yes, which say no, and which say nothing at all.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Final, TypeAlias

from keydesk_client.errors import (
    Answered,
    InvalidRequest,
    KeydeskClientError,
    MissingMember,
    Refused,
    UnreadableAnswer,
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
from keydesk_client.orders.outcome import Became, Done, Intent, NotSent, Rejected, Unknown

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


REQUEST_TIMEOUT: Final = 408
"""Something in between gave up waiting: the one 4xx that refuses nothing."""


async def sent_once(
    intent: Intent, send: Callable[[], Awaitable[WriteResponse]]
) -> Done | Rejected | NotSent | Unknown:
    """Send it, and say what its answer, or the lack of one, means."""
    request_id = ""
    try:
        answer = await send()
        request_id = answer.request_id
        return outcome_of(intent, answer)
    except MissingMember as error:
        said = f"the answer lacks what it should tell: {error}"
        return Unknown(intent, said, request_id=request_id)
    except KeydeskClientError as error:
        return _failed(intent, error)


def _failed(intent: Intent, error: KeydeskClientError) -> Rejected | NotSent | Unknown:
    said = str(error) or type(error).__name__
    if not error.sent:
        field = error.field if isinstance(error, InvalidRequest) else ""
        after = error.retry_after if isinstance(error, Answered) else None
        return NotSent(intent, said, field, after)
    if isinstance(error, Refused) and _says_no(error):
        return Rejected(
            intent=intent,
            message=error.error_message,
            error_code=error.error_code,
            reject_reason=error.reject_reason,
            status=error.status,
            request_id=error.request_id,
            last_transaction_id=int(error.last_transaction_id or 0),
            related_transaction_ids=error.related_transaction_ids,
        )
    request_id = error.request_id if isinstance(error, Answered | UnreadableAnswer) else ""
    return Unknown(intent, said, request_id=request_id)


def _says_no(error: Refused) -> bool:
    """Whether nothing changed: the service says why, and made nothing but refusals."""
    refusals = len(error.reject_transactions)
    made_more = bool(refusals) and len(error.related_transaction_ids) > refusals
    return error.explained and error.status != REQUEST_TIMEOUT and not made_more


MOST_REQUESTS: Final = 6
"""Of more like requests than that, open at once, nothing is concluded."""


def possible_batches(makers: Mapping[str, frozenset[str]], request: str) -> tuple[list[str], bool]:
    """Return the batches that a request may have made, and whether it may have made none.

    `makers` names for each batch the requests that may have made it. When there are more batches than requests, some
    were made by requests that are not known here, and everything that fits is possible.
    """
    fitting = [batch for batch, names in makers.items() if request in names]
    if not fitting:
        return [], True
    requests = frozenset[str]().union(*makers.values())
    ways = [] if len(requests) > MOST_REQUESTS else _ways(list(makers.values()))
    if not ways:
        return fitting, True
    batches = list(makers)
    taken = {way.index(request) for way in ways if request in way}
    may_be_none = any(request not in way for way in ways)
    return [batches[place] for place in sorted(taken)], may_be_none


def _ways(makers: Sequence[frozenset[str]]) -> list[tuple[str, ...]]:
    """Return every way to name a different maker for each batch."""
    ways: list[tuple[str, ...]] = [()]
    for names in makers:
        ways = [(*way, name) for way in ways for name in sorted(names) if name not in way]
    return ways
