"""Records of commands whose outcome is not known: which instrument each one concerns.

The body of a cancel, a trade close or an edit of dependent orders names an order or a trade, not its instrument. The
desk writes the instrument into the intent before it sends; for an intent without it, the account's state is asked.
"""

from collections.abc import Mapping
from dataclasses import replace

from keydesk.records import InFlight, InFlightKind
from keydesk.store.store import Store
from keydesk.trading.instruction_words import intent_words
from keydesk_client.orders.intent import Action, Intent

KINDS: Mapping[Action, InFlightKind] = {
    Action.CREATE: "open",
    Action.REPLACE: "replace",
    Action.CANCEL: "cancel",
    Action.CLOSE_TRADE: "close trade",
    Action.CLOSE_POSITION: "close position",
    Action.SET_DEPENDENT_ORDERS: "protection",
}
ON_ORDERS = frozenset({Action.CANCEL, Action.REPLACE})
ON_TRADES = frozenset({Action.CLOSE_TRADE, Action.SET_DEPENDENT_ORDERS})


def record_of(intent: Intent, store: Store) -> InFlight:
    """Return the record of an intent that is being sent or looked up."""
    instrument = instrument_of(intent, store)
    known = replace(intent, instrument=instrument or "")
    return InFlight(
        id=intent.id,
        instrument=instrument,
        kind=KINDS[intent.action],
        state="sent",
        words=intent_words(known),
    )


def instrument_of(intent: Intent, store: Store) -> str | None:
    """Return the instrument that an intent concerns, None when neither the journal nor the account tells it."""
    named = intent.instrument or intent.body.get("instrument")
    if isinstance(named, str) and named:
        return named
    if intent.action is Action.CLOSE_POSITION:
        return intent.target
    return instrument_of_target(intent.action, intent.target, store) or None


def instrument_of_target(action: Action, target: str, store: Store) -> str:
    """Return the instrument of the order or trade that an action is about, empty when the account has it no more."""
    if action in ON_TRADES:
        trade = store.trades.get(target)
        return trade.instrument if trade is not None else ""
    if action not in ON_ORDERS:
        return ""
    order = store.orders.get(target)
    if order is None and target.startswith("@"):
        own = (each for each in store.orders.values() if each.client_id == target[1:])
        order = next(own, None)
    return order.instrument if order is not None else ""
