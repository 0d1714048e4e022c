"""What an account is worth at the prices of an instant: profit and loss, margin, and how close the margin rules are.

A trade's value is rounded to four decimals by itself, so that trades add up to positions, and positions to the account.
Margin needs the mid price; unrealised profit counts a long at the bid and a short at the ask, or both at the mid where
the closeout rules look.
"""

from decimal import Decimal

from keydesk_practice.engine.quotes import (
    NOTHING,
    ZERO,
    Conversion,
    Market,
    Quote,
    Specification,
    home,
)
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.records import Position, Trade

CLOSEOUT_SHARE = Decimal("0.5")  # a closeout comes when half of the margin is gone
EMPTIED = Decimal(1)  # the percentage of an account with positions and nothing left


def specification_of(market: Market, instrument: str) -> Specification:
    """Return what an instrument is; the caller knows that it is on offer."""
    found = market.specification(instrument)
    if found is None:
        raise KeyError(instrument)
    return found


def quote_conversion(account: Account, market: Market, instrument: str) -> Conversion:
    """Return the factors from an instrument's quote currency to the home currency."""
    currency = specification_of(market, instrument).quote_currency
    return market.conversion(currency, account.currency)


def in_home(amount: Decimal, conversion: Conversion) -> Decimal:
    """Return an amount of another currency in home currency: gains and losses have factors of their own."""
    return home(amount * (conversion.gain if amount > 0 else conversion.loss))


def unrealized(trade: Trade, price: Decimal, conversion: Conversion) -> Decimal:
    """Return what an open trade would earn if it were closed at a price."""
    return in_home(trade.current_units * (price - trade.price), conversion)


def closing_price(quote: Quote, long: bool) -> Decimal:
    """Return the price that closes a direction."""
    return quote.bid if long else quote.ask


def side_unrealized(
    account: Account, position: Position, market: Market, *, long: bool, at_mid: bool = False
) -> Decimal:
    """Return the unrealised profit of one direction of a position."""
    ids = (position.long if long else position.short).trade_ids
    if not ids:
        return NOTHING
    quote = market.quote(position.instrument)
    price = quote.mid if at_mid else closing_price(quote, long)
    conversion = quote_conversion(account, market, position.instrument)
    trades = account.trades
    return sum((unrealized(trades[id_], price, conversion) for id_ in ids), NOTHING)


def unrealized_profit(account: Account, market: Market, *, at_mid: bool = False) -> Decimal:
    """Return the unrealised profit of all open trades."""
    return sum(
        (
            side_unrealized(account, position, market, long=long, at_mid=at_mid)
            for position in account.positions.values()
            if position.is_open
            for long in (True, False)
        ),
        NOTHING,
    )


def margin_rate(account: Account, specification: Specification) -> Decimal:
    """Return the rate in force: the client's override may only lower the leverage."""
    return max(account.margin_rate or ZERO, specification.margin_rate)


def value_of_units(account: Account, market: Market, instrument: str, units: Decimal) -> Decimal:
    """Return the home value of units at the mid price, unrounded."""
    conversion = quote_conversion(account, market, instrument)
    return abs(units) * market.quote(instrument).mid * conversion.value


def margin_of_units(account: Account, market: Market, instrument: str, units: Decimal) -> Decimal:
    """Return the margin that units of an instrument need."""
    rate = margin_rate(account, specification_of(market, instrument))
    return home(value_of_units(account, market, instrument, units) * rate)


def counted_units(position: Position) -> Decimal:
    """Return the units that need margin: of a hedged position only the larger side."""
    return max(position.long.units, -position.short.units)


def position_margin(account: Account, market: Market, position: Position) -> Decimal:
    """Return the margin of one position."""
    return margin_of_units(account, market, position.instrument, counted_units(position))


def margin_used(account: Account, market: Market) -> Decimal:
    """Return the margin of all open positions."""
    return sum(
        (position_margin(account, market, p) for p in account.positions.values() if p.is_open),
        NOTHING,
    )


def margin_available(account: Account, market: Market) -> Decimal:
    """Return what is left for new positions."""
    net = account.balance + unrealized_profit(account, market)
    return max(NOTHING, net - margin_used(account, market))


def margin_call_share(account: Account, market: Market) -> Decimal:
    """Return the margin as a share of the account's value at mid prices; 1 and above is a margin call.

    An account with positions and nothing left is at twice that: it must be closed out.
    """
    used = margin_used(account, market)
    if not used:
        return ZERO
    net = account.balance + unrealized_profit(account, market, at_mid=True)
    return used / net if net > 0 else EMPTIED / CLOSEOUT_SHARE
