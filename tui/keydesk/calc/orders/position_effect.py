"""The effect of an order on a position: units reduced and opened, both sides afterwards, and which trades are closed in which order.

DEFAULT reduces first on a netting account and only opens on a hedging one (the definition of `OrderPositionFill`).
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Literal

from msgspec import Struct

from keydesk.calc.orders.order_options import Fill
from keydesk.calc.risk.trading_context import AccountFunds, Lot, TradingContext
from keydesk.values import TradeRow, id_order
from keydesk_client.arithmetic.constants import ZERO
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


class PositionEffect(Struct, frozen=True):
    """Both sides of a position before and after an order; all units are magnitudes."""

    long_before: Decimal
    short_before: Decimal
    long_after: Decimal
    short_after: Decimal
    reduced: Decimal
    opened: Decimal
    left_over: Decimal = ZERO  # that a reduce-only order has nothing to reduce with

    @property
    def only_reduces(self) -> bool:
        """Whether it opens nothing and reduces something."""
        return bool(self.reduced) and not self.opened


def effective_fill(fill: Fill, *, hedging: bool) -> Fill:
    """Return what DEFAULT means on the account; any other fill as it is."""
    if fill != "DEFAULT":
        return fill
    return "OPEN_ONLY" if hedging else "REDUCE_FIRST"


def effect_of(funds: AccountFunds, signed_units: Decimal, fill: Fill) -> PositionEffect:
    """Return what an order of signed units does to the position of its instrument."""
    long, short = funds.long_units, -funds.short_units
    size, buys = abs(signed_units), signed_units > 0
    mode = effective_fill(fill, hedging=funds.hedging)
    opposite = short if buys else long
    reduced = ZERO if mode == "OPEN_ONLY" else min(size, opposite)
    opened = ZERO if mode == "REDUCE_ONLY" else size - reduced
    return PositionEffect(
        long_before=long,
        short_before=short,
        long_after=long + opened if buys else long - reduced,
        short_after=short - reduced if buys else short + opened,
        reduced=reduced,
        opened=opened,
        left_over=size - reduced - opened,
    )


def reduced_lots(lots: Iterable[Lot], signed_units: Decimal, reduced: Decimal) -> Iterator[Lot]:
    """Yield the trades that an order reduces, oldest first, each with the units that it loses."""
    left = reduced
    for lot in lots:
        if left <= 0:
            return
        if lot.units * signed_units >= 0:
            continue
        part = min(left, abs(lot.units))
        share = part / abs(lot.units)
        risk = None if lot.risk is None else lot.risk * share
        yield Lot(part.copy_sign(lot.units), lot.entry, risk)
        left -= part


def realized(
    context: TradingContext, signed_units: Decimal, reduced: Decimal, price: Decimal
) -> Decimal | None:
    """Return the profit that the reduced units realize at a price; None where the trades are not known that far."""
    parts = list(reduced_lots(context.funds.lots, signed_units, reduced))
    if sum((abs(part.units) for part in parts), ZERO) < reduced:
        return None
    return sum((profit(part.units, part.entry, price, context.factors) for part in parts), ZERO)


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
