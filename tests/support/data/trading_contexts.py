"""The example market of `docs/formulas.md`: prices, conversion and rules as forms reckon with them."""

from decimal import Decimal

from msgspec.structs import replace

from keydesk.calc.risk.trading_context import AccountFunds, Rules, TradingContext
from keydesk_client.arithmetic.profit import Factors

D = Decimal

# bid, ask, pip, price precision, units precision, margin rate
MARKET = {
    "EUR_USD": ("1.08490", "1.08500", "0.0001", 5, 0, "0.0333"),
    "USD_JPY": ("155.200", "155.214", "0.01", 3, 0, "0.0333"),
    "EUR_GBP": ("0.85600", "0.85614", "0.0001", 5, 0, "0.0333"),
    "XAU_USD": ("2345.20", "2345.60", "0.01", 2, 0, "0.05"),
    "SPX500_USD": ("5300.2", "5300.8", "1", 1, 1, "0.05"),
    "DE30_EUR": ("18500.0", "18501.2", "1", 1, 1, "0.05"),
}
# quote currency -> home: position value, gain, loss
FACTORS = {
    ("USD", "USD"): ("1", "1", "1"),
    ("EUR", "USD"): ("1.08495", "1.07952525", "1.09037475"),
    ("GBP", "USD"): ("1.26736", "1.26102320", "1.27369680"),
    ("JPY", "USD"): ("0.00644301", "0.00641079", "0.00647522"),
    ("USD", "EUR"): ("0.92170146", "0.91709295", "0.92630997"),
    ("EUR", "EUR"): ("1", "1", "1"),
    ("GBP", "EUR"): ("1.16812877", "1.16228813", "1.17396942"),
    ("JPY", "EUR"): ("0.00593842", "0.00590873", "0.00596811"),
}


def example_facts(
    instrument: str = "EUR_USD",
    home: str = "USD",
    *,
    net_units: str = "0",
    hedging: bool = False,
    age: float = 0.4,
    silent: float = 0.1,
    average_range: str = "",
) -> TradingContext:
    """What a form knows: NAV 10,000, the example prices."""
    bid, ask, pip, precision, units_precision, rate = MARKET[instrument]
    base, _, quote = instrument.partition("_")
    value, gain, loss = FACTORS[quote, home]
    of_base = FACTORS.get((base, home))
    held = D(net_units)
    return TradingContext(
        rules=Rules(
            name=instrument,
            pip=D(pip),
            price_precision=precision,
            units_precision=units_precision,
            minimum_units=D(1).scaleb(-units_precision),
            maximum_order_units=D(100_000_000),
            maximum_position=D(0),
            margin_rate=D(rate),
            minimum_trail=5 * D(pip),
            maximum_trail=10_000 * D(pip),
        ),
        factors=Factors(gain=D(gain), loss=D(loss), value=D(value)),
        funds=AccountFunds(
            currency=home,
            nav=D(10_000),
            margin_available=D(10_000),
            margin_used=D(0),
            hedging=hedging,
            long_units=max(held, D(0)),
            short_units=min(held, D(0)),
        ),
        bid=D(bid),
        ask=D(ask),
        age=age,
        silent=silent,
        tradeable=True,
        average_range=D(average_range) if average_range else None,
        base_factors=None
        if of_base is None
        else Factors(value=D(of_base[0]), gain=D(of_base[1]), loss=D(of_base[2])),
    )


def with_price(context: TradingContext, bid: str, ask: str) -> TradingContext:
    """The same, at another price."""
    return replace(context, bid=D(bid), ask=D(ask))


def estimated_factors(value: Decimal, fee: Decimal) -> Factors:
    """Return conversion factors from a mid rate and a conversion fee, as the broker makes them."""
    return Factors(gain=value * (1 - fee), loss=value * (1 + fee), value=value)
