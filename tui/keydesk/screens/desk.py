"""The main screen: its panes and strips, the frame passed on to them, focus and zoom."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from msgspec.structs import replace
from textual import actions, events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from keydesk.calc.market.granularity import COMMON, next_common
from keydesk.chart.glyphs import STYLES, Style
from keydesk.config.last_workspace import Workspace
from keydesk.keys.chords import continuations
from keydesk.keys.guarded_app import ChordChanged
from keydesk.keys.keymap import DESK as DESK_CONTEXT
from keydesk.keys.keymap import KEYMAP, KeyMap
from keydesk.keys.textual_bindings import bindings_of
from keydesk.panes.books import Books
from keydesk.panes.chart import Chart
from keydesk.panes.deal import Deal
from keydesk.panes.strips.chord_list import ChordList
from keydesk.panes.strips.keys import FORM_HAS_KEYS
from keydesk.screens.placement import MINI, SIDE_CHARTS, Placement, Strips, tier_for
from keydesk.store.frame import Frame
from keydesk.store.state import Notice, Topic
from keydesk.tables.instrument_rows import InstrumentRows
from keydesk.tables.log import Log
from keydesk.tables.orders import Orders
from keydesk.tables.positions import Positions
from keydesk.tables.row_order import TableOrder
from keydesk.tables.table_pane import TablePane
from keydesk.tables.trades import Trades
from keydesk.tables.watch_columns import BY_KEY
from keydesk.tables.watchlist import RowFilter, Watchlist
from keydesk.text.sanitize import safe
from keydesk.widgets import theme
from keydesk.widgets.lines import LinePane
from keydesk.widgets.overlay import Backdrop, Overlay
from keydesk.widgets.ruled_grid import RuledGrid
from keydesk.widgets.terminal_app import SMALLEST, SMALLEST_EXITS

EVERYTHING = {topic: frozenset((None,)) for topic in Topic}
TOO_SMALL = (
    f"Keydesk needs {SMALLEST.width}×{SMALLEST.height} cells, {SMALLEST_EXITS.width}×{SMALLEST_EXITS.height} for exits; "
    "this terminal has {}×{}. No trade can be opened at this size. Exits work: {} closes, {} flattens."
)

SECONDS_PER_FRAME_BENEATH = 0.5  # seconds from picture to picture
LEAST_IN_SIGHT = 5  # rows of a pane above a page, with its title
LEAST_COLUMNS_IN_SIGHT = 20  # of a pane beside a page: fewer show parts of words
LIST_AFTER = 0.4  # seconds from the first key of a chord to the list of what may follow
SCREEN_ACTIONS = frozenset(("go", "next_pane", "previous_pane", "zoom", "granularity"))


def _bindings() -> list[BindingType]:
    """Return the desk's keys: actions of this screen, else `app.perform` with the name and its arguments."""
    bindings: list[BindingType] = []
    for binding in bindings_of(DESK_CONTEXT):
        assert isinstance(binding, Binding)  # noqa: S101 - the key map makes no others
        _, name, arguments = actions.parse(binding.action)
        if name not in SCREEN_ACTIONS:
            call = ", ".join(map(repr, (name, *arguments)))
            binding = dataclasses.replace(binding, action=f"app.perform({call})")  # noqa: PLW2901
        bindings.append(binding)
    return bindings


def _all_of(frames: Sequence[Frame]) -> dict[Topic, frozenset[object]]:
    """Return what changed over several frames."""
    topics = {topic for frame in frames for topic in frame.dirty}
    return {topic: frozenset().union(*(f.keys(topic) for f in frames)) for topic in topics}


class DeskScreen(Backdrop):
    """The main screen. The frame clock calls `on_frame`, which passes the frame to every visible pane."""

    CSS_PATH = theme.folder() / "desk.tcss"
    AUTO_FOCUS = "#watchlist"
    BINDINGS: ClassVar[list[BindingType]] = _bindings()

    @dataclass
    class GranularityChosen(Message):
        """The user chose another candle length."""

        granularity: str

    @dataclass
    class PaneWithoutRoom(Message):
        """The user wants a pane that no window of this size shows."""

        name: str

        @property
        def text(self) -> str:
            """The size of the terminal that the pane needs."""
            return (
                f"No {self.name} below {SMALLEST.width}×{SMALLEST.height} cells. Enlarge the window"
            )

    def __init__(
        self,
        *,
        keymap: KeyMap = KEYMAP,
        unavailable: Callable[[str], bool] = lambda _: False,
        left_as: Workspace | None = None,
    ) -> None:
        super().__init__(name="desk")  # no id: while the account is changed there are two
        self._left_as = left_as or Workspace()
        self.frame: Frame | None = None
        self._keymap = keymap
        self._all_panes: dict[str, LinePane] = {}  # by id
        self._held: list[Frame] = []  # frames not drawn yet
        self._drawn_at = float("-inf")
        self._page_region = Region()
        self._laid_out_for = Size()
        self.deal = Deal()
        self._strips = Strips(keymap, unavailable)
        self._chord_list = ChordList(unavailable, id="chord-list")
        self._chord = ""  # the first key of a chord, until the second one comes
        self._chord_timer: Timer | None = None
        self.chart = Chart()
        self._side_charts = [
            Chart(place=place, id=name) for place, name in enumerate(SIDE_CHARTS, 2)
        ]
        self._watchlist = Watchlist()
        self._panes = RuledGrid(
            self._watchlist,
            self.chart,
            self._side_charts[0],
            self.deal,
            Books(),
            *self._side_charts[1:],
            Positions(),
            Trades(),
            Log(),
            Orders(),
            id="panes",
        )
        self.placement = Placement(self, self._panes, self._left_as.fronts)

    def compose(self) -> ComposeResult:
        """Yield the strips above and below, and the panes between."""
        yield from self._strips.above
        yield self._panes
        yield from self._strips.below
        yield self._chord_list
        yield Static(id="too-small", markup=False)

    def on_mount(self) -> None:
        """Find the panes, and restore sorting and focus of the last run."""
        self._all_panes = {pane.id or "": pane for pane in self.query(LinePane)}
        for pane in self._all_panes.values():
            pane.keymap = self._keymap
        self._restore(self._left_as)
        self._lay_out(self.app.size)  # before the first picture, which would be drawn twice
        last = next((pane for pane in self._panes.panes if pane.id == self._left_as.focused), None)
        if last is not None and last.can_focus:
            self.set_focus(last)

    # Frames.

    def on_frame(self, frame: Frame) -> None:
        """Pass the frame to every visible pane; beneath a form, less often."""
        if not self.is_active:
            self._held.append(frame)
            if frame.now - self._drawn_at < SECONDS_PER_FRAME_BENEATH:
                return
            frame = replace(frame, dirty=_all_of(self._held))
            if self._is_behind_page:
                self._dim(on=True)
        self._held.clear()
        self._drawn_at = frame.now
        self._draw(frame)

    def _draw(self, frame: Frame) -> None:
        self.frame = frame
        self._show_replay(frame)
        self._leave_room_for_form()
        store = frame.store
        lists = {
            "trades": len(store.trades),
            "positions": len(store.positions),
            "orders": len(store.orders),
        }
        if self.placement.fit_lists(lists):
            self.call_after_refresh(self._panes.moved)
        for pane in self._all_panes.values():
            if pane.display:
                pane.on_frame(frame)
            elif pane.frame is None:
                pane.frame = frame  # its heading may be a tab
        self._panes.check()
        self._strips.share_instrument_line()
        self._move_pages()

    def _show_replay(self, frame: Frame) -> None:
        """Give the replay strip its line while it has something to say."""
        market = frame.store.market
        shown = market is not None and market.is_shown
        if self.has_class("-replay") != shown:
            self.set_class(shown, "-replay")
            self.call_after_refresh(self._panes.moved)

    def _move_pages(self) -> None:
        """Let pages stand where the panes stand now."""
        region = self.page_region(self.app.size)
        if region != self._page_region:
            self._page_region = region
            for screen in self.app.screen_stack:
                if isinstance(screen, Overlay):
                    screen.page_region_moved()

    def page_region(self, size: Size) -> Region:
        """Return where the panes stand in a terminal of this size; all of it where it shows none."""
        tier = tier_for(size)
        if tier is None:
            return size.region
        above, below = self._strips.rows_beside(
            size,
            replays=self.has_class("-replay"),
            names_instrument=self.placement.names_instrument(tier),
        )
        return Region(0, above, size.width, size.height - above - below)

    def rows_of_lists(self) -> int:
        """Return the rows from the title of the trades, or of the list in their place, down to the lower edge."""
        shown = [pane for pane in self._all_panes.values() if pane.has_class("-blotter")]
        top = min((pane.region.y - 1 for pane in shown if pane.display), default=self.size.height)
        return self.size.height - top

    def rows_for_page(self, needed: int) -> int:
        """Return the rows of a page: the lowest pane's at least, and all of those that it would leave a few rows of."""
        panes = self._panes.region
        titles = sorted(pane.region.y - 1 for pane in self._panes.panes)
        top = min(panes.bottom - needed, *titles[-1:], panes.bottom)
        cut = next((title for title in titles if title < top < title + LEAST_IN_SIGHT), top)
        return panes.bottom - cut

    def columns_for_page(self, needed: int) -> int:
        """Return the columns of a page: up to the end of a lowest pane of which it would leave a few columns."""
        regions = [pane.region for pane in self._panes.panes]
        bottom = max((each.bottom for each in regions), default=0)
        last = self._panes.region.right
        ends = sorted(min(each.right + 1, last) for each in regions if each.bottom == bottom)
        return next((end for end in ends if 0 <= end - needed < LEAST_COLUMNS_IN_SIGHT), needed)

    def _leave_room_for_form(self) -> None:
        """Let panes beside a docked form end where it begins, so that it cuts no column and no message."""
        form = self._docked_region
        for chart in (self.chart, *self._side_charts):
            if chart.display:
                chart.avoid_overlap(self._form_region)
        for pane in self._all_panes.values():
            covered = _covered_columns(pane.region, form) if form and pane.display else 0
            if covered != pane.covered:
                pane.covered = covered
                pane.redraw()

    @property
    def _docked_region(self) -> Region:
        """The part that a docked form covers, also while the list of its keys is over it."""
        above = () if self.is_active else reversed(self.app.screen_stack)
        regions = (getattr(each, "docked_region", None) for each in above)
        return next((each for each in regions if each is not None), Region())

    @property
    def _form_region(self) -> Region:
        """The part that an open form covers, docked or not; empty without one."""
        above = () if self.is_active else self.app.screen_stack
        panels = [panel for each in above if (panel := getattr(each, "panel", None)) is not None]
        return panels[-1].region if panels else Region()

    def on_screen_resume(self) -> None:
        """Redraw everything when the form on top closes."""
        self._panes.quiet = False
        self._dim(on=False)
        self.on_descendant_focus()
        self._everything_again()

    def on_screen_suspend(self) -> None:
        """Leave the keys to the form on top, which says when it is drawn; another screen does not."""
        self._panes.quiet = True
        if not isinstance(self.app.screen, Overlay):
            self.covered()

    def covered(self) -> None:
        """Show the message of the form on top in the footer, no pane as the one with the keys, and leave room for the form.

        Behind a page the panes are dimmed.
        """
        if self.is_active:  # it was closed meanwhile
            return
        self._panes.quiet = True
        self._dim(on=self._is_behind_page)
        self._panes.check()
        words = getattr(self.app.screen, "FOOTER", FORM_HAS_KEYS)
        self._strips.footer.show_context("", str(words))
        self._leave_room_for_form()

    @property
    def _is_behind_page(self) -> bool:
        """Whether a page dims the panes: not yet where it does not know how many rows it takes."""
        return any(getattr(each, "dims_panes", False) for each in self.app.screen_stack)

    def _dim(self, *, on: bool) -> None:
        for pane in self._panes.query(LinePane):
            pane.dim(on=on)

    def _everything_again(self) -> None:
        if self.frame is not None:
            self._draw(replace(self.frame, dirty=EVERYTHING))

    def show_hints(self, on: bool) -> None:
        """Name the keys of the focused pane in the last line, or only where they are listed."""
        self._strips.footer.shows_hints = on
        if self.is_mounted:
            self._strips.footer.redraw()

    def draw_candles(self, name: str) -> None:
        """Draw the prices of every chart in the style of this name."""
        named: Mapping[str, Style] = {each: each for each in STYLES}
        style = named.get(name, STYLES[0])
        for chart in (self.chart, *self._side_charts):
            chart.draw_as(style)

    def keys_changed(self) -> None:
        """Name the keys that the map has now, wherever one is named."""
        for pane in self._all_panes.values():
            pane.redraw()

    # Layout.

    def workspace(self) -> Workspace:
        """Return the workspace to restore at the next start."""
        store = self.frame.store if self.frame is not None else None
        if store is None or not store.focus:
            return self._left_as
        focused = self.focused.id if self.focused is not None else self._left_as.focused
        charts = tuple((chart.pinned, chart.granularity) for chart in self._side_charts)
        return Workspace(
            store.focus,
            store.granularity,
            dict(self.placement.fronts),
            focused or "",
            self._watchlist.order.saved,
            store.list_name,
            self._watchlist.filter.saved,
            self.placement.zoomed,
            charts if any(map(any, charts)) else (),
            store.has_dots,
            store.chart_zoom,
        )

    def show_workspace(self, left_as: Workspace) -> None:
        """Show panes, further charts, sorting and filter as they were left."""
        self.placement.fronts = dict(left_as.fronts)
        self.placement.zoomed = left_as.zoomed if left_as.zoomed in self._all_panes else ""
        self._restore(left_as)
        self._place()
        focused = self._all_panes.get(left_as.focused)
        if focused is not None and focused.can_focus and focused.display:
            self.set_focus(focused)
            self._entered()

    def _restore(self, left_as: Workspace) -> None:
        self._watchlist.order = TableOrder.read(left_as.sorting, BY_KEY)
        self._watchlist.show_only(RowFilter.read(left_as.filter))
        charts = (*left_as.charts, *[("", "")] * len(self._side_charts))
        for chart, (pinned, granularity) in zip(self._side_charts, charts, strict=False):
            chart.choose(granularity, pinned)

    @property
    def has_panes(self) -> bool:
        """Whether it is composed; it is not yet in the moment in which the account is changed."""
        return bool(self._all_panes)

    def pane(self, name: str) -> LinePane:
        """Return a pane by its id: watchlist, chart, trades, orders, positions, log, books, ticket."""
        return self._all_panes[name]

    @property
    def notices_on_screen(self) -> tuple[Notice, ...]:
        """Return the notices that stand whole on the screen, covered by no form."""
        stack = self.app.screen_stack
        above = stack[stack.index(self) + 1 :] if self in stack else ()
        return self._strips.notices_beside(
            child.region for screen in above for child in screen.children
        )

    @property
    def watchlist(self) -> Watchlist:
        """Return the watchlist."""
        return self._watchlist

    @property
    def pending_choice(self) -> str:
        """Return the instrument of the row that the last key chose while the desk has not turned to it yet, else ""."""
        pane = self.focused
        return pane.pending_choice if isinstance(pane, InstrumentRows) else ""

    def on_resize(self, event: events.Resize) -> None:  # noqa: ARG002
        """Choose the layout for the terminal's size; that of the event may be one of before."""
        if self.app.size != self._laid_out_for:
            self._lay_out(self.app.size)

    @property
    def is_too_small(self) -> bool:
        """Return whether the terminal has no room for a ticket, so that no form that opens a trade may open."""
        return tier_for(self.app.size) in (None, MINI)

    def _lay_out(self, size: Size) -> None:
        self._laid_out_for = size
        tier = tier_for(size)
        self.set_class(tier is None, "-too-small")
        exits = (self._keymap.name("close"), self._keymap.name("flatten"))
        text = TOO_SMALL.format(size.width, size.height, *exits)
        self.query_one("#too-small", Static).update(text)
        self.placement.tier = tier or self.placement.tier
        is_mini = self.placement.tier is MINI
        self.set_class(is_mini, "-mini")
        self._strips.fit(size, exits_only=is_mini)
        for pane in self.query(TablePane):
            pane.exits_only = is_mini
        self._place()
        if self._chord_list.display:
            self.call_after_refresh(self.list_chord)

    def _place(self) -> None:
        self.placement.show()
        names_instrument = self.placement.names_instrument(self.placement.tier)
        self._strips.leave_out_instrument(names_instrument)
        self._everything_again()
        self.call_after_refresh(self._panes.moved)
        self.call_after_refresh(self._leave_room_for_form)

    # Focus, zoom, candle length.

    def on_descendant_focus(self) -> None:
        """The footer shows the keys of the focused pane, unless a form has them."""
        self.placement.focus_moved()
        if self._panes.quiet:
            return
        self._strips.footer.show_context(self._keys_of)
        self._panes.check()

    @property
    def _keys_of(self) -> str:
        """The key map's name of the focused pane."""
        return str(getattr(self.focused, "key_context", DESK_CONTEXT))

    def on_chord_changed(self, message: ChordChanged) -> None:
        self.show_chord(message.first)

    def show_chord(self, first: str) -> None:
        """Show in the footer at once what may follow the first key of a chord, and a moment later in a list."""
        if first == self._chord:
            return
        self._chord = first
        self._strips.footer.show_chord(first)
        if self._chord_timer is not None:
            self._chord_timer.stop()
            self._chord_timer = None
        self._chord_list.close()
        if first:
            self._chord_timer = self.set_timer(LIST_AFTER, self.list_chord)

    def list_chord(self) -> None:
        """List what may follow the first key of a chord."""
        if not self._chord:
            return
        entries = continuations(self._keymap, self._keys_of, self._chord)
        panes, size = self._panes.region, self.app.size
        above = size.height - panes.bottom
        self._chord_list.open(safe(self._chord), entries, size.width, panes.height, above)

    def on_chart_crosshair_turned(self) -> None:
        """The footer shows the keys of the crosshair, or those of the chart again."""
        self.on_descendant_focus()

    def on_ruled_grid_tab_clicked(self, message: RuledGrid.TabClicked) -> None:
        """Bring a pane to the front whose name was clicked."""
        self.action_go(message.name)

    def action_go(self, name: str) -> None:
        """Bring a pane to the front of its place and give it the keys."""
        if not self.placement.bring_to_front(name):
            self.post_message(self.PaneWithoutRoom(name))
            return
        self._place()
        self.set_focus(self.pane(name))
        self._entered()

    def action_next_pane(self) -> None:
        self.focus_next(LinePane)
        self._entered()

    def action_previous_pane(self) -> None:
        self.focus_previous(LinePane)
        self._entered()

    def _entered(self) -> None:
        if isinstance(self.focused, TablePane):
            self.focused.entered()

    def action_zoom(self) -> None:
        """Show the focused pane alone, or all of them again."""
        focused = self.focused.id if self.focused else None
        self.placement.zoomed = "" if self.placement.zoomed else focused or ""
        self._place()

    def show_all(self) -> None:
        """Show all panes again where one stands alone."""
        if self.placement.zoomed:
            self.action_zoom()

    def action_granularity(self) -> None:
        """Ask for the next candle length of the chart that has the keys."""
        if self.placement.tier is MINI:
            self.post_message(self.PaneWithoutRoom("chart"))
            return
        now = self.frame.store.granularity if self.frame else COMMON[0]
        chart = self.focused
        if isinstance(chart, Chart) and chart.place > 1:
            now = chart.shown[1]
        self.show_granularity(next_common(now))

    def show_granularity(self, granularity: str) -> None:
        """Show candles of another length in the chart that has the keys, else in the desk's own."""
        chart = self.focused
        if isinstance(chart, Chart) and chart.place > 1:
            chart.choose(granularity, chart.pinned)
        else:
            self.post_message(self.GranularityChosen(granularity))


def _covered_columns(pane: Region, form: Region) -> int:
    """Return how many columns at the right of a pane a docked form covers, for half of its rows or more."""
    under = pane.intersection(form)
    reaches_under = pane.x < form.x and under and 2 * under.height >= pane.height
    return pane.right - form.x if reaches_under else 0
