"""The layout for each size of the terminal, from 80x24 (`SMALL`) up: which panes are shown, and which share a place."""

from __future__ import annotations

from dataclasses import dataclass

from textual.geometry import Size

from keydesk.widgets.ruled_grid import Slot
from keydesk.widgets.terminal_app import SMALLEST, SMALLEST_EXITS

STANDARD_FROM = 120  # columns
MEDIUM_FROM = Size(140, 40)
LARGE_FROM = Size(180, 44)
EXTRA_LARGE_FROM = Size(240, 60)


@dataclass(frozen=True, slots=True)
class Tier:
    """A layout: its CSS class and its slots, each with the panes that share it."""

    name: str
    slots: tuple[Slot, ...]
    lowest: frozenset[str]  # panes that have the lower rule of the grid beneath them


SIDE_CHARTS = ("second-chart", "third-chart", "fourth-chart")
LISTS = ("trades", "positions", "orders", "log", "books")
MINI = Tier("mini", (("trades", "positions", "orders"),), frozenset())
SMALL = Tier("small", (("watchlist",), ("chart",), LISTS), frozenset(LISTS))
STANDARD = Tier("standard", (("watchlist",), ("chart",), ("ticket",), LISTS), frozenset(LISTS))
MEDIUM = Tier(
    "medium",
    (
        *(("watchlist",), ("chart",), ("ticket",), ("positions",)),
        *(("trades",), ("orders", "log", "books")),
    ),
    frozenset(("orders", "log", "books")),
)
LARGE = Tier(
    "large",
    (
        *(("watchlist",), ("chart",), ("second-chart",), ("ticket",), ("books",)),
        *(("positions",), ("trades",), ("log",), ("orders",)),
    ),
    frozenset(("log", "orders")),
)
EXTRA_LARGE = Tier(
    "extra-large",
    (*LARGE.slots, ("third-chart",), ("fourth-chart",)),
    frozenset(("log", "orders")),
)
TIERS = (MINI, SMALL, STANDARD, MEDIUM, LARGE, EXTRA_LARGE)


RIGHT_COLUMN = {"standard": 27, "medium": 40, "large": 39, "extra-large": 50}  # as in desk.tcss


def tier_for(size: Size) -> Tier | None:
    """Return the layout for a terminal of this size; None: too small for any."""
    if not _holds(size, SMALLEST_EXITS):
        return None
    if not _holds(size, SMALLEST):
        return MINI
    roomy = ((EXTRA_LARGE_FROM, EXTRA_LARGE), (LARGE_FROM, LARGE), (MEDIUM_FROM, MEDIUM))
    for least, tier in roomy:
        if _holds(size, least):
            return tier
    return STANDARD if size.width >= STANDARD_FROM else SMALL


def _holds(size: Size, least: Size) -> bool:
    return size.width >= least.width and size.height >= least.height
