"""Orders in one line: stop-loss and take-profit as pips, as a multiple of the risk, or as a price.

"20p"       20 pips from the price at which the order fills
"2r"        a take-profit at twice the distance of the stop-loss (R, the risk)
"1.0850"    a price, as text or Decimal, written with its decimals

Distances count from the fill, so that the risk in pips is what was written, whatever the order fills at. Anything that could
be meant in two ways is refused: 20 is neither a price nor a number of pips.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple, TypeAlias, TypeVar

from keydesk_client.errors import InvalidRequest
from keydesk_client.models._core.scalars import Number, decimal_of, decimal_text
from keydesk_client.models.instruments import Instrument
from keydesk_client.models.order_terms import (
    EntryOptions,
    LimitOptions,
    MarketOptions,
    StopLossDetails,
    StopOptions,
    TakeProfitDetails,
)
from keydesk_client.models.requests import (
    LimitOrderRequest,
    MarketOrderRequest,
    StopOrderRequest,
)

Level: TypeAlias = str | Decimal
"""Where a dependent order stands: "20p", "2r", or a price."""
Details = TypeVar("Details", StopLossDetails, TakeProfitDetails)

MEASURED: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(p|pips?|r)", re.IGNORECASE)
USAGE: Final = "write pips as '20p', or a price with its decimals as '{price}'"


StopLoss: TypeAlias = Level | StopLossDetails | None
TakeProfit: TypeAlias = Level | TakeProfitDetails | None


class Bracket(NamedTuple):
    """The levels of the orders that protect a new trade."""

    stop_loss: StopLoss
    take_profit: TakeProfit


def market_order(
    instrument: Instrument,
    units: Number,
    bracket: Bracket,
    options: MarketOptions,
) -> MarketOrderRequest:
    """Return a market order with its bracket; raise InvalidRequest for what is invalid or ambiguous."""
    entry, members = Entry(instrument, _is_bought(units)), options.copy()
    _add_bracket(members, entry, bracket)
    return MarketOrderRequest(instrument=instrument, units=units, **members)


def limit_order(
    instrument: Instrument,
    units: Number,
    price: Number,
    bracket: Bracket,
    options: LimitOptions,
) -> LimitOrderRequest:
    """Return a limit order with its bracket; see `market_order`."""
    entry = Entry(instrument, _is_bought(units), _exact("price", price))
    members = options.copy()
    _add_bracket(members, entry, bracket)
    return LimitOrderRequest(instrument=instrument, units=units, price=price, **members)


def stop_order(
    instrument: Instrument,
    units: Number,
    price: Number,
    bracket: Bracket,
    options: StopOptions,
) -> StopOrderRequest:
    """Return a stop order with its bracket; see `market_order`."""
    entry = Entry(instrument, _is_bought(units), _exact("price", price))
    members = options.copy()
    _add_bracket(members, entry, bracket)
    return StopOrderRequest(instrument=instrument, units=units, price=price, **members)


@dataclass(frozen=True, slots=True)
class Entry:
    """An order to which a bracket belongs."""

    instrument: Instrument
    is_bought: bool
    price: Decimal | None = None
    """Of a limit or stop order; a market order has none."""

    def stop_loss(self, level: Level | StopLossDetails | None) -> StopLossDetails | None:
        """Return the details of a stop-loss at a level; raise InvalidRequest for one that is ambiguous."""
        if level is None or isinstance(level, StopLossDetails):
            return level
        if _multiple(level) is not None:
            raise _refused("stop_loss", level, "a stop-loss is 1r itself", self.instrument)
        return self._details("stop_loss", level, StopLossDetails, is_above=not self.is_bought)

    def take_profit(
        self, level: Level | TakeProfitDetails | None, stop_loss: StopLossDetails | None
    ) -> TakeProfitDetails | None:
        """Return the details of a take-profit at a level; R is the distance of the stop-loss."""
        if level is None or isinstance(level, TakeProfitDetails):
            return level
        multiple = _multiple(level)
        if multiple is not None:
            distance = self.instrument.round_price(multiple * self._risk(level, stop_loss))
            return TakeProfitDetails(distance=distance)
        return self._details("take_profit", level, TakeProfitDetails, is_above=self.is_bought)

    def _details(self, field: str, level: Level, kind: type[Details], *, is_above: bool) -> Details:
        pips = _pips(level)
        if pips is not None:
            return kind(distance=pips * self.instrument.pip)
        price = self._price(field, level)
        if self.price is not None and (price <= self.price if is_above else price >= self.price):
            side = "above" if is_above else "below"
            reason = f"it must be {side} the order's price, {decimal_text(self.price)}"
            raise InvalidRequest(f"{field}: {decimal_text(price)}: {reason}", field=field)
        return kind(price=price)

    def _price(self, field: str, level: object) -> Decimal:
        """Return a price; a number without decimals may be meant as pips."""
        if not isinstance(level, str | Decimal):
            reason = f"a number of type {type(level).__name__} may be a price or pips"
            raise _refused(field, level, reason, self.instrument)
        try:
            price = decimal_of(level)
        except ValueError:
            raise _refused(field, level, "it is no price", self.instrument) from None
        exponent = price.as_tuple().exponent
        if isinstance(exponent, int) and exponent >= 0 < self.instrument.display_precision:
            raise _refused(field, level, "it may be a price or pips", self.instrument)
        return price

    def _risk(self, level: Level, stop_loss: StopLossDetails | None) -> Decimal:
        """Return the distance of the stop-loss."""
        if stop_loss is None:
            reason = "R is the distance of the stop-loss, which is missing: pass stop_loss='20p'"
        elif stop_loss.distance is not None:
            return stop_loss.distance
        elif stop_loss.price is not None and self.price is not None:
            return abs(self.price - stop_loss.price)
        else:
            reason = (
                "the distance to a stop-loss at a price is not known before a market order fills:"
                " pass it in pips, as in stop_loss='20p'"
            )
        raise InvalidRequest(f"take_profit: {level!r}: {reason}", field="take_profit")


def _add_bracket(members: EntryOptions, entry: Entry, bracket: Bracket) -> None:
    for name, level in bracket._asdict().items():
        if level is not None and members.get(f"{name}_on_fill") is not None:
            raise InvalidRequest(f"{name}: give it or {name}_on_fill, not both", field=name)
    stop = entry.stop_loss(bracket.stop_loss)
    if stop is not None:
        members["stop_loss_on_fill"] = stop
    target = entry.take_profit(bracket.take_profit, stop or members.get("stop_loss_on_fill"))
    if target is not None:
        members["take_profit_on_fill"] = target


def _is_bought(units: Number) -> bool:
    return _exact("units", units) > 0


def _exact(field: str, value: Number) -> Decimal:
    try:
        return decimal_of(value)
    except ValueError as error:
        raise InvalidRequest(f"{field}: {error}", field=field) from None


def _pips(level: object) -> Decimal | None:
    """Return the pips of "20p", None for another text."""
    found = _measured(level)
    return None if found is None or found[2].lower() == "r" else Decimal(found[1])


def _multiple(level: object) -> Decimal | None:
    """Return the multiple of "2r", None for another text."""
    found = _measured(level)
    return Decimal(found[1]) if found is not None and found[2].lower() == "r" else None


def _measured(level: object) -> re.Match[str] | None:
    return MEASURED.fullmatch(level.strip()) if isinstance(level, str) else None


def _refused(field: str, level: object, reason: str, instrument: Instrument) -> InvalidRequest:
    example = decimal_text(instrument.round_price(Decimal(1)))
    return InvalidRequest(
        f"{field}: {str(level)[:40]!r}: {reason}: {USAGE.format(price=example)}", field=field
    )
