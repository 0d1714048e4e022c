"""How prices are drawn in panes, and the base of tables whose rows belong to an instrument."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from textual.message import Message

from keydesk.records import Quote
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.text import format as show
from keydesk.text.sanitize import SafeText, safe
from keydesk.widgets.lines import Run
from keydesk.widgets.table import TablePane
from keydesk.widgets.theme import Palette

FLASH = 0.35  # seconds at full strength
DECAY = 0.8  # seconds until the flash is gone
QUIET = 60.0  # seconds without a price after which an instrument's own price counts as old
OLD_LINKS = frozenset({"STALE", "DOWN"})


@dataclass(frozen=True, slots=True)
class Shape:
    """How an instrument's prices are written."""

    pip_location: int
    precision: int

    @property
    def pip(self) -> Decimal:
        """One pip in price units."""
        return _pip(self.pip_location)

    def pips(self, distance: Decimal) -> Decimal:
        """Return a distance in price units, in pips."""
        return distance.scaleb(-self.pip_location)

    def write(self, price: Decimal | None) -> SafeText:
        """Return a price with all its decimals."""
        return show.price(price, self.precision)


@lru_cache(maxsize=32)
def _pip(location: int) -> Decimal:
    return Decimal(1).scaleb(location)


@lru_cache(maxsize=256)
def _shape(pip_location: int, precision: int) -> Shape:
    return Shape(pip_location, precision)


def shape_of(store: Store, instrument: str) -> Shape:
    """Return the instrument's shape; before its details came, that of most pairs."""
    known = store.instruments.get(instrument)
    if known is None:
        return _shape(-2, 3) if instrument.endswith("_JPY") else _shape(-4, 5)
    return _shape(known.pip_location, known.display_precision)


def flash_of(quote: Quote, now: float) -> int:
    """Return the flash of the last change: 2 full, 1 fading, 0 none."""
    age = now - quote.moved_at
    return 2 if age < FLASH else 1 if age < DECAY else 0


def prices_are_old(store: Store) -> bool:
    """Return whether the price stream delivers nothing."""
    return store.health.prices in OLD_LINKS


def price_runs(
    palette: Palette, parts: show.PriceParts, *, flash: int = 0, move: int = 0, dim: bool = False
) -> list[Run]:
    """Return a price as a dealer reads it: big figure dim, pips bright, fraction small in weight."""
    muted = palette["muted"]
    if dim:
        return [(safe("".join(parts)), palette["faint"])]
    pips = palette["bright"]
    if flash and move:
        pips = palette["tick-up" if move > 0 else "tick-down"]
    fraction = pips if flash == 2 and move else muted  # noqa: PLR2004 - at full strength
    return [(parts.big, muted), (parts.pips, pips), (parts.fraction, fraction)]


def signed_role(value: Decimal | None) -> str:
    """Return the role of an amount by its sign."""
    if value is None or not value:
        return "plain"
    return "profit" if value > 0 else "loss"


def role_of_sign(text: str) -> str:
    """Return the role of a number as it is written: what rounds to nothing is neither gain nor loss."""
    return {"+": "profit", show.MINUS: "loss"}.get(text[:1], "plain")


class InstrumentRows(TablePane):
    """The base of trades, positions and orders: moving the cursor focuses the row's instrument."""

    @dataclass
    class Chosen(Message):
        """The user moved the cursor to a row of this instrument; the receiver calls `settle` when the desk shows it."""

        instrument: str
        pane: InstrumentRows

        def settle(self) -> None:
            """Report to the pane that the desk shows the instrument."""
            self.pane.choice_settled()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self._choice = ""  # the instrument chosen last
        self._choices_pending = 0  # messages under way

    @property
    def pending_choice(self) -> str:
        """Return the instrument chosen last while the desk has not turned to it yet, else ""."""
        return self._choice if self._choices_pending else ""

    def choice_settled(self) -> None:
        """Take note that the desk has turned to the first of the pending choices."""
        self._choices_pending -= 1

    def on_frame(self, frame: Frame) -> None:
        """Draw what changed; the text without rows names the focused instrument."""
        super().on_frame(frame)
        if not self.keys and frame.touched(Topic.FOCUS):
            self.redraw_line(self.HEAD)

    @abstractmethod
    def instrument_of(self, key: str, store: Store) -> str:
        """Return the instrument of a row; empty when the row is gone."""

    def move_to(self, index: int) -> None:
        """Put the cursor on a row and focus its instrument, even if the cursor was there already."""
        before = self.cursor
        super().move_to(index)
        if self.cursor == before:
            self.moved()

    def moved(self) -> None:
        """Focus the instrument of the row under the cursor."""
        if self.selected is None or self.frame is None:
            return
        instrument = self.instrument_of(self.selected, self.frame.store)
        if instrument:
            self._choice = instrument
            self._choices_pending += 1
            self.post(self.Chosen(instrument, self))

    def entered(self) -> None:
        """Move the cursor to a row of the focused instrument; entering a pane never changes the focused instrument."""
        if self.frame is None:
            return
        store = self.frame.store
        if self.instrument_of(self.selected or "", store) != store.focus:
            here = (row for row, key in enumerate(self.keys) if self._is_on_the_desk(key, store))
            self.cursor = next(here, self.cursor)
            self.redraw()

    def _is_on_the_desk(self, key: str, store: Store) -> bool:
        return self.instrument_of(key, store) == store.focus
