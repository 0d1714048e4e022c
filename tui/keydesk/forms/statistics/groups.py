"""The view of groups: the same figures for each of them, and in short those of the other groupings."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import reduce
from itertools import chain
from typing import ClassVar

from msgspec import Struct

from keydesk.calc.trade_journal.charts import HeatCell
from keydesk.calc.trade_journal.groups import GROUPINGS, GroupContext, grouped
from keydesk.calc.trade_journal.statistics import (
    Statistics,
    statistics_of,
)
from keydesk.forms.modal_form import BLANK, TextLine, Words, signed_money, wrap_text
from keydesk.forms.page_table import Cells, rows_in_sight, table_lines
from keydesk.forms.statistics.sum_tables import bar_cells, names_width, results_width, sum_lines
from keydesk.forms.statistics.view import (
    BAR_NAME,
    CHANCE,
    FEW_ROLE,
    View,
    ViewInput,
    bars_of,
    columns_of,
    in_columns,
    is_few,
)
from keydesk.tables.column import Column
from keydesk.text.format import money, pair, percent
from keydesk.text.sanitize import Printable, SafeText, safe
from keydesk.widgets.theme import ColourRole
from keydesk_client.arithmetic.constants import ZERO


class GroupRow(Struct, frozen=True):
    """The figures of a group."""

    name: str
    statistics: Statistics
    r_sum: Decimal | None


NAMES: Mapping[str, str] = {
    "weekday-hour": "hour by weekday",
    "hold": "hold time",
    "order": "order in the day",
    "after": "what came before",
}
"""Groupings whose name on the command line is short."""
COLUMNS = (
    Column("name", "", 14, right=False, flexible=True),
    Column("n", "n", 6),
    Column("win %", "win %", 0, rank=1),
    Column("sum R", "R", 0, rank=5),
    Column("result", "result", 8),
    Column("avg R", "avg R", 6, rank=2),
    Column("PF", "PF", 6, rank=3),
    Column("max DD", "max DD", 0, rank=4),
    Column("avg win", "avg win", 0, rank=6),
    Column("avg loss", "avg loss", 0, rank=6),
    Column("payoff", "payoff", 0, rank=7),
    Column("SQN", "SQN", 0, rank=8),
    Column("recovery", "recovery", 0, rank=9),
    Column("losing run", "losing run", 0, rank=9),
    Column("spread", "spread", 0, rank=9),
    Column("bar", BAR_NAME, 0, right=False),
)
COLOURED = frozenset(
    ("result", "avg R", "sum R", "max DD")
)  # also of few trades: their sign is seen
LEAST_OTHERS = 6  # rows
OTHERS_WIDTH, TWO_FROM = 56, 72  # columns of each of several tables beside each other, and of two
OTHERS_GAP, NARROW_GAP = 4, 2
GAP = 2  # columns between those of the table


class GroupData(Struct, frozen=True):
    """The figures of each group, and the results of the other groupings."""

    rows: Sequence[GroupRow]
    others: Mapping[str, Mapping[str, HeatCell]]


class GroupsView(View[GroupData]):
    """The same figures by groups, and the other groupings in short where there is room."""

    NAME: ClassVar[str] = "groups"
    HINT: ClassVar[str] = "Enter only these   ← → grouping   ↑ ↓ row"
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
            GroupRow(name, statistics_of(own), sum(rs, ZERO) if rs else None)
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
        lines = self._table(data.rows, given, bars_of(_totals(data.rows)))
        room = given.rows - len(lines) - 1
        others = {name: cells for name, cells in data.others.items() if len(cells) > 1}
        if not others or room < LEAST_OTHERS:
            return lines
        count, names = _in_sight(others, given.width, room)
        gap = OTHERS_GAP if given.width >= count * OTHERS_WIDTH else NARROW_GAP
        pitch = (given.width + gap) // count
        width, known = pitch - gap, [each for name in names for each in others[name].values()]
        label = names_width([each for name in names for each in others[name]], width)
        amounts = results_width(known)
        totals = [*_totals(data.rows), *(each.result for each in known)]
        bars = iter(bars_of(totals, bar_cells(width, label, amounts), split=True))
        lines = self._table(data.rows, given, [next(bars) for _ in data.rows])
        tables = [
            sum_lines(
                f"By {NAMES.get(name, name)}",
                others[name],
                width,
                label,
                "bright",
                result_width=amounts,
                bars=[next(bars) for _ in others[name]],
            )
            for name in names
        ]
        return [*lines, BLANK, *in_columns(tables, count, pitch)]

    def _table(
        self, data: Sequence[GroupRow], given: ViewInput, bars: Sequence[TextLine]
    ) -> list[TextLine]:
        self._shown = data
        self.row = max(0, min(self.row, len(data) - 1))
        zone = f", {given.zone_name}" if "hour" in self.name or "day" in self.name else ""
        title = f"By {NAMES.get(self.name, self.name)}{zone}"
        place = f"grouping {self.grouping % len(GROUPINGS) + 1} of {len(GROUPINGS)}"
        head: TextLine = ((safe(title), "bright"), (safe(f"   {place}"), "faint"))
        rows = max(1, given.rows - 4)
        sight = rows_in_sight(len(data), self.row, rows)
        cells = [
            {**self._row_cells(data[at], is_chosen=at == self.row), "bar": bars[at]} for at in sight
        ]
        table = table_lines(COLUMNS, cells, given.width, self.row - sight.start, GAP)
        lines: list[TextLine] = [head, *table]
        if len(data) > rows:
            lines.append(((safe(f"  {len(data)} groups, ↑ ↓ shows the others"), "faint"),))
        return [*lines, *wrap_text(_few_text(data), "warn", given.width)]

    def _row_cells(self, row: GroupRow, *, is_chosen: bool) -> Cells:
        name_role: ColourRole = "bright" if is_chosen else "plain"
        few = is_few(row.statistics.n)
        return {
            "name": ((self._shown_name(row), FEW_ROLE if few and not is_chosen else name_role),),
            **{
                key: ((text, FEW_ROLE if few and key not in COLOURED else role),)
                for key, (text, role) in _cells(row).items()
            },
        }

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
        return (self.name, self._shown[: self.row + 1][-1].name) if self._shown else None


def _in_sight(
    others: Mapping[str, Mapping[str, HeatCell]], width: int, rows: int
) -> tuple[int, list[str]]:
    """Return the columns of the other tables, the fewest that show the most of them, and the groupings that have room."""
    most = max(1, width // OTHERS_WIDTH, 2 * (width >= TWO_FROM))
    heights = [len(cells) + 1 for cells in others.values()]
    shown = [sorted(chain(*columns_of(heights, count, rows))) for count in range(1, most + 1)]
    best = max(shown, key=len)
    return shown.index(best) + 1, [list(others)[at] for at in best]


def _totals(data: Sequence[GroupRow]) -> list[Decimal]:
    return [each.statistics.total.value or ZERO for each in data]


def _few_text(data: Sequence[GroupRow]) -> Printable:
    few = sum(is_few(each.statistics.n) for each in data)
    if not few:
        return ""
    return safe(f"n {CHANCE} ({few} of {len(data)}).")


def _cells(row: GroupRow) -> dict[str, Words]:
    statistics = row.statistics
    return {
        "n": (safe(f"{statistics.n:,}"), "plain"),
        "win %": (percent(statistics.win_rate.value, 0), "plain"),
        "result": signed_money(statistics.total.value),
        "avg R": signed_money(statistics.expectancy_r.value),
        "sum R": signed_money(row.r_sum),
        "PF": (_ratio(statistics.profit_factor.value), "plain"),
        "avg win": (money(statistics.average_win.value, signed=True), "plain"),
        "avg loss": (money(statistics.average_loss.value), "plain"),
        "payoff": (money(statistics.payoff.value), "plain"),
        "max DD": signed_money(-statistics.drawdown.money),
        "SQN": (money(statistics.sqn.value), "plain"),
        "recovery": (_ratio(statistics.recovery.value), "plain"),
        "losing run": (safe(str(statistics.longest_losses)), "plain"),
        "spread": (money(statistics.spread_paid), "plain"),
    }


def _ratio(value: Decimal | None) -> SafeText:
    return safe("∞") if value is not None and not value.is_finite() else money(value)
