"""The views of figures: all of them with what they rest on, and the same by groups."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from rich.cells import cell_len

from keydesk.calc.trade_journal.groups import GROUPINGS, GroupContext, grouped
from keydesk.calc.trade_journal.returns import days_of
from keydesk.calc.trade_journal.statistics import (
    FEW_DAYS,
    FEW_TRADES,
    DailyStatistics,
    Statistics,
    daily_statistics_of,
    statistics_of,
)
from keydesk.forms.sheet import BLANK, TextLine, Words, signed_money, wrap_text
from keydesk.forms.statistics.view import View, ViewInput, is_few, two_sided_bar
from keydesk.text.format import money, pair, percent, shorten
from keydesk.text.sanitize import Printable, SafeText, safe
from keydesk.trade_journal.rows import HUNDREDTH, as_shown, basis, number, statistics_rows
from keydesk.widgets.theme import signed_role
from keydesk_client.arithmetic.constants import NOTHING

NAME_WIDTH, VALUE_WIDTH, BASIS_WIDTH = 23, 20, 18
FULL_WIDTH = NAME_WIDTH + 2 + VALUE_WIDTH + 2 + BASIS_WIDTH
NUMBER_WIDTH = 7  # of trades, where the window has no room for what a figure rests on
SIGNED = frozenset(
    ("result", "average win", "average loss", "expectancy", "expectancy R", "financing")
)
MEANINGS: Mapping[str, Printable] = {
    "trades": "closed ones",
    "result": "price profit, financing and fees",
    "win %": "wins of all; zeros are neither",
    "payoff": "average win over average loss",
    "expectancy": "the average result of a trade",
    "expectancy R": "the same in units of the first stop's risk",
    "profit factor": "all wins over all losses",
    "max drawdown": "the largest fall of the realized curve",
    "recovery factor": "result over the largest fall",
    "SQN": "root n x mean / deviation of R, n up to 100",
    "time in market %": "share of the time with a trade open",
    "financing": "is in the result",
    "spread paid": "is in the result",
    "Sharpe, daily NAV": "mean / deviation of daily returns x root of 252",
    "Sortino, daily NAV": "the same by losing days alone",
    "max drawdown, daily NAV": "with open losses, transfers taken out",
}
WHY_GREY = (
    f"Grey: under {FEW_TRADES} trades, or {FEW_DAYS} days for daily ratios: it may be chance."
)


@dataclass(frozen=True, slots=True)
class FigureData:
    """The figures, and those of daily values once these are read."""

    statistics: Statistics
    daily: DailyStatistics | None


class FiguresView(View[FigureData]):
    """Every figure with the number of trades that it rests on."""

    NAME: ClassVar[str] = "figures"
    READS: ClassVar[str] = "open profits"

    def key(self, given: ViewInput) -> bool:
        """Return whether the daily figures can be computed."""
        return given.open_profits is not None

    def compute(self, given: ViewInput) -> FigureData:
        """Return the figures; the daily ones only of all trades."""
        journal = given.snapshot.journal
        daily = None
        if given.is_whole and given.open_profits is not None:
            days = days_of(journal.balances, journal.start_balance, given.open_profits)
            daily = daily_statistics_of(days)
        return FigureData(statistics_of(given.trades, _capital(given)), daily)

    def lines(self, data: FigureData, given: ViewInput) -> Sequence[TextLine]:
        """Return a line for each figure."""
        if not data.statistics.n:
            text = "No trade was closed yet. Each closed trade counts here by itself."
            return wrap_text(safe(text), "muted", given.width)
        rows = statistics_rows(data.statistics)
        daily = _daily_rows(data.daily)
        lines = [line for row in (*rows, *daily) for line in _figure_lines(row, given.width)]
        if not daily and given.is_whole:
            text = given.progress or safe("daily prices are being read …")
            lines.append(((safe(f"{'Sharpe, Sortino':<{NAME_WIDTH}}"), "muted"), (text, "faint")))
        grey = any(", " in rests_on for _, _, rests_on in (*rows, *daily))
        first = wrap_text(safe(WHY_GREY), "warn", given.width) if grey else []
        last: list[TextLine] = [((safe(f"Money is in {given.snapshot.currency}."), "faint"),)]
        return [*first, *lines, *([BLANK] if given.rows > len(lines) + 3 else []), *last]


def _capital(given: ViewInput) -> Decimal | None:
    """Return the capital that the drawdown is measured against: what was paid in before the first trade."""
    if not given.is_whole or not given.trades:
        return None
    opened = min(each.opened_ns for each in given.trades)
    earlier = [each.balance for each in given.snapshot.journal.balances if each.time_ns < opened]
    return earlier[-1] if earlier and earlier[-1] > 0 else None


def _daily_rows(daily: DailyStatistics | None) -> list[tuple[str, str, str]]:
    if daily is None:
        return []
    fall = number(daily.drawdown.money, HUNDREDTH)
    if daily.drawdown.share is not None:
        fall = f"{fall} ({number(daily.drawdown.share * 100, HUNDREDTH)} %)"
    rests_on = basis(daily.sharpe)
    if daily.sharpe.doubt:
        rests_on = f"n={daily.n}, under {FEW_DAYS}"
    return [
        ("Sharpe, daily NAV", number(daily.sharpe.value, HUNDREDTH), rests_on),
        ("Sortino, daily NAV", number(daily.sortino.value, HUNDREDTH), rests_on),
        ("max drawdown, daily NAV", fall, rests_on),
    ]


def _figure_lines(row: tuple[str, str, str], width: int) -> list[TextLine]:
    """Return a figure with what it rests on; where that has no room, the name, the value and its number of trades."""
    name, value, rests_on = row
    doubtful = ", " in rests_on
    role = "faint" if doubtful else "plain"
    if name in SIGNED and not doubtful and value:
        role = signed_role(Decimal(value))
    muted = "faint" if doubtful else "muted"
    shown = as_shown(value) if value else "–"
    basis_text = re.sub(r"n=(\d+)", lambda found: f"n {int(found[1]):,}", rests_on)
    if width < FULL_WIDTH:
        return _narrow_lines((name, muted), (shown, role), (basis_text.split(",")[0], muted), width)
    line: list[Words] = [
        (safe(f"{name:<{NAME_WIDTH + 2}}"), muted),
        (safe(f"{shown:>{VALUE_WIDTH}}  "), role),
        (safe(f"{basis_text:<{BASIS_WIDTH}}"), muted),
    ]
    room = width - FULL_WIDTH - 2
    meaning = MEANINGS.get(name, "")
    if cell_len(meaning) <= room:
        line.append((safe(f"  {meaning}"), "faint"))
    return [line]


def _narrow_lines(
    name: tuple[str, str], value: tuple[str, str], n: tuple[str, str], width: int
) -> list[TextLine]:
    """Return name, value and number on one line where they fit, else the name above."""
    room = width - NUMBER_WIDTH
    number_text: Words = (safe(f"{n[0]:>{NUMBER_WIDTH}}"), n[1])
    left = room - cell_len(name[0]) - 1
    if cell_len(value[0]) <= left:
        padded: Words = (safe(f" {value[0]:>{left}}"), value[1])
        return [((safe(name[0]), name[1]), padded, number_text)]
    return [((safe(name[0]), name[1]),), ((safe(f"{value[0]:>{room}}"), value[1]), number_text)]


# Groups.


@dataclass(frozen=True, slots=True)
class GroupRow:
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
GROUP_WIDTH = (14, 26)


class GroupsView(View[Sequence[GroupRow]]):
    """The same figures by groups."""

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

    def compute(self, given: ViewInput) -> Sequence[GroupRow]:
        """Return the figures of each group."""
        snapshot = given.snapshot
        context = GroupContext(
            snapshot.journal.trades, snapshot.context.notes, snapshot.context.zone
        )
        return [
            GroupRow(name, statistics_of(own), sum(rs, NOTHING) if rs else None)
            for name, own in grouped(given.trades, self.name, context).items()
            if (rs := [each.r for each in own if each.r is not None]) is not None
        ]

    def lines(self, data: Sequence[GroupRow], given: ViewInput) -> Sequence[TextLine]:
        """Return a table, a line for each group."""
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
                    "faint" if few else "bright" if chosen else "plain",
                ),
            ]
            for name, width in columns:
                text, role = cells[name]
                line.append((safe(f"{text:>{width}}"), "faint" if few else role))
            if has_bar:
                line += [
                    (" ", "plain"),
                    *two_sided_bar(each.statistics.total.value or NOTHING, largest),
                ]
            lines.append(line)
        more = len(data) - rows
        if more > 0:
            lines.append(((safe(f"  {len(data)} groups, ↑ ↓ shows the others"), "faint"),))
        return [*lines, *wrap_text(_few_text(data), "faint", given.width)]

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
        f"Grey: n under {FEW_TRADES}, too few to tell the group from chance ({few} of {len(data)})."
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
