"""What can be traded: the table of instruments, with the typical spread, margin and group of each.

The list is the usual currency list of a v20 division, as far as the reference rates reach (no offshore yuan and no Saudi
riyal there: USD_CNY takes the place of the first, the second is left out). Margins are those of a European retail account:
3.33 % where both currencies are majors, 5 % else, more for the troubled ones. Spreads are typical retail spreads of
a quiet London morning, in pips.
"""

from dataclasses import dataclass
from typing import Literal

Group = Literal["major", "cross", "exotic"]


@dataclass(frozen=True, slots=True)
class Listing:
    """One row of the table."""

    name: str
    group: Group
    spread_pips: float
    margin: str
    type: Literal["CURRENCY", "METAL", "CFD"] = "CURRENCY"
    pip_location: int | None = None  # None: what is usual for the currency

    @property
    def base(self) -> str:
        """Return the currency that units count."""
        return self.name.partition("_")[0]

    @property
    def quote(self) -> str:
        """Return the currency that the price counts."""
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
