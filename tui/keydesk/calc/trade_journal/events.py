"""Events of an account that the trade journal is rebuilt from: plain records of what transactions say.

Amounts are in home currency. Units of an opening have the trade's sign, those of a closed part the opposite one.
"""

from decimal import Decimal
from typing import TypeAlias

from msgspec import Struct

from keydesk_client.arithmetic.constants import ZERO


class Opening(Struct, frozen=True):
    """The trade that a fill opened."""

    trade_id: str
    units: Decimal
    price: Decimal
    guarantee_fee: Decimal = ZERO  # positive amounts were paid
    half_spread: Decimal = ZERO
    tag: str = ""
    comment: str = ""


class ClosedPart(Struct, frozen=True):
    """A trade that a fill reduced or closed."""

    trade_id: str
    units: Decimal
    price: Decimal
    profit: Decimal
    financing: Decimal = ZERO
    guarantee_fee: Decimal = ZERO
    half_spread: Decimal = ZERO


class Fill(Struct, frozen=True):
    """An order filled."""

    id: str
    time_ns: int
    order_id: str
    instrument: str
    units: Decimal
    price: Decimal | None
    reason: str
    profit: Decimal
    financing: Decimal
    commission: Decimal
    guarantee_fee: Decimal
    balance: Decimal
    opening: Opening | None = None
    parts: tuple[ClosedPart, ...] = ()
    loss_factor: Decimal | None = None  # quote to home currency
    best_bid: Decimal | None = None
    best_ask: Decimal | None = None


class OrderPrice(Struct, frozen=True):
    """An order that names the price at which it is triggered."""

    id: str
    price: Decimal


class StopSet(Struct, frozen=True):
    """A stop of a trade, fixed or trailing."""

    id: str
    time_ns: int
    trade_id: str
    price: Decimal | None = None
    distance: Decimal | None = None
    premium: Decimal = ZERO  # of a guaranteed one, price units
    on_fill: bool = False  # set by the fill that opened the trade


class Booking(Struct, frozen=True):
    """Financing or a dividend adjustment, with the share of each trade."""

    id: str
    time_ns: int
    kind: str  # "financing" or "dividend"
    amount: Decimal
    balance: Decimal
    shares: tuple[tuple[str, Decimal], ...] = ()


class Transfer(Struct, frozen=True):
    """A deposit, or a withdrawal as a negative amount."""

    id: str
    time_ns: int
    amount: Decimal
    balance: Decimal


class Retag(Struct, frozen=True):
    """New tag or comment of a trade; None leaves the old one."""

    trade_id: str
    tag: str | None
    comment: str | None


Event: TypeAlias = Fill | OrderPrice | StopSet | Booking | Transfer | Retag
