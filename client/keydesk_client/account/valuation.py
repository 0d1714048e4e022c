"""`ValuedAccount`, what the functions of this folder read and write, and its trades, positions and totals at the latest prices.

The desk's store is one book, `following` has another. The service's own figures overwrite those made here whenever they
arrive; between two of its answers these follow the prices, with its conversion factors and scaled to its margin
(`OpenPosition.margin_factor`).
"""

from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Protocol

from keydesk_client.account.records import (
    SIZE_MEMBERS,
    AccountFigures,
    OpenPosition,
    OpenTrade,
    Part,
    PendingOrder,
    Unread,
)
from keydesk_client.account.values import RecordReader
from keydesk_client.arithmetic import risk
from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.arithmetic.margin import (
    closeout_percent,
    effective_rate,
    margin_available,
    position_units,
    required_margin,
)
from keydesk_client.arithmetic.profit import (
    HOME,
    Conversion,
    Factors,
    average_price,
    closing_price,
    currencies,
    factors_from,
    mid_price,
    pip,
    profit,
    profit_in_pips,
    total,
)
from keydesk_client.models import Instrument


class TwoSided(Protocol):
    """A price with a bid and an ask."""

    @property
    def bid(self) -> Decimal: ...
    @property
    def ask(self) -> Decimal: ...


class ValuedAccount(RecordReader, Protocol):
    """An account, the prices and terms by which it is valued, and the listeners to its changes."""

    trades: dict[str, OpenTrade]
    positions: dict[str, OpenPosition]
    orders: dict[str, PendingOrder]
    unread: Unread
    """What is missing from them."""

    @property
    def account(self) -> AccountFigures | None:
        """The totals; None before the first snapshot."""
        ...

    @property
    def instruments(self) -> Mapping[str, Instrument]:
        """The known instruments, by name."""
        ...

    @property
    def quotes(self) -> Mapping[str, TwoSided]:
        """The latest price of each instrument."""
        ...

    @property
    def conversions(self) -> Mapping[str, Conversion]:
        """The factors to home currency, by currency."""
        ...

    def set_figures(self, figures: AccountFigures) -> None:
        """Replace the totals."""
        ...

    def changed(self, part: Part, key: str | None = None) -> None:
        """Note that one trade, position or order changed, or (None) that some came or went."""
        ...


MONEY_STEP = Decimal("0.0001")
PERCENT_STEP = Decimal("0.00001")


def rounded(amount: Decimal, step: Decimal = MONEY_STEP) -> Decimal:
    """Return an amount as the service rounds it, so that sums of several agree with its own to the cent."""
    try:
        return amount.quantize(step, ROUND_HALF_EVEN)
    except InvalidOperation:  # more digits than a real amount has
        return amount


def rebuild_position(book: ValuedAccount, instrument: str) -> None:
    """Sum the open trades of an instrument; remove the position if there are none."""
    trades = [trade for trade in book.trades.values() if trade.instrument == instrument]
    if trades:
        book.positions[instrument] = position_of(instrument, trades)
    elif book.positions.pop(instrument, None) is None:
        return
    book.changed(Part.POSITIONS)
    book.changed(Part.POSITIONS, instrument)


def position_of(instrument: str, trades: Sequence[OpenTrade]) -> OpenPosition:
    """Return the row of a position from its trades."""
    longs = [trade for trade in trades if trade.units > 0]
    shorts = [trade for trade in trades if trade.units < 0]
    return OpenPosition(
        instrument=instrument,
        long_units=sum((trade.units for trade in longs), ZERO),
        long_average=_average(longs),
        short_units=sum((trade.units for trade in shorts), ZERO),
        short_average=_average(shorts),
        unrealized_pl=total(trade.unrealized_pl for trade in trades),
        margin_used=total(trade.margin_used for trade in trades),
        trade_ids=tuple(trade.id for trade in trades),
    )


def _average(trades: Sequence[OpenTrade]) -> Decimal | None:
    return average_price((trade.units, trade.price) for trade in trades)


def trail(book: ValuedAccount, trade: OpenTrade, closing: Decimal) -> None:
    """Move a trailing stop with the closing price, on the trade and among the orders."""
    stop = trade.trailing_stop
    if stop is None or stop.distance is None:
        return
    follows = closing - stop.distance if trade.units > 0 else closing + stop.distance
    nearer = max if trade.units > 0 else min
    moved = follows if stop.price is None else nearer(stop.price, follows)
    if moved == stop.price:
        return
    stop.price = moved
    order = book.orders.get(stop.order_id)
    if order is not None:
        order.price = moved
        book.changed(Part.ORDERS, order.id)


def revalue_account(book: ValuedAccount, account: AccountFigures) -> None:
    """Sum the account's figures; those with an unknown part stay the service's, and the open risk is unknown then."""
    trades, positions = book.trades.values(), book.positions.values()
    account.unprotected_trades = sum(trade.is_unprotected for trade in trades)
    book.changed(Part.ACCOUNT)
    if not all_sizes_known(book):
        account.open_risk = None
        return
    unrealized = total(trade.unrealized_pl for trade in trades)
    used = total(position.margin_used for position in positions)
    mid_pl = total(position.mid_pl for position in positions)
    if unrealized is not None:
        account.unrealized_pl = unrealized
        account.nav = account.balance + unrealized
    if used is not None:
        account.margin_used = used
    account.margin_available = margin_available(account.nav, account.margin_used)
    if mid_pl is not None:
        account.mid_nav = account.balance + mid_pl
        percent = closeout_percent(account.margin_used, account.mid_nav)
        account.margin_closeout_percent = rounded(percent, PERCENT_STEP)
    risks = (trade.risk for trade in trades if not trade.is_unprotected)
    account.open_risk = total(risks)


def all_sizes_known(book: ValuedAccount) -> bool:
    """Return whether every open trade has a row, with its units: without that, no sum over trades means anything."""
    return not (
        book.unread.trades or any(each.unread & SIZE_MEMBERS for each in book.trades.values())
    )


def factors_of(book: ValuedAccount, currency: str) -> Factors | None:
    """Return the conversion factors of a currency, None while unknown."""
    if book.account is not None and book.account.currency == currency:
        return HOME
    conversions = book.conversions.get(currency)
    if conversions is None:
        return None
    return factors_from(conversions)


def margin_rate(book: ValuedAccount, instrument: str) -> Decimal | None:
    """Return the effective margin rate of an instrument, None while unknown."""
    specification = book.instruments.get(instrument)
    if specification is None:
        return None
    own = book.account.margin_rate if book.account is not None else None
    return effective_rate(specification.margin_rate, own)


def plain_margin(book: ValuedAccount, position: OpenPosition) -> Decimal | None:
    """Return the margin of a position by our own formula; None while a value is unknown."""
    quote = book.quotes.get(position.instrument)
    factors = factors_of(book, currencies(position.instrument)[1])
    rate = margin_rate(book, position.instrument)
    if quote is None or factors is None or rate is None:
        return None
    units = position_units(position.long_units, position.short_units)
    return required_margin(units, rate, mid_price(quote.bid, quote.ask), factors.value)


def revalue_position(book: ValuedAccount, instrument: str) -> None:
    """Value a position and its trades at the latest price; leave them while price or conversion are unknown."""
    position, quote = book.positions[instrument], book.quotes.get(instrument)
    factors = factors_of(book, currencies(instrument)[1])
    if quote is None or factors is None:
        return
    mid = mid_price(quote.bid, quote.ask)
    mid_pl = ZERO
    for trade_id in position.trade_ids:
        trade = book.trades[trade_id]
        _revalue_trade(book, trade, quote, factors)
        mid_pl += rounded(profit(trade.units, trade.price, mid, factors))
        book.changed(Part.TRADES, trade_id)
    position.mid_pl = mid_pl
    position.unrealized_pl = total(book.trades[each].unrealized_pl for each in position.trade_ids)
    plain = plain_margin(book, position)
    if plain is not None:
        position.margin_used = rounded(plain * position.margin_factor)
    book.changed(Part.POSITIONS, instrument)
    book.changed(Part.ACCOUNT)


def _revalue_trade(
    book: ValuedAccount, trade: OpenTrade, quote: TwoSided, factors: Factors
) -> None:
    trade.now = closing_price(trade.units, quote.bid, quote.ask)
    trail(book, trade, trade.now)
    trade.unrealized_pl = rounded(profit(trade.units, trade.price, trade.now, factors))
    specification = book.instruments.get(trade.instrument)
    if specification is not None:
        size = pip(specification.pip_location)
        trade.pips = profit_in_pips(trade.units, trade.price, trade.now, size)
    rate = margin_rate(book, trade.instrument)
    if rate is not None:
        trade.margin_used = rounded(
            required_margin(trade.units, rate, mid_price(quote.bid, quote.ask), factors.value)
        )
    _revalue_risk(trade, factors)


def _revalue_risk(trade: OpenTrade, factors: Factors) -> None:
    stops = (trade.stop_loss, trade.trailing_stop, trade.guaranteed_stop)
    stop = risk.nearest_stop(trade.units, (each.price for each in stops if each is not None))
    if stop is None:
        trade.risk = trade.locked = None
    else:
        trade.risk = risk.open_risk(trade.units, trade.price, stop, factors)
        trade.locked = risk.locked_profit(trade.units, trade.price, stop, factors)
    if trade.initial_risk is None and trade.initial_stop is not None:
        trade.initial_risk = risk.initial_risk(
            trade.initial_units,
            trade.price,
            trade.initial_stop,
            trade.initial_premium,
            factors.loss if trade.opened_loss_factor is None else trade.opened_loss_factor,
        )
    result = trade.realized_pl + trade.financing + (trade.unrealized_pl or ZERO)
    trade.r_multiple = None if trade.unread else risk.r_multiple(result, trade.initial_risk)


def measure_order(book: ValuedAccount, order: PendingOrder) -> None:
    """Update how far the price is from an order, in pips; leave it while price, terms or level are unknown."""
    quote = book.quotes.get(order.instrument)
    specification = book.instruments.get(order.instrument)
    if quote is None or specification is None or order.price is None:
        return
    side = quote.ask if _buys(order, book) else quote.bid
    order.pips_away = abs(order.price - side) / pip(specification.pip_location)
    book.changed(Part.ORDERS, order.id)


def _buys(order: PendingOrder, book: ValuedAccount) -> bool:
    """Return whether an order buys when it fills; one that closes a long trade sells."""
    if order.units is not None:
        return order.units > 0
    trade = book.trades.get(order.trade_id or "")
    return trade is not None and trade.units < 0
