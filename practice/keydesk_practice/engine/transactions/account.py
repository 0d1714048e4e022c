"""The base class of all transactions, and those of the account: created, configured, funded, margin calls, financing."""

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from keydesk_practice.engine.quotes import HomeConversionFactors
from keydesk_practice.engine.wire_form import Id, Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """The members of every transaction; ids ascend without gaps, a batch shares its first id and its time."""

    type: ClassVar[str]

    id: Id
    account_id: str
    user_id: int
    batch_id: Id
    request_id: str | None = None  # None for transactions that no request made
    time: Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountCreated(Transaction):
    """The account was opened."""

    type: ClassVar[str] = "CREATE"

    division_id: int
    site_id: int
    account_user_id: int
    account_number: int
    home_currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConfigured(Transaction):
    """The client changed settings; only those changed are given."""

    type: ClassVar[str] = "CLIENT_CONFIGURE"

    alias: str | None = None
    margin_rate: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConfigureRejected(Transaction):
    """A change of settings was rejected."""

    type: ClassVar[str] = "CLIENT_CONFIGURE_REJECT"

    alias: str | None = None
    margin_rate: Decimal | None = None
    reject_reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FundsTransferred(Transaction):
    """Money was deposited (positive) or withdrawn (negative)."""

    type: ClassVar[str] = "TRANSFER_FUNDS"

    amount: Decimal
    funding_reason: str
    comment: str | None = None
    account_balance: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferFundsRejected(Transaction):
    """A transfer of funds was rejected."""

    type: ClassVar[str] = "TRANSFER_FUNDS_REJECT"

    amount: Decimal
    funding_reason: str
    comment: str | None = None
    reject_reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginCallEntered(Transaction):
    """A margin call began: marginCallPercent reached 1."""

    type: ClassVar[str] = "MARGIN_CALL_ENTER"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginCallExtended(Transaction):
    """A margin call was extended."""

    type: ClassVar[str] = "MARGIN_CALL_EXTEND"

    extension_number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginCallExited(Transaction):
    """A margin call ended: marginCallPercent fell below 1."""

    type: ClassVar[str] = "MARGIN_CALL_EXIT"


@dataclass(frozen=True, slots=True, kw_only=True)
class TradeClosureDelayed(Transaction):
    """The close of trades was delayed, since their instrument is halted."""

    type: ClassVar[str] = "DELAYED_TRADE_CLOSURE"

    reason: str
    trade_ids: tuple[Id, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTradeFinancing:
    """The financing of one trade."""

    trade_id: Id
    financing: Decimal
    base_financing: Decimal | None = None
    quote_financing: Decimal | None = None
    financing_rate: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionFinancing:
    """The financing of one position."""

    instrument: str
    financing: Decimal
    base_financing: Decimal | None = None
    quote_financing: Decimal | None = None
    home_conversion_factors: HomeConversionFactors | None = None
    open_trade_financings: tuple[OpenTradeFinancing, ...]
    account_financing_mode: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyFinanced(Transaction):
    """The daily financing was booked."""

    type: ClassVar[str] = "DAILY_FINANCING"

    financing: Decimal
    account_balance: Decimal
    account_financing_mode: str | None = None
    position_financings: tuple[PositionFinancing, ...]
