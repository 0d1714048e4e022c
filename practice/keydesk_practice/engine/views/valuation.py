"""What everything in an account is worth at an instant, worked out once for all the places that show it.

A price as one account sees it: with the sizes it could still trade, and the factors to its home currency.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from typing import Any

from keydesk_practice.engine.fills.planning import effective_mode
from keydesk_practice.engine.margin import (
    closing_price,
    counted_units,
    margin_available,
    margin_of_units,
    margin_rate,
    quote_conversion,
    specification_of,
    unrealized,
    value_of_units,
)
from keydesk_practice.engine.quotes import NOTHING, ZERO, Level, Market, Quote, factor, home, text
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.records import Position
from keydesk_practice.engine.wire_form import rfc3339

Sizes = tuple[Decimal, Decimal]  # buy, sell; both unsigned


def client_price(
    account: Account,
    quote: Quote,
    market: Market,
    units_available: bool = True,
    available: Decimal | None = None,
) -> dict[str, Any]:
    """Return the price of an instrument; `available` is the account's margin when the caller has it already."""
    conversion = quote_conversion(account, market, quote.instrument)
    shown: dict[str, Any] = {
        "type": "PRICE",
        "instrument": quote.instrument,
        "time": rfc3339(quote.time),
        "status": "tradeable" if quote.tradeable else "non-tradeable",
        "tradeable": quote.tradeable,
        "bids": [_bucket(level) for level in quote.bids],
        "asks": [_bucket(level) for level in quote.asks],
        "closeoutBid": text(quote.closeout_bid),
        "closeoutAsk": text(quote.closeout_ask),
        "quoteHomeConversionFactors": {
            "positiveUnits": text(factor(conversion.gain)),
            "negativeUnits": text(factor(conversion.loss)),
        },
    }
    if units_available:
        margin = margin_available(account, market) if available is None else available
        shown["unitsAvailable"] = _units_available(account, quote, market, margin)
    return shown


def _bucket(level: Level) -> dict[str, Any]:
    return {"price": text(level.price), "liquidity": level.liquidity}


def _units_available(
    account: Account, quote: Quote, market: Market, available: Decimal
) -> dict[str, Any]:
    """Return the largest sizes by position fill mode, as the rules of opening would allow them."""
    position = account.position(quote.instrument)
    long, short = position.long.units, -position.short.units
    free = _affordable(account, quote, market, available)
    counted = counted_units(position)
    reduce_only = (short, long)
    opening = (counted - long + free, counted - short + free)
    netting = not account.terms.hedging
    open_only = (
        ZERO if netting and short else opening[0],
        ZERO if netting and long else opening[1],
    )
    reduce_first = (short + opening[0], long + opening[1])
    by_default = {"OPEN_ONLY": open_only, "REDUCE_FIRST": reduce_first}
    most = specification_of(market, quote.instrument).maximum_order_units
    return {
        "default": _details(by_default[effective_mode(account, "DEFAULT")], most),
        "reduceFirst": _details(reduce_first, most),
        "reduceOnly": _details(reduce_only, most),
        "openOnly": _details(open_only, most),
    }


def _affordable(account: Account, quote: Quote, market: Market, available: Decimal) -> Decimal:
    """Return the units that the margin left would pay for."""
    specification = specification_of(market, quote.instrument)
    conversion = quote_conversion(account, market, quote.instrument)
    price = margin_rate(account, specification) * quote.mid * conversion.value
    step = Decimal(1).scaleb(-specification.trade_units_precision)
    return (available / price).quantize(step, ROUND_DOWN)


def _details(sizes: Sizes, most: Decimal) -> dict[str, str]:
    buy, sell = sizes
    return {"long": text(min(buy, most)), "short": text(min(sell, most))}


@dataclass(frozen=True, slots=True)
class TradeWorth:
    """One open trade."""

    unrealized: Decimal
    at_mid: Decimal
    margin: Decimal


@dataclass(frozen=True, slots=True)
class PositionWorth:
    """One open position."""

    long: Decimal
    short: Decimal
    at_mid: Decimal
    margin: Decimal
    value: Decimal

    @property
    def unrealized(self) -> Decimal:
        """Both sides."""
        return self.long + self.short


FLAT = PositionWorth(NOTHING, NOTHING, NOTHING, NOTHING, NOTHING)


class Worth:
    """The values of an account's open trades and positions; trades add up to positions, positions to the account."""

    def __init__(
        self, account: Account, market: Market, trades: Mapping[int, TradeWorth] | None = None
    ) -> None:
        self.trades = dict(trade_worths(account, market)) if trades is None else trades
        self.positions = {
            name: position_worth(account, position, market, self.trades)
            for name, position in account.positions.items()
            if position.is_open
        }

    def position(self, instrument: str) -> PositionWorth:
        """Return the worth of a position, nothing for a flat one."""
        return self.positions.get(instrument, FLAT)

    def total(self, name: str) -> Decimal:
        """Return one of a position's numbers, summed over the account."""
        return sum((getattr(one, name) for one in self.positions.values()), NOTHING)


def trade_worths(account: Account, market: Market) -> Iterator[tuple[int, TradeWorth]]:
    """Return the worth of every open trade by its id, worked out as it is asked for."""
    return ((id_, trade_worth(account, id_, market)) for id_ in account.trades)


def trade_worth(account: Account, trade_id: int, market: Market) -> TradeWorth:
    """Return what one open trade is worth."""
    trade = account.trades[trade_id]
    quote = market.quote(trade.instrument)
    conversion = quote_conversion(account, market, trade.instrument)
    return TradeWorth(
        unrealized=unrealized(trade, closing_price(quote, trade.long), conversion),
        at_mid=unrealized(trade, quote.mid, conversion),
        margin=margin_of_units(account, market, trade.instrument, trade.current_units),
    )


def position_worth(
    account: Account,
    position: Position,
    market: Market,
    known: Mapping[int, TradeWorth] | None = None,
) -> PositionWorth:
    """Return what one position is worth; a flat one nothing."""
    if not position.is_open:
        return FLAT

    def of(ids: tuple[int, ...]) -> list[TradeWorth]:
        return [known[id_] if known else trade_worth(account, id_, market) for id_ in ids]

    long, short = of(position.long.trade_ids), of(position.short.trade_ids)
    units = counted_units(position)
    return PositionWorth(
        long=sum((one.unrealized for one in long), NOTHING),
        short=sum((one.unrealized for one in short), NOTHING),
        at_mid=sum((one.at_mid for one in (*long, *short)), NOTHING),
        margin=margin_of_units(account, market, position.instrument, units),
        value=home(value_of_units(account, market, position.instrument, units)),
    )
