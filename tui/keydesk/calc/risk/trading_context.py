"""The values that a form computes with: instrument rules, price and account funds, read from the store at one instant.

An order only reduces if, on a netting account, it is opposite to the position and no larger than it. It is sent as
REDUCE_ONLY without stop and target, so that it cannot open a trade even if the position is closed before it fills.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal

from msgspec import Struct, field

from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.arithmetic.depth import DepthLevel, average_fill_price
from keydesk_client.arithmetic.profit import Factors, closing_price, profit


class Lot(Struct, frozen=True):
    """The units and the entry of an open trade."""

    units: Decimal  # signed
    entry: Decimal
    risk: Decimal | None = None  # home currency to its stop; None: it has none


def only_reduces(signed_units: Decimal, net_units: Decimal, *, hedging: bool) -> bool:
    """Return whether an order can only reduce; on a hedging account it opens the other side instead."""
    against = signed_units * net_units < 0
    return not hedging and against and abs(signed_units) <= abs(net_units)


def realized_profit(
    lots: Iterable[Lot], units: Decimal, price: Decimal, factors: Factors
) -> Decimal | None:
    """Return the profit that reducing by `units` (unsigned) at a price realizes, oldest trade first.

    None where the trades are not known that far.
    """
    left, won = units, ZERO
    for lot in lots:
        part = min(left, abs(lot.units))
        won += profit(part.copy_sign(lot.units), lot.entry, price, factors)
        left -= part
        if not left:
            return won
    return None


class OpenRisk(Struct, frozen=True):
    """What is at risk in the whole account before another order: open trades, and entry orders as if they filled."""

    trades: int = 0
    entries: int = 0
    cash: Decimal = ZERO  # to the stops, home currency
    unprotected: int = 0  # trades and entry orders without a stop, or whose risk is not known
    unread: int = 0  # trades and orders that the broker has and that could not be read

    @property
    def count(self) -> int:
        """Open trades and entry orders together; one that could not be read may be either."""
        return self.trades + self.entries + self.unread


NO_RISK = OpenRisk()


class Rules(Struct, frozen=True):
    """The broker's rules of an instrument."""

    name: str
    pip: Decimal
    price_precision: int
    units_precision: int
    minimum_units: Decimal
    maximum_order_units: Decimal
    maximum_position: Decimal  # 0: no limit
    margin_rate: Decimal  # the greater of the instrument's and the account's
    minimum_trail: Decimal
    maximum_trail: Decimal
    long_rate: Decimal | None = None  # of financing, a year; negative is a cost
    short_rate: Decimal | None = None
    financing_days: tuple[int, ...] = ()  # that each weekday's rollover charges, Monday first
    guarantee: str = "DISABLED"  # of stops: DISABLED, ALLOWED or REQUIRED
    guarantee_distance: Decimal = ZERO  # at least, from the market
    guarantee_premium: Decimal = ZERO  # price units a unit, charged when the stop fills


class AccountFunds(Struct, frozen=True):
    """The account's funds in home currency, and its position in the instrument."""

    currency: str
    nav: Decimal
    margin_available: Decimal
    margin_used: Decimal
    hedging: bool
    long_units: Decimal = ZERO
    short_units: Decimal = ZERO  # negative
    lots: tuple[Lot, ...] = ()  # its open trades, oldest first
    mid_nav: Decimal | None = None  # NAV with trades valued at mid prices; None: not received yet
    exposure: Mapping[str, Decimal] = field(default_factory=dict)  # units held of each currency
    open_risk: Decimal | None = None  # of all trades to their stops
    unprotected_trades: int = 0  # open trades without any stop, in all instruments

    @property
    def net_units(self) -> Decimal:
        """Long and short units together."""
        return self.long_units + self.short_units


class TradingContext(Struct, frozen=True):
    """Rules, conversion factors, funds and price of an instrument at one instant."""

    rules: Rules
    factors: Factors
    funds: AccountFunds
    bid: Decimal
    ask: Decimal
    age: float  # seconds since the price came in
    silent: float  # seconds since any price or heartbeat came: the price of a quiet instrument is not old
    tradeable: bool
    average_range: Decimal | None = None  # of hourly candles, in price units; None: not known
    daily_range: Decimal | None = None  # average true range of daily candles, likewise
    bids: tuple[DepthLevel, ...] = ()  # on offer, best first; (): not known
    asks: tuple[DepthLevel, ...] = ()
    base_factors: Factors | None = (
        None  # of the base currency; None: not a pair of currencies, or not known
    )

    @property
    def mid(self) -> Decimal:
        """The mid price; margin is computed with it."""
        return (self.bid + self.ask) / 2

    def depth(self, direction: int) -> tuple[DepthLevel, ...]:
        """Return the levels that an order trades against; () unless they begin at the present price."""
        levels, touch = (self.asks, self.ask) if direction > 0 else (self.bids, self.bid)
        return levels if levels and levels[0].price == touch else ()

    def closing_average(self, units: Decimal) -> Decimal:
        """Return the average price at which signed units would close, through the depth where it is known."""
        depth = self.depth(-1 if units > 0 else 1)
        if not depth:
            return closing_price(units, self.bid, self.ask)
        return average_fill_price(depth, abs(units), self.rules.price_precision)
