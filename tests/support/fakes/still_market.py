"""A market whose prices, depth, specifications and conversions a test sets by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from msgspec.structs import replace

from keydesk_practice.engine.quotes import Conversion, Level, Quote, Specification
from keydesk_practice.engine.wire_form import parse_time

D = Decimal
NOON = parse_time("2024-03-06T12:00:00Z")  # a Wednesday
SECOND = 1_000_000_000
FEE = D("0.005")


def currency_pair(name: str, precision: int = 5, **changes: object) -> Specification:
    """Return the specification of a currency pair with the usual limits."""
    made = Specification(
        name=name,
        display_name=name.replace("_", "/"),
        type="CURRENCY",
        pip_location=-(precision - 1),
        display_precision=precision,
        trade_units_precision=0,
        minimum_trade_size=D(1),
        maximum_trailing_stop_distance=D("1.00000") if precision == 5 else D("100.000"),
        minimum_trailing_stop_distance=D("0.00050") if precision == 5 else D("0.050"),
        maximum_position_size=D(0),
        maximum_order_units=D(100_000_000),
        margin_rate=D("0.0333"),
        long_rate=D("-0.0215"),
        short_rate=D("0.0105"),
        financing_days=(1, 1, 3, 1, 1, 0, 0),
        guaranteed_mode="ALLOWED",
        guaranteed_minimum_distance=D("0.0010") if precision == 5 else D("0.100"),
        guaranteed_premium=D("0.00012") if precision == 5 else D("0.012"),
    )
    return replace(made, **changes)


@dataclass
class StillMarket:
    """A market whose prices stay until `price` sets others."""

    now: int = NOON
    specifications: dict[str, Specification] = field(default_factory=dict)
    quotes: dict[str, Quote] = field(default_factory=dict)
    mids: dict[tuple[str, str], Decimal] = field(default_factory=dict)
    fee: Decimal = FEE
    depth: int = 10_000_000

    def offer(self, specification: Specification, bid: str, ask: str) -> None:
        """Add an instrument with its first price."""
        self.specifications[specification.name] = specification
        self.price(specification.name, bid, ask)

    def price(
        self,
        instrument: str,
        bid: str,
        ask: str,
        *,
        tradeable: bool = True,
        depth: int | None = None,
    ) -> None:
        """Set both sides of a price, the whole depth at one level."""
        size = self.depth if depth is None else depth
        self.quotes[instrument] = Quote(
            instrument=instrument,
            time=self.now,
            bids=(Level(D(bid), size),),
            asks=(Level(D(ask), size),),
            closeout_bid=D(bid),
            closeout_ask=D(ask),
            tradeable=tradeable,
        )

    def levels(
        self, instrument: str, bids: Sequence[tuple[str, int]], asks: Sequence[tuple[str, int]]
    ) -> None:
        """Set a price with several levels."""
        old = self.quotes[instrument]
        self.quotes[instrument] = replace(
            old,
            time=self.now,
            bids=tuple(Level(D(p), size) for p, size in bids),
            asks=tuple(Level(D(p), size) for p, size in asks),
        )

    def halt(self, instrument: str) -> None:
        """Stop trading an instrument at its last price."""
        self.quotes[instrument] = replace(self.quotes[instrument], tradeable=False)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += int(seconds * SECOND)

    def quote(self, instrument: str) -> Quote:
        return self.quotes[instrument]

    def specification(self, instrument: str) -> Specification | None:
        return self.specifications.get(instrument)

    def instruments(self) -> Sequence[str]:
        return list(self.specifications)

    def conversion(self, currency: str, home: str) -> Conversion:
        if currency == home:
            return Conversion(currency, D(1), D(1), D(1))
        mid = self.mids[currency, home]
        return Conversion(currency, mid * (1 - self.fee), mid * (1 + self.fee), mid)


def example_market(home_mids: Mapping[tuple[str, str], str] | None = None) -> StillMarket:
    """The example market of the trader's worked numbers."""
    market = StillMarket()
    market.offer(currency_pair("EUR_USD"), "1.08490", "1.08500")
    market.offer(currency_pair("USD_JPY", 3), "155.200", "155.214")
    market.offer(currency_pair("EUR_GBP"), "0.85600", "0.85614")
    market.mids |= {
        ("EUR", "USD"): D("1.08495"),
        ("GBP", "USD"): D("1.26736"),
        ("JPY", "USD"): D(1) / D("155.207"),
        ("USD", "EUR"): D(1) / D("1.08495"),
        ("GBP", "EUR"): D(1) / D("0.85607"),
        ("JPY", "EUR"): D(1) / D("168.395"),
    }
    market.mids |= {pair: D(mid) for pair, mid in (home_mids or {}).items()}
    return market
