"""The frame of a form with its lines, which it draws itself."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias, cast

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from keydesk.text.sanitize import Printable, SafeText, safe
from keydesk.widgets.lines import DrawnLine, DrawnWidget, Run, cut, width_of
from keydesk.widgets.theme import ChartRole, ColourRole, Palette, palette_of

KEYS = re.compile(r"(?:^|(?<=  ))(?:(?:[A-Z]\S*|\S)(?: (?! )|(?=  )|$))+")
"""The keys at the beginning of each hint: one sign, or a name such as Esc."""
CHART_SIGNS = frozenset("~@%")  # in a role of a chart
OnAnother = Literal[
    "live-text on live",
    "practice-text on practice",
    "readonly-text on readonly",
    "bright on selection",
]
WordsRole: TypeAlias = ColourRole | OnAnother | ChartRole
"""A role, one on another's colour, or one of a chart."""
FramedLine: TypeAlias = Sequence[tuple[Printable, WordsRole]]


class Panel(DrawnWidget):
    """The framed lines of a form. It draws them itself, and again only those that changed.

    As a text of Textual's they would be wrapped and styled anew for each picture, a third of the time from a key to
    its form. Frame and title are Textual's.
    """

    DEFAULT_CSS = "Panel { height: auto; }"

    def __init__(self, lines: Iterable[FramedLine], width: int) -> None:
        super().__init__()
        self._lines = [tuple(line) for line in lines]
        self._rows: dict[int, Strip] = {}  # with the frame, by line
        self._drawn_with: tuple[Palette, Strip] | None = None  # and between which edges
        self._title: object = None  # with the words in the lower edge, and their colours
        self.styles.width = width

    @property
    def text(self) -> str:
        """The lines as they are shown."""
        return "\n".join("".join([safe(text) for text, _ in line]) for line in self._lines)

    @property
    def line_count(self) -> int:
        """The number of lines, without the frame."""
        return len(self._lines)

    @property
    def longest_line(self) -> int:
        """The columns of the longest line, without the frame."""
        return max((sum(cell_len(text) for text, _ in line) for line in self._lines), default=0)

    def entitle(self, title: Printable, foot: Printable = "") -> None:
        """Set the words in the frame; the same ones again draw nothing."""
        palette = palette_of(self.app)
        if self._title != (title, foot, palette):
            self._title = title, foot, palette
            self.border_title = framed_text(title)
            self.border_subtitle = _with_bright_keys(framed_text(foot), palette["plain"])

    def show(self, lines: Iterable[FramedLine]) -> None:
        """Show other lines; only another number of lines needs a new layout."""
        before, self._lines = self._lines, [tuple(line) for line in lines]
        if len(before) != len(self._lines):
            self._rows.clear()
            self.refresh(layout=True)
            return
        changed = [y for y, line in enumerate(self._lines) if line != before[y]]
        for y in changed:
            self._rows.pop(y, None)
        if changed:
            self.refresh(*[Region(0, y, self.size.width, 1) for y in changed])

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        return max(1, len(self._lines))

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 - Textual draws the frame around it
        return Strip.blank(self.size.width)

    def strips_at(self, numbers: Iterable[int]) -> list[Strip]:
        """Return the lines with the frame; those that are drawn already as they are."""
        gutter, palette = self.gutter, palette_of(self.app)
        between = self._framed(gutter.top)
        if self._drawn_with != (palette, between):
            self._rows.clear()
            self._drawn_with = palette, between
        width = max(0, between.cell_length - gutter.left - gutter.right)
        edges = between.crop(0, gutter.left), between.crop(gutter.left + width)
        strips = []
        for number in numbers:
            y = number - gutter.top
            is_inside = 0 <= y < self.size.height
            if is_inside and y not in self._rows:
                line = self._lines[y] if y < len(self._lines) else ()
                self._rows[y] = _framed_line(line, edges, width, palette)
            strips.append(self._rows[y] if is_inside else self._framed(number))
        return strips

    def _framed(self, y: int) -> Strip:
        """Return a line as Textual draws it: a part of the frame, or blank between its edges."""
        return Widget.render_lines(self, Region(0, y, self.outer_size.width, 1))[0]


def _framed_line(
    line: FramedLine, edges: tuple[Strip, Strip], width: int, palette: Palette
) -> Strip:
    """Return a line between two edges; one that is longer than the width is cut."""
    runs: list[Run] = []
    for words, role in line:
        style = _style_of(role, palette)
        if (
            style.underline and not style.reverse
        ):  # without colours; spaces beside the words are not underlined
            runs += _padded(safe(words), style, palette["plain"])
        else:
            runs.append((safe(words), style))
    taken = width_of(runs)
    if taken > width:
        runs = cut(runs, width)
        taken = width_of(runs)
    if taken < width:
        runs.append((safe(" " * (width - taken)), palette["plain"]))
    left, right = edges
    segments = [Segment(text, style) for text, style in runs if text]
    return DrawnLine([*left, *segments, *right], left.cell_length + width + right.cell_length)


def framed_text(text: Printable) -> Text | None:
    """Return words for the edge of a frame, whatever signs of markup are in them; None for none."""
    return Text(text) if text else None


def _with_bright_keys(text: Text | None, style: Style) -> Text | None:
    """Return hints with the keys that each begins with in the style of the key bar."""
    if text is not None:
        text.highlight_regex(KEYS, style)
    return text


def _padded(text: SafeText, style: Style, plain: Style) -> list[Run]:
    """Return words in their style, and the spaces before and after them without one."""
    inner = safe(text.strip(" "))
    left = len(text) - len(text.lstrip(" "))
    right = len(text) - len(inner) - left if inner else 0
    return [(safe(" " * left), plain), (inner, style), (safe(" " * right), plain)]


def _style_of(role: WordsRole, palette: Palette) -> Style:
    """Return the style of a role, of one on another's colour, or of a chart."""
    front, _, backdrop = role.partition(" on ")
    if backdrop:
        return palette.on(cast("ColourRole", front), cast("ColourRole", backdrop))
    is_of_chart = not role or not CHART_SIGNS.isdisjoint(role)
    return palette.chart_style(role) if is_of_chart else palette[cast("ColourRole", role)]
