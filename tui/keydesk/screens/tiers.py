"""Which panes stand on the desk at which size, and which of them share a place."""

from __future__ import annotations

from dataclasses import dataclass

from textual.geometry import Size

from keydesk.widgets.ruled_grid import Slot
from keydesk.widgets.terminal_app import SMALLEST

DESK_FROM = 100  # columns
COCKPIT_FROM = Size(160, 44)


@dataclass(frozen=True, slots=True)
class Tier:
    """One of the layouts: its CSS class and its places, each with the panes that share it."""

    name: str
    slots: tuple[Slot, ...]
    lowest: frozenset[str]  # panes that have the lower rule of the grid beneath them


LISTS = ("trades", "positions", "orders", "log", "books")
DECK = Tier("deck", (("watchlist",), ("chart",), LISTS), frozenset(LISTS))
DESK = Tier("desk", (("watchlist",), ("chart",), ("ticket",), LISTS), frozenset(LISTS))
COCKPIT = Tier(
    "cockpit",
    (
        *(("watchlist",), ("chart",), ("linked-chart",), ("ticket",), ("books",)),
        *(("trades", "positions", "orders"), ("log",)),
    ),
    frozenset(("trades", "positions", "orders", "log")),
)
TIERS = (DECK, DESK, COCKPIT)


def tier_for(size: Size) -> Tier | None:
    """The layout for a terminal of this size; None: too small for any."""
    if size.width < SMALLEST.width or size.height < SMALLEST.height:
        return None
    if size.width < DESK_FROM:
        return DECK
    if size.width >= COCKPIT_FROM.width and size.height >= COCKPIT_FROM.height:
        return COCKPIT
    return DESK
