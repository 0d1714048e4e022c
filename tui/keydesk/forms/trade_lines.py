"""Lines about an open trade that several forms share."""

from decimal import Decimal

from keydesk.calc.facts import Facts
from keydesk.calc.profit import closing_price, profit, profit_in_pips
from keydesk.forms.sheet import Line, Words
from keydesk.records import TradeRow
from keydesk.text.format import money, pair, pips, price, units
from keydesk.text.sanitize import SafeText, clean_name, safe


def trade_name(trade: TradeRow) -> SafeText:
    """Return the trade in words: LONG 20,000 EUR/USD #6411."""
    side = "LONG" if trade.units > 0 else "SHORT"
    return safe(
        f"{side} {units(abs(trade.units))} {pair(trade.instrument)} #{clean_name(trade.id)}"
    )


def entry_and_now(trade: TradeRow, facts: Facts) -> Line:
    """Return where the trade came from, where it would close, and what it makes there."""
    digits = facts.rules.price_precision
    close = closing_price(trade.units, facts.bid, facts.ask)
    moved = profit_in_pips(trade.units, trade.price, close, facts.rules.pip)
    return (
        ("entry ", "muted"),
        (price(trade.price, digits), "plain"),
        ("  now ", "muted"),
        (price(close, digits), "bright"),
        (safe(f"  {pips(moved)}p "), "plain"),
        signed_money(result_of(trade, abs(trade.units), facts)),
        (safe(f" {facts.purse.currency}"), "muted"),
    )


def result_of(trade: TradeRow, magnitude: Decimal, facts: Facts) -> Decimal:
    """Return what closing that many units now would realise."""
    close = closing_price(trade.units, facts.bid, facts.ask)
    signed = magnitude if trade.units > 0 else -magnitude
    return profit(signed, trade.price, close, facts.factors)


def signed_money(amount: Decimal) -> Words:
    """Return an amount in the colour of its sign, the sign said as well."""
    role = "profit" if amount > 0 else "loss" if amount < 0 else "plain"
    return (money(amount, signed=True), role)
