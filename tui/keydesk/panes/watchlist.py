"""The watchlist: prices, spread, daily change and own position of each instrument."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from keydesk.calc.sizing import TypicalSpreads
from keydesk.keys.keymap import KEYMAP, WATCHLIST
from keydesk.panes.price_cells import (
    QUIET,
    Shape,
    flash_of,
    price_runs,
    prices_are_old,
    role_of_sign,
    shape_of,
)
from keydesk.records import Day, Quote
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.text import format as show
from keydesk.text.sanitize import safe
from keydesk.widgets.lines import Heading, Run, Tab
from keydesk.widgets.table import Column, TablePane, widen

WHOLE_FROM, SHORT_FROM = Decimal(1_000), Decimal(99_999)  # pips of a spread
LONGEST_NAME = 12  # cells; the service's own have ten and less
RANGE = 6  # cells of the bar that shows where the price stands in its day
COLUMNS = (
    Column("pair", "pair", 7, right=False),
    Column("bid", "bid", 7),
    Column("ask", "ask", 7, rank=3),
    Column("spread", "spread", 6, rank=1),
    Column("day", "day %", 5, rank=2),
    Column("range", "range", RANGE + 1, rank=5, right=False),
    Column("own", "own", 6, rank=4),
)
Measure = Callable[[Store, str], Decimal]


def spread_pips(store: Store, instrument: str) -> Decimal:
    """Return the spread in pips, 0 without a price."""
    quote = store.quotes.get(instrument)
    if quote is None:
        return Decimal(0)
    return shape_of(store, instrument).pips(quote.ask - quote.bid)


def spread_words(pips: Decimal) -> str:
    """Return a spread in at most six characters: 1.2, 1,096, 109.6k."""
    if pips < WHOLE_FROM:
        return show.pips(pips, signed=False)
    return (
        show.pips(pips, 0, signed=False)
        if pips < SHORT_FROM
        else show.short_units(pips, signed=False)
    )


def day_change(store: Store, instrument: str) -> Decimal:
    """Return the mid price against 17:00 New York, as a fraction."""
    quote, day = store.quotes.get(instrument), store.days.get(instrument)
    if quote is None or day is None or not day.previous_close:
        return Decimal(0)
    return (quote.bid + quote.ask) / 2 / day.previous_close - 1


ORDERS: Mapping[str, Measure | None] = {"": None, "day %": day_change, "spread": spread_pips}


@dataclass(frozen=True, slots=True)
class Room:
    """The digits before and after the decimal point of the longest price."""

    whole: int
    decimals: int


class Watchlist(TablePane):
    """The watched instruments; the row under the cursor is the focused instrument of chart, ticket and books."""

    KEY_CONTEXT: ClassVar[str] = WATCHLIST
    BINDINGS: ClassVar[list[BindingType]] = [*KEYMAP.bindings(WATCHLIST)]

    @dataclass
    class Chosen(Message):
        """The user chose an instrument."""

        instrument: str

    def __init__(self, *, id: str | None = "watchlist") -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.sorting = ""
        self._flashing: dict[str, int] = {}
        self._old = False
        self._room = Room(1, 5)
        self._second = 0
        self._known = (0, 0, 0)
        self.typical = TypicalSpreads()

    def heading(self) -> Heading:
        """Return how many there are, and the order they were put in."""
        sorted_by = f"by {self.sorting}" if self.sorting else ""
        below = len(self.keys) - self.first - self.room
        more = f"{len(self.keys)} in all" if self.first or below > 0 else ""
        return Heading((Tab("Watch"),), safe(", ".join(filter(None, (sorted_by, more)))))

    def columns(self) -> Sequence[Column]:
        """Return the columns, as wide as the longest price needs, decimal points aligned."""
        price = self._room.whole + self._room.decimals + 1
        longest = min(max((len(key) for key in self.keys), default=7), LONGEST_NAME)
        return widen(COLUMNS, {"bid": price, "ask": price, "pair": longest})

    def empty(self, frame: Frame) -> str:
        """Return how to add an instrument."""
        adds = f"Nothing watched. {self.keymap.name('find')} finds."
        return adds if frame.store.instruments else "Loading instruments …"

    def cycle_sorting(self) -> None:
        """Sort the rows by the next measure, once."""
        names = list(ORDERS)
        self.sorting = names[(names.index(self.sorting) + 1) % len(names)]
        if self.frame is not None:
            self.set_keys(self._ordered(self.frame.store))

    action_view = cycle_sorting

    def moved(self) -> None:
        """Focus the instrument of the cursor's row."""
        if self.selected:
            self.post_message(self.Chosen(self.selected))

    def is_selected(self, y: int) -> bool:
        """Return whether the line is the row under the cursor; none is while the desk shows what is not listed."""
        listed = self.frame is None or self.frame.store.focus in self.keys
        return super().is_selected(y) and listed

    # What a frame changed.

    def changed(self, frame: Frame) -> None:
        """Redraw the rows whose price changed, faded or became stale."""
        store = frame.store
        known = (len(store.watchlist), len(store.quotes), len(store.instruments))
        if known != self._known or set(store.watchlist) != set(self.keys):
            self._known = known
            self._room = _room(store)
            self.set_keys(self._ordered(store))
            self.redraw()
        if frame.touched(Topic.FOCUS) or (
            self.selected != store.focus and store.focus in self.keys
        ):
            self._follow(store.focus)
            self.redraw_row(self.selected or "")
        if (old := prices_are_old(store)) != self._old:
            self._old = old
            self.redraw()
        self._redraw_moved(frame)

    def _redraw_moved(self, frame: Frame) -> None:
        dirty = frame.keys(Topic.PRICES) | frame.keys(Topic.POSITIONS)
        whole = None in dirty
        for key in frame.keys(Topic.PRICES):
            if quote := frame.store.quotes.get(str(key)):
                self.typical.note(quote.instrument, quote.ask - quote.bid, frame.now)
        second, self._second = self._second, int(frame.now)
        for key in self._shown():
            quote = frame.store.quotes.get(key)
            flash = flash_of(quote, frame.now) if quote else 0
            faded = flash != self._flashing.get(key, 0)
            self._flashing[key] = flash
            quiet = second != self._second and quote and frame.now - quote.received > QUIET
            if whole or faded or quiet or key in dirty:
                self.redraw_row(key)

    def _follow(self, instrument: str) -> None:
        if instrument in self.keys and instrument != self.selected:
            self.cursor = self.keys.index(instrument)
            self.redraw()

    def _ordered(self, store: Store) -> list[str]:
        measure = ORDERS[self.sorting]
        if measure is None:
            return list(store.watchlist)
        return sorted(store.watchlist, key=lambda key: measure(store, key), reverse=True)

    # Cells.

    def cell(self, key: str, column: str, frame: Frame) -> Sequence[Run]:
        """Return one cell of an instrument's row."""
        store = frame.store
        quote = store.quotes.get(key)
        if column == "pair":
            return self._pair(key, store)
        if column == "own":
            return self._own(key, store)
        if quote is None:
            return [(show.EMPTY, self.palette["faint"])]
        if column in ("bid", "ask"):
            return self._price(quote, column, frame)
        if column == "spread":
            return self._spread(key, quote, frame)
        return self._day(key, column, quote, store)

    def _pair(self, key: str, store: Store) -> list[Run]:
        role = "bright" if key == store.focus else "plain"
        return [(show.pair(key), self.palette[role])]

    def _price(self, quote: Quote, side: str, frame: Frame) -> list[Run]:
        shape = shape_of(frame.store, quote.instrument)
        price, move = (quote.bid, quote.bid_move) if side == "bid" else (quote.ask, quote.ask_move)
        runs = price_runs(
            self.palette,
            show.split_price(price, shape.pip_location, shape.precision),
            flash=flash_of(quote, frame.now),
            move=move,
            dim=self._is_old(quote, frame),
        )
        missing = self._room.decimals - shape.precision + (shape.precision == 0)
        return [*runs, (" " * missing, self.palette["plain"])]

    def _spread(self, key: str, quote: Quote, frame: Frame) -> list[Run]:
        if not quote.tradeable:
            return [("HALT", self.palette["warn"])]
        silent = frame.now - quote.received
        if silent > QUIET:
            return [(show.duration(silent), self.palette["muted"])]
        text = safe(spread_words(spread_pips(frame.store, key)))
        if self._old:
            return [(text, self.palette["faint"])]
        if self.typical.is_wide(key, quote.ask - quote.bid):
            return [(safe(f"{text}!"), self.palette["danger"])]
        return [(text, self.palette["plain"])]

    def _day(self, key: str, column: str, quote: Quote, store: Store) -> list[Run]:
        day = store.days.get(key)
        if day is None:
            return [(show.EMPTY, self.palette["faint"])]
        if column == "range":
            return self._range(quote, day)
        text = show.percent(day_change(store, key), signed=True)
        return [(text, self.palette["faint" if self._old else role_of_sign(text)])]

    def _range(self, quote: Quote, day: Day) -> list[Run]:
        width = day.high - day.low
        if width <= 0:
            return [(show.EMPTY, self.palette["faint"])]
        share = ((quote.bid + quote.ask) / 2 - day.low) / width
        at = max(0, min(RANGE, int(share * RANGE + Decimal("0.5"))))
        faint = self.palette["faint"]
        return [("─" * at, faint), ("┃", self.palette["plain"]), ("─" * (RANGE - at), faint)]

    def _own(self, key: str, store: Store) -> list[Run]:
        position = store.positions.get(key)
        if position is None:
            return []
        net = position.long_units + position.short_units
        return [(show.short_units(net), self.palette["buy" if net > 0 else "sell"])]

    def _is_old(self, quote: Quote, frame: Frame) -> bool:
        return self._old or not quote.tradeable or frame.now - quote.received > QUIET


def _room(store: Store) -> Room:
    shapes: list[Shape] = [shape_of(store, key) for key in store.watchlist]
    wholes = [
        len(str(int(store.quotes[key].ask))) for key in store.watchlist if key in store.quotes
    ]
    decimals = max((shape.precision for shape in shapes), default=5)
    return Room(max(wholes, default=3), decimals)
