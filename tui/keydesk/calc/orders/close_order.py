"""The order in which trades of one side of a position are closed, and the units that each of them loses."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from keydesk.records import TradeRow, id_order
from keydesk_client.arithmetic.profit import Factors, profit

CloseOrder = Literal["oldest", "newest", "worst", "best", "picked"]
CLOSE_ORDERS: tuple[CloseOrder, ...] = ("oldest", "newest", "worst", "best", "picked")
CLOSE_ORDER_WORDS: dict[CloseOrder, str] = {
    "oldest": "the oldest trade first (FIFO)",
    "newest": "the newest trade first (LIFO)",
    "worst": "the worst entry first",
    "best": "the best entry first",
    "picked": "the trades that you pick",
}


def in_close_order(trades: Sequence[TradeRow], order: CloseOrder) -> list[TradeRow]:
    """Return the trades of one side in the order in which they are closed."""
    by_age = sorted(trades, key=lambda trade: id_order(trade.id))
    match order:
        case "newest":
            return by_age[::-1]
        case "worst":
            return sorted(by_age, key=_entry_quality)
        case "best":
            return sorted(by_age, key=_entry_quality, reverse=True)
        case _:
            return by_age


def _entry_quality(trade: TradeRow) -> Decimal:
    """Return a number that is greater for a better entry: a lower one of a long, a higher one of a short."""
    return -trade.price if trade.units > 0 else trade.price


def parts_of(trades: Sequence[TradeRow], closing: Decimal) -> tuple[tuple[TradeRow, Decimal], ...]:
    """Return the trades that a size closes, in their order, each with its units (magnitude)."""
    parts, left = [], closing
    for trade in trades:
        if left <= 0:
            break
        units = min(left, abs(trade.units))
        parts.append((trade, units))
        left -= units
    return tuple(parts)


def realized_by(
    parts: Sequence[tuple[TradeRow, Decimal]], price: Decimal, factors: Factors
) -> Decimal:
    """Return the profit of closing the parts at a price."""
    return sum(
        (
            profit(units.copy_sign(trade.units), trade.price, price, factors)
            for trade, units in parts
        ),
        Decimal(0),
    )
