"""What every view of the statistics page is given, and the words that several of them use."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from datetime import date
from decimal import Decimal
from typing import ClassVar, Generic, TypeVar

from msgspec import Struct, field
from rich.cells import cell_len

from keydesk.calc.trade_journal.statistics import FEW_TRADES
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.forms.modal_form import BLANK, TextLine, wrap_text
from keydesk.forms.page_lines import beside
from keydesk.text.format import at, shorten
from keydesk.text.sanitize import SafeText, safe
from keydesk.trade_journal.snapshot import Excursions, JournalSnapshot, OpenProfits, Paths
from keydesk.widgets.theme import ColourRole
from keydesk_client.arithmetic.constants import ZERO

Data = TypeVar("Data")
BAR = "━"  # thin, so that the bars of neighbouring rows do not become a block
LEFT_HALF, RIGHT_HALF = "╸", "╺"  # of its last cell
BAR_CELLS = 8
BAR_NAME = "bar: result"  # as wide as the shortest bar with its axis
CHANCE = f"under {FEW_TRADES}: may be chance"  # of a number of trades
FEW_ROLE: ColourRole = "muted"  # of figures that rest on few trades: dimmer, and still to be read


class ViewInput(Struct, frozen=True):
    """What a view is computed and drawn from."""

    snapshot: JournalSnapshot
    trades: Sequence[JournalTrade]  # closed; the chosen ones
    is_whole: bool = True  # whether those are all
    chosen: str = ""  # which ones they are, in words
    open_profits: OpenProfits | None = None  # None: not read yet
    excursions: Excursions | None = None
    paths: Paths | None = None
    progress: SafeText = field(default_factory=lambda: safe(""))  # of what is being read
    width: int = 76
    rows: int = 20
    ascii_only: bool = False
    is_mono: bool = False  # profit and loss have one colour
    has_tints: bool = True  # whether colours can be mixed with the background

    @property
    def zone_name(self) -> str:
        """The name of the trader's zone at the last closing."""
        last = self.trades[-1].closed_ns if self.trades else None
        return at(last or 0, self.snapshot.context.zone).tzname() or ""


class View(ABC, Generic[Data]):
    """One view: its data are computed in a thread, its lines at once from them."""

    NAME: ClassVar[str]
    SHORT: ClassVar[str] = ""  # where the name has no room; "": the name
    HINT: ClassVar[str] = ""  # its keys
    READS: ClassVar[str] = ""  # what it needs from candles: "excursions", "paths" or "open profits"
    POINTS: ClassVar[bool] = False  # whether the arrows move within it, not the page

    def key(self, given: ViewInput) -> Hashable:  # noqa: ARG002 - those that draw in the thread depend on the size
        """Return what the data depend on beside the trades."""
        return ()

    @abstractmethod
    def compute(self, given: ViewInput) -> Data:
        """Return the data; called in a thread."""

    @abstractmethod
    def lines(self, data: Data, given: ViewInput) -> Sequence[TextLine]:
        """Return every line, none wider than the page."""

    def move(self, across: int, down: int) -> bool:  # noqa: ARG002 - most have nothing to move
        """Move the choice in the view; return whether there is one."""
        return False

    def day(self) -> date | None:
        """Return the chosen day."""
        return None

    def group(self) -> tuple[str, str] | None:
        """Return the chosen grouping and group."""
        return None


def bars_of(
    values: Sequence[Decimal],
    cells: int = BAR_CELLS,
    *,
    split: bool = False,
) -> list[TextLine]:
    """Return bars from one axis, half a cell precise, losses to its left and gains to its right; the axis is at an edge where one side has none.

    Args:
        values: One for each bar.
        cells: To each side of the axis; all of them are on one side where the other has none.
        split: Whether each side has as many of all cells as its largest value needs.
    """
    left = 0 if min(values, default=ZERO) >= 0 else cells
    left = 2 * cells if left and max(values) <= 0 else left
    if split and 0 < left < 2 * cells:
        share = -min(values) / (max(values) - min(values))
        left = max(1, min(2 * cells - 1, round(2 * cells * share)))
    right = 2 * cells - left
    sides = max(1, left), max(1, right)
    unit = max((abs(each) / sides[each > 0] for each in values), default=ZERO)
    return [_bar(each, unit, left, right) for each in values]


def _bar(value: Decimal, unit: Decimal, left: int, right: int) -> TextLine:
    halves = int(2 * abs(value) / unit + Decimal("0.5")) or 1 if value else 0
    whole, is_half = BAR * (halves // 2), halves % 2
    loss = RIGHT_HALF * is_half + whole if value < 0 else ""
    gain = whole + LEFT_HALF * is_half if value > 0 else ""
    return (
        (safe(f"{loss:>{left}}"), "loss"),
        ("│", "line"),
        (safe(f"{gain:<{right}}"), "profit"),
    )


def fitting_names(names: Sequence[str], width: int) -> list[SafeText]:
    """Return the names of groups, all in short where one has no room, as London+NY; cut where that does not help."""
    if any(cell_len(each) > width for each in names):
        names = [each.replace(" and ", "+").replace("New York", "NY") for each in names]
    return [shorten(safe(each), width) for each in names]


def too_few(n: int, needed: int, what: str, width: int) -> list[TextLine]:
    """Return why nothing can be drawn."""
    text = f"Not enough trades for {what}: {n}, at least {needed} are needed."
    return wrap_text(safe(text), "plain", width)


def few_lines(n: int, given: ViewInput) -> list[TextLine]:
    """Return that figures of so many trades may be chance; nothing where there are enough."""
    text = f"n {n}, {CHANCE}."
    return wrap_text(safe(text), "warn", given.width) if is_few(n) else []


def is_few(n: int) -> bool:
    """Return whether figures of so many trades say little."""
    return n < FEW_TRADES


def columns_of(heights: Sequence[int], count: int, rows: int | None = None) -> list[list[int]]:
    """Return which tables of these heights stand in each of so many columns, each under the shortest one, a blank row between them.

    One that has no room in so many rows is left out; without `rows` none is.
    """
    columns: list[list[int]] = [[] for _ in range(count)]
    ends = [0] * count
    for number, height in enumerate(heights):
        at = ends.index(min(ends))
        end = ends[at] + bool(ends[at]) + height
        if rows is None or end <= rows:
            columns[at].append(number)
            ends[at] = end
    return columns


def in_columns(tables: Sequence[Sequence[TextLine]], count: int, pitch: int) -> list[TextLine]:
    """Return tables in so many columns, that begin so far from each other."""
    lines: list[TextLine] = []
    for place, numbers in enumerate(columns_of([len(table) for table in tables], count)):
        column = [line for number in numbers for line in (BLANK, *tables[number])][1:]
        lines = beside(lines, place * pitch, column)
    return lines
