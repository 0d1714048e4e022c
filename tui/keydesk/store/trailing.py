"""Where a trailing stop stands between two answers of the service: it follows the price that would close its trade.

It only ever moves the trade's way (v20: the trigger side's price less the distance for a long, plus it for a short).
The service makes no transaction of such a move; its next answer overwrites ours.
"""

from decimal import Decimal

from keydesk.records import TradeRow
from keydesk.store.state import Topic
from keydesk.store.store import Store


def trail(store: Store, trade: TradeRow, closing: Decimal) -> None:
    """Pull a trade's trailing stop after the closing side's price, on the trade and among the orders."""
    stop = trade.trailing_stop
    if stop is None or stop.distance is None:
        return
    follows = closing - stop.distance if trade.units > 0 else closing + stop.distance
    nearer = max if trade.units > 0 else min
    moved = follows if stop.price is None else nearer(stop.price, follows)
    if moved == stop.price:
        return
    stop.price = moved
    order = store.orders.get(stop.order_id)
    if order is not None:
        order.price = moved
        store.mark(Topic.ORDERS, order.id)
