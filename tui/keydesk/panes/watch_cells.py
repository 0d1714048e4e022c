"""The cells of the watchlist's columns beside pair and prices; unknown values show as – or ?."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache

from keydesk.calc.market.day_shape import sparkline
from keydesk.calc.market.price_age import QUIET_INSTRUMENT
from keydesk.calc.market.trading_day import day_start
from keydesk.calc.risk.sizing import WIDE
from keydesk.panes import watch_order
from keydesk.store.frame import Frame
from keydesk.store.store import Store
from keydesk.store.unknown import are_trades_known
from keydesk.text import format as show
from keydesk.text.sanitize import SafeText, safe
from keydesk.values import Quote
from keydesk.widgets.lines import Run
from keydesk.widgets.price_cells import prices_are_old
from keydesk.widgets.theme import ColourRole, Palette, role_of_sign

WHOLE_FROM, SHORT_FROM = Decimal(1_000), Decimal(99_999)  # pips
CENTS_BELOW = Decimal(100_000)  # larger profits are shown without cents
RANGE = 6  # cells of the bar that shows where the price stands in its day
MINUTE_NS = 60_000_000_000


def pips_text(pips: Decimal, *, signed: bool) -> SafeText:
    """Return pips in at most six characters and a sign: 1.2, 1,096, 109.6k."""
    if abs(pips) < WHOLE_FROM:
        return show.pips(pips, signed=signed)
    if abs(pips) < SHORT_FROM:
        return show.pips(pips, 0, signed=signed)
    return show.short_units(pips, signed=signed)


def _by_price(frame: Frame, role: ColourRole) -> ColourRole:
    """Return the role of a figure computed from prices; faint while prices are stale."""
    return "faint" if prices_are_old(frame.store) else role


def _empty(palette: Palette) -> Sequence[Run]:
    return [(show.EMPTY, palette["faint"])]


def _unknown(palette: Palette) -> Sequence[Run]:
    return [(show.UNKNOWN, palette["faint"])]


def _spread(palette: Palette, quote: Quote, frame: Frame) -> Sequence[Run]:
    if not quote.tradeable:
        return [("HALT", palette["warn"])]
    silent = frame.now - quote.received
    if silent > QUIET_INSTRUMENT:
        return [(show.duration(silent), palette["muted"])]
    text = pips_text(watch_order.spread_pips(frame.store, quote.instrument), signed=False)
    if prices_are_old(frame.store):
        return [(text, palette["faint"])]
    if frame.store.spreads.is_wide(quote.instrument, quote.ask - quote.bid):
        return [(safe(f"{text}!"), palette["danger"])]
    return [(text, palette["plain"])]


def _usual(palette: Palette, quote: Quote, frame: Frame) -> Sequence[Run]:
    """Return the spread as a multiple of its 1-hour median."""
    times = frame.store.spreads.times_usual(quote.instrument, quote.ask - quote.bid)
    if times is None:
        return _unknown(palette)
    role: ColourRole = "danger" if times > WIDE else "muted"
    return [(pips_text(times, signed=False), palette[_by_price(frame, role)])]


def _day(palette: Palette, quote: Quote, frame: Frame) -> Sequence[Run]:
    if quote.instrument not in frame.store.days:
        return _empty(palette)
    text = show.percent(watch_order.day_change(frame.store, quote.instrument), signed=True)
    return [(text, palette[_by_price(frame, role_of_sign(text))])]


def _pips(palette: Palette, quote: Quote, frame: Frame) -> Sequence[Run]:
    change = watch_order.day_pips(frame.store, quote.instrument)
    if change is None:
        return _empty(palette)
    text = pips_text(change, signed=True)
    return [(text, palette[_by_price(frame, role_of_sign(text))])]


def _range(palette: Palette, quote: Quote, frame: Frame) -> Sequence[Run]:
    share = watch_order.place_in_day(frame.store, quote.instrument)
    if share is None:
        return _empty(palette)
    at = max(0, min(RANGE, int(share * RANGE + Decimal("0.5"))))
    faint, mark = palette["faint"], palette[_by_price(frame, "plain")]
    return [("─" * at, faint), ("┃", mark), ("─" * (RANGE - at), faint)]


def has_line(instrument: str, frame: Frame) -> bool:
    """Return whether the line of this day is known."""
    line = frame.store.day_lines.get(instrument)
    today = _today((frame.store.clock_ns or frame.time_ns) // MINUTE_NS)
    return line is not None and line.start_ns == today


def _line(palette: Palette, quote: Quote, frame: Frame) -> Sequence[Run]:
    """Return the line of the day; its last cell is the price of now."""
    line = frame.store.day_lines.get(quote.instrument)
    if line is None or not has_line(quote.instrument, frame):
        return _empty(palette)
    text = sparkline((*line.path, float(quote.bid + quote.ask) / 2))
    return [(safe(text), palette[_by_price(frame, "muted")])]


@lru_cache(maxsize=4)
def _today(minute: int) -> int:
    return day_start(minute * MINUTE_NS)


def _atr(palette: Palette, quote: Quote, frame: Frame) -> Sequence[Run]:
    used = watch_order.atr_used(frame.store, quote.instrument)
    if used is None:
        return _unknown(palette)
    text = show.percent(Decimal(used), 0)
    return [(text, palette[_by_price(frame, "bright" if used >= 1 else "plain")])]


def _session(palette: Palette, quote: Quote, frame: Frame) -> Sequence[Run]:
    store = frame.store
    now_ns = store.clock_ns or frame.time_ns
    text = watch_order.session_text(store, quote.instrument, now_ns)
    role: ColourRole = "muted" if quote.tradeable else "warn"
    return [(safe(text or show.EMPTY), palette[role])]


def _own(palette: Palette, instrument: str, store: Store) -> Sequence[Run]:
    if not are_trades_known(store):
        return _unknown(palette)
    net, position = watch_order.net_units(store, instrument), store.positions.get(instrument)
    if net is None or position is None:
        return []
    if not net and position.long_units:  # a hedge, not nothing
        return [(safe(f"±{show.short_units(position.long_units, signed=False)}"), palette["plain"])]
    role: ColourRole = "buy" if net > 0 else "sell" if net < 0 else "plain"
    return [(show.short_units(net), palette[role])]


def _profit(palette: Palette, instrument: str, store: Store) -> Sequence[Run]:
    if not are_trades_known(store):
        return _unknown(palette)
    position = store.positions.get(instrument)
    if position is None:
        return []
    profit = position.unrealized_pl
    if profit is None:
        return _unknown(palette)
    text = show.money(profit, 2 if abs(profit) < CENTS_BELOW else 0, signed=True)
    return [(text, palette["faint" if prices_are_old(store) else role_of_sign(text)])]


PRICE_CELLS: Mapping[str, Callable[[Palette, Quote, Frame], Sequence[Run]]] = {
    "spread": _spread,
    "day": _day,
    "range": _range,
    "spark": _line,
    "pips": _pips,
    "atr": _atr,
    "usual": _usual,
    "session": _session,
}
"""What needs a price, by column."""
POSITION_CELLS: Mapping[str, Callable[[Palette, str, Store], Sequence[Run]]] = {
    "own": _own,
    "pl": _profit,
}
"""What needs a position, by column; blank without one."""
