"""The instruments that can be traded: their specifications, financing rates, typical spreads and groups.

The list is the usual currency list of a v20 division, as far as the reference rates reach (they lack the offshore yuan and the
Saudi riyal: USD_CNY takes the place of the first, the second is left out). Margin rates are those of a European retail
account: 3.33 % where both currencies are majors, 5 % else, more for volatile ones. Spreads are typical retail spreads of a
quiet London morning, in pips, at the rates of mid 2025; at other rates the spread is the same fraction of the price.

Financing rates: the difference of the central-bank policy rates of mid 2025 (rounded) less the broker's charge of 1 % a year.
They do not change; a practice account needs plausible signs and sizes only.
"""

from decimal import Decimal
from typing import Literal

from msgspec import Struct

from keydesk_practice.engine.quotes import Specification

_POLICY_RATES = {  # annual, as fractions
    "AUD": "0.0385", "CAD": "0.0275", "CHF": "0.0000", "CNY": "0.0140", "CZK": "0.0350", "DKK": "0.0160",
    "EUR": "0.0200", "GBP": "0.0425", "HKD": "0.0250", "HUF": "0.0650", "INR": "0.0550", "JPY": "0.0050",
    "MXN": "0.0800", "NOK": "0.0425", "NZD": "0.0325", "PLN": "0.0500", "SEK": "0.0200", "SGD": "0.0180",
    "THB": "0.0175", "TRY": "0.4300", "USD": "0.0425", "ZAR": "0.0700",
}  # fmt: skip
# Units per euro on 30 June 2025 (European Central Bank), at which the spreads in pips are typical.
_RATES_OF_SPREADS = {
    "AUD": 1.795, "CAD": 1.603, "CHF": 0.9347, "CNY": 8.397, "CZK": 24.75, "DKK": 7.461, "EUR": 1.0,
    "GBP": 0.8555, "HKD": 9.2, "HUF": 399.8, "INR": 100.6, "JPY": 169.2, "MXN": 22.09, "NOK": 11.83,
    "NZD": 1.933, "PLN": 4.242, "SEK": 11.15, "SGD": 1.494, "THB": 38.12, "TRY": 46.57, "USD": 1.172,
    "ZAR": 20.84,
}  # fmt: skip
_CHARGE = Decimal("0.0100")
_NO_RATE = Decimal("0.0000")  # metals and other commodities


def financing_rates(base: str, quote: str) -> tuple[Decimal, Decimal]:
    """Return the annual financing rates of a long and a short position, as fractions; negative ones cost the holder."""
    difference = _rate(base) - _rate(quote)
    return difference - _CHARGE, -difference - _CHARGE


def _rate(currency: str) -> Decimal:
    return Decimal(_POLICY_RATES[currency]) if currency in _POLICY_RATES else _NO_RATE


Group = Literal["major", "cross", "exotic"]


class Listing(Struct, frozen=True):
    """One row of the table of instruments."""

    name: str
    group: Group
    spread_pips: float
    margin: str
    type: Literal["CURRENCY", "METAL", "CFD"] = "CURRENCY"
    pip_location: int | None = None  # None: the usual one of the quote currency

    @property
    def base(self) -> str:
        """Return the base currency."""
        return self.name.partition("_")[0]

    @property
    def quote(self) -> str:
        """Return the quote currency."""
        return self.name.partition("_")[2]


_MAJORS = """
EUR_USD 1.2  USD_JPY 1.3  GBP_USD 1.6  USD_CHF 1.5  USD_CAD 1.7  EUR_JPY 1.8  EUR_GBP 1.4
EUR_CHF 1.7  EUR_CAD 2.2  GBP_JPY 2.6  GBP_CHF 2.6  GBP_CAD 3.0  CAD_JPY 2.0  CHF_JPY 2.2
CAD_CHF 2.2
"""
_CROSSES = """
AUD_USD 1.4  NZD_USD 1.6  AUD_JPY 1.8  AUD_NZD 2.4  AUD_CAD 2.2  AUD_CHF 2.1  NZD_JPY 2.0
NZD_CAD 2.4  NZD_CHF 2.3  EUR_AUD 2.5  EUR_NZD 3.4  GBP_AUD 3.2  GBP_NZD 4.2
AUD_SGD 3.6  CAD_SGD 3.4  EUR_SGD 3.8  GBP_SGD 4.8  NZD_SGD 3.6  SGD_CHF 2.8  SGD_JPY 2.6
USD_SGD 2.4  EUR_DKK 3.5  USD_DKK 7.0  EUR_NOK 22  USD_NOK 22  EUR_SEK 22  USD_SEK 22
EUR_PLN 18  USD_PLN 18  GBP_PLN 26  USD_CNY 6.0
AUD_HKD 7.0  CAD_HKD 7.0  CHF_HKD 10  EUR_HKD 9.0  GBP_HKD 12  NZD_HKD 8.0  SGD_HKD 7.0
USD_HKD 4.0  HKD_JPY 4.0
"""
_EXOTICS = """
EUR_CZK 90 0.05   USD_CZK 90 0.05   EUR_HUF 16 0.05   USD_HUF 16 0.05   USD_MXN 60 0.05
EUR_ZAR 110 0.07  GBP_ZAR 130 0.07  USD_ZAR 90 0.07   CHF_ZAR 110 0.07  ZAR_JPY 1.2 0.07
EUR_TRY 260 0.25  USD_TRY 220 0.25  TRY_JPY 2.0 0.25  USD_INR 4.0 0.05  USD_THB 4.0 0.05
"""


def _rows(table: str, group: Group, margin: str) -> list[Listing]:
    words = table.split()
    return [
        Listing(name, group, float(spread), margin)
        for name, spread in zip(words[::2], words[1::2], strict=True)
    ]


def _rows_with_margin(table: str, group: Group) -> list[Listing]:
    words = table.split()
    return [
        Listing(name, group, float(spread), margin)
        for name, spread, margin in zip(words[::3], words[1::3], words[2::3], strict=True)
    ]


LISTINGS = (
    *_rows(_MAJORS, "major", "0.0333"),
    *_rows(_CROSSES, "cross", "0.05"),
    *_rows_with_margin(_EXOTICS, "exotic"),
)

CURRENCIES = tuple(sorted({side for row in LISTINGS for side in (row.base, row.quote)} - {"EUR"}))


_HUNDREDTH_PIPS = {"JPY", "HUF", "INR", "THB"}  # quote currencies whose pip is a hundredth
_FINER_PIPS = {"HKD_JPY"}  # except in this pair with a price of about twenty
_TRIPLE_WEDNESDAY = (1, 1, 3, 1, 1, 0, 0)
_DECIMALS_BEYOND_PIP = 1


def pip_location_of(listing: Listing) -> int:
    """Return the decimal place of a pip."""
    if listing.pip_location is not None:
        return listing.pip_location
    return -2 if listing.quote in _HUNDREDTH_PIPS and listing.name not in _FINER_PIPS else -4


def typical_half_spread(listing: Listing) -> float:
    """Return half the usual spread of a listed pair as a fraction of its price."""
    price = _RATES_OF_SPREADS[listing.quote] / _RATES_OF_SPREADS[listing.base]
    return half_spread_at(listing, price)


def half_spread_at(listing: Listing, price: float) -> float:
    """Return half the usual spread as a fraction of a price."""
    return 0.5 * listing.spread_pips * 10.0 ** pip_location_of(listing) / price


def specification_of(listing: Listing) -> Specification:
    """Return the specification of an instrument."""
    place = pip_location_of(listing)
    pip = Decimal(1).scaleb(place)
    long_rate, short_rate = financing_rates(listing.base, listing.quote)
    guaranteed = listing.group != "exotic"
    return Specification(
        name=listing.name,
        display_name=listing.name.replace("_", "/"),
        type=listing.type,
        pip_location=place,
        display_precision=_DECIMALS_BEYOND_PIP - place,
        trade_units_precision=0,
        minimum_trade_size=Decimal(1),
        maximum_trailing_stop_distance=_with_decimals(pip * 10_000, place - 1),
        minimum_trailing_stop_distance=_with_decimals(pip * 5, place - 1),
        maximum_position_size=Decimal(0),
        maximum_order_units=Decimal(100_000_000),
        margin_rate=Decimal(listing.margin),
        long_rate=long_rate,
        short_rate=short_rate,
        financing_days=_TRIPLE_WEDNESDAY,
        guaranteed_mode="ALLOWED" if guaranteed else "DISABLED",
        guaranteed_minimum_distance=_with_decimals(pip * 10, place - 1),
        guaranteed_premium=_premium(listing, pip),
        guaranteed_level_volume=Decimal(1_000_000),
        guaranteed_level_range=_with_decimals(pip * 25, place - 1),
        tags=(("ASSET_CLASS", listing.type), ("LIQUIDITY", listing.group.upper())),
    )


def _premium(listing: Listing, pip: Decimal) -> Decimal:
    """Return the premium of a guaranteed stop: about one spread per unit."""
    return pip * Decimal(str(listing.spread_pips)).quantize(Decimal("0.1"))


def _with_decimals(value: Decimal, place: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(place))
