"""The layout for each size of the terminal, from 80x24 (`SMALL`) up: which panes are shown, and which share a place.

`Placement` applies it to the grid: the pane in front of each shared place, or one pane alone. `Strips` are the lines above
and below the grid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.widget import Widget

from keydesk.keys.keymap import KeyMap
from keydesk.panes.strips.account import AccountStrip, FundsLine
from keydesk.panes.strips.health import HealthLine
from keydesk.panes.strips.instrument import InstrumentLine
from keydesk.panes.strips.keys import KeyFooter
from keydesk.panes.strips.notices import Notices
from keydesk.panes.strips.replay import ReplayStrip
from keydesk.store.state import Notice
from keydesk.widgets.lines import LinePane
from keydesk.widgets.ruled_grid import RuledGrid, Slot
from keydesk.widgets.terminal_app import SMALLEST, SMALLEST_EXITS

STANDARD_FROM = 120  # columns
MEDIUM_FROM = Size(140, 40)
LARGE_FROM = Size(180, 44)
EXTRA_LARGE_FROM = Size(240, 60)
TWO_NOTICES_FROM = 30  # rows
TWO_NOTICES_ACROSS = 100  # columns


class ListRows(Struct, frozen=True):
    """The rows of the screen that a list is given: as many as it has, not fewer than `fewest`, up to `most` of them."""

    slot: str  # the first pane of its place
    beside: int  # its title, headings, totals, and the rule beneath
    fewest: int
    most: int
    share: str  # of the screen for a longer list

    def given(self, count: int) -> int:
        """Return the rows for a list of so many; one more than `most` stands for the share."""
        return max(self.fewest, min(count, self.most + 1))

    def size(self, given: int) -> str:
        """Return the size of its place in the grid."""
        return self.share if given > self.most else str(self.beside + given)


class Tier(Struct, frozen=True):
    """A layout: its CSS class, its slots, each with the panes that share it, and the sizes of their rows."""

    name: str
    slots: tuple[Slot, ...]
    lowest: frozenset[str]  # panes that have the lower rule of the grid beneath them
    charts: str = ""  # sizes of the rows above the lists
    lists: tuple[ListRows, ...] = ()


SIDE_CHARTS = ("second-chart", "third-chart", "fourth-chart")
LISTS = ("trades", "positions", "orders", "log", "books")
MINI = Tier("mini", (("trades", "positions", "orders"),), frozenset())
SMALL = Tier(
    "small",
    (("watchlist",), ("chart",), LISTS),
    frozenset(LISTS),
    "1fr",
    (ListRows("trades", 4, 3, 4, "9"),),
)
STANDARD = Tier(
    "standard",
    (("watchlist",), ("chart",), ("ticket",), LISTS),
    frozenset(LISTS),
    "1fr 8",
    (ListRows("trades", 4, 3, 6, "1fr"),),
)
MEDIUM = Tier(
    "medium",
    (
        *(("watchlist",), ("chart",), ("ticket",), ("positions",)),
        *(("trades",), ("orders", "log", "books")),
    ),
    frozenset(("orders", "log", "books")),
    "15 4fr",
    (ListRows("trades", 3, 3, 7, "12fr"), ListRows("orders", 3, 4, 5, "12fr")),
)
LARGE = Tier(
    "large",
    (
        *(("watchlist",), ("chart",), ("second-chart",), ("ticket",), ("books",)),
        *(("positions",), ("trades",), ("log",), ("orders",)),
    ),
    frozenset(("log", "orders")),
    "15 12fr",
    (ListRows("trades", 3, 4, 7, "14fr"), ListRows("orders", 3, 4, 6, "12fr")),
)
EXTRA_LARGE = Tier(
    "extra-large",
    (*LARGE.slots, ("third-chart",), ("fourth-chart",)),
    frozenset(("log", "orders")),
    "15 8fr 14fr 10fr",
    (ListRows("trades", 3, 4, 7, "14fr"), ListRows("orders", 3, 4, 6, "12fr")),
)
TIERS = (MINI, SMALL, STANDARD, MEDIUM, LARGE, EXTRA_LARGE)


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


class Placement:
    """The panes in front, the one that is shown alone, and the one that has the focus.

    Args:
        screen: Has the focus.
        grid: Has the panes.
        fronts: The pane in front of each shared place, by the first pane of that place.
    """

    def __init__(self, screen: Screen[None], grid: RuledGrid, fronts: Mapping[str, str]) -> None:
        self._screen, self._grid = screen, grid
        self.tier = SMALL
        self.fronts = dict(fronts)
        self.zoomed = ""  # the pane that is shown alone
        self._counts: Mapping[str, int] = {}  # rows of the lists by pane
        self._given: dict[str, int] = {}  # rows of the screen by place
        self._hidden: Widget | None = None  # had the focus until a smaller window hid it
        self._instead: Widget | None = None  # the pane that has the focus since

    def show(self) -> None:
        """Show the front pane of every place, with the classes that the geometry goes by."""
        grid, tier = self._grid, self.tier
        for each in TIERS:
            grid.set_class(each is tier and not self.zoomed, f"-{each.name}")
        grid.set_class(bool(self.zoomed), "-zoomed")
        grid.slots = tier.slots
        fronts = [self._front_of(slot) for slot in tier.slots]
        shown = {self.zoomed} if self.zoomed else set(fronts)
        blotter = next(slot for slot in tier.slots if "trades" in slot)
        for pane in grid.query(LinePane):
            name = pane.id or ""
            pane.set_class(name in blotter, "-blotter")
            pane.set_class(name in tier.lowest, "-lowest")
            pane.display = name in shown
        self._given = {each.slot: self._rows_of(each) for each in tier.lists}
        self._give_rows()
        self._keep_focus()

    def names_instrument(self, tier: Tier) -> bool:
        """Return whether the deal pane is in sight, which says what the instrument line would."""
        return ("ticket",) in tier.slots and not self.zoomed

    def fit_lists(self, counts: Mapping[str, int]) -> bool:
        """Give the lists in front rows for what they have and the charts the rest; return whether that changes anything.

        Rows are taken back only two below what is given: a single trade moves nothing to and fro.
        """
        self._counts = counts
        before = self._given
        self._given = {}
        for each in self.tier.lists:
            wanted, given = self._rows_of(each), before.get(each.slot, 0)
            self._given[each.slot] = given if wanted == given - 1 else wanted
        if self._given == before:
            return False
        self._give_rows()
        return True

    def _rows_of(self, place: ListRows) -> int:
        """Return the rows for the list in front of a place; for what is no list, those for the longest behind it."""
        slot = next(slot for slot in self.tier.slots if slot[0] == place.slot)
        front = self._front_of(slot)
        others = (self._counts.get(name, 0) for name in slot)
        return place.given(self._counts[front] if front in self._counts else max(others))

    def _give_rows(self) -> None:
        lists = [each.size(self._given[each.slot]) for each in self.tier.lists]
        is_whole = self.zoomed or not lists
        self._grid.styles.grid_rows = None if is_whole else " ".join((self.tier.charts, *lists))

    def _front_of(self, slot: Slot) -> str:
        front = self.fronts.get(slot[0], slot[0])
        return front if front in slot else slot[0]

    def bring_to_front(self, name: str) -> bool:
        """Bring a pane to the front of its place; return False if no window of this size shows it."""
        slot = next((slot for slot in self.tier.slots if name in slot), None)
        if slot is None:
            return False
        self.fronts[slot[0]] = name
        if self.zoomed:
            self.zoomed = name
        return True

    def _keep_focus(self) -> None:
        """Focus the first pane while a small window hides the focused one, which gets the focus back later."""
        screen, focused = self._screen, self._screen.focused
        is_instead = focused is None or focused is self._instead
        if self._hidden is not None and self._hidden.display and is_instead:
            screen.set_focus(self._hidden)
            self._hidden = self._instead = None
        elif focused is None or not focused.display:
            first = next((pane for pane in self._grid.panes if pane.can_focus), None)
            if focused is not None:
                self._hidden = self._hidden if focused is self._instead else focused
                self._instead = first
            screen.set_focus(first)

    def focus_moved(self) -> None:
        """Forget the hidden pane when the trader has focused another one."""
        if self._screen.focused not in {self._hidden, self._instead}:
            self._hidden = self._instead = None


class Strips:
    """The strips of the main screen.

    Args:
        keymap: The keys, as the strips name them.
        unavailable: Whether a key cannot act now, so that the footer dims it.
    """

    def __init__(self, keymap: KeyMap, unavailable: Callable[[str], bool]) -> None:
        self._account = AccountStrip(id="account")
        self._instrument = InstrumentLine(id="instrument")
        self._notices = Notices(id="notices")
        self.footer = KeyFooter(keymap, unavailable, id="keys")
        self.above: Sequence[LinePane] = (
            self._account,
            FundsLine(id="funds"),
            HealthLine(id="health"),
            ReplayStrip(keymap, id="replay"),
        )
        self.below: Sequence[LinePane] = (self._instrument, self._notices, self.footer)

    def fit(self, size: Size, *, exits_only: bool) -> None:
        """Fit the strips to the size of the terminal; a small one shows exits only."""
        self._account.is_short = self.footer.exits_only = exits_only
        self._notices.set_class(self._has_two_notices(size), "-two")

    def rows_beside(self, size: Size, *, replays: bool, names_instrument: bool) -> tuple[int, int]:
        """Return the rows of the strips above the panes and below them in a terminal of this size."""
        is_mini = tier_for(size) is MINI
        above = 2 + is_mini + replays  # account, health; funds; replay
        instrument = self._notices.has_class("-longer") or not (is_mini or names_instrument)
        return above, 2 + self._has_two_notices(size) + instrument  # notices, keys

    @staticmethod
    def _has_two_notices(size: Size) -> bool:
        return size.width >= TWO_NOTICES_ACROSS and size.height >= TWO_NOTICES_FROM

    def leave_out_instrument(self, is_told: bool) -> None:
        """Leave out the instrument line while the deal pane says the same."""
        self._instrument.set_class(is_told, "-told")

    def share_instrument_line(self) -> None:
        """Show notices on the instrument line, too, while they need three lines; no other line moves."""
        notices, line = self._notices, self._instrument
        needs_line = notices.rows_wanted > (2 if notices.has_class("-two") else 1)
        if needs_line != notices.has_class("-longer"):
            line.set_class(needs_line, "-lent")
            notices.set_class(needs_line, "-longer")

    def notices_beside(self, forms: Iterable[Region]) -> tuple[Notice, ...]:
        """Return the notices that are shown in full, none while a form covers them."""
        pane = self._notices
        visible = pane.region.shrink((0, pane.covered, 0, 0))
        return () if any(visible.overlaps(form) for form in forms) else pane.standing
