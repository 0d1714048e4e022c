"""The columns of the journal's list: what each shows of a trade, and what it is sorted and searched by."""

from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from decimal import Decimal
from typing import Any, NamedTuple

from msgspec import Struct, field

from keydesk.calc.market.sessions import SESSIONS
from keydesk.calc.trade_journal.excursions import Excursion
from keydesk.calc.trade_journal.groups import NONE as NO_SESSION
from keydesk.calc.trade_journal.notes import NO_NOTE, TradeNote
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.forms.modal_form import Words, signed_money
from keydesk.records.excursions import KeptExcursion
from keydesk.records.trades import JournalLine
from keydesk.tables.column import Column, Measured
from keydesk.text.format import (
    EMPTY,
    at,
    duration,
    money,
    pair,
    pips,
    shorten,
    side_and_size,
    units,
)
from keydesk.text.sanitize import SafeText, clean, clean_name, safe
from keydesk.widgets.theme import signed_role
from keydesk_client.arithmetic.constants import SECOND

NO_MARK = safe("")
PROVISIONAL = safe("~")  # before MAE and MFE whose last candle still forms
WIDEST_WORD = 14  # columns of a setup, of tags


class ListContext(Struct, frozen=True):
    """What the list needs beside its lines."""

    notes: Mapping[str, TradeNote]
    excursion: Callable[[JournalLine], Excursion | None]
    zone: tzinfo
    now_ns: int
    with_screens: frozenset[str] = frozenset()  # trades of which a screen is kept

    def note(self, line: JournalLine) -> TradeNote:
        """Return the note on a trade; that on a position is the note on its first trade."""
        return self.notes.get(line.trade.id, NO_NOTE)


class Reach(NamedTuple):
    """MAE and MFE in pips and in R, as far as they are known."""

    mae: Decimal | None = None
    mfe: Decimal | None = None
    mae_r: Decimal | None = None
    mfe_r: Decimal | None = None
    mark: SafeText = NO_MARK


class JournalRow(Struct, frozen=True):
    """What the columns show of a trade or a position."""

    line: JournalLine
    context: ListContext
    note: TradeNote
    reach: Reach

    @property
    def trade(self) -> JournalTrade:
        """The trade, or the trades of the position together."""
        return self.line.trade


def _time(row: JournalRow) -> Words:
    """Return the time of a closing; of one in another year, its date; of an open trade, since when it is open."""
    line, zone = row.line, row.context.zone
    time, now = at(line.time_ns, zone), at(row.context.now_ns, zone)
    is_this_year = time.year == now.year
    if not line.is_open:
        return (safe(f"{time:%d %b %H:%M}" if is_this_year else f"{time:%d %b %Y}"), "plain")
    since = "%H:%M" if time.date() == now.date() else "%d %b" if is_this_year else "%m/%Y"
    return (safe(f"open {time:{since}}"), "focus")


def _profit(row: JournalRow) -> Words:
    if row.line.is_open and not row.trade.exits:
        return ("open", "focus")
    return signed_money(row.line.profit)


def _marks(row: JournalRow) -> Words:
    """Return `!` of a mistake, `n` of a note, `s` of a kept screen, `*` of several trades."""
    note, trade = row.note, row.trade
    marks = {
        "!": note.mistake,
        "n": note.note,
        "s": trade.id in row.context.with_screens,
        "*": len(trade.trade_ids) > 1,
    }
    text = "".join(mark for mark, is_set in marks.items() if is_set)
    return (safe(text), "warn" if note.mistake else "muted")


def _excursion_pips(row: JournalRow, value: Decimal | None) -> Words:
    return (safe(f"{row.reach.mark}{pips(value, signed=False)}"), "muted")


def _excursion_r(row: JournalRow, value: Decimal | None) -> Words:
    return (safe(f"{row.reach.mark}{money(value)}"), "muted")


def _typed(text: str) -> Words:
    return (shorten(clean(text), WIDEST_WORD), "plain")


def _signed(value: Decimal | None, text: str) -> Words:
    return safe(text), "muted" if value is None else signed_role(value)


def _reach(line: JournalLine, context: ListContext, pip: Decimal | None) -> Reach:
    excursion = context.excursion(line)
    if excursion is None:
        return Reach()
    mae, mfe = (None, None) if pip is None else excursion.pips(pip)
    mae_r, mfe_r = excursion.r or (None, None)
    mark = PROVISIONAL if excursion.is_provisional else NO_MARK
    return Reach(mae, mfe, mae_r, mfe_r, mark)


def _held_ns(line: JournalLine, context: ListContext) -> int:
    if line.held_ns is None:
        return max(0, context.now_ns - line.trade.opened_ns)
    return line.held_ns


def session_text(session: str) -> str:
    """Return the sessions of an entry, short: LDN+NY."""
    if session == NO_SESSION:
        return EMPTY
    for each in SESSIONS:
        session = session.replace(each.name, each.short)
    return session.replace(" and ", "+")


class RowFacts(Struct, frozen=True):
    """What rows are sorted by beside the columns of their table."""

    notes: Mapping[str, TradeNote]
    now_ns: int
    pips: Mapping[str, Decimal]
    excursions: Mapping[str, KeptExcursion] = field(default_factory=dict)  # by trade

    def note(self, id_: str) -> TradeNote:
        """Return the note on a trade."""
        return self.notes.get(id_, NO_NOTE)


class Measure(Struct, frozen=True):
    """What a column of the list is sorted by: the columns of the table that it needs, and its value; None: not known."""

    columns: Sequence[str]
    value: Callable[..., Measured]  # of the facts, the id and the columns


def _number(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


def _column(name: str) -> Measure:
    """Return the measure that a column of the table is as it stands."""
    return Measure((name,), lambda _, __, value: value)


def _amount(name: str) -> Measure:
    """Return the measure of a number that is kept as text."""
    return Measure((name,), lambda _, __, value: _number(value))


def _noted(name: str) -> Measure:
    """Return the measure of a text of the note, from A to Z."""
    return Measure((), lambda facts, id_: str(getattr(facts.note(id_), name)).lower() or None)


def _reached(side: str, unit: str) -> Measure:
    """Return the measure of an excursion: a distance in pips or in units of the first stop's distance."""

    def value(facts: RowFacts, id_: str, *row: Any) -> Measured:  # noqa: ANN401 - columns of SQL
        is_trade, opened_ns, time_ns, instrument, stop_distance = row
        kept = facts.excursions.get(id_)
        one = facts.pips.get(instrument) if unit == "pips" else _number(stop_distance)
        if kept is None or not is_trade or not one or kept[:2] != (opened_ns, time_ns):
            return None
        return Decimal(getattr(kept, side)) / one

    return Measure(("is_trade", "opened_ns", "time_ns", "instrument", "stop_distance"), value)


def _noted_rating(facts: RowFacts, id_: str) -> Measured:
    rating = facts.note(id_).rating
    return None if rating is None else Decimal(rating)


def _noted_marks(facts: RowFacts, id_: str) -> Measured:
    note = facts.note(id_)
    return Decimal(2 * bool(note.mistake) + bool(note.note)) or None


def _held(facts: RowFacts, _: str, is_open: int, time_ns: int, opened_ns: int) -> Measured:
    return max(0, facts.now_ns - opened_ns) if is_open else time_ns - opened_ns


def _pips(facts: RowFacts, _: str, move: str | None, instrument: str) -> Measured:
    pip = facts.pips.get(instrument)
    return None if move is None or pip is None else Decimal(move) / pip


def _result(_: RowFacts, __: str, is_open: int, result: str) -> Measured:
    return None if is_open else Decimal(result)


class JournalColumn(Column, frozen=True, kw_only=True):
    """A column of the list; drawing and sorting read it."""

    text: Callable[[JournalRow], Words]
    measure: Measure
    by_candles: bool = False  # it needs the candles of the trade's time


COLUMNS: tuple[JournalColumn, ...] = (
    JournalColumn(*("time", "closed", 12), right=False, text=_time, measure=_column("time_ns")),
    JournalColumn(
        *("pair", "pair", 7),
        right=False,
        ascending=True,
        text=lambda row: (shorten(pair(row.trade.instrument), 11), "plain"),
        measure=_column("instrument"),
    ),
    JournalColumn(
        *("side", "side", 5, 2),
        right=False,
        ascending=True,
        text=lambda row: ("LONG", "buy") if row.trade.is_long else ("SHORT", "sell"),
        measure=_column("side"),
    ),
    JournalColumn(
        *("units", "units", 7, 8),
        text=lambda row: (units(abs(row.trade.units)), "plain"),
        measure=_amount("units"),
    ),
    JournalColumn(
        *("pips", "pips", 7, 7),
        text=lambda row: _signed(row.line.pips, pips(row.line.pips)),
        measure=Measure(("move", "instrument"), _pips),
    ),
    JournalColumn(
        *("r", "R", 6, 1),
        text=lambda row: _signed(row.line.r, money(row.line.r, signed=True)),
        measure=_amount("r"),
    ),
    JournalColumn(*("pl", "P/L", 9), text=_profit, measure=_amount("profit")),
    JournalColumn(
        *("financing", "swap", 6, 5),
        text=lambda row: signed_money(row.trade.costs.financing),
        measure=_amount("financing"),
    ),
    JournalColumn(
        *("result", "net", 9, 12),
        text=lambda row: (EMPTY, "muted") if row.line.is_open else signed_money(row.line.result),
        measure=Measure(("is_open", "result"), _result),
    ),
    JournalColumn(
        *("mae", "MAE p", 6, 9),
        group="pips",
        by_candles=True,
        text=lambda row: _excursion_pips(row, row.reach.mae),
        measure=_reached("adverse", "pips"),
    ),
    JournalColumn(
        *("mfe", "MFE p", 6, 9),
        group="pips",
        by_candles=True,
        text=lambda row: _excursion_pips(row, row.reach.mfe),
        measure=_reached("favourable", "pips"),
    ),
    JournalColumn(
        *("mae_r", "MAE R", 6, 13),
        group="r",
        by_candles=True,
        text=lambda row: _excursion_r(row, row.reach.mae_r),
        measure=_reached("adverse", "r"),
    ),
    JournalColumn(
        *("mfe_r", "MFE R", 6, 13),
        group="r",
        by_candles=True,
        text=lambda row: _excursion_r(row, row.reach.mfe_r),
        measure=_reached("favourable", "r"),
    ),
    JournalColumn(
        *("held", "held", 6, 6),
        text=lambda row: (duration(_held_ns(row.line, row.context) / SECOND), "muted"),
        measure=Measure(("is_open", "time_ns", "opened_ns"), _held),
    ),
    JournalColumn(
        *("session", "session", 7, 14),
        right=False,
        ascending=True,
        text=lambda row: (safe(session_text(row.line.session)), "muted"),
        measure=_column("session"),
    ),
    JournalColumn(
        *("rating", "rate", 4, 4),
        text=lambda row: (
            EMPTY if row.note.rating is None else safe(f"{row.note.rating}/5"),
            "plain",
        ),
        measure=Measure((), _noted_rating),
    ),
    JournalColumn(
        *("marks", "marks", 5, 3), right=False, text=_marks, measure=Measure((), _noted_marks)
    ),
    JournalColumn(
        *("setup", "setup", 8, 11),
        right=False,
        ascending=True,
        text=lambda row: _typed(row.note.setup),
        measure=_noted("setup"),
    ),
    JournalColumn(
        *("tags", "tags", 8, 10),
        right=False,
        ascending=True,
        text=lambda row: _typed(" ".join(row.note.tags)),
        measure=Measure((), lambda facts, id_: " ".join(facts.note(id_).tags) or None),
    ),
)
BY_KEY = {column.key: column for column in COLUMNS}
ASCENDING = frozenset(column.key for column in COLUMNS if column.ascending)


def cells_of(line: JournalLine, context: ListContext, pip: Decimal | None) -> dict[str, Words]:
    """Return what each column shows of a line, and its role."""
    row = JournalRow(line, context, context.note(line), _reach(line, context, pip))
    return {column.key: column.text(row) for column in COLUMNS}


def name_of(line: JournalLine) -> str:
    """Return the trade in words: #12 LONG 10,000 EUR/USD."""
    trade = line.trade
    return f"#{clean_name(trade.id)} {side_and_size(trade.units, trade.instrument)}"


def result_text(line: JournalLine, home: str, zone: tzinfo) -> str:
    """Return the trade with its result: #12 LONG 10,000 EUR/USD, closed 22 Nov 17:12, +12.30 USD, +0.80 R."""
    when = f"{at(line.time_ns, zone):%d %b %Y %H:%M}"
    if line.is_open:
        return f"{name_of(line)}, open since {when}"
    in_r = "" if line.r is None else f", {money(line.r, signed=True)} R"
    return f"{name_of(line)}, closed {when}, {money(line.result, signed=True)} {home}{in_r}"
