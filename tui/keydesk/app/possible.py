"""Which keys of the desk can do something now: the footer shows the others dim, and pressing one says why."""

from keydesk.app.selection import Selection
from keydesk.store.store import Store

CLOSING = frozenset(("close", "scale-out"))
ON_A_TRADE = frozenset(("break-even", "protect", "trailing"))
OPENING = frozenset(("buy", "sell"))


def possible(id_: str, store: Store, selection: Selection) -> bool:  # noqa: PLR0911 - one answer a kind of key
    """Say whether a key has something to act on, and may."""
    if id_ in OPENING:
        return bool(store.focus) and (store.arming.level == "ARMED" or _reduces(id_, store))
    if id_ in CLOSING:
        return bool(selection.trades(store))
    if id_ in ON_A_TRADE:
        return selection.trade(store) is not None
    match id_:
        case "modify":
            order = selection.order(store) if selection.pane == "orders" else None
            return selection.trade(store) is not None or order is not None
        case "cancel":
            return selection.order(store) is not None
        case "cancel-entries":
            return any(order.trade_id is None for order in store.orders.values())
        case "reverse":
            return store.arming.level == "ARMED" and selection.instrument(store) in store.positions
        case "flatten":
            return bool(store.trades or store.orders)
        case _:
            return True


def _reduces(id_: str, store: Store) -> bool:
    """An order against what is held is an exit, which needs no arming; a hedging account has no such."""
    position = store.positions.get(store.focus)
    if position is None or store.account is None or store.account.hedging:
        return False
    net = position.long_units + position.short_units
    return net > 0 if id_ == "sell" else net < 0
