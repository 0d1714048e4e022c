"""The modal screen with a framed text, the helpers that build its lines, and `FormContext`, which every form is given."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import ClassVar, Generic

from msgspec import Struct, field
from rich.cells import cell_len
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.events import Resize
from textual.geometry import Size

from keydesk.calc.orders.ticket_settings import Limits, Template, TemplateSet
from keydesk.forms.panel import Panel, WordsRole
from keydesk.keys.confirm import Letters
from keydesk.keys.guarded_app import GuardedKeys
from keydesk.keys.keymap import KEYMAP, KeyMap, arrows_in_words
from keydesk.store.risk import exit_only_text
from keydesk.store.store import Store
from keydesk.text.format import JOINED, join_units, lines_of, money
from keydesk.text.sanitize import Printable, SafeText, safe
from keydesk.widgets.overlay import Overlay, Result
from keydesk.widgets.theme import ChartRole, role_of_sign

Words = tuple[Printable, WordsRole]
TextLine = Sequence[Words]

BLANK: TextLine = ()
GAP = 2  # columns at least on either side of hints


def signed_money(value: Decimal | None, places: int = 2) -> Words:
    """Return an amount with its sign, in the colour of the sign."""
    text = money(value, places, signed=True)
    return (text, role_of_sign(text))


def as_lines(rows: Sequence[Sequence[tuple[str, str]]]) -> list[TextLine]:
    """Return the rows of a chart or a plot as lines."""
    return [tuple((safe(text), ChartRole(role)) for text, role in row) for row in rows]


def wrap_text(text: Printable, role: WordsRole, width: int) -> list[TextLine]:
    """Return a sentence wrapped to the width."""
    return [((line, role),) for line in lines_of(text, width)]


def fold_line(line: TextLine, width: int, hang: int = 0) -> list[TextLine]:
    """Return a line as it is where it fits, else over several lines.

    It is broken at its gaps, which are blank words and double spaces, where that leaves no label alone; else at spaces, but
    not before a unit. Lines after the first are indented by `hang`, the columns of its label, where each phrase has room.
    """
    if sum(cell_len(words) for words, _ in line) <= width:
        return [line]
    text = join_units("".join(words for words, _ in line))
    roles = [role for words, role in line for _ in words]
    gaps = _gaps_of(line, text)
    if hang and not _phrases_fit(line[1:], width - hang):
        hang = 0
    lines: list[TextLine] = []
    start = 0
    while start < len(text):
        indent = hang if lines else 0
        end = _end_of_line(text, start, width - indent, gaps)
        runs = _runs_of(list(zip(text[start:end], roles[start:end], strict=True)))
        lines.append(((safe(" " * indent), "plain"), *runs) if indent else runs)
        start = end
        while start < len(text) and text[start] == " ":
            start += 1
    return lines


def _gaps_of(line: TextLine, text: str) -> frozenset[int]:
    """Return where the line has a blank between its phrases: a blank word or a double space."""
    found, at = set(), 0
    for words, _ in line:
        if words.isspace():
            found |= set(range(at, at + len(words)))
        at += len(words)
    double = (at for at in range(len(text) - 1) if text[at : at + 2] == "  ")
    return frozenset(found).union(double)


def _phrases_fit(line: TextLine, width: int) -> bool:
    text = "".join(words for words, _ in line)
    gaps = _gaps_of(line, text)
    split = "".join("\n" if at in gaps else each for at, each in enumerate(text))
    return all(cell_len(each.strip()) <= width for each in split.split("\n"))


def _end_of_line(text: str, start: int, width: int, gaps: frozenset[int]) -> int:
    """Return where a line ends that begins at a place: at the last gap that fits, else the last space."""
    end, taken = start, 0
    while end < len(text) and (taken := taken + cell_len(text[end])) <= width:
        end += 1
    if end == len(text):
        return end
    spaces = [at for at in range(start + 1, end + 1) if text[at] == " "]
    least = 1 if start else 2  # words on a line, so that the label of a first line is not alone
    at_gaps = [at for at in spaces if at in gaps and len(text[start:at].split()) >= least]
    broken = (at_gaps or spaces or [max(start + 1, end)])[-1]
    return start + (len(text[start:broken].rstrip(" ")) or broken - start)


ACTIVE_FIELD = ChartRole("~focus")  # the role of the field that has the keys: a solid block
FIELD_PARTS = 4  # of a field's line: key, name, value, unit; its meaning follows
LABEL_WIDTH = 11  # of a figure
FIGURE_WIDTH = 12  # its value, to the right
CURRENCY_WIDTH = 4


def figure(label: str, value: Words, unit: str = "", *notes: Words) -> TextLine:
    """Return the line of a figure: its label to the left, its value to the right of a column, its unit behind it."""
    text, role = value
    return (
        (safe(f"{label:<{LABEL_WIDTH}}"), "muted"),
        (safe(f"{text:>{FIGURE_WIDTH}}"), role),
        (safe(f" {unit:<{CURRENCY_WIDTH}}"), "muted"),
        *notes,
    )


def folded(line: TextLine, width: int) -> list[TextLine]:
    """Return a line that fits the width: the meaning of a field goes below it, other lines are folded beside their label."""
    if sum(cell_len(text) for text, _ in line) <= width:
        return [line]
    if not is_field(line):
        return _beside_label(line, width)
    first, (meaning, role) = line[:FIELD_PARTS], line[FIELD_PARTS]
    below = safe(f"{meaning.strip():>{width}}")
    return [*fold_line(first, width), *fold_line(((below, role),), width)]


def _beside_label(line: TextLine, width: int) -> list[TextLine]:
    """Return a line of figures folded beside its label, which may be blank, where it has one and there is room."""
    label, role = line[0]
    if role != "muted" or not label.endswith(" ") or not len(line) > 1:
        return fold_line(line, width)
    if not label.isspace():
        return fold_line(line, width, len(label))
    figures, inside = line[1:], width - len(label)
    if not _phrases_fit(figures, inside):
        return fold_line(figures, width)
    return [((label, role), *each) for each in fold_line(figures, inside)]


def is_field(line: TextLine) -> bool:
    """Return whether a line is that of a field, which keys fill."""
    return len(line) == FIELD_PARTS + 1 and line[0][1] == "bright" and len(line[0][0]) == len("s ")


def _runs_of(cells: Sequence[tuple[str, str]]) -> TextLine:
    runs = groupby(cells, key=itemgetter(1))
    return tuple(
        (safe("".join(letter for letter, _ in run).replace(JOINED, " ")), role)
        for role, run in runs
    )


def two_ends(left: TextLine, right: TextLine, width: int) -> TextLine:
    """Return one line with words at both its ends; at least one column is between them."""
    taken = sum(len(text) for text, _ in (*left, *right))
    return (*left, (" " * max(1, width - taken), "plain"), *right)


def with_hints(left: TextLine, hints: Sequence[TextLine], right: TextLine, width: int) -> TextLine:
    """Return a line with words at both its ends, and between them the first hints for which there is room."""
    ends = _size_of(left) + _size_of(right)
    for each in hints:
        spare = width - ends - _size_of(each)
        if spare >= 2 * GAP:
            lead = spare // 2 if left else 0
            rest = width - _size_of(left) - lead
            return (*left, (" " * lead, "plain"), *two_ends(each, right, rest))
    return two_ends(left, right, width)


def _size_of(line: TextLine) -> int:
    return sum(len(text) for text, _ in line)


class ModalForm(Overlay[Result], Generic[Result]):
    """A modal screen with a panel, which closes only once: a key queued after the closing one must not send again."""

    WIDTH: ClassVar[int] = 60

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close with a result; do nothing when the form is closed already."""
        if self not in self.app.screen_stack:
            return AwaitComplete()
        return super().dismiss(result)

    def __init__(self, classes: str = "") -> None:
        super().__init__(classes=classes)
        self.panel: Panel | None = None  # None before it is composed and after it is removed
        self._drawn_for: Size | None = None  # of the terminal

    @property
    def inside(self) -> int:
        """Columns of a line."""
        return max(1, self.panel_width - 4)

    @property
    def panel_width(self) -> int:
        """Columns of the panel with its frame."""
        return min(self.WIDTH, self.app.size.width or self.WIDTH)

    @abstractmethod
    def lines(self) -> Sequence[TextLine]:
        """Return what the panel shows."""

    def key_words(self, text: Printable) -> SafeText:
        """Return a text that names keys as this terminal shows it."""
        return arrows_in_words(text) if self.app.has_class("-ascii") else safe(text)

    def title_panel(self, panel: Panel) -> None:
        """Set the words in the frame of the panel."""

    def compose(self) -> ComposeResult:
        yield self.new_panel()

    def new_panel(self) -> Panel:
        """Return the panel with its lines, width and title, so that mounting it lays the screen out once."""
        self._drawn_for = self.app.size
        self.panel = Panel(self.lines(), self.panel_width)
        self.title_panel(self.panel)
        return self.panel

    def redraw(self) -> None:
        """Draw everything as it is now; do nothing while the form is being mounted or removed."""
        if self.panel is not None and self.is_attached:
            self.title_panel(self.panel)
            self.panel.show(self.lines())

    def on_resize(self, event: Resize) -> None:
        """Draw for the terminal's new size.

        The first layout reports a size too. Textual would then lay out this screen and those beneath once more,
        although each has that size.
        """
        if all(screen.outer_size == event.size for screen in self.app.screen_stack):
            event.prevent_default()
        if self._drawn_for != self.app.size:
            self._drawn_for = self.app.size
            if self.panel is not None:
                self.panel.styles.width = self.panel_width
            self.redraw()

    def on_unmount(self) -> None:
        self.panel = None


class FormContext(Struct, frozen=True):
    """What every form is given: store, letters, clock, template, limits, keys. Forms only read it."""

    store: Store
    letters: Letters
    clock: Callable[[], float]  # monotonic seconds
    guard: GuardedKeys | None  # lets confirm keys through; without one all count
    template: Template = field(default_factory=Template)  # the standard one
    templates: TemplateSet = field(default_factory=TemplateSet)
    limits: Limits = field(default_factory=Limits)
    preset: int = 3
    keymap: KeyMap = KEYMAP

    def template_of(self, instrument: str) -> Template:
        """Return the template that new trades of an instrument begin with."""
        return self.templates.of(instrument, self.template)

    def exit_only(self) -> str:
        """Return why no risk may be opened now, "" if it may."""
        return exit_only_text(self.store, self.limits, self.store.now_ns)
