"""Transactions of the account itself: opening, settings, funds, financing, dividends and margin calls."""

from typing import Annotated, Literal

from pydantic import BeforeValidator

from keydesk_client.models._core.record import Record
from keydesk_client.models._core.scalars import (
    AccountUnits,
    Currency,
    DecimalNumber,
    InstrumentName,
    TradeID,
)
from keydesk_client.models.enumerations import AccountFinancingMode
from keydesk_client.models.reject_reasons import (
    FundingReason,
    MarketOrderReason,
    TransactionRejectReason,
)
from keydesk_client.models.transactions.base import HomeConversionFactors, TransactionIdentity


class CreateTransaction(TransactionIdentity):
    """Account opened."""

    type: Literal["CREATE"] = "CREATE"
    division_id: int
    """Number of the division."""
    site_id: int
    """Number of the site."""
    account_user_id: int
    """The user who owns the account."""
    account_number: int
    """Serial of the account."""
    home_currency: Currency
    """Currency of the account."""


class CloseTransaction(TransactionIdentity):
    """Account closed."""

    type: Literal["CLOSE"] = "CLOSE"


class ReopenTransaction(TransactionIdentity):
    """Account reopened."""

    type: Literal["REOPEN"] = "REOPEN"


class ClientConfigureTransaction(TransactionIdentity):
    """Client settings changed."""

    type: Literal["CLIENT_CONFIGURE"] = "CLIENT_CONFIGURE"
    alias: str | None = None
    """New alias, when changed."""
    margin_rate: DecimalNumber | None = None
    """New rate, when changed."""


class ClientConfigureRejectTransaction(TransactionIdentity):
    """Change of client settings rejected."""

    type: Literal["CLIENT_CONFIGURE_REJECT"] = "CLIENT_CONFIGURE_REJECT"
    alias: str | None = None
    """As requested."""
    margin_rate: DecimalNumber | None = None
    """As requested."""
    reject_reason: TransactionRejectReason
    """Reason of the rejection."""


class TransferFundsTransaction(TransactionIdentity):
    """Deposit or withdrawal."""

    type: Literal["TRANSFER_FUNDS"] = "TRANSFER_FUNDS"
    amount: AccountUnits
    """Positive for a deposit, negative for a withdrawal."""
    funding_reason: FundingReason
    """Reason of the transfer."""
    comment: str | None = None
    """Free text."""
    account_balance: AccountUnits
    """Account balance after the transaction."""


class TransferFundsRejectTransaction(TransactionIdentity):
    """Deposit or withdrawal rejected."""

    type: Literal["TRANSFER_FUNDS_REJECT"] = "TRANSFER_FUNDS_REJECT"
    amount: AccountUnits
    """As requested."""
    funding_reason: FundingReason
    """As requested."""
    comment: str | None = None
    """Free text."""
    reject_reason: TransactionRejectReason
    """Reason of the rejection."""


class ResetResettablePLTransaction(TransactionIdentity):
    """Resettable P/L zeroed."""

    type: Literal["RESET_RESETTABLE_PL"] = "RESET_RESETTABLE_PL"


class OpenTradeFinancing(Record):
    """Daily financing of one trade."""

    trade_id: TradeID
    """The trade."""
    financing: AccountUnits
    """In home currency."""
    base_financing: DecimalNumber | None = None
    """In base currency."""
    quote_financing: DecimalNumber | None = None
    """In quote currency."""
    financing_rate: DecimalNumber | None = None
    """Yearly rate, as a fraction."""


class PositionFinancing(Record):
    """Daily financing of one position."""

    instrument: InstrumentName
    """As in EUR_USD."""
    financing: AccountUnits
    """In home currency."""
    base_financing: DecimalNumber | None = None
    """In base currency."""
    quote_financing: DecimalNumber | None = None
    """In quote currency."""
    home_conversion_factors: HomeConversionFactors | None = None
    """Conversion factors in force."""
    open_trade_financings: tuple[OpenTradeFinancing, ...]
    """One per open trade."""
    account_financing_mode: AccountFinancingMode | None = None
    """Financing mode of the position."""


class OpenTradeDividendAdjustment(Record):
    """Dividend adjustment of one trade."""

    trade_id: TradeID
    """The trade."""
    dividend_adjustment: AccountUnits
    """In home currency."""
    quote_dividend_adjustment: DecimalNumber | None = None
    """In quote currency."""


class DailyFinancingTransaction(TransactionIdentity):
    """Daily rollover."""

    type: Literal["DAILY_FINANCING"] = "DAILY_FINANCING"
    financing: AccountUnits
    """Total, in home currency."""
    account_balance: AccountUnits
    """Account balance after the transaction."""
    account_financing_mode: AccountFinancingMode | None = None
    """Financing mode of the account; some services send it for each position instead."""
    position_financings: tuple[PositionFinancing, ...]
    """One per open position."""


class DividendAdjustmentTransaction(TransactionIdentity):
    """Dividend adjustment of one instrument."""

    type: Literal["DIVIDEND_ADJUSTMENT"] = "DIVIDEND_ADJUSTMENT"
    instrument: InstrumentName
    """As in EUR_USD."""
    dividend_adjustment: AccountUnits
    """Total, in home currency."""
    quote_dividend_adjustment: DecimalNumber | None = None
    """In quote currency."""
    home_conversion_factors: HomeConversionFactors | None = None
    """Conversion factors in force."""
    account_balance: AccountUnits
    """Account balance after the transaction."""
    open_trade_dividend_adjustments: tuple[OpenTradeDividendAdjustment, ...]
    """One per open trade."""


def as_list(ids: object) -> object:
    """Return a single id as a list: some services send it so."""
    return [ids] if isinstance(ids, str) else ids


class MarginCallEnterTransaction(TransactionIdentity):
    """Margin call began."""

    type: Literal["MARGIN_CALL_ENTER"] = "MARGIN_CALL_ENTER"


class MarginCallExtendTransaction(TransactionIdentity):
    """Margin call extended."""

    type: Literal["MARGIN_CALL_EXTEND"] = "MARGIN_CALL_EXTEND"
    extension_number: int
    """1 for the first."""


class MarginCallExitTransaction(TransactionIdentity):
    """Margin call ended."""

    type: Literal["MARGIN_CALL_EXIT"] = "MARGIN_CALL_EXIT"


class DelayedTradeClosureTransaction(TransactionIdentity):
    """Closing of trades delayed until their instrument is tradeable."""

    type: Literal["DELAYED_TRADE_CLOSURE"] = "DELAYED_TRADE_CLOSURE"
    reason: MarketOrderReason
    """Reason of the closure."""
    trade_ids: Annotated[tuple[TradeID, ...], BeforeValidator(as_list)]
    """Trades to close once their instrument is tradeable."""
