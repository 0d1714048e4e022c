"""Select the record that a key acts on, and tell whether the key can act now; the footer dims the others.

A key acts on the row under the cursor of the focused pane, else on what is held in its instrument. The cursor of
another pane is not visible, so no key acts on its row.
"""

from msgspec import Struct

from keydesk.keys.keymap import KEYS
from keydesk.store.store import Store
from keydesk.store.unknown import is_known
from keydesk.tables.trades import group_name
from keydesk.values import OrderRow, TradeRow, id_order

CLOSING = frozenset(("close", "scale-out"))
ON_A_TRADE = frozenset(key.id for key in KEYS if key.opens_on_trade)
OPENING = frozenset(("buy", "sell", "limit"))
REPLAY_KEYS = "replay-"  # of a practice market that the desk may control


class Selection(Struct, frozen=True):
    """The focused pane, and the keys of the rows under the cursors of the lists."""

    pane: str
    trade_row: str | None
    position_row: str | None
    order_row: str | None

    def trade(self, store: Store) -> TradeRow | None:
        """Return the trade to act on: the row of the trades pane, else the only trade of the instrument."""
        if self.pane == "trades" and not self._group():
            return store.trades.get(self.trade_row or "")
        held = self.trades(store)
        return held[0] if len(held) == 1 else None

    def means_position(self, store: Store) -> bool:
        """Return whether a close means the position: in its pane, on its row of sums, or when several trades make it up."""
        if self.pane == "trades":
            return bool(self._group())
        return self.pane == "positions" or len(self.trades(store)) > 1

    def _group(self) -> str:
        """Return the instrument of the row of sums under the cursor of the trades, "" without one."""
        return group_name(self.trade_row or "") if self.pane == "trades" else ""

    def trades(self, store: Store) -> list[TradeRow]:
        """Return every trade of the instrument to act on, oldest first."""
        instrument = self.instrument(store)
        held = [trade for trade in store.trades.values() if trade.instrument == instrument]
        return sorted(held, key=lambda trade: id_order(trade.id))

    def order(self, store: Store) -> OrderRow | None:
        """Return the pending order to act on, None if it is ambiguous."""
        if self.pane == "orders":
            return store.orders.get(self.order_row or "")
        instrument = self.instrument(store)
        entries = [
            order
            for order in store.orders.values()
            if order.instrument == instrument and order.trade_id is None
        ]
        return entries[0] if len(entries) == 1 else None

    def instrument(self, store: Store) -> str:
        """Return the instrument to act on: that of the row, else the focused one."""
        if self.pane == "trades" and (trade := store.trades.get(self.trade_row or "")):
            return trade.instrument
        if group := self._group():
            return group
        if self.pane == "positions" and self.position_row:
            return self.position_row
        if self.pane == "orders" and (order := store.orders.get(self.order_row or "")):
            return order.instrument
        return store.focus


NO_TRADE = "no trade selected"
NO_ORDER = "no order selected"
NO_MARKET = "no practice market"


def is_available(id_: str, store: Store, selection: Selection) -> bool:
    """Return whether a key has a record to act on and is allowed now."""
    return not reason_against(id_, store, selection)


def reason_against(id_: str, store: Store, selection: Selection) -> str:  # noqa: PLR0911 - one answer a kind of key
    """Return in two or three words why a key cannot act now, "" if it can."""
    if id_ in OPENING:
        return _reason_against_opening(id_, store)
    if id_ in CLOSING or id_ in ON_A_TRADE:
        return "" if selection.trades(store) else NO_TRADE
    if id_.startswith(REPLAY_KEYS):
        return "" if store.market is not None else NO_MARKET
    match id_:
        case "modify":
            order = selection.order(store) if selection.pane == "orders" else None
            return "" if selection.trades(store) or order is not None else NO_TRADE
        case "cancel":
            return "" if selection.order(store) is not None else NO_ORDER
        case "cancel-entries":
            entries = any(order.trade_id is None for order in store.orders.values())
            return "" if entries else "no entry order"
        case "reverse" if selection.instrument(store) not in store.positions:
            return "no position here"
        case "reverse":
            return "" if store.arming.level == "ARMED" else store.arming.level.lower()
        case "flatten":
            is_open = bool(store.trades or store.orders or store.openings_in_flight())
            is_flat = not is_open and is_known(store)
            return "nothing is open" if is_flat else ""
        case _:
            return ""


def _reason_against_opening(id_: str, store: Store) -> str:
    if not store.focus:
        return "no instrument yet"
    allowed = store.arming.level == "ARMED" or _reduces(id_, store)
    return "" if allowed else store.arming.level.lower()


def _reduces(id_: str, store: Store) -> bool:
    """Return whether an order would reduce the position: an exit, which needs no arming; never on a hedging account."""
    position = store.positions.get(store.focus)
    if position is None or store.account is None or store.account.hedging:
        return False
    net = position.long_units + position.short_units
    return net > 0 if id_ == "sell" else net < 0
