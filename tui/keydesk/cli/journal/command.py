"""`keydesk journal`: list, count and export the trades of an account, print the page of a day or week, write notes."""

import argparse
import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import tzinfo
from decimal import Decimal

from msgspec import Struct, field
from msgspec.structs import replace

from keydesk.calc.market.trading_day import booking_date, trading_date
from keydesk.calc.trade_journal.groups import GroupContext, grouped
from keydesk.calc.trade_journal.net_asset_values import held_over_a_day_end, open_profits
from keydesk.calc.trade_journal.notes import BadNote, TradeNote, rating_in, tags_in
from keydesk.calc.trade_journal.price_paths import PricePath
from keydesk.calc.trade_journal.rebuild import Journal
from keydesk.calc.trade_journal.returns import days_of
from keydesk.calc.trade_journal.statistics import (
    DailyStatistics,
    daily_statistics_of,
    statistics_of,
)
from keydesk.calc.trade_journal.trades import JournalTrade, roll_up
from keydesk.calc.trade_journal.what_if import what_if
from keydesk.cli.account_access import OpenAccount, open_account
from keydesk.cli.csv_output import refuse_existing, write_csv
from keydesk.cli.journal.documents import (
    JournalGroup,
    JournalGroupsDocument,
    JournalNoteDocument,
    JournalReportDocument,
    JournalStatisticsDocument,
    JournalTradesDocument,
    JournalWhatIfDocument,
    daily_figures_of,
    figures_of,
    trade_documents,
)
from keydesk.cli.journal.filter import TradeFilter, chosen, rule_of
from keydesk.cli.option_values import instant
from keydesk.cli.script_output import Document, Refusal, document_text, print_document
from keydesk.records.errors import DamagedRecords
from keydesk.terminal.output import print_error, print_lines
from keydesk.text.format import counted
from keydesk.text.sanitize import Printable, clean, safe
from keydesk.trade_journal.candles import ExcursionReader, read_day_closes, read_excursions
from keydesk.trade_journal.csv_rows import (
    HUNDREDTH,
    TEXT_COLUMNS,
    TRADE_COLUMNS,
    RowContext,
    markdown_table,
    number,
    statistics_rows,
    text_table,
    trade_row,
)
from keydesk.trade_journal.loading import load_journal, pips_of
from keydesk.trade_journal.notes_file import NotesNotWritten, change_note, read_notes
from keydesk.trade_journal.paths import read_paths
from keydesk.trade_journal.report import (
    LimitHit,
    Period,
    as_markdown,
    as_text,
    day_of,
    page,
    week_of,
)
from keydesk.trade_journal.snapshot import read_limit_hits
from keydesk.trade_journal.what_if_text import doubts, rule_text
from keydesk_client.auth.private_files import replace_file
from keydesk_client.client import Client
from keydesk_client.errors import KeydeskClientError

LISTED = (
    *("id", "closed", "instrument", "side", "units", "entryPrice", "exitPrice", "pips"),
    *("financing", "result", "R", "session", "tags", "setup", "rating"),
)
CANDLES_EVERY = 50  # trades
WITH_EXCURSIONS = ("maePips", "mfePips", "maeR", "mfeR")
STATISTICS = ("figure", "value", "of")
Rows = list[dict[str, str]]


class _AccountData(Struct, frozen=True):
    """What was read of an account."""

    account: OpenAccount
    whole: Journal
    context: RowContext
    open_profits: Mapping[int, Decimal] = field(default_factory=dict)  # by the end of the day
    paths: Mapping[str, PricePath] = field(default_factory=dict)
    limits: Sequence[LimitHit] = ()
    candles_trouble: str = ""  # why excursions are missing

    @property
    def zone(self) -> tzinfo:
        return self.context.zone


def journal(options: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    if options.out is not None:
        refuse_existing(options.out, overwrite=options.force, option="--out")
    if options.what == "note":
        asyncio.run(_note(options))
        return 0
    found = asyncio.run(_read(options))
    match options.what:
        case "report":
            _report(found, options)
        case "stats":
            _statistics(found, options)
        case "what-if":
            _what_if(found, options)
        case _:
            _list(found, options)
    return 1 if found.candles_trouble else 0


async def _note(options: argparse.Namespace) -> None:
    """Write a note on a trade that the account has."""
    try:
        tags = None if options.tags is None else tags_in(options.tags)
        rating = rating_in(options.rating or "")
    except BadNote as error:
        raise Refusal(str(error)) from error

    def changed(note: TradeNote) -> TradeNote:
        texts = {
            name: getattr(options, name)
            for name in ("setup", "mistake", "note")
            if getattr(options, name) is not None
        }
        note = replace(note, **texts)
        note = note if tags is None else replace(note, tags=tags)
        return note if options.rating is None else replace(note, rating=rating)

    async with open_account(options) as account:
        _, whole = await load_journal(account.client, account.records)
        if options.trade not in {each.id for each in whole.trades}:
            raise Refusal(f"there is no trade {options.trade} on {account.name}")
        try:
            note = change_note(account.notes, options.trade, changed)
        except (BadNote, NotesNotWritten) as error:
            raise Refusal(str(error)) from error
        if options.json:
            print_document(
                JournalNoteDocument(**account.head, trade=options.trade, removed=note.is_empty)
            )
            return
        kept = "removed from" if note.is_empty else "kept in"
        print_lines(safe(f"The note on trade {options.trade} is {kept} {account.notes}"))


async def _read(options: argparse.Namespace) -> _AccountData:
    async with open_account(options) as account:
        records, whole = await load_journal(account.client, account.records, _print_progress)
        notes = read_notes(account.notes)
        if notes.trouble:
            print_error(safe(notes.trouble))
        pips = await pips_of(account.client)
        context = RowContext(notes.by_trade, pips, account.zone)
        found = _AccountData(account, whole, context)
        if options.what == "stats" and options.by is None:
            now = await _present_time(account.client, whole)
            spans = held_over_a_day_end(whole.trades, now)
            closes = await read_day_closes(account.client, spans)
            for name in sorted(spans.keys() - closes.keys()):
                print_error(safe(f"no daily prices of {name}: its open profit is left out"))
            return replace(found, open_profits=open_profits(whole.trades, closes, now))
        if options.what == "what-if":
            trades, database = _chosen(found, options), records.database
            paths = await read_paths(account.client, database, trades, _say_candles)
            return replace(found, paths=paths)
        if options.what == "report":
            return replace(found, limits=read_limit_hits(account.audit))
        if not options.excursions:
            return found
        ids = {id_ for each in _chosen(found, options) for id_ in each.trade_ids}
        trades = [each for each in whole.closed if each.id in ids]
        reader, trouble = ExcursionReader(account.client, database=records.database), ""
        try:
            await read_excursions(reader, trades, _say_candles)
        except KeydeskClientError as error:  # the list itself is read
            trouble = str(error)
        context = replace(context, excursions=reader.known_of(trades))
        return replace(found, context=context, candles_trouble=trouble)


async def _present_time(client: Client, whole: Journal) -> int:
    """Return the broker's time, which in a replay is another one than the machine's; of an account without open trades its last event's."""
    held = sorted({each.instrument for each in whole.trades if not each.is_closed})
    if held:
        return (await client.pricing.get(held)).time.ns
    return whole.balances[-1].time_ns if whole.balances else 0


def _say_candles(read: int, of: int) -> None:
    if sys.stderr.isatty() and not read % CANDLES_EVERY:
        print_error(safe(f"candles of {read:,} of {counted(of, 'trade')}"))


def _print_progress(read: int, newest: int) -> None:
    if sys.stderr.isatty():
        print_error(safe(f"{read:,} of {newest:,} transactions"))


def _chosen(found: _AccountData, options: argparse.Namespace) -> list[JournalTrade]:
    trades: Sequence[JournalTrade] = found.whole.trades
    if options.positions:
        trades = roll_up(trades)
    wanted = TradeFilter(
        None if options.from_ is None else instant(options.from_, found.zone).ns,
        None if options.to is None else instant(options.to, found.zone).ns,
        options.instrument.upper().replace("/", "_"),
        options.side,
        options.outcome,
        options.tag,
        options.setup or "",
        _rating(options),
        options.with_text,
        options.open,
    )
    return sorted(
        chosen(trades, wanted, found.context.notes),
        key=lambda each: (each.closed_ns is None, each.closed_ns or each.opened_ns),
    )


def _rating(options: argparse.Namespace) -> int | None:
    try:
        return rating_in(options.rating or "")
    except BadNote as error:
        raise Refusal(str(error)) from error


def _list(found: _AccountData, options: argparse.Namespace) -> None:
    trades = _chosen(found, options)
    rows = [trade_row(each, found.context) for each in trades]
    shown = (*LISTED, *WITH_EXCURSIONS) if options.excursions else LISTED
    if options.json:
        listed = trade_documents(rows)
        _write_document(JournalTradesDocument(**found.account.head, trades=listed), options)
    else:
        if not (options.csv or options.markdown):
            rows = [{**row, "closed": row["closed"][:16].replace("T", " ")} for row in rows]
        _write(TRADE_COLUMNS if options.csv else shown, rows, options)
    print_error(safe(f"{counted(len(trades), 'trade')} of {found.account.name}"))
    if found.candles_trouble:
        text = f"MAE and MFE are incomplete: {clean(found.candles_trouble)}. "
        print_error(
            safe(f"{text}Those that are missing are left empty: run this again to read them")
        )
    if growing := [row["id"] for row in rows if row["maeMfe"] == "provisional"]:
        print_error(provisional_text(growing))


def provisional_text(ids: Sequence[str]) -> Printable:
    """Return which trades have an excursion that is not final."""
    return safe(
        f"MAE and MFE of {counted(len(ids), 'trade')} ({', '.join(ids)}) may still grow: "
        "the candle of the exit is not complete, print them again in 5 seconds"
    )


def _statistics(found: _AccountData, options: argparse.Namespace) -> None:
    trades = _chosen(found, options)
    is_whole = len(trades) == len(found.whole.closed)
    if options.by is not None:
        context = GroupContext(found.whole.trades, found.context.notes, found.zone)
        _groups(grouped(trades, options.by, context), found, options)
    elif options.json:
        daily = daily_figures_of(_daily_statistics(found)) if is_whole else None
        figures = figures_of(statistics_of(trades))
        document = JournalStatisticsDocument(**found.account.head, figures=figures, daily=daily)
        _write_document(document, options)
    else:
        rows = [_figure(*each) for each in statistics_rows(statistics_of(trades))]
        _write(STATISTICS, rows + (_daily(found) if is_whole else []), options)


def _groups(
    groups: Mapping[str, Sequence[JournalTrade]], found: _AccountData, options: argparse.Namespace
) -> None:
    if options.json:
        own = [
            JournalGroup(group, figures_of(statistics_of(trades)))
            for group, trades in groups.items()
        ]
        document = JournalGroupsDocument(**found.account.head, by=options.by, groups=own)
        _write_document(document, options)
        return
    rows = []
    for group, trades in groups.items():
        statistics = statistics_of(trades)
        values = {name: value for name, value, _ in statistics_rows(statistics)}
        rows.append({options.by: group, **values, "doubt": statistics.total.doubt})
    _write(list(rows[0]) if rows else [options.by, "trades"], rows, options)


def _figure(name: str, value: str, rests_on: str) -> dict[str, str]:
    return dict(zip(STATISTICS, (name, value, rests_on), strict=True))


def _daily(found: _AccountData) -> Rows:
    """Return ratios and drawdown of the daily net asset values, transfers taken out."""
    daily = _daily_statistics(found)
    fall = number(daily.drawdown.money, HUNDREDTH)
    if daily.drawdown.share is not None:
        fall = f"{fall} ({number(daily.drawdown.share * 100, HUNDREDTH)} %)"
    rests_on = daily.sharpe.doubt or f"n={daily.n}"
    return [
        _figure("Sharpe, daily NAV", number(daily.sharpe.value, HUNDREDTH), rests_on),
        _figure("Sortino, daily NAV", number(daily.sortino.value, HUNDREDTH), rests_on),
        _figure("max drawdown, daily NAV", fall, rests_on),
    ]


def _daily_statistics(found: _AccountData) -> DailyStatistics:
    whole = found.whole
    return daily_statistics_of(days_of(whole.balances, whole.start_balance, found.open_profits))


def _what_if(found: _AccountData, options: argparse.Namespace) -> None:
    """Write the figures as they were and by the rule, then what is doubtful."""
    rule = rule_of(options)
    try:
        result = what_if(_chosen(found, options), found.paths, rule)
    except DamagedRecords as error:
        remedy = "remove this file, the broker has all that is in it, and run this again"
        raise Refusal(f"cannot be read: {error}; {remedy}", "local") from error
    if options.json:
        document = JournalWhatIfDocument(
            **found.account.head,
            rule=rule_text(rule),
            before=figures_of(result.before),
            after=figures_of(result.after),
            doubts=list(doubts(result)),
        )
        _write_document(document, options)
        return
    after = {name: value for name, value, _ in statistics_rows(result.after)}
    names: Sequence[str] = ("figure", "as it was", "what if", "of")
    rows: Rows = [
        dict(zip(names, (name, value, after[name], rests_on), strict=True))
        for name, value, rests_on in statistics_rows(result.before)
    ]
    print_error(safe(f"What if: {rule_text(rule)}"))
    _write(names, rows, options)
    for text in doubts(result):
        print_error(safe(text))


def _report(found: _AccountData, options: argparse.Namespace) -> None:
    day = options.date or trading_date(time.time_ns())
    period = week_of(day) if options.week else day_of(day)
    if options.json:
        _report_document(found, period, options)
        return
    if options.date is None and (hint := last_day_hint(found.whole, period)):
        print_error(safe(hint))
    shown = page(found.whole, period, found.context, found.account.name, found.limits)
    _write_lines(as_markdown(shown) if options.markdown else as_text(shown), options)


def _report_document(found: _AccountData, period: Period, options: argparse.Namespace) -> None:
    trades = [
        each
        for each in found.whole.closed
        if each.closed_ns is not None and period.start_ns < each.closed_ns <= period.end_ns
    ]
    document = JournalReportDocument(
        **found.account.head,
        days=[str(day) for day, _, _ in period.days],
        trades=trade_documents([trade_row(each, found.context) for each in trades]),
        figures=figures_of(statistics_of(trades)),
    )
    _write_document(document, options)


def last_day_hint(whole: Journal, period: Period) -> str:
    """Return where the last closed trade is when the page of now has none: the market, or this clock, is elsewhere."""
    closed = [each.closed_ns for each in whole.closed if each.closed_ns is not None]
    if not closed or any(period.start_ns <= each < period.end_ns for each in closed):
        return ""
    return f"The last trade was closed on another day: --date {booking_date(max(closed))}"


def _write(
    columns: Sequence[str], rows: Sequence[Mapping[str, str]], options: argparse.Namespace
) -> None:
    if options.csv:
        write_csv(options.out, columns, rows, TEXT_COLUMNS)
    elif options.markdown:
        _write_lines(markdown_table(columns, rows), options)
    else:
        _write_lines(text_table(columns, rows), options)


def _write_document(document: Document, options: argparse.Namespace) -> None:
    _write_lines([safe(line) for line in document_text(document).split("\n")], options)


def _write_lines(lines: Sequence[Printable], options: argparse.Namespace) -> None:
    if options.out is None:
        print_lines(*lines)
    else:
        replace_file(options.out, "".join(f"{line}\n" for line in lines).encode())
        print_error(safe(f"Written to {options.out}"))
