"""Figures of an instrument of the watchlist: spread, change of the day, own position; None while one is not known."""

from __future__ import annotations

from decimal import Decimal

from keydesk.calc.market.day_shape import sessions_of
from keydesk.store.store import Store
from keydesk.widgets.price_cells import price_format_of


def spread_pips(store: Store, instrument: str) -> Decimal | None:
    """Return the spread in pips."""
    quote = store.quotes.get(instrument)
    return None if quote is None else price_format_of(store, instrument).pips(quote.ask - quote.bid)


def times_usual(store: Store, instrument: str) -> Decimal | None:
    """Return the spread as a multiple of its 1-hour median."""
    quote = store.quotes.get(instrument)
    return None if quote is None else store.spreads.times_usual(instrument, quote.ask - quote.bid)


def mid_of(store: Store, instrument: str) -> Decimal | None:
    """Return the mid price."""
    quote = store.quotes.get(instrument)
    return None if quote is None else (quote.bid + quote.ask) / 2


def change_of_day(store: Store, instrument: str) -> Decimal | None:
    """Return the mid price against 17:00 New York in price units."""
    mid, day = mid_of(store, instrument), store.days.get(instrument)
    return None if mid is None or day is None else mid - day.previous_close


def day_change(store: Store, instrument: str) -> Decimal | None:
    """Return the mid price against 17:00 New York as a fraction."""
    change, day = change_of_day(store, instrument), store.days.get(instrument)
    if change is None or day is None or not day.previous_close:
        return None
    return change / day.previous_close


def day_pips(store: Store, instrument: str) -> Decimal | None:
    """Return the mid price against 17:00 New York in pips."""
    change = change_of_day(store, instrument)
    return None if change is None else price_format_of(store, instrument).pips(change)


def place_in_day(store: Store, instrument: str) -> Decimal | None:
    """Return where the mid price is between low and high of the day, 0 to 1; None for a day without range."""
    mid, day = mid_of(store, instrument), store.days.get(instrument)
    if mid is None or day is None or day.high <= day.low:
        return None
    share: Decimal = (mid - day.low) / (day.high - day.low)
    return share


def atr_used(store: Store, instrument: str) -> float | None:
    """Return today's range as a fraction of ATR(14) of the daily candles."""
    average, day = store.daily_ranges.get(instrument), store.days.get(instrument)
    if not average or day is None:
        return None
    return float(day.high - day.low) / average


def net_units(store: Store, instrument: str) -> Decimal | None:
    """Return the own net position."""
    position = store.positions.get(instrument)
    return None if position is None else position.long_units + position.short_units


def open_profit(store: Store, instrument: str) -> Decimal | None:
    """Return the profit or loss of the own position."""
    position = store.positions.get(instrument)
    return None if position is None else position.unrealized_pl


def bid(store: Store, instrument: str) -> Decimal | None:
    """Return the bid."""
    quote = store.quotes.get(instrument)
    return None if quote is None else quote.bid


def ask(store: Store, instrument: str) -> Decimal | None:
    """Return the ask."""
    quote = store.quotes.get(instrument)
    return None if quote is None else quote.ask


def session_text(store: Store, instrument: str, now_ns: int) -> str:
    """Return the open sessions of an instrument, "closed" while it does not trade."""
    quote = store.quotes.get(instrument)
    if quote is not None and not quote.tradeable:
        return "closed"
    return sessions_of(instrument, now_ns)
