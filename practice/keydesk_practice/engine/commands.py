"""What the engine can be told to do. Every command may be refused; what happened comes back as transactions.

`request_id` is the RequestID of the client's request, stamped on every transaction that it makes; None for what the
service does by itself. A specifier is an id, or `@` and a client id, as in the paths of the interface.
"""

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Literal

from keydesk_practice.engine.requests import (
    ClientExtensions,
    GuaranteedStopLossDetails,
    OrderRequest,
    StopLossDetails,
    TakeProfitDetails,
    TrailingStopLossDetails,
)


class Omitted(Enum):
    """A member that was left out, where null means something else."""

    OMITTED = "OMITTED"


OMITTED = Omitted.OMITTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What all commands carry."""

    request_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAccount(Command):
    """The account's first transactions: it is created, named and, when there is money, funded."""

    alias: str | None = None
    deposit: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferFunds(Command):
    """Money in (plus) or out (minus)."""

    amount: Decimal
    funding_reason: str = "CLIENT_FUNDING"
    comment: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Configure(Command):
    """Change the client's own settings; None leaves a setting as it is."""

    alias: str | None = None
    margin_rate: Decimal | None = None
    unreadable: str | None = None  # the reject reason of a setting that could not be read


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceOrder(Command):
    """Create an order of any kind."""

    order: OrderRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceOrder(Command):
    """Cancel a pending order and create another of its kind in one step."""

    specifier: str
    order: OrderRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelOrder(Command):
    """Cancel a pending order."""

    specifier: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseTrade(Command):
    """Close a trade, whole or in part."""

    specifier: str
    units: Literal["ALL"] | Decimal = "ALL"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosePosition(Command):
    """Close one or both sides of a position; None does not ask for a side."""

    instrument: str
    long_units: Literal["ALL", "NONE"] | Decimal | None = None
    short_units: Literal["ALL", "NONE"] | Decimal | None = None
    long_client_extensions: ClientExtensions | None = None
    short_client_extensions: ClientExtensions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetDependents(Command):
    """Create, change or cancel (None) a trade's dependent orders; details left None are inherited from the live order."""

    specifier: str
    take_profit: TakeProfitDetails | Omitted | None = OMITTED
    stop_loss: StopLossDetails | Omitted | None = OMITTED
    trailing_stop_loss: TrailingStopLossDetails | Omitted | None = OMITTED
    guaranteed_stop_loss: GuaranteedStopLossDetails | Omitted | None = OMITTED


@dataclass(frozen=True, slots=True, kw_only=True)
class SetOrderExtensions(Command):
    """Change the labels of a pending order, and of the trade it may open."""

    specifier: str
    client_extensions: ClientExtensions | None = None
    trade_client_extensions: ClientExtensions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTradeExtensions(Command):
    """Change the labels of an open trade."""

    specifier: str
    client_extensions: ClientExtensions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick(Command):
    """Prices moved to the market's instant: triggers, expiry, trailing and margin. None: every instrument held."""

    instruments: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finance(Command):
    """The daily financing; to be given with the market at exactly 17:00 New York."""
