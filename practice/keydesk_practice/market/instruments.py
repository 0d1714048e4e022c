"""The specification of each listed instrument, in the numbers that a v20 division publishes."""

from decimal import Decimal

from keydesk_practice.engine.quotes import Specification
from keydesk_practice.market.listing import Listing
from keydesk_practice.market.policy_rates import financing_rates

_COARSE = {"JPY", "HUF", "INR", "THB"}  # currencies whose pip is a hundredth
_FINE = {"HKD_JPY"}  # but for this price of twenty, which is quoted finer
_TRIPLE_WEDNESDAY = (1, 1, 3, 1, 1, 0, 0)
_PIPS_BEYOND = 1  # decimals of a price beyond the pip


def pip_location_of(listing: Listing) -> int:
    """Return the decimal place of a pip."""
    if listing.pip_location is not None:
        return listing.pip_location
    return -2 if listing.quote in _COARSE and listing.name not in _FINE else -4


def specification_of(listing: Listing) -> Specification:
    """Return everything the service says of an instrument."""
    place = pip_location_of(listing)
    pip = Decimal(1).scaleb(place)
    long_rate, short_rate = financing_rates(listing.base, listing.quote)
    guaranteed = listing.group != "exotic"
    return Specification(
        name=listing.name,
        display_name=listing.name.replace("_", "/"),
        type=listing.type,
        pip_location=place,
        display_precision=_PIPS_BEYOND - place,
        trade_units_precision=0,
        minimum_trade_size=Decimal(1),
        maximum_trailing_stop_distance=_decimals(pip * 10_000, place - 1),
        minimum_trailing_stop_distance=_decimals(pip * 5, place - 1),
        maximum_position_size=Decimal(0),
        maximum_order_units=Decimal(100_000_000),
        margin_rate=Decimal(listing.margin),
        long_rate=long_rate,
        short_rate=short_rate,
        financing_days=_TRIPLE_WEDNESDAY,
        guaranteed_mode="ALLOWED" if guaranteed else "DISABLED",
        guaranteed_minimum_distance=_decimals(pip * 10, place - 1),
        guaranteed_premium=_premium(listing, pip),
        guaranteed_level_volume=Decimal(1_000_000),
        guaranteed_level_range=_decimals(pip * 25, place - 1),
        tags=(("ASSET_CLASS", listing.type), ("LIQUIDITY", listing.group.upper())),
    )


def _premium(listing: Listing, pip: Decimal) -> Decimal:
    """A guaranteed stop costs about a spread when it fills."""
    return pip * Decimal(str(listing.spread_pips)).quantize(Decimal("0.1"))


def _decimals(value: Decimal, place: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(place))
