"""Instruments that an account may trade, and their terms."""

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from typing import Final

from keydesk_client.errors import InvalidRequest
from keydesk_client.models._core.record import Record
from keydesk_client.models._core.scalars import (
    MAX_DIGITS,
    DecimalNumber,
    InstrumentName,
    decimal_of,
)
from keydesk_client.models.enumerations import (
    DayOfWeek,
    GuaranteedStopLossOrderModeForInstrument,
    InstrumentType,
)

EXACT_CONTEXT: Final = Context(prec=2 * MAX_DIGITS)
"""Exact for every number of the wire: the default of 28 digits is not."""


class Tag(Record):
    """Label of an instrument."""

    type: str
    """Label family."""
    name: str
    """Label value."""


class FinancingDayOfWeek(Record):
    """Days charged on one weekday."""

    day_of_week: DayOfWeek
    """The day of the week."""
    days_charged: int
    """Usually 0, 1 or 3."""


class InstrumentFinancing(Record):
    """Rollover schedule."""

    long_rate: DecimalNumber
    """Yearly rate as a fraction; negative is a cost."""
    short_rate: DecimalNumber
    """Yearly rate as a fraction; negative is a cost."""
    financing_days_of_week: tuple[FinancingDayOfWeek, ...]
    """Seven entries."""


class InstrumentCommission(Record):
    """Commission schedule of an instrument."""

    commission: DecimalNumber
    """Home currency per unitsTraded."""
    units_traded: DecimalNumber
    """Block size."""
    minimum_commission: DecimalNumber
    """Minimum per fill."""


class GuaranteedStopLossOrderLevelRestriction(Record):
    """Cap on guaranteed volume in a price window."""

    volume: DecimalNumber
    """Units allowed in the window."""
    price_range: DecimalNumber
    """Window width."""


class GuaranteedStopLossOrderEntryData(Record):
    """Terms of a guaranteed stop, as some services send them together."""

    minimum_distance: DecimalNumber
    """In price units."""
    premium: DecimalNumber
    """Price units per unit."""
    level_restriction: GuaranteedStopLossOrderLevelRestriction | None = None
    """Maximum volume that is guaranteed in a price window."""


class Instrument(Record):
    """Tradeable instrument of one account."""

    name: InstrumentName
    """As in EUR_USD."""
    type: InstrumentType
    """Asset class."""
    display_name: str
    """Name for display, as in EUR/USD."""
    pip_location: int
    """Power of ten of a pip in price units; see `pip`."""
    display_precision: int
    """Decimals that a price or distance may have; see `round_price`."""
    trade_units_precision: int
    """Decimals that a size may have; see `round_units`."""
    minimum_trade_size: DecimalNumber
    """Smallest order, in units."""
    maximum_trailing_stop_distance: DecimalNumber
    """In price units."""
    minimum_trailing_stop_distance: DecimalNumber
    """In price units."""
    minimum_guaranteed_stop_loss_distance: DecimalNumber | None = None
    """In price units."""
    maximum_position_size: DecimalNumber
    """Units, 0 means no instrument limit."""
    maximum_order_units: DecimalNumber
    """Units per order."""
    margin_rate: DecimalNumber
    """Margin as a fraction of the position's value: 0.0333 is 30 to 1."""
    commission: InstrumentCommission | None = None
    """Only where commission applies."""
    guaranteed_stop_loss_order_mode: GuaranteedStopLossOrderModeForInstrument | None = None
    """Per-instrument policy."""
    guaranteed_stop_loss_order_execution_premium: DecimalNumber | None = None
    """Price units per unit; not when DISABLED."""
    guaranteed_stop_loss_order_level_restriction: GuaranteedStopLossOrderLevelRestriction | None = (
        None
    )
    """Not when DISABLED."""
    financing: InstrumentFinancing | None = None
    """Rollover rates."""
    tags: tuple[Tag, ...] | None = None
    """Labels."""

    @property
    def pip(self) -> Decimal:
        """One pip in price units, 10 to the power of `pip_location`: 0.0001 of EUR_USD, 0.01 of USD_JPY."""
        return Decimal(1).scaleb(self.pip_location)

    def round_price(self, price: Decimal, rounding: str = ROUND_HALF_EVEN) -> Decimal:
        """Return a price or distance rounded to the decimals of the instrument (`display_precision`).

        Orders are never rounded implicitly: one with too many decimals is refused.
        `rounding` is a mode of the decimal module.
        """
        return _rounded("price", price, self.display_precision, rounding)

    def round_units(self, units: Decimal, rounding: str = ROUND_DOWN) -> Decimal:
        """Return a size rounded down to the decimals of the instrument (`trade_units_precision`)."""
        return _rounded("units", units, self.trade_units_precision, rounding)


def _rounded(field: str, number: Decimal, places: int, rounding: str) -> Decimal:
    try:
        return decimal_of(number).quantize(Decimal(1).scaleb(-places), rounding, EXACT_CONTEXT)
    except (ValueError, InvalidOperation):
        failure = InvalidRequest(
            f"{field}: not a number that can be rounded to {places} decimals: give a Decimal",
            field=field,
        )
    raise failure
