"""The open profit of an account at the end of each trading day and now, for its daily net asset value.

Prices are the day's last of the side that closes; those of the day that is not over are the present ones. Conversion to home currency is that of the trade's entry, so a day's value is
close where the quote currency moved against home since then, and exact where it is home currency.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from keydesk.calc.market.trading_day import booking_day_end
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.arithmetic.profit import quote_profit


class DayClose(NamedTuple):
    """The last bid and ask of a trading day, and when it ends."""

    end_ns: int
    bid: Decimal
    ask: Decimal


def held_over_a_day_end(
    trades: Iterable[JournalTrade], until_ns: int
) -> dict[str, tuple[int, int]]:
    """Return the instruments held at the end of a day or now, each from its first opening to its last closing (or now)."""
    spans: dict[str, tuple[int, int]] = {}
    for each in trades:
        closed = until_ns if each.closed_ns is None else each.closed_ns
        if each.closed_ns is None or booking_day_end(each.opened_ns) < each.closed_ns:
            first, last = spans.get(each.instrument, (each.opened_ns, closed))
            spans[each.instrument] = min(first, each.opened_ns), max(last, closed)
    return spans


def open_profits(
    trades: Iterable[JournalTrade], closes: Mapping[str, Sequence[DayClose]], until_ns: int
) -> dict[int, Decimal]:
    """Return the open profit by the end of each day over which a trade was or is held; without prices those known last count.

    Args:
        trades: All trades of the account, open ones, too.
        closes: By instrument, oldest first.
        until_ns: The present time.
    """
    profits: dict[int, Decimal] = {}
    day_end = booking_day_end(until_ns)
    for trade in trades:
        known = closes.get(trade.instrument, ())
        ends = [each.end_ns for each in known]
        end = booking_day_end(trade.opened_ns)
        while end <= day_end and (trade.closed_ns is None or end < trade.closed_ns):
            place = bisect_right(ends, end)
            if place and trade.home_factor is not None:
                profits[end] = profits.get(end, ZERO) + _profit(trade, known[place - 1], end)
            end = booking_day_end(end + 1)
    return profits


def _profit(trade: JournalTrade, close: DayClose, end_ns: int) -> Decimal:
    units = trade.units + sum((e.units for e in trade.exits if e.time_ns <= end_ns), ZERO)
    price = close.bid if trade.is_long else close.ask
    return quote_profit(units, trade.entry_price, price) * (trade.home_factor or ZERO)
