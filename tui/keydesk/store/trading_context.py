"""Build the trading context of an instrument from the store, once for a redraw of a form."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from keydesk.calc.risk.exposure import Holding, exposure_of
from keydesk.calc.risk.trading_context import AccountFunds, Lot, Rules, TradingContext
from keydesk.store.store import Store
from keydesk.store.unknown import are_trades_known
from keydesk.values import AccountState, PositionRow, Quote, id_order
from keydesk_client.account.values import MAX_VALUE, READ_ERRORS
from keydesk_client.arithmetic.constants import HOUR, ZERO
from keydesk_client.arithmetic.depth import DepthLevel, OfferedLevel
from keydesk_client.arithmetic.margin import effective_rate
from keydesk_client.arithmetic.profit import HOME, Factors, pip, round_price

if TYPE_CHECKING:  # the models cost more to import than a first picture may take
    from keydesk_client.models import Instrument

Computed = TypeVar("Computed")

WEEKDAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
CONTEXT, LISTED = "context", "listed"  # what is sent as it was painted: first parts of a key
OUTDATED_NS = 3 * HOUR
"""Age of an average true range that no distance is computed with any more; candles are read each hour."""


class Snapshot:
    """What a form has read and computed for one redraw or one key: each figure at most once."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._known: dict[Hashable, Any] | None = None
        self._drawn_ranges: dict[str, Decimal | None] = {}  # average true range by instrument
        self._drawn: dict[Hashable, Any] = {}  # contexts and lists of the last drawing
        self._painted: dict[Hashable, Any] = {}  # of the last drawing that is on the screen

    @contextmanager
    def open(self) -> Iterator[None]:
        """Read the store and compute each figure at most once within the block."""
        before = self._known
        self._known = {} if before is None else before
        try:
            yield
        finally:
            self._known = before

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Open a snapshot with the present average true ranges.

        Until the next drawing, keys count distances such as `1.5a` by the ranges of this one: the stop and the units that are
        sent are those on the screen, also when an hourly candle completes between the drawing and the key.
        """
        if self._known is None:
            self._drawn_ranges.clear()
        with self.open():
            yield
            self._drawn = {
                key: found
                for key, found in (self._known or {}).items()
                if isinstance(key, tuple) and key[0] in {CONTEXT, LISTED} and found is not None
            }

    def note_painted(self) -> None:
        """Note that the last drawing is on the screen."""
        self._painted = self._drawn

    @contextmanager
    def as_painted(self) -> Iterator[None]:
        """Compute with the prices, funds and lists on the screen: what is sent within the block is what was on the screen.

        Prices that arrived since the last painting change the units of a risk size, and the bound, by a little.
        """
        before = self._known
        self._known = dict(self._painted)
        try:
            yield
        finally:
            self._known = before

    def once(self, key: Hashable, compute: Callable[[], Computed]) -> Computed:
        """Return what was computed under this key in the snapshot; outside of one, compute it."""
        if self._known is None:
            return compute()
        if key not in self._known:
            self._known[key] = compute()
        computed: Computed = self._known[key]
        return computed

    def context(self, instrument: str) -> TradingContext | None:
        """Return the instrument's rules and price and the account's funds; None while one of them is missing."""
        return self.once((CONTEXT, instrument), lambda: self._read_context(instrument))

    def _read_context(self, instrument: str) -> TradingContext | None:
        context = trading_context_of(self._store, instrument, self._clock())
        if context is None:
            return None
        drawn = self._drawn_ranges.setdefault(instrument, context.average_range)
        return replace(context, average_range=drawn)


def trading_context_of(store: Store, instrument: str, now: float) -> TradingContext | None:
    """Return the trading context of an instrument, None while a value is missing."""
    known, quote, account = (
        store.instruments.get(instrument),
        store.quotes.get(instrument),
        store.account,
    )
    if known is None or quote is None or account is None:
        return None
    factors = factors_of(store, instrument)
    if factors is None:
        return None
    return TradingContext(
        rules=_rules(known, account.margin_rate),
        factors=factors,
        funds=_funds_of(store, account, store.positions.get(instrument)),
        bid=quote.bid,
        ask=quote.ask,
        age=_age(quote, now),
        silent=_silent(store, now),
        tradeable=quote.tradeable,
        average_range=_average_range(store, instrument),
        daily_range=_daily_range(store, known),
        bids=depth_of(quote.bids, worse=-1),
        asks=depth_of(quote.asks, worse=1),
        base_factors=_base_factors(store, known),
    )


def depth_of(levels: Sequence[OfferedLevel], *, worse: int) -> tuple[DepthLevel, ...]:
    """Return the levels with units on offer; what does not go on to worse prices cannot be believed, and ends them."""
    depth: list[DepthLevel] = []
    for level in levels:
        read = _level_of(level)
        if read is None or (depth and worse * (read.price - depth[-1].price) <= 0):
            break
        depth.append(read)
    return tuple(depth)


def _level_of(level: OfferedLevel) -> DepthLevel | None:
    """Return a level; None if the broker left a member out, or sent one that is out of range."""
    try:
        price, units = level.price, Decimal(level.liquidity)
    except READ_ERRORS:
        return None
    valid = units.is_finite() and 0 < units < MAX_VALUE and 0 < price < MAX_VALUE
    return DepthLevel(price, units) if valid else None


def _average_range(store: Store, instrument: str) -> Decimal | None:
    """Return the average true range, None when candles could not be read for hours."""
    read = store.average_ranges.get(instrument)
    if read is None or store.clock_ns - read.read_ns > OUTDATED_NS:
        return None
    return read.value


def _daily_range(store: Store, known: Instrument) -> Decimal | None:
    daily_range = store.daily_ranges.get(known.name)
    return None if not daily_range else round_price(Decimal(daily_range), known.display_precision)


def factors_of(store: Store, instrument: str) -> Factors | None:
    """Return the broker's conversion factors of the instrument's quote currency."""
    return _factors_of_currency(store, instrument.rpartition("_")[2])


def _base_factors(store: Store, known: Instrument) -> Factors | None:
    if known.type != "CURRENCY":
        return None
    return _factors_of_currency(store, known.name.partition("_")[0])


def _factors_of_currency(store: Store, currency: str) -> Factors | None:
    account = store.account
    if account is not None and currency == account.currency:
        return HOME
    conversion = store.conversions.get(currency)
    if conversion is None:
        return None
    return Factors(conversion.account_gain, conversion.account_loss, conversion.position_value)


def _age(quote: Quote, now: float) -> float:
    return max(0.0, now - quote.received)


def _silent(store: Store, now: float) -> float:
    received_at = store.health.prices_at
    return inf if received_at is None else max(0.0, now - received_at)


def _rules(known: Instrument, account_rate: Decimal | None) -> Rules:
    return Rules(
        name=known.name,
        pip=pip(known.pip_location),
        price_precision=known.display_precision,
        units_precision=known.trade_units_precision,
        minimum_units=known.minimum_trade_size,
        maximum_order_units=known.maximum_order_units,
        maximum_position=known.maximum_position_size,
        margin_rate=effective_rate(known.margin_rate, account_rate),
        minimum_trail=known.minimum_trailing_stop_distance,
        maximum_trail=known.maximum_trailing_stop_distance,
        long_rate=known.financing.long_rate if known.financing else None,
        short_rate=known.financing.short_rate if known.financing else None,
        financing_days=financing_days(known),
        guarantee=known.guaranteed_stop_loss_order_mode or "DISABLED",
        guarantee_distance=known.minimum_guaranteed_stop_loss_distance or ZERO,
        guarantee_premium=known.guaranteed_stop_loss_order_execution_premium or ZERO,
    )


def financing_days(known: Instrument) -> tuple[int, ...]:
    """Return the days that each weekday's rollover charges, Monday first; empty where the broker did not send them."""
    if known.financing is None:
        return ()
    days = {each.day_of_week: each.days_charged for each in known.financing.financing_days_of_week}
    return tuple(days.get(name, 0) for name in WEEKDAYS)


def holdings_of(store: Store) -> Iterator[Holding]:
    """Yield the net units of each position that has a price."""
    for position in store.positions.values():
        quote = store.quotes.get(position.instrument)
        if quote is not None:
            net = position.long_units + position.short_units
            yield Holding(position.instrument, net, (quote.bid + quote.ask) / 2)


def _funds_of(store: Store, account: AccountState, position: PositionRow | None) -> AccountFunds:
    ids = sorted(position.trade_ids, key=id_order) if position else ()
    held = (store.trades[trade_id] for trade_id in ids if trade_id in store.trades)
    return AccountFunds(
        currency=account.currency,
        nav=account.nav,
        margin_available=account.margin_available,
        margin_used=account.margin_used,
        hedging=account.hedging,
        long_units=position.long_units if position else ZERO,
        short_units=position.short_units if position else ZERO,
        lots=tuple(Lot(trade.units, trade.price, trade.risk) for trade in held),
        mid_nav=account.mid_nav,
        exposure=exposure_of(holdings_of(store)) if are_trades_known(store) else {},
        open_risk=account.open_risk,
        unprotected_trades=account.unprotected_trades,
    )
