"""Unrealized profit and margin of trades, positions and accounts at the prices of an instant.

The formulas, with their v20 member names (source: the definitions of Account, Position and Trade in the v20 reference):

    unrealizedPL           units x (price - open price) x conversion factor; a long at the bid, a short at the ask
    NAV                    balance + unrealizedPL
    marginUsed             units x mid price x conversion factor x margin rate; of a hedged position the larger side only
    marginAvailable        max(0, NAV - marginUsed)
    marginCloseoutNAV      balance + unrealizedPL at mid prices
    marginCallPercent      marginUsed / marginCloseoutNAV; 1 and above is a margin call
    marginCloseoutPercent  half of marginCallPercent; 1 and above is a closeout

Each trade is rounded to four decimals first, so that trades sum to positions, and positions to the account, exactly.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal

from msgspec import Struct

from keydesk_practice.engine.quotes import (
    ZERO,
    ZERO_MONEY,
    Conversion,
    Market,
    Specification,
    closing_price,
    convert_to_home,
    specification_of,
)
from keydesk_practice.engine.state.account import Account, Position, Trade
from keydesk_practice.engine.wire_form import round_money

CLOSEOUT_FACTOR = Decimal("0.5")  # marginCloseoutPercent is this times marginCallPercent
DEFAULT_MARGIN_RATE = Decimal("0.02")  # of a client who set none; every instrument requires more
_PERCENT_WITHOUT_NAV = 1 / CLOSEOUT_FACTOR  # margin used and nothing left: close out


class TradeValuation(Struct, frozen=True):
    """Unrealized profit (at the closing price and at the mid) and margin of one open trade."""

    unrealized: Decimal
    at_mid: Decimal
    margin: Decimal


class PositionValuation(Struct, frozen=True):
    """Unrealized profit by side and at the mid, margin and value of one position."""

    long: Decimal
    short: Decimal
    at_mid: Decimal
    margin: Decimal
    value: Decimal

    @property
    def unrealized(self) -> Decimal:
        """The unrealized profit of both sides."""
        return self.long + self.short


FLAT = PositionValuation(ZERO_MONEY, ZERO_MONEY, ZERO_MONEY, ZERO_MONEY, ZERO_MONEY)


class AccountValuation:
    """The valuations of all open trades and positions of an account, computed once for all that show them."""

    def __init__(
        self, account: Account, market: Market, trades: Mapping[int, TradeValuation] | None = None
    ) -> None:
        self.trades = dict(trade_valuations(account, market)) if trades is None else trades
        self.positions = {
            name: position_valuation(account, position, market, self.trades)
            for name, position in account.positions.items()
            if position.is_open
        }

    def position(self, instrument: str) -> PositionValuation:
        """Return the valuation of a position, all zero for a flat one."""
        return self.positions.get(instrument, FLAT)

    def total(self, name: str) -> Decimal:
        """Return the sum over all positions of one attribute of `PositionValuation`."""
        return sum((getattr(one, name) for one in self.positions.values()), ZERO_MONEY)


def margin_rate(account: Account, specification: Specification) -> Decimal:
    """Return the margin rate in force: the client's override may only lower the leverage."""
    return max(account.margin_rate or ZERO, specification.margin_rate)


def margin_required(account: Account, market: Market, instrument: str, units: Decimal) -> Decimal:
    """Return the margin of units of an instrument: units x mid price x conversion factor x margin rate."""
    rate = margin_rate(account, specification_of(market, instrument))
    return round_money(value_of_units(account, market, instrument, units) * rate)


def value_of_units(account: Account, market: Market, instrument: str, units: Decimal) -> Decimal:
    """Return the home value of units at the mid price, unrounded."""
    conversion = quote_conversion(account, market, instrument)
    return abs(units) * market.quote(instrument).mid * conversion.value


def margin_units(position: Position) -> Decimal:
    """Return the units that need margin: of a hedged position only the larger side."""
    return max(position.long.units, -position.short.units)


def margin_used(account: Account, market: Market) -> Decimal:
    """Return the margin of all open positions."""
    return sum(
        (
            margin_required(account, market, position.instrument, margin_units(position))
            for position in account.positions.values()
            if position.is_open
        ),
        ZERO_MONEY,
    )


def margin_available(account: Account, market: Market) -> Decimal:
    """Return the margin left for new positions: NAV - margin used, at least 0."""
    nav = account.balance + unrealized_profit(account, market)
    return max(ZERO_MONEY, nav - margin_used(account, market))


def account_margin_call_percent(account: Account, market: Market) -> Decimal:
    """Return the margin used as a fraction of the NAV at mid prices; see `margin_call_percent`."""
    used = margin_used(account, market)
    if not used:
        return ZERO
    return margin_call_percent(
        used, account.balance + unrealized_profit(account, market, at_mid=True)
    )


def margin_call_percent(used: Decimal, nav: Decimal) -> Decimal:
    """Return margin used / NAV at mid prices: a margin call from 1 on, a closeout from 2 on.

    An account that uses margin and has no NAV left is at 2: it must be closed out.
    """
    if not used:
        return ZERO
    return used / nav if nav > 0 else _PERCENT_WITHOUT_NAV


def unrealized_profit(account: Account, market: Market, *, at_mid: bool = False) -> Decimal:
    """Return the unrealized profit of all open trades, at closing prices or at the mid."""
    return sum(
        (
            _side_unrealized(account, position, market, long=long, at_mid=at_mid)
            for position in account.positions.values()
            if position.is_open
            for long in (True, False)
        ),
        ZERO_MONEY,
    )


def quote_conversion(account: Account, market: Market, instrument: str) -> Conversion:
    """Return the conversion factors from an instrument's quote currency to the home currency."""
    currency = specification_of(market, instrument).quote_currency
    return market.conversion(currency, account.currency)


def trade_valuations(account: Account, market: Market) -> Iterator[tuple[int, TradeValuation]]:
    """Yield id and valuation of every open trade, each computed when the iterator gets there."""
    return ((id_, trade_valuation(account, id_, market)) for id_ in account.trades)


def trade_valuation(account: Account, trade_id: int, market: Market) -> TradeValuation:
    """Return the valuation of one open trade."""
    trade = account.trades[trade_id]
    quote = market.quote(trade.instrument)
    conversion = quote_conversion(account, market, trade.instrument)
    return TradeValuation(
        unrealized=_trade_unrealized(trade, closing_price(quote, trade.long), conversion),
        at_mid=_trade_unrealized(trade, quote.mid, conversion),
        margin=margin_required(account, market, trade.instrument, trade.current_units),
    )


def position_valuation(
    account: Account,
    position: Position,
    market: Market,
    known: Mapping[int, TradeValuation] | None = None,
) -> PositionValuation:
    """Return the valuation of one position from those of its trades, as far as they are `known`."""
    if not position.is_open:
        return FLAT

    def trades_of(ids: tuple[int, ...]) -> list[TradeValuation]:
        return [known[id_] if known else trade_valuation(account, id_, market) for id_ in ids]

    long, short = trades_of(position.long.trade_ids), trades_of(position.short.trade_ids)
    units = margin_units(position)
    return PositionValuation(
        long=sum((trade.unrealized for trade in long), ZERO_MONEY),
        short=sum((trade.unrealized for trade in short), ZERO_MONEY),
        at_mid=sum((trade.at_mid for trade in (*long, *short)), ZERO_MONEY),
        margin=margin_required(account, market, position.instrument, units),
        value=round_money(value_of_units(account, market, position.instrument, units)),
    )


def _trade_unrealized(trade: Trade, price: Decimal, conversion: Conversion) -> Decimal:
    return convert_to_home(trade.current_units * (price - trade.price), conversion)


def _side_unrealized(
    account: Account, position: Position, market: Market, *, long: bool, at_mid: bool
) -> Decimal:
    ids = (position.long if long else position.short).trade_ids
    if not ids:
        return ZERO_MONEY
    quote = market.quote(position.instrument)
    price = quote.mid if at_mid else closing_price(quote, long)
    conversion = quote_conversion(account, market, position.instrument)
    trades = account.trades
    return sum((_trade_unrealized(trades[id_], price, conversion) for id_ in ids), ZERO_MONEY)
