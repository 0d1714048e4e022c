"""Once a frame: profit, risk, margin and the account's totals follow the prices that changed.

Only instruments that moved, or whose trades changed, are worked out again. The service's own figures
(store/poll.py) overwrite these whenever it sends them; between two of its answers these keep moving,
with its conversion factors and with its margin as the measure (PositionRow.margin_factor).
"""

from decimal import Decimal

from keydesk.calc import margin, risk
from keydesk.calc.profit import HOME, Factors, closing_price, profit, profit_in_pips
from keydesk.records import OrderRow, PositionRow, Quote, TradeRow
from keydesk.store.positions import total
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.totals import revalue_account, turn_day
from keydesk.store.trailing import trail

NOTHING = Decimal(0)


def revalue(store: Store, _now: float) -> None:
    """Bring everything that depends on prices up to date; the frame clock's first step."""
    account = store.account
    if account is None:
        return
    prices = store.dirty_keys(Topic.PRICES)
    held = _to_revalue(store, prices)
    for instrument in held:
        _revalue_position(store, instrument)
    if prices or store.dirty_keys(Topic.ORDERS):
        _measure_orders(store, prices)
    begins_day = turn_day(store, account)
    if held or begins_day or store.dirty_keys(Topic.ACCOUNT):
        revalue_account(store, account)


def factors_of(store: Store, currency: str) -> Factors | None:
    """What a currency is worth at home, by the broker's factors; None: not told yet."""
    if store.account is not None and store.account.currency == currency:
        return HOME
    conversions = store.conversions.get(currency)
    if conversions is None:
        return None
    return Factors(conversions.account_gain, conversions.account_loss, conversions.position_value)


def margin_rate(store: Store, instrument: str) -> Decimal | None:
    """The margin rate in force for an instrument; None: not told yet."""
    specification = store.instruments.get(instrument)
    if specification is None:
        return None
    own = store.account.margin_rate if store.account is not None else None
    return margin.effective_rate(specification.margin_rate, own)


def plain_margin(store: Store, position: PositionRow) -> Decimal | None:
    """The margin of a position by our own reckoning; None while something is not known."""
    quote = store.quotes.get(position.instrument)
    factors = factors_of(store, quote_currency(position.instrument))
    rate = margin_rate(store, position.instrument)
    if quote is None or factors is None or rate is None:
        return None
    units = margin.position_units(position.long_units, position.short_units)
    return margin.required_margin(units, rate, _mid(quote), factors.value)


def quote_currency(instrument: str) -> str:
    """The currency an instrument is priced in."""
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
        trade.margin_used = margin.required_margin(trade.units, rate, _mid(quote), factors.value)
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
    """Whether an order buys when it fills; one that closes a long trade sells."""
    if order.units is not None:
        return order.units > 0
    trade = store.trades.get(order.trade_id or "")
    return trade is not None and trade.units < 0


def _mid(quote: Quote) -> Decimal:
    return (quote.bid + quote.ask) / 2
