"""Instruments that an account may trade, and their terms."""

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from typing import Final

from keydesk_client.arithmetic.margin import effective_rate, required_margin
from keydesk_client.arithmetic.profit import (
    Conversion,
    Factors,
    currencies,
    factors_from,
    whole_units,
)
from keydesk_client.arithmetic.profit import pip as pip_of
from keydesk_client.arithmetic.risk import units_for_risk
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
        return pip_of(self.pip_location)

    @property
    def base(self) -> str:
        """The currency or asset that a unit is of: EUR of EUR_USD, XAU of XAU_USD, SPX500 of SPX500_USD."""
        return currencies(self.name)[0]

    @property
    def quote(self) -> str:
        """The currency that prices are in: USD of EUR_USD."""
        return currencies(self.name)[1]

    def pips(self, difference: Decimal) -> Decimal:
        """Return a difference of prices in pips, with its sign, unrounded: 0.0020 of EUR_USD is 20."""
        return _number("difference", difference) / self.pip

    def units_for_risk(
        self, amount: Decimal, stop_distance: Decimal, conversion: Conversion | Factors
    ) -> Decimal:
        """Return the positive units that lose `amount` when the price moves by `stop_distance` against them.

        Rounded down to `trade_units_precision`, so that less is lost than `amount`, never more; 0 if that is less than one
        step. Neither `minimum_trade_size` nor `maximum_order_units` nor the margin is considered.

        Args:
            amount: home currency, above 0.
            stop_distance: price units from entry to stop, above 0; with a guaranteed stop add its execution premium.
            conversion: from the quote currency to home currency, such as `price.home_conversion(instrument.quote)`;
                a loss converts at its `account_loss`. `keydesk_client.HOME`, where they are the same currency.

        Raises:
            InvalidRequest: `amount` or `stop_distance` is not a number above 0.
        """
        risk = _number("amount", amount, above_zero=True)
        distance = _number("stop_distance", stop_distance, above_zero=True)
        exact = units_for_risk(risk, distance, factors_from(conversion).loss)
        return whole_units(exact, self.trade_units_precision)

    def margin(
        self,
        units: Decimal,
        price: Decimal,
        conversion: Conversion | Factors,
        *,
        account_rate: Decimal | None = None,
    ) -> Decimal:
        """Return the margin of `units` (of either sign) in home currency, unrounded.

        The service's own `margin_used` is what counts; this is for previews.

        Args:
            units: of a position; of a hedged one those of the larger side.
            price: the mid price.
            conversion: from the quote currency to home currency; its `position_value` is used.
            account_rate: the account's own `margin_rate`, which holds where it is the greater one.

        Raises:
            InvalidRequest: `units` or `price` is not a number.
        """
        size, mid = _number("units", units), _number("price", price)
        rate = effective_rate(self.margin_rate, account_rate)
        return required_margin(size, rate, mid, factors_from(conversion).value)

    def round_price(self, price: Decimal, rounding: str = ROUND_HALF_EVEN) -> Decimal:
        """Return a price or distance rounded to the decimals of the instrument (`display_precision`).

        Orders are never rounded implicitly: one with too many decimals is refused.
        `rounding` is a mode of the decimal module.
        """
        return _rounded("price", price, self.display_precision, rounding)

    def round_units(self, units: Decimal, rounding: str = ROUND_DOWN) -> Decimal:
        """Return a size rounded down to the decimals of the instrument (`trade_units_precision`)."""
        return _rounded("units", units, self.trade_units_precision, rounding)


def _number(field: str, value: Decimal, *, above_zero: bool = False) -> Decimal:
    """Return an exact number; raise InvalidRequest for a float, or one that is not above 0 where it must be."""
    try:
        number = decimal_of(value)
    except ValueError as error:
        raise InvalidRequest(f"{field}: {error}", field=field) from None
    if above_zero and number <= 0:
        raise InvalidRequest(f"{field}: {number} is not above 0", field=field)
    return number


def _rounded(field: str, number: Decimal, places: int, rounding: str) -> Decimal:
    try:
        return decimal_of(number).quantize(Decimal(1).scaleb(-places), rounding, EXACT_CONTEXT)
    except (ValueError, InvalidOperation):
        failure = InvalidRequest(
            f"{field}: not a number that can be rounded to {places} decimals: give a Decimal",
            field=field,
        )
    raise failure
