"""A price as one account sees it: with the sizes it could still trade, and the factors to its home currency."""

from decimal import ROUND_DOWN, Decimal
from typing import Any

from keydesk_practice.engine.datetimes import rfc3339
from keydesk_practice.engine.fills.fill_plans import effective_mode
from keydesk_practice.engine.money import ZERO, factor, text
from keydesk_practice.engine.quotes import Level, Market, Quote
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.valuation import (
    counted_units,
    margin_available,
    margin_rate,
    quote_conversion,
    specification_of,
)

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
