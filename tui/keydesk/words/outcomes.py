"""Reports of commands by their outcomes, in words."""

import dataclasses
from collections.abc import Iterable
from decimal import Decimal
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from keydesk.text.format import NO_SLIPPAGE, money, pair, slippage_text, units
from keydesk.text.sanitize import clean
from keydesk.values import Command, TradeRow
from keydesk.words.fill_prices import best_price, fill_price, slippage_of
from keydesk.words.reject_reasons import FILLS, fill_in_text, in_text, meaning_of
from keydesk_client.models import (
    OrderFillTransaction,
    Transaction,
)
from keydesk_client.orders.outcome import (
    Action,
    Ambiguous,
    Done,
    NotSent,
    OrderResult,
    Outcome,
    Rejected,
    Unconfirmed,
)

Level = Literal["info", "good", "warn", "bad"]
PRICE_REASONS = frozenset({"BOUNDS_VIOLATION"})
# Of an order that was looked up: it rested, and a later request has ended it since.
ENDED_SINCE = {
    "CLIENT_REQUEST": "and was cancelled since, as asked",
    "CLIENT_REQUEST_REPLACED": "and was replaced since, as asked",
}


class Report(Struct, frozen=True):
    """A line about an outcome, and its level."""

    level: Level
    text: str
    unprotected: str = ""  # the trade that it says has no stop


def report_of(outcome: Outcome, command: Command) -> Report:
    """Return the report of any outcome."""
    match outcome:
        case Done(result=OrderResult.CANCELLED):
            return _cancelled(outcome, command)
        case Done():
            return _done(outcome, command)
        case Rejected():
            return Report("bad", f"REJECTED {command.text}: {_why(outcome)}")
        case NotSent():
            return Report(
                "bad", f"NOT SENT {command.text}: {clean(outcome.message)}. Again: {command.again}"
            )
        case Ambiguous() | Unconfirmed():
            return _ambiguous_or_unconfirmed(outcome, command)


def _ambiguous_or_unconfirmed(outcome: Ambiguous | Unconfirmed, command: Command) -> Report:
    if isinstance(outcome, Ambiguous):
        return Report("warn", f"{one_of_text(outcome, command)}. Look at what is open")
    if outcome.one_of is None:
        found = "not found at the broker, it may still show up"
    else:
        found = f"{one_of_text(outcome.one_of, command)}; what is missing may still show up"
    watched = "Until you leave, this desk says if it does: check trades and orders before you send it again"
    return Report("bad", f"UNCONFIRMED {command.text}: {found}. {watched}")


def _done(done: Done, command: Command) -> Report:
    fill = fill_of(done.transactions)
    late = " (found by looking it up)" if done.looked_up else ""
    if fill is not None and done.intent.action is Action.CLOSE_POSITION:
        return _position_closed(done, command, late)
    if fill is not None:
        return Report("good", fill_text(fill, command) + late)
    if done.result is OrderResult.RESTING:
        return Report("good", f"RESTING {command.text} #{done.order_id or '?'}{_ms(command)}{late}")
    return Report("good", f"{command.done or f'DONE {command.text}'}{_ms(command)}{late}")


def one_of_text(like: Ambiguous, command: Command) -> str:
    """Return the joint outcome of several like requests that cannot be distinguished."""
    text = "; ".join(_finding_text(each, command) for each in like.findings)
    return f"ONE OF {like.requests} IDENTICAL REQUESTS, which cannot be told apart: {command.text}: {text}"


def _finding_text(finding: Done | Rejected, command: Command) -> str:
    if isinstance(finding, Rejected):
        return f"REJECTED ({_why(finding)})"
    if finding.result is OrderResult.CANCELLED:
        return f"CANCELLED ({in_text(finding.reason)})"
    return report_of(
        dataclasses.replace(finding, looked_up=False), replace(command, milliseconds=None)
    ).text


def _position_closed(done: Done, command: Command, late: str) -> Report:
    """Report each side: both may have been closed, or one of two."""
    text = "; ".join(fill_text(fill, command) for fill in done.fills) + late
    if not done.reason:
        return Report("good", text)
    return Report("bad", f"{text}; the other side is still open: {in_text(done.reason)}")


def _cancelled(done: Done, command: Command) -> Report:
    if done.looked_up and done.reason in ENDED_SINCE:
        since = ENDED_SINCE[done.reason]
        return Report("good", f"RESTED {command.text} #{done.order_id or '?'} {since}")
    if done.reason in PRICE_REASONS and command.bound is not None:
        why = f"price moved past the bound {command.bound}"
    else:
        why = in_text(done.reason) if done.reason else "cancelled at once"
    return Report("bad", f"NOT FILLED {command.text}: {why}. Send again: {command.again}")


def late_rejection_text(rejected: Rejected) -> str:
    """Return why a request that was unconfirmed had no effect: the broker refused it, or its target ended in another way."""
    if rejected.reject_reason or rejected.error_code:
        return f"the broker had rejected it after all: {_why(rejected)}"
    return f"it had no effect: {_why(rejected)}"


def _why(rejected: Rejected) -> str:
    code = rejected.reject_reason or rejected.error_code
    if code:
        return _with_field(code)
    summary, _, code = rejected.message.rpartition(": ")  # "the order ended first: MARKET_HALTED"
    is_known = code in FILLS or meaning_of(code) is not None
    return f"{clean(summary)}: {fill_in_text(code)}" if is_known else clean(rejected.message)


def _with_field(code: str) -> str:
    """Return a reason in words, preceded by the field of the ticket that it is about."""
    meaning = meaning_of(code)
    field = meaning[1] if meaning is not None else ""
    return f"{field}: {in_text(code)}" if field else in_text(code)


def fill_text(fill: OrderFillTransaction, command: Command) -> str:
    """Return what a fill opened or closed, its price, slippage, time and realized profit."""
    parts = [f"{_fill_verb(fill)} @ {fill_price(fill)}"]
    slip = slippage_pips(fill, command)
    if slip is not None:
        parts.append(slippage_text(slip))
    moved = _moved_pips(fill, command)
    if moved and (text := slippage_text(moved)) != NO_SLIPPAGE:
        parts.append(f"(the price had moved {text})")
    if command.milliseconds is not None:
        parts.append(f"{command.milliseconds:.0f} ms")
    if fill.trade_opened is not None:
        parts.append(f"#{fill.trade_opened.trade_id}")
    if fill.trades_closed or fill.trade_reduced:
        parts.append(f"realized {money(fill.pl, signed=True)}")
    return " ".join(parts)


def protection_text(trade: TradeRow) -> str:
    """Return stop and target of a new trade: stop 1.08300 target 1.08900 set."""
    set_ = []
    if trade.stop_loss is not None:
        set_.append(f"stop {trade.stop_loss.price}")
    if trade.guaranteed_stop is not None:
        set_.append(f"guaranteed stop {trade.guaranteed_stop.price}")
    if trade.take_profit is not None:
        set_.append(f"target {trade.take_profit.price}")
    if trade.trailing_stop is not None:
        set_.append("trailing stop")
    return f"{' '.join(set_)} set" if set_ else ""


def fill_of(transactions: Iterable[Transaction]) -> OrderFillTransaction | None:
    """Return the first fill among transactions."""
    return next((each for each in transactions if isinstance(each, OrderFillTransaction)), None)


def slippage_pips(fill: OrderFillTransaction, command: Command) -> Decimal | None:
    """Return the slippage in pips, as the trade journal counts it; positive is worse."""
    slipped = slippage_of(fill, command.order_price)
    return None if slipped is None or command.pip is None else slipped / command.pip


def _moved_pips(fill: OrderFillTransaction, command: Command) -> Decimal | None:
    """Return how far the price had moved from the one seen until the fill, in pips; positive is worse."""
    best = best_price(fill)
    if command.pip is None or command.expected is None or best is None:
        return None
    return (best - command.expected) * (1 if fill.units > 0 else -1) / command.pip


def _fill_verb(fill: OrderFillTransaction) -> str:
    """Return what was filled; for a reversal, the position before and after."""
    reduced = [*(fill.trades_closed or ()), *([fill.trade_reduced] if fill.trade_reduced else ())]
    name = pair(fill.instrument)
    if reduced and fill.trade_opened is not None:
        before = -sum((each.units for each in reduced), Decimal(0))
        after = units(fill.trade_opened.units, signed=True)
        return f"TURNED {name} {units(before, signed=True)} → {after}"
    of = "" if fill.trade_reduced is None else f" of #{fill.trade_reduced.trade_id}"
    return f"{'CLOSED' if reduced else 'FILLED'} {units(abs(fill.units))}{of} {name}"


def _ms(command: Command) -> str:
    return "" if command.milliseconds is None else f" {command.milliseconds:.0f} ms"
