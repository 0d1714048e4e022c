"""The view of figures: all of them with what they rest on, and pictures beside them where there is room."""

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import ClassVar

from rich.cells import cell_len

from keydesk.calc.trade_journal.charts import HeatCell
from keydesk.calc.trade_journal.returns import days_of
from keydesk.calc.trade_journal.statistics import (
    FEW_DAYS,
    FEW_TRADES,
    DailyStatistics,
    Statistics,
    daily_statistics_of,
    statistics_of,
)
from keydesk.forms.info_form import beside
from keydesk.forms.sheet import BLANK, TextLine, Words, wrap_text
from keydesk.forms.statistics.maps import CalendarView, sum_lines
from keydesk.forms.statistics.pictures import EquityView, HistogramView
from keydesk.forms.statistics.view import (
    FEW_ROLE,
    View,
    ViewInput,
)
from keydesk.text.sanitize import Printable, safe
from keydesk.trade_journal.rows import HUNDREDTH, as_shown, basis, number, statistics_rows
from keydesk.widgets.theme import ColourRole, signed_role

NAME_WIDTH, VALUE_WIDTH, BASIS_WIDTH = 23, 20, 18
FULL_WIDTH = NAME_WIDTH + 2 + VALUE_WIDTH + 2 + BASIS_WIDTH
MEANING_WIDTH = 46
PICTURE_GAP = 4
WITH_PICTURES, WITH_MEANINGS = 140, 190  # columns of the page
LEAST_PICTURE = 10  # rows
NUMBER_WIDTH = 7  # of trades, where the window has no room for what a figure rests on
Labelled = tuple[str, ColourRole]
SIGNED = frozenset(
    ("result", "average win", "average loss", "expectancy", "expectancy R", "financing")
)
MEANINGS: Mapping[str, Printable] = {
    "trades": "closed ones",
    "result": "price profit, financing and fees",
    "win %": "wins among all; a result of 0 is neither",
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
    "Sortino, daily NAV": "the same, with losing days only",
    "max drawdown, daily NAV": "with open losses, transfers taken out",
}
WHY_FEW = f"Under {FEW_TRADES} trades, or {FEW_DAYS} days for daily ratios, a figure may be chance."


@dataclass(frozen=True, slots=True)
class FigureData:
    """The figures, and those of daily values once these are read."""

    statistics: Statistics
    daily: DailyStatistics | None
    months: Mapping[str, HeatCell]
    pictures: Sequence[TextLine] = ()  # at the right of the figures; none without room


class FiguresView(View[FigureData]):
    """Every figure with the number of trades that it rests on."""

    NAME: ClassVar[str] = "figures"
    READS: ClassVar[str] = "open profits"

    def key(self, given: ViewInput) -> Hashable:
        """Return whether the daily figures can be computed, and the size of the pictures."""
        size = (given.width, given.rows, given.ascii_only) if picture_width(given.width) else ()
        return given.open_profits is not None, size

    def compute(self, given: ViewInput) -> FigureData:
        """Return the figures; the daily ones only of all trades."""
        journal = given.snapshot.journal
        daily = None
        if given.is_whole and given.open_profits is not None:
            days = days_of(journal.balances, journal.start_balance, given.open_profits)
            daily = daily_statistics_of(days)
        return FigureData(
            statistics_of(given.trades, _capital(given)),
            daily,
            CalendarView().compute(given).months,
            _pictures(given),
        )

    def lines(self, data: FigureData, given: ViewInput) -> Sequence[TextLine]:
        """Return a line for each figure."""
        if not data.statistics.n:
            text = "No trade was closed yet. Each one appears here once it is closed."
            return wrap_text(safe(text), "muted", given.width)
        rows = statistics_rows(data.statistics)
        daily = _daily_rows(data.daily)
        width = given.width - PICTURE_GAP - picture_width(given.width)
        width = width if data.pictures else given.width
        lines = [line for row in (*rows, *daily) for line in _figure_lines(row, width)]
        if not daily and given.is_whole:
            text = given.progress or safe("daily prices are being read …")
            lines.append(((safe(f"{'Sharpe, Sortino':<{NAME_WIDTH}}"), "muted"), (text, "faint")))
        has_few = any(", " in rests_on for _, _, rests_on in (*rows, *daily))
        first = wrap_text(safe(WHY_FEW), "warn", width) if has_few else []
        last: list[TextLine] = [((safe(f"Money is in {given.snapshot.currency}."), "faint"),)]
        left = [*first, *lines, *([BLANK] if given.rows > len(lines) + 3 else []), *last]
        room = given.rows - len(left) - 2
        if data.pictures and room > 1:
            months = dict(list(data.months.items())[-room:])
            left += [BLANK, *sum_lines("month", months, replace(given, width=width))]
        return beside(left, width + PICTURE_GAP, data.pictures) if data.pictures else left


def picture_width(width: int) -> int:
    """Return the columns at the right of the figures that pictures have, 0 where there is no room for them."""
    figures = FULL_WIDTH + 2 + MEANING_WIDTH if width >= WITH_MEANINGS else FULL_WIDTH
    columns = width - figures - PICTURE_GAP
    return columns if width >= WITH_PICTURES else 0


def _pictures(given: ViewInput) -> Sequence[TextLine]:
    """Return the curve of results above the histogram of R; none without room."""
    width, rows = picture_width(given.width), given.rows // 2
    if not width or rows < LEAST_PICTURE:
        return ()
    lines: list[TextLine] = []
    for view in (EquityView(), HistogramView()):
        small = replace(given, width=width, rows=rows)
        drawn = view.lines(view.compute(small), small)
        lines += [*drawn[:rows], *[BLANK] * (rows - len(drawn))]
    return lines


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
    role: ColourRole = FEW_ROLE if doubtful else "plain"
    if name in SIGNED and not doubtful and value:
        role = signed_role(Decimal(value))
    shown = as_shown(value) if value else "–"
    basis_text = re.sub(r"n=(\d+)", lambda found: f"n {int(found[1]):,}", rests_on)
    if width < FULL_WIDTH:
        return _narrow_lines(
            (name, "muted"), (shown, role), (basis_text.split(",")[0], "muted"), width
        )
    line: list[Words] = [
        (safe(f"{name:<{NAME_WIDTH + 2}}"), "muted"),
        (safe(f"{shown:>{VALUE_WIDTH}}  "), role),
        (safe(f"{basis_text:<{BASIS_WIDTH}}"), "muted"),
    ]
    room = width - FULL_WIDTH - 2
    meaning = MEANINGS.get(name, "")
    if cell_len(meaning) <= room:
        line.append((safe(f"  {meaning}"), "faint"))
    return [line]


def _narrow_lines(name: Labelled, value: Labelled, n: Labelled, width: int) -> list[TextLine]:
    """Return name, value and number on one line where they fit, else the name above."""
    room = width - NUMBER_WIDTH
    number_text: Words = (safe(f"{n[0]:>{NUMBER_WIDTH}}"), n[1])
    left = room - cell_len(name[0]) - 1
    if cell_len(value[0]) <= left:
        padded: Words = (safe(f" {value[0]:>{left}}"), value[1])
        return [((safe(name[0]), name[1]), padded, number_text)]
    return [((safe(name[0]), name[1]),), ((safe(f"{value[0]:>{room}}"), value[1]), number_text)]
