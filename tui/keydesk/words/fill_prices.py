"""The prices of a fill: the average one, the best one on offer, and the slippage between them or from the order's own."""

from decimal import Decimal

from keydesk_client.account.values import READ_ERRORS
from keydesk_client.arithmetic.profit import slippage
from keydesk_client.models import OrderFillTransaction


def slippage_of(fill: OrderFillTransaction, order_price: Decimal | None) -> Decimal | None:
    """Return the slippage in price units: from the order's price, of a market order from the best price at the fill."""
    filled = fill_price(fill)
    if isinstance(filled, str):
        return None
    best = best_price(fill) if fill.reason.startswith("MARKET_ORDER") else None
    return slippage(fill.units, filled, order_price, best)


def fill_price(fill: OrderFillTransaction) -> Decimal | str:
    """Return the price of a fill, "?" if the broker did not send one."""
    opened = fill.trade_opened.price if fill.trade_opened is not None else None
    return fill.full_vwap or fill.price or opened or "?"


def best_price(fill: OrderFillTransaction) -> Decimal | None:
    """Return the best price that the broker had at the fill; None if it did not say, or not in a form that can be read."""
    try:
        offered = fill.full_price
        levels = () if offered is None else offered.asks if fill.units > 0 else offered.bids
        return levels[0].price if levels else None
    except READ_ERRORS:
        return None
