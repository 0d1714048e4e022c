"""Positions: all trades of one instrument, both sides."""

from keydesk_client.models._core.record import Record
from keydesk_client.models._core.scalars import (
    AccountUnits,
    DecimalNumber,
    InstrumentName,
    PriceValue,
    TradeID,
)


class PositionSide(Record):
    """One direction of a position."""

    units: DecimalNumber
    """Minus on the short side, 0 when flat."""
    average_price: PriceValue | None = None
    """Weighted open price, only while open."""
    trade_ids: tuple[TradeID, ...] | None = None
    """Open trades, only while open."""
    pl: AccountUnits
    """Realised over account life."""
    unrealized_pl: AccountUnits | None = None
    """Of open trades."""
    resettable_pl: AccountUnits
    """Since last reset."""
    financing: AccountUnits
    """Over account life."""
    dividend_adjustment: AccountUnits
    """Over account life."""
    guaranteed_execution_fees: AccountUnits
    """Over account life."""


class Position(Record):
    """All trades of one instrument."""

    instrument: InstrumentName
    """As in EUR_USD."""
    pl: AccountUnits
    """Realised over account life."""
    unrealized_pl: AccountUnits | None = None
    """When prices are known."""
    margin_used: AccountUnits | None = None
    """Only while open."""
    resettable_pl: AccountUnits
    """Since last reset."""
    financing: AccountUnits
    """Over account life."""
    commission: AccountUnits
    """Over account life."""
    dividend_adjustment: AccountUnits
    """Over account life."""
    guaranteed_execution_fees: AccountUnits
    """Over account life."""
    long: PositionSide
    """Long side, present when flat too."""
    short: PositionSide
    """Short side, present when flat too."""
