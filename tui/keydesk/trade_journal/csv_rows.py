"""Trades and statistics as rows of text for files and pages; numbers exactly, with all their decimals."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, tzinfo
from decimal import Decimal

from msgspec import Struct, field

from keydesk.calc.trade_journal.excursions import Excursion
from keydesk.calc.trade_journal.groups import session_of
from keydesk.calc.trade_journal.notes import NO_NOTE, TradeNote
from keydesk.calc.trade_journal.statistics import Figure, Statistics
from keydesk.calc.trade_journal.trades import Execution, JournalTrade
from keydesk.text.format import at, money
from keydesk.text.sanitize import SafeText, safe
from keydesk_client.arithmetic.constants import SECOND

MONEY = Decimal("0.01")
HUNDREDTH = Decimal("0.01")
MAX_ROUNDED = Decimal("1E15")


class RowContext(Struct, frozen=True):
    """What a row needs beside the trade."""

    notes: Mapping[str, TradeNote] = field(default_factory=dict)
    pips: Mapping[str, Decimal] = field(default_factory=dict)
    zone: tzinfo = UTC
    excursions: Mapping[str, Excursion] = field(default_factory=dict)

    def note(self, trade: JournalTrade) -> TradeNote:
        """Return the note on a trade; that on a position is the note on its first trade."""
        return self.notes.get(trade.id, NO_NOTE)


class TradeCells(Struct, frozen=True):
    """What the columns of the CSV read of a trade."""

    trade: JournalTrade
    context: RowContext

    @property
    def note(self) -> TradeNote:
        """The note on the trade."""
        return self.context.note(self.trade)

    @property
    def pip(self) -> Decimal | None:
        """One pip of its instrument; None while that is not known."""
        return self.context.pips.get(self.trade.instrument)

    @property
    def excursion(self) -> Excursion | None:
        """How far the price went against it and for it; None while that is not known."""
        return self.context.excursions.get(self.trade.id)

    def time(self, time_ns: int | None) -> str:
        """Return a time in the trader's zone, "" without one."""
        return "" if time_ns is None else _time(time_ns, self.context.zone)

    def in_pips(self, distance: Decimal | None) -> str:
        """Return a distance in pips."""
        pip = self.pip
        return "" if pip is None or distance is None else number(distance / pip, HUNDREDTH)

    def excursion_pips(self, which: int) -> str:
        """Return MAE (0) or MFE (1) in pips."""
        excursion, pip = self.excursion, self.pip
        return (
            ""
            if excursion is None or pip is None
            else number(excursion.pips(pip)[which], HUNDREDTH)
        )

    def excursion_r(self, which: int) -> str:
        """Return MAE (0) or MFE (1) in R."""
        in_r = None if self.excursion is None else self.excursion.r
        return "" if in_r is None else number(in_r[which], HUNDREDTH)

    @property
    def finality(self) -> str:
        """Whether MAE and MFE can still grow, because the candle of the exit forms."""
        if self.excursion is None:
            return ""
        return "provisional" if self.excursion.is_provisional else "final"


class CsvColumn(Struct, frozen=True):
    """A column of the CSV of trades; `is_typed`: people wrote what it says."""

    name: str
    text: Callable[[TradeCells], str]
    is_typed: bool = False


CSV_COLUMNS = (
    CsvColumn("id", lambda of: of.trade.id),
    CsvColumn("position", lambda of: of.trade.position_id),
    CsvColumn("instrument", lambda of: of.trade.instrument),
    CsvColumn("side", lambda of: "long" if of.trade.is_long else "short"),
    CsvColumn("units", lambda of: number(abs(of.trade.units))),
    CsvColumn("opened", lambda of: of.time(of.trade.opened_ns)),
    CsvColumn("closed", lambda of: of.time(of.trade.closed_ns)),
    CsvColumn(
        "holdSeconds",
        lambda of: "" if of.trade.hold_ns is None else str(of.trade.hold_ns // SECOND),
    ),
    CsvColumn("entryPrice", lambda of: _price(of.trade.entry_price, of.trade.entries)),
    CsvColumn("exitPrice", lambda of: _price(of.trade.exit_price, of.trade.exits)),
    CsvColumn(
        "pips", lambda of: "" if of.pip is None else number(of.trade.pips(of.pip), HUNDREDTH)
    ),
    CsvColumn("profit", lambda of: number(of.trade.profit)),
    CsvColumn("financing", lambda of: number(of.trade.costs.financing)),
    CsvColumn("dividends", lambda of: number(of.trade.costs.dividends)),
    CsvColumn("commission", lambda of: number(of.trade.costs.commission)),
    CsvColumn("guaranteedExecutionFee", lambda of: number(of.trade.costs.guarantee_fee)),
    CsvColumn("result", lambda of: number(of.trade.result)),
    CsvColumn("initialStop", lambda of: number(of.trade.initial_stop)),
    CsvColumn("initialRisk", lambda of: number(of.trade.initial_risk, rounded=True)),
    CsvColumn("R", lambda of: number(of.trade.r, HUNDREDTH)),
    CsvColumn("maePips", lambda of: of.excursion_pips(0)),
    CsvColumn("mfePips", lambda of: of.excursion_pips(1)),
    CsvColumn("maeR", lambda of: of.excursion_r(0)),
    CsvColumn("mfeR", lambda of: of.excursion_r(1)),
    CsvColumn("slippagePips", lambda of: of.in_pips(of.trade.slippage)),
    CsvColumn("spreadPaid", lambda of: number(of.trade.spread_paid)),
    CsvColumn("session", lambda of: session_of(of.trade.opened_ns)),
    CsvColumn("entries", lambda of: str(len(of.trade.entries))),
    CsvColumn("exits", lambda of: str(len(of.trade.exits))),
    CsvColumn("exitReason", lambda of: of.trade.exits[-1].reason if of.trade.exits else ""),
    CsvColumn("tags", lambda of: " ".join(of.note.tags), is_typed=True),
    CsvColumn("setup", lambda of: of.note.setup, is_typed=True),
    CsvColumn("rating", lambda of: "" if of.note.rating is None else str(of.note.rating)),
    CsvColumn("mistake", lambda of: of.note.mistake, is_typed=True),
    CsvColumn("note", lambda of: of.note.note, is_typed=True),
    CsvColumn("brokerTag", lambda of: of.trade.tag, is_typed=True),
    CsvColumn("comment", lambda of: of.trade.comment, is_typed=True),
    CsvColumn("maeMfe", lambda of: of.finality),
)
"""The columns of the CSV of the journal, each declared once."""
TRADE_COLUMNS = tuple(column.name for column in CSV_COLUMNS)
TEXT_COLUMNS = frozenset(column.name for column in CSV_COLUMNS if column.is_typed)


def trade_row(trade: JournalTrade, context: RowContext) -> dict[str, str]:
    """Return a trade by TRADE_COLUMNS; what is not known is empty."""
    cells = TradeCells(trade, context)
    return {column.name: column.text(cells) for column in CSV_COLUMNS}


def number(value: Decimal | None, step: Decimal | None = None, *, rounded: bool = False) -> str:
    """Return a number as plain text, "" if it is not known; rounded: to ten decimals, without zeros at the end."""
    if value is None:
        return ""
    if not value.is_finite():
        return "∞" if value > 0 else "-∞"
    if step is not None:
        return f"{value:.{max(0, -int(step.as_tuple().exponent))}f}"  # of any size
    if rounded and abs(value) < MAX_ROUNDED:
        value = round(value, 10).normalize()
    return f"{value:f}"


def figure_text(name: str, value: str) -> str:
    """Return the value of a figure as the desk shows it: grouped, with a proper minus, and with a plus if it may be negative."""
    head, space, rest = value.partition(" ")
    try:
        exact = Decimal(head)
    except ArithmeticError:
        return value
    if not exact.is_finite():
        return value
    places = max(0, -int(exact.as_tuple().exponent))
    exact = -exact if name in FALLS else exact
    return f"{money(exact, places, signed=name in SIGNED_FIGURES)}{space}{rest}"


def count_text(basis: str, n: int) -> str:
    """Return the number of trades that a figure rests on, "" where that is all of them."""
    count = basis.split(",", maxsplit=1)[0].replace("n=", "n ")
    return "" if count == f"n {n}" else count


def _price(average: Decimal | None, executions: Sequence[Execution]) -> str:
    """Return an average price with the decimals of the broker's prices, one more where it lies between them."""
    if average is None:
        return ""
    places = max(-int(each.price.as_tuple().exponent) for each in executions)
    exact = average.quantize(Decimal(1).scaleb(-places))
    return number(exact if exact == average else average.quantize(Decimal(1).scaleb(-places - 1)))


def _time(time_ns: int, zone: tzinfo) -> str:
    return at(time_ns, zone).isoformat()


FALLS = frozenset(("max drawdown", "max drawdown, daily NAV"))  # positive in files, shown as losses
SIGNED_FIGURES = FALLS | frozenset(
    ("result", "average win", "average loss", "expectancy", "expectancy R", "financing")
)


def statistics_rows(statistics: Statistics) -> list[tuple[str, str, str]]:
    """Return figure, value and what it rests on: `n=34`, or `n=10, under 20`."""
    share = statistics.drawdown.share
    fall = number(statistics.drawdown.money, MONEY)
    if share is not None:
        fall = f"{fall} ({number(share * 100, HUNDREDTH)} %)"
    return [
        ("trades", str(statistics.n), ""),
        ("result", number(statistics.total.value, MONEY), basis(statistics.total)),
        ("win %", _percent(statistics.win_rate), basis(statistics.win_rate)),
        ("average win", number(statistics.average_win.value, MONEY), basis(statistics.average_win)),
        (
            "average loss",
            number(statistics.average_loss.value, MONEY),
            basis(statistics.average_loss),
        ),
        ("payoff", number(statistics.payoff.value, HUNDREDTH), basis(statistics.payoff)),
        ("expectancy", number(statistics.expectancy.value, MONEY), basis(statistics.expectancy)),
        (
            "expectancy R",
            number(statistics.expectancy_r.value, HUNDREDTH),
            basis(statistics.expectancy_r),
        ),
        ("profit factor", _infinite(statistics.profit_factor), basis(statistics.profit_factor)),
        ("max drawdown", fall, basis(statistics.total)),
        ("recovery factor", _infinite(statistics.recovery), basis(statistics.recovery)),
        ("SQN", number(statistics.sqn.value, HUNDREDTH), basis(statistics.sqn)),
        ("longest run of wins", str(statistics.longest_wins), basis(statistics.total)),
        ("longest run of losses", str(statistics.longest_losses), basis(statistics.total)),
        ("time in market %", _percent(statistics.time_in_market), basis(statistics.time_in_market)),
        ("financing", number(statistics.financing, MONEY), basis(statistics.total)),
        ("spread paid", number(statistics.spread_paid, MONEY), basis(statistics.total)),
    ]


def basis(figure: Figure) -> str:
    """Return what a figure rests on, with its doubt."""
    return figure.doubt or f"n={figure.n}"


def _percent(figure: Figure) -> str:
    return "" if figure.value is None else number(figure.value * 100, HUNDREDTH)


def _infinite(figure: Figure) -> str:
    value = figure.value
    return number(value, HUNDREDTH) if value is not None and value.is_finite() else number(value)


def markdown_table(columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> list[SafeText]:
    """Return the lines of a table in Markdown; text of the trader or the server formats nothing."""
    lines = [f"| {' | '.join(columns)} |", f"|{'|'.join(' --- ' for _ in columns)}|"]
    lines += [f"| {' | '.join(escaped(row[name]) for name in columns)} |" for row in rows]
    return [safe(line) for line in lines]


def escaped(text: str) -> str:
    """Return text in which no character formats anything in Markdown or HTML."""
    return "".join(f"\\{each}" if each in "\\`*_{}[]<>#|!~" else each for each in text)


def text_table(columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> list[SafeText]:
    """Return the lines of a table with aligned columns: numbers right, words left."""
    widths = [max([len(name), *(len(row[name]) for row in rows)]) for name in columns]
    right = [all(_is_number(row[name]) for row in rows) for name in columns]
    cells = [list(columns), *([row[name] for name in columns] for row in rows)]
    return [
        safe(
            "  ".join(
                cell.rjust(width) if to_right else cell.ljust(width)
                for cell, width, to_right in zip(line, widths, right, strict=True)
            ).rstrip()
        )
        for line in cells
    ]


def _is_number(text: str) -> bool:
    return not text.strip("-−+0123456789.,%∞")
