"""A flow of orders, and the comparison of what was believed of them with what the broker's ledger holds.

What is done to an order or a trade is done once: so the ledger tells of each request whether it took effect. A
position is closed in instruments of its own, by an order with an id that tells which request it is of: who closes it
first leaves nothing to the others, and they must know that, too.
"""

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeAlias

from keydesk_client.client import Client
from keydesk_client.models import (
    LimitOrderRequest,
    MarketOrderRequest,
    OrderRequest,
    StopLossDetails,
    Transaction,
)
from keydesk_client.models.transactions.fills import OrderCancelTransaction
from keydesk_client.models.transactions.orders import (
    LimitOrderTransaction,
    MarketOrderTransaction,
    StopLossOrderTransaction,
)
from keydesk_client.orders.outcome import (
    Action,
    Done,
    Intent,
    NotSent,
    OrderResult,
    Outcome,
    Rejected,
    Unconfirmed,
)
from keydesk_client.orders.sender import Sender

QUICK_PAUSES = (0.05, 0.1, 0.2, 0.4)
FAR_AWAY = Decimal("0.50000")
"""A price that is never reached."""
FARTHER = Decimal("0.40000")
ALIKE = 5
"""Units of orders that look like each other."""
CLOSED_WHOLE = (
    "GBP_USD",
    "AUD_USD",
    "NZD_USD",
    "USD_CAD",
    "USD_CHF",
    "EUR_GBP",
    "EUR_CHF",
    "EUR_AUD",
)
"""Instruments that nobody has a single trade closed in."""


@dataclass
class Beliefs:
    """Outcomes so far, and the newest transaction they told of."""

    outcomes: list[Outcome] = field(default_factory=list)
    last_transaction_id: int = 0

    def add(self, outcome: Outcome) -> Outcome:
        self.outcomes.append(outcome)
        told = int(getattr(outcome, "last_transaction_id", 0))
        self.last_transaction_id = max(self.last_transaction_id, told)
        return outcome

    def counts(self) -> Counter[str]:
        return Counter(type(outcome).__name__ for outcome in self.outcomes)


def some_order(dice: random.Random) -> OrderRequest:
    """A small market order of either side, or a limit order that rests."""
    units = dice.choice((-3, -2, -1, 1, 2, 3))
    if dice.random() < 0.6:
        return MarketOrderRequest(instrument="EUR_USD", units=units)
    return LimitOrderRequest(instrument="EUR_USD", units=abs(units), price=FAR_AWAY)


async def trade(sender: Sender, beliefs: Beliefs, dice: random.Random) -> None:
    """One order, and now and then what is done to it: changed, protected, undone; or a position, there and back."""
    if dice.random() < 0.2:
        await _there_and_back(sender, beliefs, dice.choice(CLOSED_WHOLE))
        return
    outcome = beliefs.add(await sender.create(some_order(dice)))
    if not isinstance(outcome, Done):
        return
    if outcome.result is OrderResult.RESTING and outcome.order_id is not None:
        await _go_on_with_order(sender, beliefs, dice, outcome.order_id)
    if outcome.result is OrderResult.FILLED and outcome.trade_id is not None:
        await _go_on_with_trade(sender, beliefs, dice, outcome.trade_id)


async def _there_and_back(sender: Sender, beliefs: Beliefs, instrument: str) -> None:
    outcome = beliefs.add(await sender.create(MarketOrderRequest(instrument=instrument, units=1)))
    if isinstance(outcome, Done) and outcome.result is OrderResult.FILLED:
        beliefs.add(await sender.close_position(instrument, long_units="ALL"))


async def _go_on_with_order(
    sender: Sender, beliefs: Beliefs, dice: random.Random, order_id: str
) -> None:
    if dice.random() < 0.3:
        other = LimitOrderRequest(instrument="EUR_USD", units=1, price=FARTHER)
        replaced = beliefs.add(await sender.replace(order_id, other))
        if not isinstance(replaced, Done) or replaced.order_id is None:
            return
        order_id = replaced.order_id
    if dice.random() < 0.5:
        beliefs.add(await sender.cancel(order_id))


async def _go_on_with_trade(
    sender: Sender, beliefs: Beliefs, dice: random.Random, trade_id: str
) -> None:
    if dice.random() < 0.5:
        stop = StopLossDetails(distance=Decimal("0.30000"))
        beliefs.add(await sender.set_dependent_orders(trade_id, stop_loss=stop))
    if dice.random() < 0.5:
        beliefs.add(await sender.close_trade(trade_id))


async def trade_alike(
    sender: Sender, beliefs: Beliefs, dice: random.Random, client: Client
) -> None:
    """One request that others make just so: an order of one size, or what is done to the oldest trade or order."""
    trades = (await client.trades.open()).trades
    orders = [each for each in (await client.orders.pending()).orders if each.type == "LIMIT"]
    rng = dice.random()
    if rng < 0.15 or not trades:
        beliefs.add(await sender.create(MarketOrderRequest(instrument="EUR_USD", units=ALIKE)))
    elif rng < 0.25 or not orders:
        order = LimitOrderRequest(instrument="EUR_USD", units=ALIKE, price=FAR_AWAY)
        beliefs.add(await sender.create(order))
    elif rng < 0.7:
        oldest = min((each.id for each in trades), key=int)
        beliefs.add(await sender.close_trade(oldest, units="1"))
    elif rng < 0.85:
        beliefs.add(await sender.cancel(min((each.id for each in orders), key=int)))
    else:
        other = LimitOrderRequest(instrument="EUR_USD", units=ALIKE, price=FARTHER)
        oldest = min((each.id for each in orders), key=int)
        beliefs.add(await sender.replace(oldest, other))


def client_id(transaction: Transaction) -> str | None:
    """The client id of the order that a transaction creates."""
    found = getattr(getattr(transaction, "client_extensions", None), "id", None)
    return found if isinstance(found, str) else None


Asked: TypeAlias = tuple[Action, str]
"""What a request asked for: an action, and the client id of the order it makes or what the action is about."""


def asked_by(intent: Intent) -> Asked:
    """What an intent asks for."""
    if intent.action is Action.CLOSE_POSITION:
        return intent.action, intent.side_id("long") or ""
    return intent.action, intent.client_id or intent.target


def effect(transaction: Transaction) -> Asked | None:
    """The request that a transaction carries out, if it is the first of a request's."""
    found: Asked | None = None
    match transaction:
        case MarketOrderTransaction(reason="TRADE_CLOSE", trade_close=close) if close is not None:
            found = Action.CLOSE_TRADE, close.trade_id
        case MarketOrderTransaction(reason="POSITION_CLOSEOUT"):
            found = Action.CLOSE_POSITION, client_id(transaction) or ""
        case MarketOrderTransaction() | LimitOrderTransaction() if (
            transaction.reason == "CLIENT_ORDER"
        ):
            found = Action.CREATE, client_id(transaction) or ""
        case OrderCancelTransaction(reason="CLIENT_REQUEST"):
            found = Action.CANCEL, transaction.order_id
        case OrderCancelTransaction(reason="CLIENT_REQUEST_REPLACED"):
            found = Action.REPLACE, transaction.order_id
        case StopLossOrderTransaction(reason="CLIENT_ORDER"):
            found = Action.SET_DEPENDENT_ORDERS, transaction.trade_id
    return found


def effects(ledger: Iterable[Transaction]) -> dict[Asked, Transaction]:
    """What was carried out, by what asked for it."""
    return {asked: each for each in ledger if (asked := effect(each)) is not None}


def doubled(ledger: Sequence[Transaction]) -> list[Asked]:
    """What the broker was made to do more than once."""
    met = Counter(asked for each in ledger if (asked := effect(each)) is not None)
    return [asked for asked, times in met.items() if times > 1]


def wrong_beliefs(outcomes: Sequence[Outcome], ledger: Sequence[Transaction]) -> list[str]:
    """Outcomes that the ledger does not bear out, in words."""
    made = effects(ledger)
    ids = {each.id for each in ledger}
    return [
        text for each in outcomes if (text := _wrong(each, made.get(asked_by(each.intent)), ids))
    ]


def _wrong(outcome: Outcome, made: Transaction | None, ids: AbstractSet[str]) -> str:
    intent = outcome.intent
    match outcome:
        case Done() if made is None:
            return f"{intent} is believed done; the ledger lacks it"
        case Done() if not ids >= set(outcome.related_transaction_ids):
            return f"{intent} is believed to have made {outcome.related_transaction_ids}"
        case Done() if intent.action is Action.CREATE and outcome.order_id != getattr(
            made, "id", ""
        ):
            return f"{intent} is believed to be order {outcome.order_id}, it is {made}"
        case Rejected() | NotSent() | Unconfirmed() if made is not None:
            return f"{intent} is {type(outcome).__name__}; the ledger has {made.type} {made.id}"
    return ""
