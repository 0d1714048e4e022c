"""Daily financing and dividend adjustments."""

from typing import Literal

from keydesk_client.models._core.record import Record
from keydesk_client.models._core.scalars import AccountUnits, DecimalNumber, InstrumentName, TradeID
from keydesk_client.models.enumerations import AccountFinancingMode
from keydesk_client.models.transactions.base import TransactionIdentity
from keydesk_client.models.transactions.conversions import HomeConversionFactors


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
    """The yearly rate that was used."""


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
    """The conversion factors that were used."""
    open_trade_financings: tuple[OpenTradeFinancing, ...]
    """One per open trade."""
    account_financing_mode: AccountFinancingMode | None = None
    """How it was financed."""


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
    """All of it, in home currency."""
    account_balance: AccountUnits
    """The account's balance afterwards."""
    account_financing_mode: AccountFinancingMode | None = None
    """How the account is financed; some services tell it for each position instead."""
    position_financings: tuple[PositionFinancing, ...]
    """One per open position."""


class DividendAdjustmentTransaction(TransactionIdentity):
    """Dividend adjustment of one instrument."""

    type: Literal["DIVIDEND_ADJUSTMENT"] = "DIVIDEND_ADJUSTMENT"
    instrument: InstrumentName
    """As in EUR_USD."""
    dividend_adjustment: AccountUnits
    """All of it, in home currency."""
    quote_dividend_adjustment: DecimalNumber | None = None
    """In quote currency."""
    home_conversion_factors: HomeConversionFactors | None = None
    """The conversion factors that were used."""
    account_balance: AccountUnits
    """The account's balance afterwards."""
    open_trade_dividend_adjustments: tuple[OpenTradeDividendAdjustment, ...]
    """One per open trade."""
