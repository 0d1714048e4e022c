"""Daily financing and dividend adjustments."""

from typing import Literal

from keydesk_client.models.enumerations import AccountFinancingMode
from keydesk_client.models.record import Record
from keydesk_client.models.scalars import AccountUnits, DecimalNumber, InstrumentName, TradeID
from keydesk_client.models.transactions.base import TransactionIdentity
from keydesk_client.models.transactions.conversions import HomeConversionFactors


class OpenTradeFinancing(Record):
    """Daily financing of one trade."""

    trade_id: TradeID
    """Trade."""
    financing: AccountUnits
    """Home currency."""
    base_financing: DecimalNumber | None = None
    """Base currency."""
    quote_financing: DecimalNumber | None = None
    """Quote currency."""
    financing_rate: DecimalNumber | None = None
    """Rate used."""


class PositionFinancing(Record):
    """Daily financing of one position."""

    instrument: InstrumentName
    """Instrument."""
    financing: AccountUnits
    """Home currency."""
    base_financing: DecimalNumber | None = None
    """Base currency."""
    quote_financing: DecimalNumber | None = None
    """Quote currency."""
    home_conversion_factors: HomeConversionFactors | None = None
    """Factors used."""
    open_trade_financings: tuple[OpenTradeFinancing, ...]
    """One per open trade."""
    account_financing_mode: AccountFinancingMode | None = None
    """Mode used."""


class OpenTradeDividendAdjustment(Record):
    """Dividend adjustment of one trade."""

    trade_id: TradeID
    """Trade."""
    dividend_adjustment: AccountUnits
    """Home currency."""
    quote_dividend_adjustment: DecimalNumber | None = None
    """Quote currency."""


class DailyFinancingTransaction(TransactionIdentity):
    """Daily rollover."""

    type: Literal["DAILY_FINANCING"] = "DAILY_FINANCING"
    financing: AccountUnits
    """Total."""
    account_balance: AccountUnits
    """Balance after."""
    account_financing_mode: AccountFinancingMode | None = None
    """Account mode, moved into the positions in newer service."""
    position_financings: tuple[PositionFinancing, ...]
    """One per open position."""


class DividendAdjustmentTransaction(TransactionIdentity):
    """Dividend adjustment of one instrument."""

    type: Literal["DIVIDEND_ADJUSTMENT"] = "DIVIDEND_ADJUSTMENT"
    instrument: InstrumentName
    """Instrument."""
    dividend_adjustment: AccountUnits
    """Total."""
    quote_dividend_adjustment: DecimalNumber | None = None
    """Quote currency."""
    home_conversion_factors: HomeConversionFactors | None = None
    """Factors used."""
    account_balance: AccountUnits
    """Balance after."""
    open_trade_dividend_adjustments: tuple[OpenTradeDividendAdjustment, ...]
    """One per open trade."""
