"""The base class of all transactions, and those of the account: created, configured, funded, margin calls, financing."""

from decimal import Decimal
from typing import ClassVar

from msgspec import Struct

from keydesk_practice.engine.quotes import HomeConversionFactors
from keydesk_practice.engine.wire_form import Id, Timestamp


class Transaction(Struct, frozen=True, kw_only=True):
    """The members of every transaction; ids ascend without gaps, a batch shares its first id and its time."""

    type: ClassVar[str]

    id: Id
    account_id: str
    user_id: int
    batch_id: Id
    request_id: str | None = None  # None for transactions that no request made
    time: Timestamp


class AccountCreated(Transaction, frozen=True, kw_only=True):
    """The account was opened."""

    type: ClassVar[str] = "CREATE"

    division_id: int
    site_id: int
    account_user_id: int
    account_number: int
    home_currency: str


class ClientConfigured(Transaction, frozen=True, kw_only=True):
    """The client changed settings; only those changed are given."""

    type: ClassVar[str] = "CLIENT_CONFIGURE"

    alias: str | None = None
    margin_rate: Decimal | None = None


class ClientConfigureRejected(Transaction, frozen=True, kw_only=True):
    """A change of settings was rejected."""

    type: ClassVar[str] = "CLIENT_CONFIGURE_REJECT"

    alias: str | None = None
    margin_rate: Decimal | None = None
    reject_reason: str


class FundsTransferred(Transaction, frozen=True, kw_only=True):
    """Money was deposited (positive) or withdrawn (negative)."""

    type: ClassVar[str] = "TRANSFER_FUNDS"

    amount: Decimal
    funding_reason: str
    comment: str | None = None
    account_balance: Decimal


class TransferFundsRejected(Transaction, frozen=True, kw_only=True):
    """A transfer of funds was rejected."""

    type: ClassVar[str] = "TRANSFER_FUNDS_REJECT"

    amount: Decimal
    funding_reason: str
    comment: str | None = None
    reject_reason: str


class MarginCallEntered(Transaction, frozen=True, kw_only=True):
    """A margin call began: marginCallPercent reached 1."""

    type: ClassVar[str] = "MARGIN_CALL_ENTER"


class MarginCallExtended(Transaction, frozen=True, kw_only=True):
    """A margin call was extended."""

    type: ClassVar[str] = "MARGIN_CALL_EXTEND"

    extension_number: int


class MarginCallExited(Transaction, frozen=True, kw_only=True):
    """A margin call ended: marginCallPercent fell below 1."""

    type: ClassVar[str] = "MARGIN_CALL_EXIT"


class TradeClosureDelayed(Transaction, frozen=True, kw_only=True):
    """The close of trades was delayed, since their instrument is halted."""

    type: ClassVar[str] = "DELAYED_TRADE_CLOSURE"

    reason: str
    trade_ids: tuple[Id, ...]


class OpenTradeFinancing(Struct, frozen=True, kw_only=True):
    """The financing of one trade."""

    trade_id: Id
    financing: Decimal
    base_financing: Decimal | None = None
    quote_financing: Decimal | None = None
    financing_rate: Decimal | None = None


class PositionFinancing(Struct, frozen=True, kw_only=True):
    """The financing of one position."""

    instrument: str
    financing: Decimal
    base_financing: Decimal | None = None
    quote_financing: Decimal | None = None
    home_conversion_factors: HomeConversionFactors | None = None
    open_trade_financings: tuple[OpenTradeFinancing, ...]
    account_financing_mode: str | None = None


class DailyFinanced(Transaction, frozen=True, kw_only=True):
    """The daily financing was booked."""

    type: ClassVar[str] = "DAILY_FINANCING"

    financing: Decimal
    account_balance: Decimal
    account_financing_mode: str | None = None
    position_financings: tuple[PositionFinancing, ...]
