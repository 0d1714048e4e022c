"""Whether the orders and trades of an account show what a request asked for, whoever asked for it.

They do not tell who did it, so that no outcome is made of them: they are a reason to read the transactions again.
"""

from collections.abc import Iterable

from keydesk_client.models.changes import AccountChanges
from keydesk_client.models.orders import Order
from keydesk_client.models.trades import TradeSummary
from keydesk_client.orders.content import names, text
from keydesk_client.orders.intent import Action, Intent


def shows_effect(intent: Intent, changes: AccountChanges) -> bool:
    """Whether what the account changed may be the effect of an intent; MissingMember where it cannot be read."""
    match intent.action:
        case Action.CREATE:
            return any(_has_client_id(each, intent.client_id) for each in _orders(changes))
        case Action.REPLACE | Action.CANCEL:
            ended = (*changes.orders_cancelled, *changes.orders_filled)
            return any(_is_named(each, intent.target) for each in ended)
        case Action.CLOSE_TRADE:
            return any(_is_named(each, intent.target) for each in _closed(changes))
        case Action.CLOSE_POSITION:
            return any(text(each, "instrument") == intent.target for each in _closed(changes))
        case Action.SET_DEPENDENT_ORDERS:
            return any(
                names(intent.target, each, "trade_id", "client_trade_id")
                for each in _orders(changes)
            )


def _orders(changes: AccountChanges) -> Iterable[Order]:
    return (
        *changes.orders_created,
        *changes.orders_cancelled,
        *changes.orders_filled,
        *changes.orders_triggered,
    )


def _closed(changes: AccountChanges) -> Iterable[TradeSummary]:
    return (*changes.trades_reduced, *changes.trades_closed)


def _has_client_id(order: Order, client_id: str | None) -> bool:
    return text(getattr(order, "client_extensions", None), "id") == client_id


def _is_named(record: Order | TradeSummary, target: str) -> bool:
    if target.startswith("@"):
        return text(getattr(record, "client_extensions", None), "id") == target[1:]
    return text(record, "id") == target
