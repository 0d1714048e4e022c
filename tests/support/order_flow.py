"""A flow of orders, and the comparison of what was believed of them with what the broker's ledger holds."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from keydesk_client.client import Client
from keydesk_client.models import (
    LimitOrderRequest,
    MarketOrderRequest,
    OrderRequest,
    Transaction,
)
from keydesk_client.outcome import Became, Done, NotSent, Outcome, Rejected, Unconfirmed
from keydesk_client.sending import Sender

QUICK_PAUSES = (0.05, 0.1, 0.2, 0.4)
FAR_AWAY = Decimal("0.50000")
"""A limit price that is never reached."""


@dataclass
class Beliefs:
    """Outcomes so far, and the newest transaction they told of."""

    outcomes: list[Outcome] = field(default_factory=list)
    last_transaction_id: int = 0

    def add(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        told = getattr(outcome, "last_transaction_id", 0)
        self.last_transaction_id = max(self.last_transaction_id, told)

    def counts(self) -> Counter[str]:
        return Counter(type(outcome).__name__ for outcome in self.outcomes)


def some_order(dice: random.Random) -> OrderRequest:
    """A small market order of either side, or a limit order that rests."""
    units = dice.choice((-3, -2, -1, 1, 2, 3))
    if dice.random() < 0.6:
        return MarketOrderRequest(instrument="EUR_USD", units=units)
    return LimitOrderRequest(instrument="EUR_USD", units=abs(units), price=FAR_AWAY)


async def trade(sender: Sender, beliefs: Beliefs, dice: random.Random) -> None:
    """One order, and now and then its undoing."""
    outcome = await sender.create(some_order(dice))
    beliefs.add(outcome)
    if not isinstance(outcome, Done) or dice.random() < 0.5:
        return
    if outcome.became is Became.RESTING and outcome.order_id is not None:
        beliefs.add(await sender.cancel(outcome.order_id))
    if outcome.became is Became.FILLED and outcome.trade_id is not None:
        beliefs.add(await sender.close_trade(outcome.trade_id))


async def ledger_of(client: Client) -> list[Transaction]:
    """Every transaction of the account, asked for directly."""
    return [each async for each in client.transactions.iterate_since(0)]


def client_id(transaction: Transaction) -> str | None:
    """The client id of the order that a transaction creates."""
    found = getattr(getattr(transaction, "client_extensions", None), "id", None)
    return found if isinstance(found, str) else None


def doubled(ledger: Sequence[Transaction]) -> list[str]:
    """Client ids that the broker met more than once."""
    met = Counter(name for each in ledger if (name := client_id(each)) is not None)
    return [name for name, times in met.items() if times > 1]


def wrong_beliefs(outcomes: Sequence[Outcome], ledger: Sequence[Transaction]) -> list[str]:
    """Outcomes that the ledger does not bear out, in words."""
    by_id = {each.id: each for each in ledger}
    orders = {client_id(each): each for each in ledger}
    return [words for each in outcomes if (words := _wrong(each, by_id, orders))]


def _wrong(
    outcome: Outcome, by_id: dict[str, Transaction], orders: dict[str | None, Transaction]
) -> str:
    intent = outcome.intent
    made = orders.get(intent.client_id) if intent.client_id else None
    match outcome:
        case Done():
            unknown = [each for each in outcome.related_transaction_ids if each not in by_id]
            if unknown or (intent.client_id and made is None):
                return f"{intent} is believed done; the ledger lacks {unknown or 'it'}"
            if made is not None and outcome.order_id != made.id:
                return f"{intent} is believed to be order {outcome.order_id}, it is {made.id}"
        case Rejected() if made is not None and not made.type.endswith("_REJECT"):
            return f"{intent} is believed rejected; the ledger has {made.type} {made.id}"
        case NotSent() | Unconfirmed() if made is not None:
            return f"{intent} is believed absent; the ledger has {made.type} {made.id}"
    return ""
