"""The view of groups: the same figures for each of them, and in short those of the other groupings."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import reduce
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace
from rich.cells import cell_len

from keydesk.calc.trade_journal.charts import HeatCell
from keydesk.calc.trade_journal.groups import GROUPINGS, GroupContext, grouped
from keydesk.calc.trade_journal.statistics import (
    FEW_TRADES,
    Statistics,
    statistics_of,
)
from keydesk.forms.sheet import BLANK, TextLine, Words, signed_money, wrap_text
from keydesk.forms.statistics.maps import sum_lines
from keydesk.forms.statistics.view import (
    BAR_CELLS,
    FEW_ROLE,
    View,
    ViewInput,
    in_columns,
    is_few,
    two_sided_bar,
)
from keydesk.text.format import money, pair, percent, shorten
from keydesk.text.sanitize import Printable, SafeText, safe
from keydesk_client.arithmetic.constants import NOTHING


class GroupRow(Struct, frozen=True):
    """The figures of a group."""

    name: str
    statistics: Statistics
    r_sum: Decimal | None


NAMES: Mapping[str, str] = {
    "weekday-hour": "hour by weekday",
    "hold": "hold time",
    "order": "first and later trades of a day",
    "after": "what came before",
}
"""Groupings whose name on the command line is short."""
COLUMNS: Sequence[tuple[str, int, int]] = (  # name, width, rank: the highest is left out first
    ("n", 6, 0),
    ("win %", 7, 1),
    ("result", 12, 0),
    ("avg R", 7, 2),
    ("sum R", 9, 5),
    ("PF", 7, 3),
    ("avg win", 10, 6),
    ("avg loss", 10, 6),
    ("payoff", 8, 7),
    ("max DD", 11, 4),
    ("SQN", 7, 8),
)
BAR_WIDTH = 19
WIDEST_BAR = 30  # cells to each side of its axis
LEAST_OTHERS = 6  # rows
OTHER_NAME_WIDTH, OTHERS_GAP = 20, 6
GROUP_WIDTH = (14, 26)


class GroupData(Struct, frozen=True):
    """The figures of each group, and the results of the other groupings."""

    rows: Sequence[GroupRow]
    others: Mapping[str, Mapping[str, HeatCell]]


class GroupsView(View[GroupData]):
    """The same figures by groups, and the other groupings in short where there is room."""

    NAME: ClassVar[str] = "groups"
    HINT: ClassVar[str] = "← → grouping  ↑ ↓ row  Enter only these"
    POINTS: ClassVar[bool] = True

    def __init__(self) -> None:
        self.grouping = 0
        self.row = 0
        self._shown: Sequence[GroupRow] = ()

    @property
    def name(self) -> str:
        """The grouping, as the command line names it."""
        return list(GROUPINGS)[self.grouping % len(GROUPINGS)]

    def key(self, given: ViewInput) -> str:  # noqa: ARG002
        """Return the grouping."""
        return self.name

    def compute(self, given: ViewInput) -> GroupData:
        """Return the figures of each group, and the results of the other groupings, the next one first."""
        snapshot = given.snapshot
        context = GroupContext(
            snapshot.journal.trades, snapshot.context.notes, snapshot.context.zone
        )
        rows = [
            GroupRow(name, statistics_of(own), sum(rs, NOTHING) if rs else None)
            for name, own in grouped(given.trades, self.name, context).items()
            if (rs := [each.r for each in own if each.r is not None]) is not None
        ]
        names = list(GROUPINGS)
        at = names.index(self.name)
        return GroupData(
            rows,
            {
                other: {
                    group: reduce(HeatCell.plus, own, HeatCell())
                    for group, own in grouped(given.trades, other, context).items()
                }
                for other in (*names[at + 1 :], *names[:at])
            },
        )

    def lines(self, data: GroupData, given: ViewInput) -> Sequence[TextLine]:
        """Return a table, a line for each group; beneath it the other groupings in short."""
        lines = self._table(data.rows, given)
        room = given.rows - len(lines) - 2
        if not data.rows or room < LEAST_OTHERS:
            return lines
        tables = [
            [
                ((safe(f"By {NAMES.get(name, name)}"), "bright"),),
                *sum_lines("", cells, replace(given, width=0), OTHER_NAME_WIDTH),
            ]
            for name, cells in data.others.items()
            if len(cells) > 1
        ]
        return [*lines, BLANK, *in_columns(tables, given.width, OTHERS_GAP, room)]

    def _table(self, data: Sequence[GroupRow], given: ViewInput) -> list[TextLine]:
        self._shown = data
        self.row = max(0, min(self.row, len(data) - 1))
        zone = f", {given.zone_name}" if "hour" in self.name or "day" in self.name else ""
        title = f"By {NAMES.get(self.name, self.name)}{zone}"
        place = f"{self.grouping % len(GROUPINGS) + 1} of {len(GROUPINGS)}"
        head: TextLine = ((safe(title), "bright"), (safe(f"   {place}"), "faint"))
        if not data:
            return [head, BLANK, (("No trade was closed yet.", "muted"),)]
        longest = max(cell_len(each.name) for each in data)
        name_width = max(GROUP_WIDTH[0], min(GROUP_WIDTH[1], longest + 1))
        columns, has_bar = _fitting(given.width - name_width - 2)
        largest = max(abs(each.statistics.total.value or NOTHING) for each in data)
        taken = name_width + 2 + sum(width for _, width in columns)
        bar = max(BAR_CELLS, min(WIDEST_BAR, (given.width - taken - 3) // 2))
        captions = "".join(f"{name:>{width}}" for name, width in columns)
        lines: list[TextLine] = [head, ((safe(f"{'':{name_width + 2}}{captions}"), "muted"),)]
        rows = max(1, given.rows - 4)
        first = max(0, min(self.row - rows // 2, len(data) - rows))
        for place_, each in list(enumerate(data))[first : first + rows]:
            few, chosen = is_few(each.statistics.n), place_ == self.row
            cells = _cells(each)
            line: list[Words] = [
                ("▶ " if chosen else "  ", "focus"),
                (
                    safe(f"{shorten(self._shown_name(each), name_width - 1):<{name_width}}"),
                    FEW_ROLE if few else "bright" if chosen else "plain",
                ),
            ]
            for name, width in columns:
                text, role = cells[name]
                line.append((safe(f"{text:>{width}}"), FEW_ROLE if few else role))
            if has_bar:
                line += [
                    (" ", "plain"),
                    *two_sided_bar(each.statistics.total.value or NOTHING, largest, bar),
                ]
            lines.append(line)
        more = len(data) - rows
        if more > 0:
            lines.append(((safe(f"  {len(data)} groups, ↑ ↓ shows the others"), "faint"),))
        return [*lines, *wrap_text(_few_text(data), "muted", given.width)]

    def _shown_name(self, row: GroupRow) -> SafeText:
        return pair(row.name) if self.name == "instrument" else safe(row.name)

    def move(self, across: int, down: int) -> bool:
        """Change the grouping, or the row."""
        if across:
            self.grouping, self.row = (self.grouping + across) % len(GROUPINGS), 0
        self.row = max(0, self.row + down)
        return True

    def group(self) -> tuple[str, str] | None:
        """Return the grouping and the chosen group."""
        return (self.name, self._shown[self.row].name) if self._shown else None


def _few_text(data: Sequence[GroupRow]) -> Printable:
    few = sum(is_few(each.statistics.n) for each in data)
    if not few:
        return ""
    return safe(
        f"n under {FEW_TRADES}: too few to tell the group from chance ({few} of {len(data)})."
    )


def _fitting(room: int) -> tuple[list[tuple[str, int]], bool]:
    """Return the columns that fit, whole, and whether a bar of the results does."""
    columns = list(COLUMNS)
    while len(columns) > 1 and sum(width for _, width, _ in columns) > room:
        columns.remove(max(columns, key=lambda column: column[2]))
    left = room - sum(width for _, width, _ in columns)
    return [(name, width) for name, width, _ in columns], left >= BAR_WIDTH


def _cells(row: GroupRow) -> dict[str, Words]:
    statistics = row.statistics
    factor = statistics.profit_factor.value
    return {
        "n": (safe(f"{statistics.n:,}"), "plain"),
        "win %": (percent(statistics.win_rate.value, 0), "plain"),
        "result": signed_money(statistics.total.value),
        "avg R": signed_money(statistics.expectancy_r.value),
        "sum R": signed_money(row.r_sum),
        "PF": (
            safe("∞") if factor is not None and not factor.is_finite() else money(factor),
            "plain",
        ),
        "avg win": (money(statistics.average_win.value), "plain"),
        "avg loss": (money(statistics.average_loss.value), "plain"),
        "payoff": (money(statistics.payoff.value), "plain"),
        "max DD": (money(statistics.drawdown.money), "plain"),
        "SQN": (money(statistics.sqn.value), "plain"),
    }
