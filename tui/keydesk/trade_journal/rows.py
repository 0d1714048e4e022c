"""Trades and statistics as rows of text for files and pages; numbers exactly, with all their decimals."""

from collections.abc import Mapping, Sequence
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

TRADE_COLUMNS = (
    *("id", "position", "instrument", "side", "units", "opened", "closed", "holdSeconds"),
    *("entryPrice", "exitPrice", "pips", "profit", "financing", "dividends", "commission"),
    *("guaranteedExecutionFee", "result", "initialStop", "initialRisk", "R"),
    *("maePips", "mfePips", "maeR", "mfeR"),
    *("slippagePips", "spreadPaid", "session", "entries", "exits", "exitReason"),
    *("tags", "setup", "rating", "mistake", "note", "brokerTag", "comment"),
    "maeMfe",
)
TEXT_COLUMNS = frozenset({"tags", "setup", "mistake", "note", "brokerTag", "comment"})
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


def trade_row(trade: JournalTrade, context: RowContext) -> dict[str, str]:
    """Return a trade by TRADE_COLUMNS; what is not known is empty."""
    note, pip = context.note(trade), context.pips.get(trade.instrument)
    slip = trade.slippage
    return {
        "id": trade.id,
        "position": trade.position_id,
        "instrument": trade.instrument,
        "side": "long" if trade.is_long else "short",
        "units": number(abs(trade.units)),
        "opened": _time(trade.opened_ns, context.zone),
        "closed": "" if trade.closed_ns is None else _time(trade.closed_ns, context.zone),
        "holdSeconds": "" if trade.hold_ns is None else str(trade.hold_ns // SECOND),
        "entryPrice": _price(trade.entry_price, trade.entries),
        "exitPrice": _price(trade.exit_price, trade.exits),
        "pips": "" if pip is None else number(trade.pips(pip), HUNDREDTH),
        "profit": number(trade.profit),
        "financing": number(trade.costs.financing),
        "dividends": number(trade.costs.dividends),
        "commission": number(trade.costs.commission),
        "guaranteedExecutionFee": number(trade.costs.guarantee_fee),
        "result": number(trade.result),
        "initialStop": number(trade.initial_stop),
        "initialRisk": number(trade.initial_risk, rounded=True),
        "R": number(trade.r, HUNDREDTH),
        **_excursion_cells(context.excursions.get(trade.id), pip),
        "slippagePips": "" if pip is None or slip is None else number(slip / pip, HUNDREDTH),
        "spreadPaid": number(trade.spread_paid),
        "session": session_of(trade.opened_ns),
        "entries": str(len(trade.entries)),
        "exits": str(len(trade.exits)),
        "exitReason": trade.exits[-1].reason if trade.exits else "",
        "tags": " ".join(note.tags),
        "setup": note.setup,
        "rating": "" if note.rating is None else str(note.rating),
        "mistake": note.mistake,
        "note": note.note,
        "brokerTag": trade.tag,
        "comment": trade.comment,
        "maeMfe": _finality(context.excursions.get(trade.id)),
    }


def _finality(excursion: Excursion | None) -> str:
    """Return whether MAE and MFE can still grow, because the candle of the exit forms."""
    return "" if excursion is None else "provisional" if excursion.is_provisional else "final"


def _excursion_cells(excursion: Excursion | None, pip: Decimal | None) -> dict[str, str]:
    pips = None if excursion is None or pip is None else excursion.pips(pip)
    in_r = None if excursion is None else excursion.r
    return {
        "maePips": "" if pips is None else number(pips[0], HUNDREDTH),
        "mfePips": "" if pips is None else number(pips[1], HUNDREDTH),
        "maeR": "" if in_r is None else number(in_r[0], HUNDREDTH),
        "mfeR": "" if in_r is None else number(in_r[1], HUNDREDTH),
    }


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


def as_shown(text: str) -> str:
    """Return a number of `number` as the desk shows it, grouped and with a proper minus; what stands behind it stays."""
    head, space, rest = text.partition(" ")
    try:
        exact = Decimal(head)
    except ArithmeticError:
        return text
    if not exact.is_finite():
        return text
    return f"{money(exact, max(0, -int(exact.as_tuple().exponent)))}{space}{rest}"


def _price(average: Decimal | None, executions: Sequence[Execution]) -> str:
    """Return an average price with the decimals of the broker's prices, one more where it lies between them."""
    if average is None:
        return ""
    places = max(-int(each.price.as_tuple().exponent) for each in executions)
    exact = average.quantize(Decimal(1).scaleb(-places))
    return number(exact if exact == average else average.quantize(Decimal(1).scaleb(-places - 1)))


def _time(time_ns: int, zone: tzinfo) -> str:
    return at(time_ns, zone).isoformat()


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
