"""What `keydesk journal --json` prints: trades by the columns of the CSV file, and figures by names that stay."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from keydesk.calc.trade_journal.statistics import DailyStatistics, Figure, Statistics
from keydesk.trade_journal.csv_rows import number

FIGURES = (
    *("total", "win_rate", "average_win", "average_loss", "payoff", "expectancy", "expectancy_r"),
    *("profit_factor", "recovery", "sqn", "time_in_market"),
)
"""The members of `Statistics` that rest on a number of trades; rates are shares of 1."""
Json = Mapping[str, object]


def trade_documents(rows: Sequence[Mapping[str, str]]) -> Sequence[Mapping[str, str | None]]:
    """Return the rows of trades; what is not known is null."""
    return [{name: text or None for name, text in row.items()} for row in rows]


def figures_of(statistics: Statistics) -> Json:
    """Return every figure of trades."""
    return {
        "trades": statistics.n,
        **{name: _figure(getattr(statistics, name)) for name in FIGURES},
        "max_drawdown": _text(statistics.drawdown.money),
        "max_drawdown_share": _text(statistics.drawdown.share),
        "longest_run_of_wins": statistics.longest_wins,
        "longest_run_of_losses": statistics.longest_losses,
        "financing": _text(statistics.financing),
        "spread_paid": _text(statistics.spread_paid),
    }


def daily_figures_of(statistics: DailyStatistics) -> Json:
    """Return the figures of daily net asset values, transfers taken out."""
    return {
        "days": statistics.n,
        "sharpe": _figure(statistics.sharpe),
        "sortino": _figure(statistics.sortino),
        "max_drawdown": _text(statistics.drawdown.money),
        "max_drawdown_share": _text(statistics.drawdown.share),
    }


def _figure(figure: Figure) -> Json:
    return {"value": _text(figure.value), "n": figure.n, "doubt": figure.doubt or None}


def _text(value: Decimal | None) -> str | None:
    """Return a number as text, null where it is not defined; a ratio without losses is "Infinity"."""
    if value is not None and not value.is_finite():
        return "Infinity" if value > 0 else "-Infinity"
    return number(value, rounded=True) or None
