"""Revalue trades, positions and account totals once a frame, after the prices that changed.

The broker's own figures overwrite these whenever they arrive; between two of its answers these follow the prices, with
its conversion factors and scaled to its margin (`PositionRow.margin_factor`).
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from keydesk.calc import risk
from keydesk.calc.profit import HOME, Factors, average_price, closing_price, profit, profit_in_pips
from keydesk.calc.sizing import (
    closeout_percent,
    effective_rate,
    margin_available,
    position_units,
    required_margin,
)
from keydesk.calc.trading_day import day_profit, day_start, nav_at_start, next_day_start
from keydesk.records import AccountState, OrderRow, PositionRow, Quote, Today, TradeRow
from keydesk.store.candles import begin_day
from keydesk.store.state import Topic
from keydesk.store.store import Store

NOTHING = Decimal(0)


def rebuild_position(store: Store, instrument: str) -> None:
    """Sum the open trades of an instrument; remove the position if there are none."""
    trades = [trade for trade in store.trades.values() if trade.instrument == instrument]
    if trades:
        store.positions[instrument] = position_of(instrument, trades)
    elif store.positions.pop(instrument, None) is None:
        return
    store.mark(Topic.POSITIONS)
    store.mark(Topic.POSITIONS, instrument)


def position_of(instrument: str, trades: Sequence[TradeRow]) -> PositionRow:
    """Return the row of a position from its trades."""
    longs = [trade for trade in trades if trade.units > 0]
    shorts = [trade for trade in trades if trade.units < 0]
    return PositionRow(
        instrument=instrument,
        long_units=sum((trade.units for trade in longs), NOTHING),
        long_average=_average(longs),
        short_units=sum((trade.units for trade in shorts), NOTHING),
        short_average=_average(shorts),
        unrealized_pl=total(trade.unrealized_pl for trade in trades),
        margin_used=total(trade.margin_used for trade in trades),
        trade_ids=tuple(trade.id for trade in trades),
    )


def total(parts: Iterable[Decimal | None]) -> Decimal | None:
    """Return the sum, or None if a part is unknown."""
    sum_so_far = NOTHING
    for part in parts:
        if part is None:
            return None
        sum_so_far += part
    return sum_so_far


def _average(trades: Sequence[TradeRow]) -> Decimal | None:
    return average_price((trade.units, trade.price) for trade in trades)


def trail(store: Store, trade: TradeRow, closing: Decimal) -> None:
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
    order = store.orders.get(stop.order_id)
    if order is not None:
        order.price = moved
        store.mark(Topic.ORDERS, order.id)


def revalue_account(store: Store, account: AccountState) -> None:
    """Sum the account's figures; those with an unknown part stay the broker's."""
    trades, positions = store.trades.values(), store.positions.values()
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
        account.margin_closeout_percent = closeout_percent(account.margin_used, account.mid_nav)
    account.open_risk = sum((trade.risk for trade in trades if trade.risk is not None), NOTHING)
    account.naked_trades = sum(1 for trade in trades if _is_naked(trade))
    _revalue_day(store, account)
    store.mark(Topic.ACCOUNT)


def _is_naked(trade: TradeRow) -> bool:
    return not (trade.stop_loss or trade.trailing_stop or trade.guaranteed_stop)


def _revalue_day(store: Store, account: AccountState) -> None:
    today = store.today
    if today is None or today.unrealized_then is None:
        return
    account.day_transfers = today.transfers
    account.day_start_nav = nav_at_start(
        account.balance, today.booked, today.transfers, today.unrealized_then
    )
    account.day_pl = day_profit(account.nav, account.day_start_nav, today.transfers)


def turn_day(store: Store, account: AccountState) -> bool:
    """Begin a new trading day at 17:00 New York; return whether one began."""
    today = store.today
    if today is None or store.clock_ns < next_day_start(today.start_ns):
        return False
    store.today = Today(day_start(store.clock_ns), unrealized_then=account.unrealized_pl)
    begin_day(store)
    return True


def note_spreads(store: Store, moved: Iterable[object], now: float) -> None:
    """Sample the spreads of the prices that moved."""
    for name in moved:
        if (quote := store.quotes.get(str(name))) is not None:
            store.spreads.note(quote.instrument, quote.ask - quote.bid, now)


def revalue(store: Store, now: float) -> None:
    """Update everything that depends on prices; runs before each frame."""
    prices = store.dirty_keys(Topic.PRICES)
    note_spreads(store, prices, now)
    account = store.account
    if account is None:
        return
    held = _to_revalue(store, prices)
    for instrument in held:
        _revalue_position(store, instrument)
    if prices or store.dirty_keys(Topic.ORDERS):
        _measure_orders(store, prices)
    begins_day = turn_day(store, account)
    if held or begins_day or store.dirty_keys(Topic.ACCOUNT):
        revalue_account(store, account)


def factors_of(store: Store, currency: str) -> Factors | None:
    """Return the conversion factors of a currency, None while unknown."""
    if store.account is not None and store.account.currency == currency:
        return HOME
    conversions = store.conversions.get(currency)
    if conversions is None:
        return None
    return Factors(conversions.account_gain, conversions.account_loss, conversions.position_value)


def margin_rate(store: Store, instrument: str) -> Decimal | None:
    """Return the effective margin rate of an instrument, None while unknown."""
    specification = store.instruments.get(instrument)
    if specification is None:
        return None
    own = store.account.margin_rate if store.account is not None else None
    return effective_rate(specification.margin_rate, own)


def plain_margin(store: Store, position: PositionRow) -> Decimal | None:
    """Return the margin of a position by the desk's own formula; None while a value is unknown."""
    quote = store.quotes.get(position.instrument)
    factors = factors_of(store, quote_currency(position.instrument))
    rate = margin_rate(store, position.instrument)
    if quote is None or factors is None or rate is None:
        return None
    units = position_units(position.long_units, position.short_units)
    return required_margin(units, rate, _mid(quote), factors.value)


def quote_currency(instrument: str) -> str:
    """Return the quote currency of an instrument."""
    return instrument.rpartition("_")[2]


def _to_revalue(store: Store, prices: frozenset[object]) -> set[str]:
    positions, trades = store.dirty_keys(Topic.POSITIONS), store.dirty_keys(Topic.TRADES)
    if None in positions or None in trades or None in prices:
        return set(store.positions)
    held = {name for name in store.positions if name in prices or name in positions}
    return held | {trade.instrument for trade in store.trades.values() if trade.id in trades}


def _revalue_position(store: Store, instrument: str) -> None:
    position, quote = store.positions[instrument], store.quotes.get(instrument)
    factors = factors_of(store, quote_currency(instrument))
    if quote is None or factors is None:
        return
    mid = _mid(quote)
    mid_pl = NOTHING
    for trade_id in position.trade_ids:
        trade = store.trades[trade_id]
        _revalue_trade(store, trade, quote, factors)
        mid_pl += profit(trade.units, trade.price, mid, factors)
        store.mark(Topic.TRADES, trade_id)
    position.mid_pl = mid_pl
    position.unrealized_pl = total(store.trades[each].unrealized_pl for each in position.trade_ids)
    plain = plain_margin(store, position)
    if plain is not None:
        position.margin_used = plain * position.margin_factor
    store.mark(Topic.POSITIONS, instrument)
    store.mark(Topic.ACCOUNT)


def _revalue_trade(store: Store, trade: TradeRow, quote: Quote, factors: Factors) -> None:
    trade.now = closing_price(trade.units, quote.bid, quote.ask)
    trail(store, trade, trade.now)
    trade.unrealized_pl = profit(trade.units, trade.price, trade.now, factors)
    specification = store.instruments.get(trade.instrument)
    if specification is not None:
        pip = Decimal(1).scaleb(specification.pip_location)
        trade.pips = profit_in_pips(trade.units, trade.price, trade.now, pip)
    rate = margin_rate(store, trade.instrument)
    if rate is not None:
        trade.margin_used = required_margin(trade.units, rate, _mid(quote), factors.value)
    _revalue_risk(trade, factors)


def _revalue_risk(trade: TradeRow, factors: Factors) -> None:
    stops = (trade.stop_loss, trade.trailing_stop, trade.guaranteed_stop)
    stop = risk.nearest_stop(trade.units, (each.price for each in stops if each is not None))
    if stop is None:
        trade.risk = trade.locked = None
    else:
        trade.risk = risk.open_risk(trade.units, trade.price, stop, factors)
        trade.locked = risk.locked_profit(trade.units, trade.price, stop, factors)
    if trade.initial_risk is None and trade.initial_stop is not None:
        trade.initial_risk = risk.open_risk(
            trade.initial_units, trade.price, trade.initial_stop, factors
        )
    result = trade.realized_pl + trade.financing + (trade.unrealized_pl or NOTHING)
    trade.r_multiple = risk.r_multiple(result, trade.initial_risk)


def _measure_orders(store: Store, moved: frozenset[object]) -> None:
    fresh = store.dirty_keys(Topic.ORDERS)
    for order in store.orders.values():
        if order.instrument in moved or None in fresh or order.id in fresh:
            quote = store.quotes.get(order.instrument)
            specification = store.instruments.get(order.instrument)
            if quote is None or specification is None or order.price is None:
                continue
            side = quote.ask if _buys(order, store) else quote.bid
            pip = Decimal(1).scaleb(specification.pip_location)
            order.pips_away = abs(order.price - side) / pip
            store.mark(Topic.ORDERS, order.id)


def _buys(order: OrderRow, store: Store) -> bool:
    """Return whether an order buys when it fills; one that closes a long trade sells."""
    if order.units is not None:
        return order.units > 0
    trade = store.trades.get(order.trade_id or "")
    return trade is not None and trade.units < 0


def _mid(quote: Quote) -> Decimal:
    return (quote.bid + quote.ask) / 2
