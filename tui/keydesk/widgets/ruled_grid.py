"""The grid of panes and the rules between them, shared by neighbours.

The layout is CSS (themes/desk.tcss). The grid draws a rule around each visible pane, joins rules where they meet, writes
each pane's heading into its upper rule and highlights the rule of the focused pane.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.containers import Container
from textual.geometry import Region, Size
from textual.strip import Strip

from keydesk.text.sanitize import safe
from keydesk.widgets.lines import DrawnLine, DrawnWidget, Heading, LinePane, Run, Tab, cut, width_of
from keydesk.widgets.theme import Palette, palette_of

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
JOINTS = " │││─┘┐┤─└┌├─┴┬┼"  # by the sum of the directions that meet in a cell
Slot = tuple[str, ...]  # ids of the panes that share a place, one of them in front


class RuledGrid(DrawnWidget, Container):
    """Panes with rules between them."""

    # A pane's upper rule stands in its margin; between columns the gutter holds the rule.
    DEFAULT_CSS = """
    RuledGrid { layout: grid; grid-gutter: 0 1; height: 1fr; }
    RuledGrid > LinePane { margin: 1 0 0 0; }
    RuledGrid > LinePane.-lowest { margin: 1 0 1 0; }
    """

    def __init__(self, *panes: LinePane, id: str | None = None) -> None:  # noqa: A002
        super().__init__(*panes, id=id)
        self.slots: Sequence[Slot] = ()
        self.quiet = False  # another screen has the keys: no pane is brighter
        self._regions: list[Region] | None = None
        self._words: list[object] = []
        self._lines: list[Strip] = []
        self._lines_size = Size(0, 0)

    @property
    def panes(self) -> list[LinePane]:
        """Return the panes in sight."""
        return [child for child in self.children if isinstance(child, LinePane) and child.display]

    def check(self) -> None:
        """Draw the rules again if a heading changed or the focus went elsewhere."""
        if self._written() != self._words:
            self.moved()

    def moved(self) -> None:
        """Draw the rules again: panes stand elsewhere."""
        self._regions = None
        self.refresh()

    def on_mount(self) -> None:
        """Follow the theme."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self.moved())

    def on_resize(self) -> None:
        """The rules end elsewhere."""
        self.moved()

    def render_line(self, y: int) -> Strip:
        """Return a line of rules, where no pane stands."""
        if self._regions is None or self._lines_size != self.outer_size:
            self._lines_size = self.outer_size
            self._regions = [pane.region.translate(-self.region.offset) for pane in self.panes]
            self._words = self._written()
            lines = self._draw(palette_of(self.app), self._regions)
            self._lines = [_strip(line) for line in lines]
        return self._lines[y]

    def heading(self, pane: LinePane) -> Heading:
        """Return the pane's heading, the names of those behind it beside its own."""
        own = pane.heading()
        slot = next((slot for slot in self.slots if pane.id in slot), ())
        if len(slot) < 2:  # noqa: PLR2004 - alone in its place
            return own
        tabs: list[Tab] = []
        for name in slot:
            tab = self.query_one(f"#{name}", LinePane).heading().tabs[0]
            tabs.append(Tab(tab.text, front=name == pane.id))
        return Heading(tuple(tabs), own.right)

    def _written(self) -> list[object]:
        panes = self.panes
        return [self.app.theme, *((self.has_keys(pane), self.heading(pane)) for pane in panes)]

    def _draw(self, palette: Palette, regions: Sequence[Region]) -> list[list[Run]]:
        width, height = self.outer_size
        joints = [[0] * width for _ in range(height)]
        bright = [[False] * width for _ in range(height)]
        for pane, at in zip(self.panes, regions, strict=True):
            _rule(joints, _around(at))
            if self.has_keys(pane):
                _brighten(bright, _around(at))
        lines = [
            _line(row, lit, palette["line"], palette["focus"])
            for row, lit in zip(joints, bright, strict=True)
        ]
        for pane, at in zip(self.panes, regions, strict=True):
            if 1 <= at.y <= height:
                runs = self._title(pane, at.width - 2, palette)
                lines[at.y - 1] = _inlay(lines[at.y - 1], at.x + 1, runs)
        return lines

    def _title(self, pane: LinePane, width: int, palette: Palette) -> list[Run]:
        heading = self.heading(pane)
        edge = palette["focus"] if self.has_keys(pane) else palette["line"]
        runs: list[Run] = []
        for tab in heading.tabs:
            runs.append((" │ " if runs else " ", edge))
            runs.append((tab.text, self._title_style(palette, pane, tab)))
        runs.append((" ", edge))
        right: list[Run] = [(safe(f" {heading.right} "), palette["muted"])] if heading.right else []
        between = width - width_of(runs) - width_of(right)
        if between < 1:
            return cut(runs, width)
        return [*runs, ("─" * between, edge), *right]

    def _title_style(self, palette: Palette, pane: LinePane, tab: Tab) -> Style:
        if not tab.front:
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


def _rule(joints: list[list[int]], edge: Region) -> None:
    for x, y, directions in _edges(edge):
        if 0 <= y < len(joints) and 0 <= x < len(joints[y]):
            joints[y][x] |= directions


def _brighten(bright: list[list[bool]], edge: Region) -> None:
    for x, y, _ in _edges(edge):
        if 0 <= y < len(bright) and 0 <= x < len(bright[y]):
            bright[y][x] = True


def _line(joints: list[int], bright: list[bool], rule: Style, focus: Style) -> list[Run]:
    runs: list[Run] = []
    for joint, lit in zip(joints, bright, strict=True):
        style = focus if lit else rule
        if runs and runs[-1][1] is style:
            runs[-1] = (safe(runs[-1][0] + JOINTS[joint]), style)
        else:
            runs.append((safe(JOINTS[joint]), style))
    return runs


def _inlay(line: list[Run], x: int, title: list[Run]) -> list[Run]:
    """Return a line with other runs laid over it from column x."""
    whole, over = _strip(line), _strip(title)
    parts = (whole.crop(0, x), over, whole.crop(x + over.cell_length))
    return [(safe(s.text), s.style or Style()) for part in parts for s in part if s.text]


def _strip(runs: list[Run]) -> Strip:
    return DrawnLine([Segment(text, style) for text, style in runs], width_of(runs))
