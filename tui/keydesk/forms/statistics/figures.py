"""The view of figures: the six that are asked for first as tiles, the others beneath, and the curve where there is room."""

from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal
from typing import ClassVar, NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from rich.cells import cell_len

from keydesk.calc.market.day_shape import sparkline
from keydesk.calc.trade_journal.charts import CurvePoint, equity_curve
from keydesk.calc.trade_journal.returns import days_of
from keydesk.calc.trade_journal.statistics import (
    FEW_DAYS,
    FEW_TRADES,
    DailyStatistics,
    Figure,
    Statistics,
    daily_statistics_of,
    statistics_of,
)
from keydesk.forms.modal_form import BLANK, TextLine, Words, as_lines, signed_money, wrap_text
from keydesk.forms.page_lines import beside
from keydesk.forms.statistics.equity import LEAST_TRADES, curve_name, curve_rows
from keydesk.forms.statistics.r_histogram import HistogramView
from keydesk.forms.statistics.view import View, ViewInput, in_columns
from keydesk.text.format import counted, money, percent, shorten
from keydesk.text.sanitize import Printable, SafeText, safe
from keydesk.trade_journal.csv_rows import (
    HUNDREDTH,
    SIGNED_FIGURES,
    figure_text,
    number,
    statistics_rows,
)
from keydesk.widgets.theme import ColourRole, role_of_sign, signed_role

TILES_FROM = {6: 108, 3: 60, 2: 1}  # tiles beside each other: columns of the page
BETWEEN = 4  # columns between the two pictures
LEAST_FIGURE, WIDEST_FIGURE = 23, 26  # columns of a name with its value
FIGURE_GAP = 3  # columns between two groups of figures
MEANING_WIDTH = 18
LEAST_DAYS = 2  # of a fall from one day's end to another's
LEAST_PICTURE = 8  # rows
TWO_PICTURES = 140  # columns of the page
WON, LOST = "━", "·"
DAILY = ("Sharpe, daily NAV", "Sortino, daily NAV", "max drawdown, daily NAV")
RUNS = "longest run of wins", "longest run of losses"
GROUPS: dict[str, Sequence[str]] = {
    "Trades": (
        "average win",
        "average loss",
        "payoff",
        "SQN",
        *RUNS,
    ),
    "Risk": ("recovery factor", "time in market %"),
    "Daily NAV": DAILY,
    "Costs": ("financing", "spread paid"),
}
SHORT = {
    "longest run of wins": "most wins in a row",
    "longest run of losses": "most losses in a row",
}
MEANINGS: dict[str, Printable] = {  # of MEANING_WIDTH at most
    "payoff": "avg win / avg loss",
    "SQN": "at most 100 trades",
    "recovery factor": "result / drawdown",
    "time in market %": "with a trade open",
    "financing": "in the result",
    "spread paid": "in the result",
    "Sharpe, daily NAV": "mean / SD, yearly",
    "Sortino, daily NAV": "losing days only",
    "max drawdown, daily NAV": "with open losses",
}


class FigureData(Struct, frozen=True):
    """The figures, those of daily values once these are read, and the curve that the sparklines are drawn from."""

    statistics: Statistics
    daily: DailyStatistics | None
    curve: Sequence[CurvePoint] = ()
    pictures: Sequence[TextLine] = ()  # none without room


class Tile(NamedTuple):
    """A figure at the top: its name, its value, and a line that shows what it is made of."""

    name: Printable
    value: Words
    below: TextLine


class FiguresView(View[FigureData]):
    """Every figure; those that rest on few trades say so together."""

    NAME: ClassVar[str] = "figures"
    READS: ClassVar[str] = "open profits"

    def key(self, given: ViewInput) -> Hashable:
        """Return whether the daily figures can be computed, and the size of the pictures."""
        return given.open_profits is not None, given.width, given.rows, given.ascii_only

    def compute(self, given: ViewInput) -> FigureData:
        """Return the figures; the daily ones only of all trades."""
        journal = given.snapshot.journal
        daily = None
        if given.is_whole and given.open_profits is not None:
            days = days_of(journal.balances, journal.start_balance, given.open_profits)
            daily = daily_statistics_of(days)
        curve = equity_curve(given.trades)
        data = FigureData(statistics_of(given.trades, _capital(given)), daily, curve)
        taken = len(_figure_lines(data, given)) + 1
        return replace(data, pictures=_pictures(curve, given, given.rows - taken))

    def lines(self, data: FigureData, given: ViewInput) -> Sequence[TextLine]:
        """Return the tiles, the other figures, and the pictures."""
        below = [BLANK, *data.pictures] if data.pictures else []
        return [*_figure_lines(data, given), *below]


def _figure_lines(data: FigureData, given: ViewInput) -> list[TextLine]:
    lines = _tile_lines(_tiles(data, given), given.width)
    few, is_reading = _few_text(data), given.is_whole and data.daily is None
    if is_reading:  # in the place of what follows, so that the lines below stay where they are
        text = given.progress or safe("Daily prices are being read …")
        lines.append(((shorten(text, given.width), "faint"),))
    else:
        lines += wrap_text(few, "warn", given.width) if few else [BLANK]
    return [*lines, *_groups(data, given)]


def _few_text(data: FigureData) -> SafeText:
    """Return that figures rest on few trades or days, once for all of them, and why some cannot be reckoned."""
    n, days = data.statistics.n, FEW_DAYS if data.daily is None else data.daily.n
    parts = [f"n {n}, under {FEW_TRADES}"] if n < FEW_TRADES else []
    parts += [f"{counted(days, 'day')}, under {FEW_DAYS}"] if days < FEW_DAYS else []
    what = "" if n < FEW_TRADES else "the daily ratios "
    few = [f"{' and '.join(parts)}: {what}may be chance."] if parts else []
    return safe(" ".join([*few, *_undefined(data)]))


def _undefined(data: FigureData) -> list[str]:
    """Return why ratios to a deviation cannot be reckoned although there are values."""
    own, daily = data.statistics.sqn, data.daily
    reasons = []
    if own.value is None and own.n > 1:
        reasons.append("No SQN: the R of these trades hardly varies.")
    if daily is not None and daily.sharpe.value is None and daily.n > 1:
        reasons.append("No Sharpe ratio: the daily returns hardly vary.")
    return reasons


def _capital(given: ViewInput) -> Decimal | None:
    """Return the capital that the drawdown is measured against: what was paid in before the first trade."""
    if not given.is_whole or not given.trades:
        return None
    opened = min(each.opened_ns for each in given.trades)
    earlier = [each.balance for each in given.snapshot.journal.balances if each.time_ns < opened]
    return earlier[-1] if earlier and earlier[-1] > 0 else None


# The tiles.


def _tiles(data: FigureData, given: ViewInput) -> Sequence[Tile]:
    own, currency = data.statistics, given.snapshot.currency
    width = _tile_width(given.width)
    won, lost = own.average_win.n, own.average_loss.n
    total, in_r = own.total.value, own.expectancy_r.value
    per_trade = own.expectancy.value
    amount: Words = (safe(f"{money(per_trade, signed=True)} a trade"), "muted")
    expectancy: Words = (
        (safe(f"{money(in_r, signed=True)} R"), signed_money(in_r)[1])
        if in_r is not None
        else signed_money(per_trade)
    )
    return (
        Tile(safe(f"net {currency}"), signed_money(total), _spark(data, "total", width)),
        Tile("won", (_percent(own.win_rate), "bright"), _shares(won, lost, width)),
        Tile("expectancy", expectancy, (amount,)),
        Tile("profit factor", _profit_factor(own), _factor_bar(own, width)),
        Tile("max drawdown", _fall(own, width), _spark(data, "below", width)),
        Tile("trades", (safe(f"{own.n:,}"), "bright"), _counts(own, width)),
    )


def _tile_width(width: int) -> int:
    """Return the columns inside a tile."""
    return (width - 1) // _beside(width) - 3


def _beside(width: int) -> int:
    return next(count for count, columns in TILES_FROM.items() if width >= columns)


def _percent(figure: Figure) -> SafeText:
    return safe(f"{money(None if figure.value is None else figure.value * 100, 1)} %")


def _fall(own: Statistics, width: int) -> Words:
    """Return the largest fall, and its share of the capital where there is room for it."""
    (text, role), share = signed_money(-own.drawdown.money), own.drawdown.share
    with_share = text if share is None else safe(f"{text} ({percent(share)} %)")
    return with_share if len(with_share) <= width else text, role


def _profit_factor(own: Statistics) -> Words:
    value = own.profit_factor.value
    if value is not None and not value.is_finite():
        return "∞", "profit"
    return money(value), "plain" if value is None else signed_role(round(value, 2) - 1)


def _factor_bar(own: Statistics, width: int) -> TextLine:
    """Return what was won and what was lost as shares of both."""
    value = own.profit_factor.value
    if value is None:
        return BLANK
    return _shares(value, Decimal(1), width) if value.is_finite() else _shares(1, 0, width)


def _shares(one: Decimal | int, other: Decimal | int, width: int) -> TextLine:
    """Return two shares as a bar, of different glyphs."""
    if not one + other:
        return BLANK
    first = round(one * width / (one + other))
    first = min(max(first, int(one > 0)), width - int(other > 0))
    return (safe(WON * first), "profit"), (safe(LOST * (width - first)), "loss")


def _counts(own: Statistics, width: int) -> TextLine:
    """Return how many were won and lost, and how many neither, as far as there is room."""
    won, lost = own.average_win.n, own.average_loss.n
    even = own.n - won - lost
    texts = (
        f"{won:,} won, {lost:,} lost, {even:,} even",
        f"{won:,} won, {lost:,} lost",
        f"{won:,} won {lost:,} lost",
    )
    fitting = (text for text in (texts if even else texts[1:]) if len(text) <= width)
    return ((safe(next(fitting, f"{won:,} won")), "muted"),)


def _spark(data: FigureData, what: str, width: int) -> TextLine:
    """Return the curve, or how far it was below its highest value, in blocks of seven heights: a deep fall is tall."""
    points = [float(getattr(point, what)) for point in data.curve]
    size = max(1, -(-len(points) // width))
    path = [points[min(at + size, len(points)) - 1] for at in range(0, len(points), size)]
    if what == "total":
        return ((_line([0.0, *path], width), signed_role(data.curve[-1].total)),)
    role: ColourRole = "loss" if min(points) else "muted"
    worst = [-min(points[at : at + size]) for at in range(0, len(points), size)]
    return ((_line([0.0, *worst], width), role),)


def _line(values: Sequence[float], width: int) -> SafeText:
    """Return the last values as a sparkline over all of a width, each in several cells where they are few."""
    last = values[-width:]
    return safe(sparkline([last[at * len(last) // width] for at in range(width)]))


def _tile_lines(tiles: Sequence[Tile], width: int) -> list[TextLine]:
    """Return the tiles in a grid; neighbours share the line between them."""
    count, inside = _beside(width), _tile_width(width)
    lines: list[TextLine] = []
    for first in range(0, len(tiles), count):
        row = tiles[first : first + count]
        lines.append(_edge([each.name for each in row], inside, "┬" if not first else "┼"))
        lines.append(_inside([(each.value,) for each in row], inside))
        lines.append(_inside([each.below for each in row], inside))
    foot = "┴".join("─" * (inside + 2) for _ in range(count))
    return [*lines, ((safe(f"╰{foot}╯"), "line"),)]


def _edge(names: Sequence[Printable], inside: int, between: str) -> TextLine:
    """Return the upper line of tiles with their names in it."""
    first, last = ("╭", "╮") if between == "┬" else ("├", "┤")
    line: list[Words] = []
    for place, name in enumerate(names):
        shown = shorten(name, inside)
        rest = "─" * (inside - cell_len(shown) - 1)
        line.append((safe(f"{between if place else first}─ "), "line"))
        line.append((shown, "muted"))
        line.append((safe(f" {rest}"), "line"))
    return [*line, (safe(last), "line")]


def _inside(cells: Iterable[TextLine], inside: int) -> TextLine:
    line: list[Words] = [("│ ", "line")]
    for cell in cells:
        taken, shown = 0, list[Words]()
        for text, role in cell:
            part = shorten(text, inside - taken)
            taken += cell_len(part)
            shown.append((part, role))
        line += [*shown, (safe(" " * (inside - taken)), "plain"), (" │ ", "line")]
    return [*line[:-1], (" │", "line")]


# The other figures.


def _groups(data: FigureData, given: ViewInput) -> list[TextLine]:
    """Return the other figures in groups, as many beside each other as have room."""
    values = {name: value for name, value, _ in statistics_rows(data.statistics)}
    values |= _daily_values(data.daily)
    groups = GROUPS
    beside_each_other = (given.width + FIGURE_GAP) // (LEAST_FIGURE + FIGURE_GAP)
    count = max(1, min(len(GROUPS), beside_each_other))
    if count == len(GROUPS):  # each in a column of its own: as equally high as they can be
        groups = GROUPS | {"Trades": GROUPS["Trades"][:-2], "Risk": (*GROUPS["Risk"], *RUNS)}
    pitch = (given.width + FIGURE_GAP) // count
    tables = [
        [
            _title(group, data.daily),
            *(_figure(name, values[name], pitch - FIGURE_GAP) for name in names),
        ]
        for group, names in groups.items()
        if given.is_whole or names is not DAILY
    ]
    return in_columns(tables, count, pitch)


def _title(group: str, daily: DailyStatistics | None) -> TextLine:
    is_daily = GROUPS[group] is DAILY
    days = f", {counted(daily.n, 'day')}" if is_daily and daily is not None else ""
    return ((safe(f"{group}{days}"), "bright"),)


def _daily_values(daily: DailyStatistics | None) -> dict[str, str]:
    if daily is None:
        return dict.fromkeys(DAILY, "")
    fall = daily.drawdown.money if daily.n >= LEAST_DAYS else None
    ratios = daily.sharpe.value, daily.sortino.value, fall
    return {name: number(value, HUNDREDTH) for name, value in zip(DAILY, ratios, strict=True)}


def _figure(name: str, value: str, width: int) -> TextLine:
    """Return a figure with its value at its right, and what it means where there is room."""
    own = min(width, WIDEST_FIGURE)
    shown = figure_text(name, value) if value else "–"
    label = shorten(safe(SHORT.get(name, name).partition(",")[0]), own - len(shown) - 1)
    line: list[Words] = [
        (label, "muted"),
        (
            safe(f"{shown:>{own - cell_len(label)}}"),
            role_of_sign(shown) if name in SIGNED_FIGURES else "plain",
        ),
    ]
    meaning = MEANINGS.get(name, "") if width >= own + 2 + MEANING_WIDTH else ""
    return [*line, (safe(f"  {meaning}"), "faint")] if meaning else line


# The pictures.


def _pictures(curve: Sequence[CurvePoint], given: ViewInput, rows: int) -> list[TextLine]:
    """Return the curve of results, beside it the histogram of R in a wide window; none without room."""
    if rows < LEAST_PICTURE or len(curve) < LEAST_TRADES:
        return []
    zone = given.snapshot.context.zone
    has_two = given.width >= TWO_PICTURES
    width = (given.width - BETWEEN) // 2 if has_two else given.width
    name: TextLine = ((curve_name(given.snapshot.currency), "muted"),)
    below = curve_rows(curve, (width, rows - 1), zone, ascii_only=given.ascii_only)
    drawn = [name, *as_lines(below)]
    if not has_two:
        return drawn
    small = replace(given, width=width, rows=rows)
    histogram = HistogramView(says_few=False)  # it is said above, of all figures
    return beside(drawn, width + BETWEEN, histogram.lines(histogram.compute(small), small))
