"""How a watchlist's rows are sorted and filtered, and what each column measures for that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import LiteralString

from msgspec import Struct

from keydesk.calc.market.day_shape import sessions_of
from keydesk.parse.instruments import matching
from keydesk.store.store import Store
from keydesk.tables.column import Measured
from keydesk.tables.row_order import TableOrder
from keydesk.text.sanitize import Printable, safe
from keydesk.widgets.price_cells import price_format_of

Measure = Callable[[Store, str], Measured]
TITLES: Mapping[str, LiteralString] = {
    "pair": "pair",
    "bid": "bid",
    "ask": "ask",
    "spread": "spread",
    "day": "day %",
    "own": "own",
    "range": "range",
    "spark": "line",
    "pl": "P/L",
    "pips": "pips",
    "atr": "ATR %",
    "usual": "×1h",
    "session": "session",
}
"""The headers of the columns; in a heading they name the column that rows are sorted by."""
ASCENDING = frozenset(("pair", "session"))  # words are read from A to Z


def spread_pips(store: Store, instrument: str) -> Decimal:
    """Return the spread in pips, 0 without a price."""
    return _spread(store, instrument) or Decimal(0)


def _spread(store: Store, instrument: str) -> Decimal | None:
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


def day_change(store: Store, instrument: str) -> Decimal:
    """Return the mid price against 17:00 New York as a fraction, 0 while it is unknown."""
    return _day_change(store, instrument) or Decimal(0)


def _day_change(store: Store, instrument: str) -> Decimal | None:
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


def _open_profit(store: Store, instrument: str) -> Decimal | None:
    position = store.positions.get(instrument)
    return None if position is None else position.unrealized_pl


def _bid(store: Store, instrument: str) -> Decimal | None:
    quote = store.quotes.get(instrument)
    return None if quote is None else quote.bid


def _ask(store: Store, instrument: str) -> Decimal | None:
    quote = store.quotes.get(instrument)
    return None if quote is None else quote.ask


def session_text(store: Store, instrument: str, now_ns: int) -> str:
    """Return the open sessions of an instrument, "closed" while it does not trade."""
    quote = store.quotes.get(instrument)
    if quote is not None and not quote.tradeable:
        return "closed"
    return sessions_of(instrument, now_ns)


MEASURES: Mapping[str, Measure] = {
    "pair": lambda _, instrument: instrument,
    "bid": _bid,
    "ask": _ask,
    "spread": _spread,
    "day": _day_change,
    "own": net_units,
    "range": place_in_day,
    "spark": _day_change,
    "pl": _open_profit,
    "pips": day_pips,
    "atr": atr_used,
    "usual": times_usual,
    "session": lambda store, instrument: session_text(store, instrument, store.clock_ns) or None,
}


def sorted_rows(order: TableOrder, store: Store, names: Sequence[str]) -> list[str]:
    """Return the names in an order of the list's columns."""
    return order.sort(names, lambda name, column: MEASURES[column](store, name))


class RowFilter(Struct, frozen=True):
    """Which rows are shown: all conditions hold for them."""

    filter_text: str = ""
    held: bool = False  # with an own position
    tradeable: bool = False

    @classmethod
    def read(cls, text: str) -> RowFilter:
        """Return the filter that `saved` wrote."""
        parts = text.split()
        filter_text = next((part[1:] for part in parts if part.startswith("/")), "")
        return cls(filter_text, "own" in parts, "trading" in parts)

    @property
    def saved(self) -> str:
        """Return the text form for a file."""
        filter_text = "".join(each for each in self.filter_text if each.isalnum())
        return " ".join([*self._conditions(), *([f"/{filter_text}"] if filter_text else [])])

    @property
    def text(self) -> Printable:
        """Return it for a heading: "only own, gj"."""
        parts = [*self._conditions(), *([f"/{self.filter_text}"] if self.filter_text else [])]
        return safe(f"only {' '.join(parts)}") if parts else ""

    def _conditions(self) -> Sequence[str]:
        return [word for word, on in (("own", self.held), ("trading", self.tradeable)) if on]

    def rows(self, store: Store, names: Sequence[str]) -> list[str]:
        """Return the names that pass, in their order."""
        passing = set(matching(self.filter_text, names)) if self.filter_text else set(names)
        return [name for name in names if name in passing and self._passes(store, name)]

    def _passes(self, store: Store, name: str) -> bool:
        if self.held and name not in store.positions:
            return False
        quote = store.quotes.get(name)
        return not self.tradeable or (quote is not None and quote.tradeable)
