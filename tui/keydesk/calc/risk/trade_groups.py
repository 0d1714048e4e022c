"""The open trades of one instrument as one: weighted entry, pips, R, risk to the stops."""

from collections.abc import Sequence
from decimal import Decimal

from msgspec import Struct

from keydesk.values import TradeRow
from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.arithmetic.profit import average_price, total


class TradeGroup(Struct, frozen=True):
    """Sums of trades; None where a part of the sum is not known. Amounts are in home currency."""

    units: Decimal  # net, signed
    is_hedged: bool  # long and short at once: it has no single entry
    entry: Decimal | None  # weighted by units
    now: Decimal | None  # closing-side price
    pips: Decimal | None  # weighted by units
    profit: Decimal | None
    r_multiple: Decimal | None  # profit in units of what was risked at first, of all together
    risk: Decimal  # to the stops, of the trades that have one
    unprotected: int  # trades without a stop
    financing: Decimal
    margin: Decimal | None


def group_of(trades: Sequence[TradeRow]) -> TradeGroup:
    """Return the sums of the trades of one instrument."""
    longs = any(trade.units > 0 for trade in trades)
    hedged = longs and any(trade.units < 0 for trade in trades)
    profit = total(trade.unrealized_pl for trade in trades)
    return TradeGroup(
        units=sum((trade.units for trade in trades), ZERO),
        is_hedged=hedged,
        entry=None if hedged else average_price((t.units, t.price) for t in trades),
        now=None if hedged or not trades else trades[0].now,
        pips=None if hedged else _weighted_pips(trades),
        profit=profit,
        r_multiple=_r_multiple(trades),
        risk=sum((trade.risk for trade in trades if trade.risk is not None), ZERO),
        unprotected=sum(trade.risk is None for trade in trades),
        financing=sum((trade.financing for trade in trades), ZERO),
        margin=total(trade.margin_used for trade in trades),
    )


def _weighted_pips(trades: Sequence[TradeRow]) -> Decimal | None:
    size = sum((abs(trade.units) for trade in trades), ZERO)
    weighted = total(None if t.pips is None else abs(t.units) * t.pips for t in trades)
    return weighted / size if size and weighted is not None else None


def _r_multiple(trades: Sequence[TradeRow]) -> Decimal | None:
    """Return the R of all trades together, None unless each has an initial risk."""
    risked = total(trade.initial_risk or None for trade in trades)
    won = total(
        None if each.r_multiple is None else each.r_multiple * (each.initial_risk or ZERO)
        for each in trades
    )
    return won / risked if risked and won is not None else None
