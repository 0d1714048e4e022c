"""Conversion factors from one currency to another at an instant.

The v20 service converts at the mid with a charge, not at bid and ask: gain factor = mid x (1 - charge), loss factor = mid x
(1 + charge); positions are valued at the mid. Source: the conversion factors in recorded v20 responses, where the charge is
0.5 % in one division and 0.2 % in another. The practice broker charges 0.5 %.
"""

from collections.abc import Collection, Mapping
from decimal import Decimal

import numpy as np

from keydesk_practice.engine.quotes import Conversion
from keydesk_practice.market.hours import CELL, TradingHours
from keydesk_practice.market.quotes import Quoting

CHARGE = Decimal("0.005")
_STEP = Decimal("0.000000000001")
_ONE = Decimal(1)


def conversion_factors(currency: str, home: str, mid: float) -> Conversion:
    """Return the conversion factors for a mid of units of `home` per unit of `currency`."""
    if currency == home:
        return Conversion(currency, _ONE, _ONE, _ONE)
    value = Decimal(mid).quantize(_STEP)
    gain = (value * (_ONE - CHARGE)).quantize(_STEP)
    loss = (value * (_ONE + CHARGE)).quantize(_STEP)
    return Conversion(currency, gain, loss, value)


class CurrencyConverter:
    """The conversion factors between all currencies of the market.

    The mid comes, in this order, from a replayed pair of the two currencies (so that it agrees with the pair's own price),
    from the reference rates, or from a replayed instrument whose base is the currency, such as XAU from XAU_USD.
    """

    def __init__(
        self,
        quoting: Quoting,
        indexes: Mapping[str, int],
        replayed: Collection[str],
        columns: Mapping[str, int],
        hours: TradingHours,
    ) -> None:
        self._quoting, self._indexes, self._replayed = quoting, indexes, replayed
        self._columns, self._hours = columns, hours

    def factors(self, currency: str, home: str, now: int) -> Conversion:
        """Return the conversion factors at an instant; KeyError for an unknown currency."""
        return conversion_factors(currency, home, float(np.exp(self._log_mid(currency, home, now))))

    def _log_mid(self, currency: str, home: str, now: int) -> float:
        if currency == home:
            return 0.0
        for name, sign in ((f"{currency}_{home}", 1), (f"{home}_{currency}", -1)):
            index = self._indexes.get(name)
            if index is None or name not in self._replayed:
                continue
            if self._quoting.is_offered(index, now):
                return sign * self._instrument_log_mid(index, now)
        if currency in self._columns and home in self._columns:
            at = self._hours.last_open(now)
            rates = self._quoting.cell_prices(at // CELL).rates_at(at % CELL / CELL)
            return float(rates[self._columns[home]] - rates[self._columns[currency]])
        for name, index in self._indexes.items():
            base, _, quote = name.partition("_")
            if base == currency:
                return self._instrument_log_mid(index, now) + self._log_mid(quote, home, now)
        raise KeyError(currency)

    def _instrument_log_mid(self, index: int, now: int) -> float:
        at = self._quoting.last_open(index, now)
        return float(self._quoting.cell_prices(at // CELL).mids_at(at % CELL / CELL)[index])
