"""The strip of the focused instrument, and the value of its pip."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from keydesk.calc.market.sessions import week_at
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.trading_context import factors_of
from keydesk.tables.watch_figures import spread_pips
from keydesk.text import format as show
from keydesk.text.sanitize import Printable, clean_name, safe
from keydesk.widgets.lines import Run
from keydesk.widgets.price_cells import price_format_of, price_runs, prices_are_old
from keydesk.widgets.strip_line import Item, StripLine
from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.arithmetic.margin import effective_rate, margin_cap

LOT = Decimal(10_000)


def pip_value(store: Store, instrument: str) -> Decimal | None:
    """Return the value of a pip of 10,000 units in the home currency, at the mid rate."""
    known = store.instruments.get(instrument)
    conversion = store.conversions.get(instrument.partition("_")[2])
    if known is None or conversion is None:
        return None
    value: Decimal = LOT * price_format_of(store, instrument).pip * conversion.position_value
    return value


def largest_text(store: Store, instrument: str) -> Printable:
    """Return the largest order: what the broker takes at most, or less where the free margin carries less.

    Empty while what it carries cannot be reckoned: the broker's limit alone would be more than can be opened.
    """
    known, quote, account = (
        store.instruments.get(instrument),
        store.quotes.get(instrument),
        store.account,
    )
    factors = factors_of(store, instrument)
    if known is None or quote is None or account is None or factors is None:
        return show.EMPTY
    largest = known.maximum_order_units
    rate = effective_rate(known.margin_rate, account.margin_rate)
    free, mid = max(ZERO, account.margin_available), (quote.bid + quote.ask) / 2
    carried = margin_cap(free, rate, mid, factors.value) if rate and mid else largest
    return show.short_units(min(largest, _rounded_down(carried)), signed=False)


def _rounded_down(units: Decimal) -> Decimal:
    """Return the units that `short_units` writes without rounding them up: two digits of thousands or of millions."""
    step = Decimal(1) if units < 1000 else Decimal(100) if units < 500_000 else Decimal(10_000)  # noqa: PLR2004
    return units // step * step


class InstrumentLine(StripLine):
    """One line on the instrument that chart, ticket and books show, and the size that B and S would open with."""

    preset = ""

    def show_preset(self, text: str) -> None:
        """Show another size preset: a small screen shows it only here."""
        self.preset = text
        self.redraw()

    def changed(self, frame: Frame) -> None:
        """Redraw when the instrument, or its price, changed."""
        if frame.touched(Topic.FOCUS, Topic.INSTRUMENTS, Topic.HEALTH) or (
            frame.store.focus in frame.keys(Topic.PRICES)
        ):
            self.redraw()

    def left(self, frame: Frame) -> Iterable[Item]:
        """Yield name and price, then spread, size, pip value, margin rate and limit."""
        store = frame.store
        name = store.focus
        quote = store.quotes.get(name)
        if not name or quote is None:
            return
        price_format = price_format_of(store, name)
        yield Item(((show.pair(name), self.palette["bright"]),))
        bid, ask = (
            price_runs(
                self.palette,
                show.split_price(p, price_format.pip_location, price_format.precision),
                dim=prices_are_old(store),
            )
            for p in (quote.bid, quote.ask)
        )
        yield Item((*bid, (" / ", self.palette["faint"]), *ask))
        yield self._item("spread", show.pips(spread_pips(store, name) or ZERO, signed=False), 1)
        if self.preset:
            yield self._item("size", safe(self.preset), 1)
        yield from self._details(store, name)
        if not quote.tradeable:
            yield Item((("not tradeable now", self.palette["warn"]),))
        elif store.health.environment == "PRACTICE" and not self._week_is_open(frame):
            yield Item((("weekend: only this practice market trades", self.palette["muted"]),), 2)

    def _week_is_open(self, frame: Frame) -> bool:
        return week_at(frame.store.clock_ns or frame.time_ns).is_open

    def _details(self, store: Store, name: str) -> Iterable[Item]:
        known = store.instruments.get(name)
        value = pip_value(store, name)
        if value is not None and store.account is not None:
            home = clean_name(store.account.currency)
            yield self._item("pip", safe(f"{show.money(value)} {home}/10k"), 2)
        if known is not None:
            yield self._item("margin", safe(f"{show.percent(known.margin_rate)}%"), 3)
            yield self._item("largest order", largest_text(store, name), 4)

    def _item(self, label: str, value: Printable, rank: int) -> Item:
        runs: tuple[Run, ...] = (
            (safe(f"{label} "), self.palette["faint"]),
            (value, self.palette["muted"]),
        )
        return Item(runs, rank)
