"""How amounts are rounded and written: a Decimal carries exactly the digits that the wire shows."""

from decimal import ROUND_HALF_EVEN, Context, Decimal

ZERO = Decimal(0)
NOTHING = Decimal("0.0000")  # no money
_CENT_OF_CENT = Decimal("0.0001")
_PERCENT_STEP = Decimal("0.00001")
_FACTOR_STEP = Decimal("0.000000000001")
_EXACT = Context(
    prec=100
)  # wider than any number that comes in: what a client wrote is judged as it is, unrounded


def home(amount: Decimal) -> Decimal:
    """Return an amount of home currency with four decimals; half to even, so that many fills do not drift."""
    return amount.quantize(_CENT_OF_CENT, ROUND_HALF_EVEN)


def percent(fraction: Decimal) -> Decimal:
    """Return a fraction with five decimals, as margin percentages are written."""
    return fraction.quantize(_PERCENT_STEP, ROUND_HALF_EVEN)


def factor(value: Decimal) -> Decimal:
    """Return a conversion factor with at most twelve decimals and no idle zeros."""
    return bare(value.quantize(_FACTOR_STEP, ROUND_HALF_EVEN))


def bare(number: Decimal) -> Decimal:
    """Return a number without idle zeros, as units are written: 100, 0.5."""
    return (
        number.to_integral_value()
        if number == number.to_integral_value()
        else number.normalize(_EXACT)
    )


def decimals(number: Decimal) -> int:
    """Return how many decimals a number needs, idle zeros aside: 1.10 has one."""
    exponent = number.normalize(_EXACT).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def text(number: Decimal) -> str:
    """Return a number in plain digits."""
    return format(number, "f")
