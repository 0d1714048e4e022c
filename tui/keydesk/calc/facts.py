"""What a form knows of its instrument and the account when it computes: plain values, read from the store at one instant."""

from dataclasses import dataclass
from decimal import Decimal

from keydesk.calc.profit import Factors
from keydesk.calc.reducing import Lot

NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Rules:
    """How the broker lets this instrument be traded."""

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


@dataclass(frozen=True, slots=True)
class Purse:
    """What the account has, home currency, and what it holds of the instrument."""

    currency: str
    nav: Decimal
    margin_available: Decimal
    margin_used: Decimal
    hedging: bool
    long_units: Decimal = NOTHING
    short_units: Decimal = NOTHING  # negative
    lots: tuple[Lot, ...] = ()  # its open trades, oldest first
    mid_nav: Decimal | None = None  # NAV with trades valued at mid prices; None: not told yet

    @property
    def net_units(self) -> Decimal:
        """Long and short together."""
        return self.long_units + self.short_units


@dataclass(frozen=True, slots=True)
class Facts:
    """All of it, with the price seen."""

    rules: Rules
    factors: Factors
    purse: Purse
    bid: Decimal
    ask: Decimal
    age: float  # seconds since the price came in
    silent: (
        float  # seconds since any price or heartbeat came: a quiet instrument's price is no old one
    )
    tradeable: bool

    @property
    def mid(self) -> Decimal:
        """Half way between the sides; margin is reckoned with it."""
        return (self.bid + self.ask) / 2
