"""The rows of a trade's page: each number in words, with its unit."""

from collections.abc import Iterable
from datetime import tzinfo
from decimal import Decimal

from keydesk.calc.trade_journal.events import StopSet
from keydesk.calc.trade_journal.excursions import Excursion
from keydesk.calc.trade_journal.notes import TradeNote
from keydesk.calc.trade_journal.trades import Execution, JournalTrade
from keydesk.forms.details_form import Rows
from keydesk.forms.journal.chart import decimals_of
from keydesk.text.format import date_and_time, duration, money, pips, price, slippage_text, units
from keydesk.text.sanitize import clean, clean_name, safe
from keydesk_client.arithmetic.constants import SECOND

MAX_EXECUTIONS = 40


def note_rows(note: TradeNote) -> Rows:
    """Return what the trader wrote."""
    if note.is_empty:
        return [("note", "no note yet: n writes tags, setup, note, rating, mistake")]
    written = (
        ("setup", note.setup),
        ("tags", " ".join(note.tags)),
        ("rating", "" if note.rating is None else f"{note.rating} of 5"),
        ("mistake", note.mistake),
        ("note", note.note),
    )
    return [(safe(name), text) for name, text in written if text]


def result_rows(trade: JournalTrade, home: str, pip: Decimal | None) -> Rows:
    """Return the result and its parts."""
    costs = trade.costs
    in_pips = "" if pip is None or not trade.exits else f", {pips(trade.pips(pip))} pips"
    rows: Rows = [
        ("price P/L", f"{money(trade.profit, signed=True)} {home}{in_pips}"),
        ("financing", f"{money(costs.financing, signed=True)} {home}"),
    ]
    for name, amount in (
        ("dividends", costs.dividends),
        ("commission", -costs.commission),
        ("guarantee", -costs.guarantee_fee),
    ):
        if amount:
            rows.append((safe(name), f"{money(amount, signed=True)} {home}"))
    booked = "booked so far" if not trade.is_closed else "net"
    rows.append((safe(booked), f"{money(trade.result, signed=True)} {home}"))
    if trade.initial_risk is None:
        return [*rows, ("R", "none: no stop within 60 s of the fill")]
    risk = f"initial risk of {money(trade.initial_risk)} {home}"
    so_far = "" if trade.is_closed else " so far"
    return [*rows, ("R", f"{money(trade.r, signed=True)} R{so_far} of an {risk}")]


def excursion_rows(trade: JournalTrade, excursion: Excursion | None, pip: Decimal | None) -> Rows:
    """Return how far it went against and for the trader."""
    if not trade.is_closed:
        return [("MAE, MFE", "known once the trade is closed")]
    if excursion is None or pip is None:
        return [("MAE, MFE", "not known: its candles are not read")]
    in_r = excursion.r or (None, None)
    rows: Rows = []
    for name, text, distance, share in zip(
        ("MAE", "MFE"), ("against you", "for you"), excursion.pips(pip), in_r, strict=True
    ):
        also = "" if share is None else f", {money(share)} R"
        rows.append((safe(name), f"{pips(distance, signed=False)} pips {text}{also}"))
    if excursion.is_provisional:
        rows.append(("", "so far: the candle of the exit is not complete"))
    return rows


def time_rows(trade: JournalTrade, session: str, zone: tzinfo) -> Rows:
    """Return when it was opened and closed, and how long it was held."""
    rows: Rows = [("opened", date_and_time(trade.opened_ns, zone))]
    if trade.closed_ns is not None and trade.hold_ns is not None:
        rows.append(("closed", date_and_time(trade.closed_ns, zone)))
        rows.append(("held", duration(trade.hold_ns / SECOND)))
    return [*rows, ("session", clean(session))]


def fill_rows(trade: JournalTrade, home: str, pip: Decimal | None, zone: tzinfo) -> Rows:
    """Return each entry and exit, and what spread and slippage cost."""
    rows: Rows = []
    for name, fills in (("entry", trade.entries), ("exit", trade.exits)):
        for each in fills[:MAX_EXECUTIONS]:
            rows.append((safe(name), fill_text(each, home, pip, zone)))
        if len(fills) > MAX_EXECUTIONS:
            rows.append((safe(name), f"and {len(fills) - MAX_EXECUTIONS} more"))
    slip = trade.slippage
    if slip is None or pip is None:
        rows.append(("slippage", "not known: no price to compare"))
    else:
        rows.append(("slippage", f"{slippage_text(slip / pip)}, the average of its fills"))
    paid = f"{money(trade.spread_paid)} {home}, part of the price P/L already"
    return [*rows, ("spread paid", paid)]


def fill_text(fill: Execution, home: str, pip: Decimal | None, zone: tzinfo) -> str:
    """Return a fill in words."""
    verb = "bought" if fill.units > 0 else "sold"
    reason = clean_name(fill.reason, 60).replace("_", " ").lower()
    words = [f"{date_and_time(fill.time_ns, zone)} {verb} {units(abs(fill.units))} at {fill.price}"]
    words.append(reason)
    if fill.slippage is not None and pip is not None:
        words.append(slippage_text(fill.slippage / pip))
    if fill.profit:
        words.append(f"{money(fill.profit, signed=True)} {home}")
    return ", ".join(words)


def stop_rows(
    stops: Iterable[StopSet], trade: JournalTrade, pip: Decimal | None, zone: tzinfo
) -> Rows:
    """Return the stops in the order in which they were set."""
    rows: Rows = []
    places = decimals_of(trade)
    for number, each in enumerate(list(stops)[:MAX_EXECUTIONS]):
        name = "stop moved" if number else "stop"
        if each.price is not None:
            where = (
                f"to {price(each.price, places)}" if number else f"at {price(each.price, places)}"
            )
            distance_pips = None if pip is None else abs(each.price - trade.entry_price) / pip
            beside = (
                ""
                if distance_pips is None
                else f", {pips(distance_pips, signed=False)} pips from the entry"
            )
        else:
            behind = each.distance or Decimal(0)
            away_text = f"{behind}" if pip is None else f"{pips(behind / pip, signed=False)} pips"
            where, beside = f"trailing {away_text} behind the price", ""
        rows.append((safe(name), f"{date_and_time(each.time_ns, zone)} {where}{beside}"))
    return rows or [("stop", "none was set")]
