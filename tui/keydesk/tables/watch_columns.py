"""The columns of the watchlist: what each is called, shows and is sorted by; unknown values show as – or ?.

Which of them a list has is chosen by their names, `COLUMN_NAMES` of `calc/market/watchlists.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache

from msgspec import Struct

from keydesk.calc.market.day_shape import CELLS, sparkline
from keydesk.calc.market.price_age import QUIET_INSTRUMENT
from keydesk.calc.market.trading_day import DAY_END_TEXT, day_start
from keydesk.calc.risk.sizing import WIDE
from keydesk.store.store import Store
from keydesk.store.unknown import are_trades_known
from keydesk.tables import watch_figures as figures
from keydesk.tables.column import Column, Measured
from keydesk.text import format as show
from keydesk.text.sanitize import Printable, SafeText, safe
from keydesk.values import Quote
from keydesk.widgets.lines import Run
from keydesk.widgets.price_cells import flash_of, price_format_of, price_runs, prices_are_old
from keydesk.widgets.theme import ColourRole, Palette, role_of_sign
from keydesk_client.arithmetic.constants import MINUTE, ZERO

WHOLE_FROM, SHORT_FROM = Decimal(1_000), Decimal(99_999)  # pips
CENTS_BELOW = Decimal(100_000)  # larger profits are shown without cents
RANGE = 6  # cells of the bar that shows where the price stands in its day
HALF = Decimal("0.5")


class WatchRow(Struct, frozen=True):
    """What the columns read of an instrument; sorting needs no time."""

    instrument: str
    store: Store
    now: float = 0.0  # monotonic seconds
    now_ns: int = 0
    decimals: int = 5  # of the longest price of the list

    @property
    def is_old(self) -> bool:
        """Whether prices are stale."""
        return prices_are_old(self.store)

    def by_price(self, role: ColourRole) -> ColourRole:
        """Return the role of a figure computed from prices; faint while prices are stale."""
        return "faint" if self.is_old else role


Cell = Sequence[Run]


class WatchColumn(Column, frozen=True, kw_only=True):
    """A column of the watchlist; drawing, sorting and the choice of columns read it."""

    meaning: Printable = ""  # in the choice of columns; without it the column is always there
    value: Callable[[Store, str], Measured]
    cell: Callable[[WatchRow, Palette], Cell]


def pips_text(pips: Decimal, *, signed: bool) -> SafeText:
    """Return pips in at most six characters and a sign: 1.2, 1,096, 109.6k."""
    if abs(pips) < WHOLE_FROM:
        return show.pips(pips, signed=signed)
    if abs(pips) < SHORT_FROM:
        return show.pips(pips, 0, signed=signed)
    return show.short_units(pips, signed=signed)


def _empty(palette: Palette) -> Cell:
    return [(show.EMPTY, palette["faint"])]


def _unknown(palette: Palette) -> Cell:
    return [(show.UNKNOWN, palette["faint"])]


def _with_price(
    cell: Callable[[WatchRow, Palette, Quote], Cell],
) -> Callable[[WatchRow, Palette], Cell]:
    """Return a cell that is empty without a price."""

    def drawn(row: WatchRow, palette: Palette) -> Cell:
        quote = row.store.quotes.get(row.instrument)
        return _empty(palette) if quote is None else cell(row, palette, quote)

    return drawn


def _pair(row: WatchRow, palette: Palette) -> Cell:
    is_focus = row.instrument == row.store.focus
    return [(show.pair(row.instrument), palette["bright" if is_focus else "plain"])]


@_with_price
def _bid(row: WatchRow, palette: Palette, quote: Quote) -> Cell:
    return _price(row, palette, quote, quote.bid, quote.bid_move)


@_with_price
def _ask(row: WatchRow, palette: Palette, quote: Quote) -> Cell:
    return _price(row, palette, quote, quote.ask, quote.ask_move)


def _price(row: WatchRow, palette: Palette, quote: Quote, price: Decimal, move: int) -> Cell:
    """Return a price, its decimal point under those of the others."""
    price_format = price_format_of(row.store, row.instrument)
    is_quiet = row.now - quote.received > QUIET_INSTRUMENT
    runs = price_runs(
        palette,
        show.split_price(price, price_format.pip_location, price_format.precision),
        flash=flash_of(quote, row.now),
        move=move,
        dim=row.is_old or not quote.tradeable or is_quiet,
    )
    missing = row.decimals - price_format.precision + (price_format.precision == 0)
    return [*runs, (" " * missing, palette["plain"])]


@_with_price
def _spread(row: WatchRow, palette: Palette, quote: Quote) -> Cell:
    if not quote.tradeable:
        return [("HALT", palette["warn"])]
    silent = row.now - quote.received
    if silent > QUIET_INSTRUMENT:
        return [(show.duration(silent), palette["muted"])]
    text = pips_text(figures.spread_pips(row.store, row.instrument) or ZERO, signed=False)
    if row.is_old:
        return [(text, palette["faint"])]
    if row.store.spreads.is_wide(row.instrument, quote.ask - quote.bid):
        return [(safe(f"{text}!"), palette["danger"])]
    return [(text, palette["plain"])]


@_with_price
def _usual(row: WatchRow, palette: Palette, quote: Quote) -> Cell:
    """Return the spread as a multiple of its 1-hour median."""
    times = row.store.spreads.times_usual(row.instrument, quote.ask - quote.bid)
    if times is None:
        return _unknown(palette)
    role: ColourRole = "danger" if times > WIDE else "muted"
    return [(pips_text(times, signed=False), palette[row.by_price(role)])]


@_with_price
def _day(row: WatchRow, palette: Palette, _: Quote) -> Cell:
    if row.instrument not in row.store.days:
        return _empty(palette)
    text = show.percent(figures.day_change(row.store, row.instrument), signed=True)
    return [(text, palette[row.by_price(role_of_sign(text))])]


@_with_price
def _pips(row: WatchRow, palette: Palette, _: Quote) -> Cell:
    change = figures.day_pips(row.store, row.instrument)
    if change is None:
        return _empty(palette)
    text = pips_text(change, signed=True)
    return [(text, palette[row.by_price(role_of_sign(text))])]


@_with_price
def _range(row: WatchRow, palette: Palette, _: Quote) -> Cell:
    share = figures.place_in_day(row.store, row.instrument)
    if share is None:
        return _empty(palette)
    at = max(0, min(RANGE, int(share * RANGE + HALF)))
    faint, mark = palette["faint"], palette[row.by_price("plain")]
    return [("─" * at, faint), ("┃", mark), ("─" * (RANGE - at), faint)]


def has_line(instrument: str, store: Store, now_ns: int) -> bool:
    """Return whether the line of this day is known."""
    line = store.day_lines.get(instrument)
    return line is not None and line.start_ns == _today((store.clock_ns or now_ns) // MINUTE)


@_with_price
def _line(row: WatchRow, palette: Palette, quote: Quote) -> Cell:
    """Return the line of the day; its last cell is the price of now."""
    line = row.store.day_lines.get(row.instrument)
    if line is None or not has_line(row.instrument, row.store, row.now_ns):
        return _empty(palette)
    text = sparkline((*line.path, float(quote.bid + quote.ask) / 2))
    return [(safe(text), palette[row.by_price("muted")])]


@lru_cache(maxsize=4)
def _today(minute: int) -> int:
    return day_start(minute * MINUTE)


@_with_price
def _atr(row: WatchRow, palette: Palette, _: Quote) -> Cell:
    used = figures.atr_used(row.store, row.instrument)
    if used is None:
        return _unknown(palette)
    text = show.percent(Decimal(used), 0)
    return [(text, palette[row.by_price("bright" if used >= 1 else "plain")])]


@_with_price
def _session(row: WatchRow, palette: Palette, quote: Quote) -> Cell:
    text = figures.session_text(row.store, row.instrument, row.store.clock_ns or row.now_ns)
    role: ColourRole = "muted" if quote.tradeable else "warn"
    return [(safe(text or show.EMPTY), palette[role])]


def _own(row: WatchRow, palette: Palette) -> Cell:
    """Return the own net position, blank without one."""
    if not are_trades_known(row.store):
        return _unknown(palette)
    position = row.store.positions.get(row.instrument)
    if position is None:
        return []
    net = position.long_units + position.short_units
    if not net and position.long_units:  # a hedge, not nothing
        return [(safe(f"±{show.short_units(position.long_units, signed=False)}"), palette["plain"])]
    role: ColourRole = "buy" if net > 0 else "sell" if net < 0 else "plain"
    return [(show.short_units(net), palette[role])]


def _profit(row: WatchRow, palette: Palette) -> Cell:
    """Return the profit or loss of the own position, blank without one."""
    if not are_trades_known(row.store):
        return _unknown(palette)
    position = row.store.positions.get(row.instrument)
    if position is None:
        return []
    profit = position.unrealized_pl
    if profit is None:
        return _unknown(palette)
    text = show.money(profit, 2 if abs(profit) < CENTS_BELOW else 0, signed=True)
    return [(text, palette[row.by_price(role_of_sign(text))])]


WATCH_COLUMNS: tuple[WatchColumn, ...] = (
    WatchColumn(
        *("pair", "pair", 7),
        right=False,
        ascending=True,
        value=lambda _, instrument: instrument,
        cell=_pair,
    ),
    WatchColumn(*("bid", "bid", 7), meaning="Bid", value=figures.bid, cell=_bid),
    WatchColumn(*("ask", "ask", 7, 3), meaning="Ask", value=figures.ask, cell=_ask),
    WatchColumn(
        *("spread", "spread", 6, 1),
        meaning="Spread in pips",
        value=figures.spread_pips,
        cell=_spread,
    ),
    WatchColumn(
        *("day", "day %", 5, 2),
        meaning=safe(f"Change since {DAY_END_TEXT} in %"),
        value=figures.day_change,
        cell=_day,
    ),
    WatchColumn(
        *("own", "own", 6, 5), meaning="Own net position", value=figures.net_units, cell=_own
    ),
    WatchColumn(
        *("spark", "line", CELLS, 4),
        right=False,
        meaning="Sparkline of the day",
        value=figures.day_change,
        cell=_line,
    ),
    WatchColumn(
        *("range", "range", RANGE + 1, 6),
        right=False,
        meaning="Place in the range of the day",
        value=figures.place_in_day,
        cell=_range,
    ),
    WatchColumn(
        *("pl", "P/L", 6, 7),
        meaning="Profit or loss of the position",
        value=figures.open_profit,
        cell=_profit,
    ),
    WatchColumn(
        *("pips", "pips", 6, 8),
        meaning="Change of the day in pips",
        value=figures.day_pips,
        cell=_pips,
    ),
    WatchColumn(
        *("atr", "ATR %", 5, 9),
        meaning="Range of the day in % of ATR(14)",
        value=figures.atr_used,
        cell=_atr,
    ),
    WatchColumn(
        *("usual", "×1h", 4, 10),
        meaning="Spread against its 1-hour median",
        value=figures.times_usual,
        cell=_usual,
    ),
    WatchColumn(
        *("session", "session", 7, 11),
        right=False,
        ascending=True,
        meaning="Open sessions, or closed",
        value=lambda store, name: figures.session_text(store, name, store.now_ns) or None,
        cell=_session,
    ),
)
"""From left to right; the one that is missed least, with the highest rank, leaves a narrow pane first."""
BY_KEY = {column.key: column for column in WATCH_COLUMNS}
