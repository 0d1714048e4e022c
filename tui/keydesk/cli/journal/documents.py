"""What `keydesk journal --json` prints: trades by the columns of the CSV file, and figures by names that stay."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated

from msgspec import Meta, Struct

from keydesk.calc.trade_journal.statistics import DailyStatistics, Figure, Statistics
from keydesk.cli.script_output import AccountDocument
from keydesk.trade_journal.csv_rows import number


class ShownFigure(Struct, frozen=True):
    """A figure, null where it is not defined; a ratio without losses is "Infinity"."""

    value: str | None
    n: Annotated[int, Meta(description="how many trades or days it rests on")]
    doubt: Annotated[str | None, Meta(description="why it is not reliable")]


class Figures(Struct, frozen=True):
    """The figures of a set of closed trades; rates are shares of 1."""

    trades: int
    total: ShownFigure
    win_rate: ShownFigure
    average_win: ShownFigure
    average_loss: ShownFigure
    payoff: ShownFigure
    expectancy: ShownFigure
    expectancy_r: ShownFigure
    profit_factor: ShownFigure
    recovery: ShownFigure
    sqn: ShownFigure
    time_in_market: ShownFigure
    max_drawdown: str
    max_drawdown_share: str | None
    longest_run_of_wins: int
    longest_run_of_losses: int
    financing: str
    spread_paid: str | None


class DailyFigures(Struct, frozen=True):
    """The figures of daily net asset values, transfers taken out."""

    days: int
    sharpe: ShownFigure
    sortino: ShownFigure
    max_drawdown: str
    max_drawdown_share: str | None


TradeRow = Annotated[
    dict[str, str | None], Meta(description="a trade by the columns of `keydesk journal --csv`")
]


class JournalTradesDocument(AccountDocument, frozen=True, tag="journal-trades"):
    """`keydesk journal list --json`."""

    trades: list[TradeRow]


class JournalStatisticsDocument(AccountDocument, frozen=True, tag="journal-statistics"):
    """`keydesk journal stats --json`; `daily` is null where trades were chosen."""

    figures: Figures
    daily: DailyFigures | None


class JournalGroup(Struct, frozen=True):
    """The figures of a group of trades."""

    group: str
    figures: Figures


class JournalGroupsDocument(AccountDocument, frozen=True, tag="journal-groups"):
    """`keydesk journal stats --by GROUPING --json`."""

    by: str
    groups: list[JournalGroup]


class JournalReportDocument(AccountDocument, frozen=True, tag="journal-report"):
    """`keydesk journal report --json`: what was closed on these trading days."""

    days: list[str]
    trades: list[TradeRow]
    figures: Figures


class JournalWhatIfDocument(AccountDocument, frozen=True, tag="journal-what-if"):
    """`keydesk journal what-if --json`."""

    rule: str
    before: Figures
    after: Figures
    doubts: list[str]


class JournalNoteDocument(AccountDocument, frozen=True, tag="journal-note"):
    """`keydesk journal note TRADE --json`."""

    trade: str
    removed: Annotated[bool, Meta(description="whether the note is empty now, and so gone")]


def trade_documents(rows: Sequence[Mapping[str, str]]) -> list[TradeRow]:
    """Return the rows of trades; what is not known is null."""
    return [{name: text or None for name, text in row.items()} for row in rows]


def figures_of(statistics: Statistics) -> Figures:
    """Return every figure of trades."""
    return Figures(
        trades=statistics.n,
        total=_figure(statistics.total),
        win_rate=_figure(statistics.win_rate),
        average_win=_figure(statistics.average_win),
        average_loss=_figure(statistics.average_loss),
        payoff=_figure(statistics.payoff),
        expectancy=_figure(statistics.expectancy),
        expectancy_r=_figure(statistics.expectancy_r),
        profit_factor=_figure(statistics.profit_factor),
        recovery=_figure(statistics.recovery),
        sqn=_figure(statistics.sqn),
        time_in_market=_figure(statistics.time_in_market),
        max_drawdown=number(statistics.drawdown.money, rounded=True),
        max_drawdown_share=_text(statistics.drawdown.share),
        longest_run_of_wins=statistics.longest_wins,
        longest_run_of_losses=statistics.longest_losses,
        financing=number(statistics.financing, rounded=True),
        spread_paid=_text(statistics.spread_paid),
    )


def daily_figures_of(statistics: DailyStatistics) -> DailyFigures:
    """Return the figures of daily net asset values, transfers taken out."""
    return DailyFigures(
        days=statistics.n,
        sharpe=_figure(statistics.sharpe),
        sortino=_figure(statistics.sortino),
        max_drawdown=number(statistics.drawdown.money, rounded=True),
        max_drawdown_share=_text(statistics.drawdown.share),
    )


def _figure(figure: Figure) -> ShownFigure:
    return ShownFigure(_text(figure.value), figure.n, figure.doubt or None)


def _text(value: Decimal | None) -> str | None:
    """Return a number as text, null where it is not defined; a ratio without losses is "Infinity"."""
    if value is not None and not value.is_finite():
        return "Infinity" if value > 0 else "-Infinity"
    return number(value, rounded=True) or None
