"""The grid of panes and the rules between them, shared by neighbours.

The layout is CSS (themes/desk.tcss). The grid draws a rule around each visible pane, joins rules where they meet, writes
each pane's heading into its upper rule and highlights the rule of the focused pane.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.containers import Container
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from keydesk.text.sanitize import safe
from keydesk.widgets.lines import DrawnLine, DrawnWidget, Heading, LinePane, Run, Tab, cut, width_of
from keydesk.widgets.theme import Palette, palette_of

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
JOINTS = " │││─┘┐┤─└┌├─┴┬┼"  # by the sum of the directions that meet in a cell
Slot = tuple[str, ...]  # ids of the panes that share a place, one of them in front
Place = tuple[LinePane, Region]  # a pane in sight, and where it stands in the grid


TAB_GAP = 3  # columns between two tabs
ALARM = safe("!")  # at the end of a name


class RuledGrid(DrawnWidget, Container):
    """Panes with rules between them."""

    @dataclass
    class TabClicked(Message):
        """The name of a pane in a rule was clicked."""

        name: str

    # A pane's upper rule stands in its margin; between columns the gutter holds the rule.
    DEFAULT_CSS = """
    RuledGrid { layout: grid; grid-gutter: 0 1; height: 1fr; }
    RuledGrid > LinePane { margin: 1 0 0 0; }
    RuledGrid > LinePane.-lowest { margin: 1 0 1 0; }
    """

    def __init__(self, *panes: LinePane, id: str | None = None) -> None:  # noqa: A002
        super().__init__(*panes, id=id)
        self.slots: Sequence[Slot] = ()
        self._by_id = {pane.id: pane for pane in panes}
        self.quiet = False  # another screen has the keys: no pane is brighter
        self._places: list[Place] | None = None  # None: the panes may stand elsewhere
        self._rules: list[str] = []  # the rules of each line
        self._words: list[object] = []
        self._lines: list[Strip] = []
        self._lines_size = Size(0, 0)

    @property
    def panes(self) -> list[LinePane]:
        """Return the panes in sight."""
        return [child for child in self.children if isinstance(child, LinePane) and child.display]

    def check(self) -> None:
        """Draw the lines of rules again that a heading or the focus changed."""
        words = self._written()
        if words == self._words:
            return
        if self._places is None or [pane for pane, _ in self._places] != self.panes:
            self.moved()
            return
        before, self._words = self._lines, words
        self._lines = self._draw(self._places, palette_of(self.app))
        self._refresh_lines([y for y, line in enumerate(self._lines) if line != before[y]])

    def _refresh_lines(self, numbers: Iterable[int]) -> None:
        regions = [Region(0, y, self.outer_size.width, 1) for y in numbers]
        if regions:
            self.refresh(*regions)

    def moved(self) -> None:
        """Draw the rules again: panes stand elsewhere."""
        self._places = None
        self.refresh()

    def on_mount(self) -> None:
        """Follow the theme."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self.moved())

    def on_click(self, event: Click) -> None:
        """Report the pane whose name in a rule was clicked."""
        for pane, at in self._places or ():
            if at.y - 1 == event.y and at.x <= event.x < at.right:
                name = self._tab_at(pane, event.x - at.x - 2)
                if name:
                    self.post_message(self.TabClicked(name))

    def _tab_at(self, pane: LinePane, column: int) -> str:
        """Return the pane that the tab in a column of a heading stands for, "" between the tabs."""
        slot = next((slot for slot in self.slots if pane.id in slot), (pane.id or "",))
        start = 0
        for name, tab in zip(slot, self.heading(pane).tabs, strict=False):
            width = cell_len(tab.text)
            if start <= column < start + width:
                return name
            start += width + TAB_GAP
        return ""

    def on_resize(self) -> None:
        """The rules end elsewhere."""
        self.moved()

    def render_line(self, y: int) -> Strip:
        """Return a line of rules, where no pane stands."""
        if self._places is None or self._lines_size != self.outer_size:
            self._lines_size = self.outer_size
            self._places = [
                (pane, pane.region.translate(-self.region.offset)) for pane in self.panes
            ]
            self._rules = _rules(self._lines_size, [at for _, at in self._places])
            self._words = self._written()
            self._lines = self._draw(self._places, palette_of(self.app))
        return self._lines[y]

    def heading(self, pane: LinePane) -> Heading:
        """Return the pane's heading, the names of those behind it beside its own."""
        own = pane.heading()
        slot = next((slot for slot in self.slots if pane.id in slot), ())
        if len(slot) < 2:  # noqa: PLR2004 - alone in its place
            return own
        tabs: list[Tab] = []
        for name in slot:
            tab = self._by_id[name].heading().tabs[0]
            tabs.append(Tab(tab.text, front=name == pane.id))
        return Heading(tuple(tabs), own.right, own.short)

    def _written(self) -> list[object]:
        panes = self.panes
        looks = ((self.has_keys(pane), pane.is_dimmed, self.heading(pane)) for pane in panes)
        return [self.app.theme, *looks]

    def _draw(self, places: Sequence[Place], palette: Palette) -> list[Strip]:
        bright = next((_around(at) for pane, at in places if self.has_keys(pane)), None)
        lines = [
            _strip(_line(rules, _lit(bright, y), palette["line"], palette["focus"]))
            for y, rules in enumerate(self._rules)
        ]
        for pane, at in places:
            if 1 <= at.y <= len(lines):
                title = _strip(self._title(pane, at.width - 2, palette))
                lines[at.y - 1] = _inlay(lines[at.y - 1], at.x + 1, title)
        return lines

    def _title(self, pane: LinePane, width: int, palette: Palette) -> list[Run]:
        heading = self.heading(pane)
        edge = palette["focus"] if self.has_keys(pane) else palette["line"]
        muted = palette["muted"]
        runs: list[Run] = []
        for tab in heading.tabs:
            runs.append((" │ " if runs else " ", edge))
            style = self._title_style(palette, pane, tab)
            if tab.front and len(heading.tabs) > 1:
                style += palette.at_stake
            words = tab.text.removesuffix(ALARM)
            runs.append((safe(words), style))
            if words != tab.text:
                runs.append((ALARM, style if pane.is_dimmed else palette["danger"]))
        runs.append((" ", edge))
        for text in (heading.right, heading.short):
            right: list[Run] = [(safe(f" {text} "), muted)] if text else []
            between = width - width_of(runs) - width_of(right)
            if between >= 1:
                return [*runs, ("─" * between, edge), *right]
        return cut(runs, width)

    def _title_style(self, palette: Palette, pane: LinePane, tab: Tab) -> Style:
        if pane.is_dimmed or not tab.front:
            return palette["muted"]
        return palette["focus"] + palette.at_stake if self.has_keys(pane) else palette["plain"]

    def has_keys(self, pane: LinePane) -> bool:
        """Return whether keys go to the pane."""
        return pane.has_focus and not self.quiet


def _around(region: Region) -> Region:
    return Region(region.x - 1, region.y - 1, region.width + 2, region.height + 2)


def _edges(edge: Region) -> Iterable[tuple[int, int, int]]:
    """Yield every cell of a rectangle's outline with the directions its line goes."""
    left, top, right, bottom = edge.x, edge.y, edge.right - 1, edge.bottom - 1
    for x in range(left, right + 1):
        sideways = (LEFT if x > left else 0) | (RIGHT if x < right else 0)
        yield x, top, sideways
        yield x, bottom, sideways
    for y in range(top, bottom + 1):
        upright = (UP if y > top else 0) | (DOWN if y < bottom else 0)
        yield left, y, upright
        yield right, y, upright


def _rules(size: Size, regions: Iterable[Region]) -> list[str]:
    """Return the rules around the regions, line by line, joined where they meet."""
    joints = [[0] * size.width for _ in range(size.height)]
    for region in regions:
        for x, y, directions in _edges(_around(region)):
            if 0 <= y < size.height and 0 <= x < size.width:
                joints[y][x] |= directions
    return ["".join([JOINTS[joint] for joint in line]) for line in joints]


def _lit(bright: Region | None, y: int) -> Sequence[tuple[int, int]]:
    """Return from where to where line y belongs to the outline of the bright region."""
    if bright is None or not bright.y <= y < bright.bottom:
        return ()
    left, right = max(0, bright.x), bright.right
    if y in (bright.y, bright.bottom - 1):
        return ((left, right),)
    return ((left, bright.x + 1), (right - 1, right))


def _line(rules: str, lit: Iterable[tuple[int, int]], rule: Style, focus: Style) -> list[Run]:
    runs: list[Run] = []
    drawn = 0
    for start, end in lit:
        runs += (safe(rules[drawn:start]), rule), (safe(rules[start:end]), focus)
        drawn = end
    runs.append((safe(rules[drawn:]), rule))
    return [run for run in runs if run[0]]


def _inlay(line: Strip, x: int, title: Strip) -> Strip:
    """Return a line with another one laid over it from column x."""
    parts = (line.crop(0, x), title, line.crop(x + title.cell_length))
    segments = [segment for part in parts for segment in part if segment.text]
    return DrawnLine(segments, sum(part.cell_length for part in parts))


def _strip(runs: list[Run]) -> Strip:
    return DrawnLine([Segment(text, style) for text, style in runs], width_of(runs))
