"""The day page and the week page: what was traded, what came of it, what was noted; to be read in a minute.

The most important comes first: the result, the best and the worst trade, mistakes, limits that were hit, notes; then groups, the
trades, and every figure. Desk and command line show the same page. A trade belongs to the trading day in which it was closed, 17:00 to 17:00 New York. A day has the date of its end, a week its
days from Monday to Sunday.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal

from msgspec import Struct

from keydesk.calc.market.trading_day import next_day_start, start_of
from keydesk.calc.trade_journal.groups import GroupContext, grouped
from keydesk.calc.trade_journal.rebuild import Journal
from keydesk.calc.trade_journal.statistics import FEW_TRADES, Statistics, statistics_of
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.text.format import at, counted, duration, money, pair, units
from keydesk.text.sanitize import SafeText, safe
from keydesk.trade_journal.csv_rows import (
    RowContext,
    count_text,
    escaped,
    figure_text,
    markdown_table,
    number,
    statistics_rows,
    text_table,
)
from keydesk_client.arithmetic.constants import SECOND

DAYS_OF_A_WEEK = 7
MAX_LIMITS = 12  # lines
GROUPS = ("instrument", "session", "setup")  # what mistakes cost is a sentence
TRADE_COLUMNS = ("id", "closed", "instrument", "side", "units", "held", "result", "R", "setup")
GROUP_COLUMNS = ("n", "win %", "result", "R")
LISTED = (
    4  # trades: the list of so few shows at once which is the best, and what an average would say
)
IN_HEADLINE = frozenset(("trades", "result", "win %"))
COSTS = frozenset(("financing", "spread paid"))
OF_FEW_TRADES = COSTS | {"average win", "average loss", "max drawdown", "longest run of losses"}
"""Facts of any number of trades; a ratio of few is chance."""


class Period(Struct, frozen=True):
    """A day or a week of trading."""

    title: str
    days: tuple[tuple[date, int, int], ...]  # date, start and end

    @property
    def start_ns(self) -> int:
        """Its start; what is booked at that instant belongs to the period before."""
        return self.days[0][1]

    @property
    def end_ns(self) -> int:
        """Its end; what is booked at that instant belongs to it."""
        return self.days[-1][2]


class Section(Struct, frozen=True):
    """A part of a page: a table, or sentences."""

    title: str
    columns: tuple[str, ...] = ()
    rows: tuple[Mapping[str, str], ...] = ()
    sentences: tuple[str, ...] = ()
    results: tuple[Decimal, ...] = ()  # of the rows of a table of groups


class Page(Struct, frozen=True):
    """A page: a title and its parts."""

    title: str
    sections: tuple[Section, ...]


class LimitHit(Struct, frozen=True):
    """A limit of the trader that was hit, or a ticket that was refused."""

    time_ns: int
    text: str


def day_of(day: date) -> Period:
    """Return the trading day of a date."""
    return Period(f"{day:%A} {_date_text(day)} {day.year}", (_bounds(day),))


def week_of(day: date) -> Period:
    """Return the trading week of a date."""
    monday = day - timedelta(days=day.weekday())
    days = tuple(_bounds(monday + timedelta(days=number)) for number in range(DAYS_OF_A_WEEK))
    year, week, _ = monday.isocalendar()
    return Period(f"Week {week} of {year}, from {monday:%a} {_date_text(monday)}", days)


def _date_text(day: date) -> str:
    return f"{day.day} {day:%b}"


def _bounds(day: date) -> tuple[date, int, int]:
    start = start_of(day)
    return day, start, next_day_start(start)


def page(
    journal: Journal,
    period: Period,
    context: RowContext,
    account: str,
    limits: Sequence[LimitHit] = (),
    *,
    currency: str = "",
) -> Page:
    """Return the page of a day or a week; the currency, where it is known, stands with the result."""
    trades = trades_of(journal, period)
    statistics = statistics_of(trades, _balance_before(journal, period.start_ns))
    groups = GroupContext(journal.trades, context.notes, context.zone)
    sections = [_in_short(trades, statistics, context, currency)]
    sections.append(_limits(limits, period, context))
    if len(period.days) > 1:
        sections.append(_by_day(trades, period))
    sections.append(_notes(trades, context))
    sections += [section for name in GROUPS if (section := _group(trades, name, groups))]
    sections.append(trades_section(trades, context, when=_time_format(period)))
    sections.append(_figures(journal, period, statistics))
    return Page(f"{period.title}  {account}".rstrip(), tuple(filter(_has_content, sections)))


def trades_of(journal: Journal, period: Period) -> list[JournalTrade]:
    """Return the trades that were closed in a day or a week."""
    return [each for each in journal.closed if _is_in(each, period.start_ns, period.end_ns)]


def _in_short(
    trades: Sequence[JournalTrade], statistics: Statistics, context: RowContext, currency: str
) -> Section:
    """Return the result, the best and the worst of many trades, and what the mistakes cost."""
    if not trades:
        return Section("", sentences=("No trade was closed.",))
    sentences = [
        f"Result: {_result_text(trades, currency)}, {counted(statistics.n, 'trade')}{_won(statistics)}"
    ]
    if len(trades) > LISTED:
        by_result = sorted(trades, key=lambda each: each.result)
        sentences.append(f"Best: {_trade_text(by_result[-1])}")
        sentences.append(f"Worst: {_trade_text(by_result[0])}")
    mistakes: dict[str, list[JournalTrade]] = {}
    for each in trades:
        if mistake := context.note(each).mistake:
            mistakes.setdefault(mistake, []).append(each)
    if mistakes:
        named = (f"{name}, {len(own):,} x, {_result_text(own)}" for name, own in mistakes.items())
        sentences.append(f"Mistakes: {'; '.join(named)}")
    return Section("", sentences=tuple(sentences))


def _won(statistics: Statistics) -> str:
    share = statistics.win_rate.value
    return "" if share is None else f", {number(share * 100, Decimal(1))} % won"


def _result_text(trades: Sequence[JournalTrade], currency: str = "") -> str:
    """Return a result with its sign, in money and in R as far as it is known."""
    total = sum((each.result for each in trades), Decimal(0))
    rs = [each.r for each in trades if each.r is not None]
    in_r = f", {money(sum(rs, Decimal(0)), signed=True)} R" if rs else ""
    return f"{f'{money(total, signed=True)} {currency}'.rstrip()}{in_r}"


def _trade_text(trade: JournalTrade) -> str:
    side = "long" if trade.is_long else "short"
    return f"{trade.id} {pair(trade.instrument)} {side}, {_result_text([trade])}"


def _limits(limits: Sequence[LimitHit], period: Period, context: RowContext) -> Section:
    """Return the limits that were hit in the period; of many the first, and how many more there were."""
    own = [each for each in limits if period.start_ns < each.time_ns <= period.end_ns]
    when = _time_format(period)
    sentences = [f"{at(e.time_ns, context.zone):{when}} {e.text}" for e in own[:MAX_LIMITS]]
    if len(own) > MAX_LIMITS:
        sentences.append(f"and {len(own) - MAX_LIMITS} more")
    return Section("Limits", sentences=tuple(sentences))


def _time_format(period: Period) -> str:
    """Return how a time in the period is written: on a day's page the title has the day."""
    return "%a %H:%M" if len(period.days) > 1 else "%H:%M"


def _is_in(trade: JournalTrade, start_ns: int, end_ns: int) -> bool:
    return trade.closed_ns is not None and start_ns < trade.closed_ns <= end_ns


def _has_content(section: Section) -> bool:
    return bool(section.rows or section.sentences)


def _balance_before(journal: Journal, time_ns: int) -> Decimal | None:
    earlier = [each.balance for each in journal.balances if each.time_ns <= time_ns]
    return earlier[-1] if earlier else None


def _figures(journal: Journal, period: Period, statistics: Statistics) -> Section:
    """Return the figures that the headline does not have; those that cannot be said, or are chance, are left out."""
    if not statistics.n:
        return Section("Figures")
    moved = sum(
        (p.transfer for p in journal.balances if period.start_ns < p.time_ns <= period.end_ns),
        Decimal(0),
    )
    n, kept = statistics.n, COSTS if statistics.n <= LISTED else OF_FEW_TRADES
    rows = []
    for name, value, basis in statistics_rows(statistics):
        shown, _, share = figure_text(name, value).partition(" ")
        if shown.strip("0.") and (name in kept if n < FEW_TRADES else name not in IN_HEADLINE):
            rows.append({"figure": name, "value": shown, "of": share or count_text(basis, n)})
    if moved:
        rows.append({"figure": "transfers", "value": money(moved, signed=True), "of": ""})
    return Section("Figures", ("figure", "value", "of"), tuple(rows))


def _by_day(trades: Sequence[JournalTrade], period: Period) -> Section:
    days = {
        f"{day:%a} {_date_text(day)}": [each for each in trades if _is_in(each, start, end)]
        for day, start, end in period.days
    }
    return _group_section("Days", "day", {name: own for name, own in days.items() if own})


def _group_section(title: str, name: str, groups: Mapping[str, Sequence[JournalTrade]]) -> Section:
    """Return the table of groups, a row for each, with their results for bars."""
    rows = tuple({name: group, **_group_row(own)} for group, own in groups.items())
    results = tuple(sum((each.result for each in own), Decimal(0)) for own in groups.values())
    return Section(title, (name, *GROUP_COLUMNS), rows, results=results)


def _group_row(trades: Sequence[JournalTrade]) -> dict[str, str]:
    statistics = statistics_of(trades)
    rs = [each.r for each in trades if each.r is not None]
    share = statistics.win_rate.value
    return {
        "n": f"{statistics.n:,}",
        "win %": "" if share is None else number(share * 100, Decimal(1)),
        "result": money(statistics.total.value, signed=True),
        "R": money(sum(rs, Decimal(0)), signed=True) if rs else "",
    }


def trades_section(
    trades: Iterable[JournalTrade],
    context: RowContext,
    title: str = "Trades",
    *,
    when: str,
) -> Section:
    """Return the table of trades, with their closing written like `when`."""
    rows = tuple(
        {
            "id": each.id,
            "closed": f"{at(each.closed_ns or 0, context.zone):{when}}",
            "instrument": pair(each.instrument),
            "side": "long" if each.is_long else "short",
            "units": units(abs(each.units)),
            "held": str(duration((each.hold_ns or 0) / SECOND)),
            "result": money(each.result, signed=True),
            "R": "" if each.r is None else money(each.r, signed=True),
            "setup": context.note(each).setup,
        }
        for each in trades
    )
    return Section(title, TRADE_COLUMNS, rows)


def _group(trades: Sequence[JournalTrade], name: str, context: GroupContext) -> Section | None:
    """Return the trades by a grouping; None if all are in one group, or their list says as much: of few, or where each is a group."""
    groups = grouped(trades, name, context)
    if len(trades) <= LISTED or not 1 < len(groups) < len(trades):
        return None
    named = {pair(each) if name == "instrument" else each: own for each, own in groups.items()}
    return _group_section(f"By {name}", name, named)


def _notes(trades: Iterable[JournalTrade], context: RowContext) -> Section:
    sentences = []
    for each in trades:
        note = context.note(each)
        words = [
            *(f"#{tag}" for tag in note.tags),
            f"mistake: {note.mistake}" if note.mistake else "",
            note.note,
        ]
        phrases = [word for word in words if word]
        if phrases:  # a rating alone says nothing to read
            rating = [f"rating {note.rating}"] if note.rating else []
            sentences.append(f"{each.id} {pair(each.instrument)}: {', '.join([*rating, *phrases])}")
    return Section("Notes", sentences=tuple(sentences))


def as_markdown(shown: Page) -> list[SafeText]:
    """Return a page as lines of Markdown."""
    lines: list[SafeText] = [safe(f"# {escaped(shown.title)}")]
    for section in shown.sections:
        lines.append(safe(""))
        if section.title:
            lines += [safe(f"## {section.title}"), safe("")]
        if section.rows:
            lines += markdown_table(section.columns, section.rows)
        lines += [safe(f"- {escaped(each)}") for each in section.sentences]
    return lines


def as_text(shown: Page) -> list[SafeText]:
    """Return a page as lines for the terminal."""
    lines: list[SafeText] = [safe(shown.title)]
    for section in shown.sections:
        lines.append(safe(""))
        if section.title:
            lines.append(safe(section.title.upper()))
        if section.rows:
            lines += text_table(section.columns, section.rows)
        lines += [safe(each) for each in section.sentences]
    return lines
