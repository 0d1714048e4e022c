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
    units,
)
from keydesk.text.sanitize import SafeText, clean, clean_name, safe
from keydesk.widgets.theme import signed_role
from keydesk_client.arithmetic.constants import SECOND

NO_MARK = safe("")
PROVISIONAL = safe("~")  # before MAE and MFE whose last candle still forms
WIDEST_WORD = 14  # columns of a setup, of tags
COLUMNS: Sequence[Column] = (
    Column("time", "closed", 12, right=False),
    Column("pair", "pair", 7, right=False),
    Column("side", "side", 5, rank=2, right=False),
    Column("units", "units", 7, rank=8),
    Column("pips", "pips", 7, rank=7),
    Column("r", "R", 6, rank=1),
    Column("pl", "P/L", 9),
    Column("financing", "swap", 6, rank=5),
    Column("result", "net", 9, rank=12),
    Column("mae", "MAE p", 6, rank=9, group="pips"),
    Column("mfe", "MFE p", 6, rank=9, group="pips"),
    Column("mae_r", "MAE R", 6, rank=13, group="r"),
    Column("mfe_r", "MFE R", 6, rank=13, group="r"),
    Column("held", "held", 6, rank=6),
    Column("session", "session", 7, rank=14, right=False),
    Column("rating", "rate", 4, rank=4),
    Column("marks", "marks", 5, rank=3, right=False),
    Column("setup", "setup", 8, rank=11, right=False),
    Column("tags", "tags", 8, rank=10, right=False),
)
WORDS = frozenset({"pair", "side", "session", "setup", "tags"})
"""Columns of words, which are sorted from A to Z."""


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


class _Reach(NamedTuple):
    """MAE and MFE in pips and in R, as far as they are known."""

    mae: Decimal | None = None
    mfe: Decimal | None = None
    mae_r: Decimal | None = None
    mfe_r: Decimal | None = None
    mark: SafeText = NO_MARK


def cells_of(line: JournalLine, context: ListContext, pip: Decimal | None) -> dict[str, Words]:
    """Return what each column shows of a line, and its role."""
    trade, note, reach = line.trade, context.note(line), _reach(line, context, pip)
    is_open = line.is_open
    marks = "".join(
        mark
        for mark, is_set in (
            ("!", bool(note.mistake)),
            ("n", bool(note.note)),
            ("s", trade.id in context.with_screens),
            ("*", len(trade.trade_ids) > 1),
        )
        if is_set
    )
    return {
        "time": (
            _time(line, context),
            "focus" if is_open else "plain",
        ),
        "pair": (shorten(pair(trade.instrument), 11), "plain"),
        "side": ("LONG", "buy") if trade.is_long else ("SHORT", "sell"),
        "units": (units(abs(trade.units)), "plain"),
        "pips": _signed(line.pips, pips(line.pips)),
        "r": _signed(line.r, money(line.r, signed=True)),
        "pl": ("open", "focus") if is_open and not trade.exits else signed_money(line.profit),
        "financing": signed_money(trade.costs.financing),
        "result": (EMPTY, "muted") if is_open else signed_money(line.result),
        "mae": (safe(f"{reach.mark}{pips(reach.mae, signed=False)}"), "muted"),
        "mfe": (safe(f"{reach.mark}{pips(reach.mfe, signed=False)}"), "muted"),
        "mae_r": (safe(f"{reach.mark}{money(reach.mae_r)}"), "muted"),
        "mfe_r": (safe(f"{reach.mark}{money(reach.mfe_r)}"), "muted"),
        "held": (duration(_held_ns(line, context) / SECOND), "muted"),
        "session": (safe(session_text(line.session)), "muted"),
        "rating": (safe(EMPTY if note.rating is None else f"{note.rating}/5"), "plain"),
        "marks": (safe(marks), "warn" if note.mistake else "muted"),
        "setup": (shorten(clean(note.setup), WIDEST_WORD), "plain"),
        "tags": (shorten(clean(" ".join(note.tags)), WIDEST_WORD), "plain"),
    }


def _time(line: JournalLine, context: ListContext) -> SafeText:
    """Return the time of a closing; of one in another year, its date; of an open trade, since when it is open."""
    time, now = at(line.time_ns, context.zone), at(context.now_ns, context.zone)
    if line.is_open:
        since = (
            "%H:%M" if time.date() == now.date() else "%d %b" if time.year == now.year else "%m/%Y"
        )
        return safe(f"open {time:{since}}")
    return safe(f"{time:%d %b %H:%M}" if time.year == now.year else f"{time:%d %b %Y}")


def _signed(value: Decimal | None, text: str) -> Words:
    return safe(text), "muted" if value is None else signed_role(value)


def _reach(line: JournalLine, context: ListContext, pip: Decimal | None) -> _Reach:
    excursion = context.excursion(line)
    if excursion is None:
        return _Reach()
    mae, mfe = (None, None) if pip is None else excursion.pips(pip)
    mae_r, mfe_r = excursion.r or (None, None)
    mark = PROVISIONAL if excursion.is_provisional else NO_MARK
    return _Reach(mae, mfe, mae_r, mfe_r, mark)


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


def _rating(facts: RowFacts, id_: str) -> Measured:
    rating = facts.note(id_).rating
    return None if rating is None else Decimal(rating)


def _marks(facts: RowFacts, id_: str) -> Measured:
    note = facts.note(id_)
    return Decimal(2 * bool(note.mistake) + bool(note.note)) or None


def _held(facts: RowFacts, _: str, is_open: int, time_ns: int, opened_ns: int) -> Measured:
    return max(0, facts.now_ns - opened_ns) if is_open else time_ns - opened_ns


def _pips(facts: RowFacts, _: str, move: str | None, instrument: str) -> Measured:
    pip = facts.pips.get(instrument)
    return None if move is None or pip is None else Decimal(move) / pip


def _result(_: RowFacts, __: str, is_open: int, result: str) -> Measured:
    return None if is_open else Decimal(result)


MEASURES: Mapping[str, Measure] = {
    "time": _column("time_ns"),
    "pair": _column("instrument"),
    "side": _column("side"),
    "units": _amount("units"),
    "pips": Measure(("move", "instrument"), _pips),
    "r": _amount("r"),
    "pl": _amount("profit"),
    "financing": _amount("financing"),
    "result": Measure(("is_open", "result"), _result),
    "mae": _reached("adverse", "pips"),
    "mfe": _reached("favourable", "pips"),
    "mae_r": _reached("adverse", "r"),
    "mfe_r": _reached("favourable", "r"),
    "held": Measure(("is_open", "time_ns", "opened_ns"), _held),
    "session": _column("session"),
    "rating": Measure((), _rating),
    "marks": Measure((), _marks),
    "setup": _noted("setup"),
    "tags": Measure((), lambda facts, id_: " ".join(facts.note(id_).tags) or None),
}


def text_of(words_of_trade: str, note: TradeNote | None) -> str:
    """Return the text that the filter searches."""
    if note is None:
        return words_of_trade
    words = (
        *(words_of_trade, *note.tags, note.setup, note.note),
        note.mistake and f"mistake {note.mistake}",
        "" if note.rating is None else f"{note.rating}/5",
    )
    return " ".join(filter(None, words))


def name_of(line: JournalLine) -> str:
    """Return the trade in words: #12 LONG 10,000 EUR/USD."""
    trade = line.trade
    side = "LONG" if trade.is_long else "SHORT"
    return f"#{clean_name(trade.id)} {side} {units(abs(trade.units))} {pair(trade.instrument)}"


def result_text(line: JournalLine, home: str, zone: tzinfo) -> str:
    """Return the trade with its result: #12 LONG 10,000 EUR/USD, closed 22 Nov 17:12, +12.30 USD, +0.80 R."""
    when = f"{at(line.time_ns, zone):%d %b %Y %H:%M}"
    if line.is_open:
        return f"{name_of(line)}, open since {when}"
    in_r = "" if line.r is None else f", {money(line.r, signed=True)} R"
    return f"{name_of(line)}, closed {when}, {money(line.result, signed=True)} {home}{in_r}"
