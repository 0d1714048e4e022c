"""How prices are drawn in panes."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from msgspec import Struct

from keydesk.store.store import Store
from keydesk.text import format as show
from keydesk.text.sanitize import SafeText, safe
from keydesk.values import Quote
from keydesk.widgets.lines import Run
from keydesk.widgets.theme import Palette

FLASH = 0.35  # seconds at full strength
DECAY = 0.8  # seconds until the flash is gone
OLD_LINKS = frozenset({"STALE", "DOWN"})


class PriceFormat(Struct, frozen=True):
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
def _shape(pip_location: int, precision: int) -> PriceFormat:
    return PriceFormat(pip_location, precision)


def price_format_of(store: Store, instrument: str) -> PriceFormat:
    """Return the price format of an instrument; before its details came, that of most pairs."""
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
