"""What a key acts on: the row under the cursor of the pane that has the keys, else what is held in its instrument.

The cursor of another pane is not seen by the person at the keys, so no key acts on its row.
"""

from dataclasses import dataclass

from keydesk.records import OrderRow, TradeRow, id_order
from keydesk.store.store import Store


@dataclass(frozen=True, slots=True)
class Selection:
    """The focused pane's name, the keys of the rows under the cursors of the lists."""

    pane: str
    trade_row: str | None
    position_row: str | None
    order_row: str | None

    def trade(self, store: Store) -> TradeRow | None:
        """Return the trade to act on: the row in the trades pane, else the only one of the instrument."""
        if self.pane == "trades":
            return store.trades.get(self.trade_row or "")
        held = self.trades(store)
        return held[0] if len(held) == 1 else None

    def means_position(self, store: Store) -> bool:
        """Whether closing means the position: in its pane always, elsewhere when several trades make it up."""
        if self.pane == "trades":
            return False
        return self.pane == "positions" or len(self.trades(store)) > 1

    def trades(self, store: Store) -> list[TradeRow]:
        """Return every trade of the instrument to act on, oldest first."""
        instrument = self.instrument(store)
        held = [trade for trade in store.trades.values() if trade.instrument == instrument]
        return sorted(held, key=lambda trade: id_order(trade.id))

    def order(self, store: Store) -> OrderRow | None:
        """Return the pending order to act on; None when it would have to be guessed."""
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
        """Return the instrument to act on: the row's own in the lists, else the focused one."""
        if self.pane == "trades" and (trade := store.trades.get(self.trade_row or "")):
            return trade.instrument
        if self.pane == "positions" and self.position_row:
            return self.position_row
        if self.pane == "orders" and (order := store.orders.get(self.order_row or "")):
            return order.instrument
        return store.focus
