"""The rows of names and values that Enter shows of a trade, an order, a position, an instrument or a log line."""

from decimal import Decimal

from keydesk.calc.orders.plans.exit_plans import plan_text
from keydesk.forms.details_form import Rows
from keydesk.store.store import Store
from keydesk.text.format import (
    EMPTY,
    date_and_time,
    money,
    pair,
    percent,
    pips,
    price,
    r_multiple,
    units,
)
from keydesk.values import DependentOrder, OrderRow, PositionRow, TradeRow
from keydesk.words.log_line import LogLine
from keydesk_client.arithmetic.profit import pip


def trade_rows(trade: TradeRow, store: Store) -> Rows:
    """Return every value of an open trade."""
    home, places = store.home_currency, _places(store, trade.instrument)
    return [
        ("instrument", pair(trade.instrument)),
        ("units", units(trade.units, signed=True)),
        ("opened with", units(trade.initial_units, signed=True)),
        ("entry", price(trade.price, places)),
        ("opened", date_and_time(trade.open_time_ns, store.zone)),
        ("now", price(trade.now, places)),
        ("profit or loss", _cash(trade.unrealized_pl, store)),
        ("pips", pips(trade.pips)),
        ("R", r_multiple(trade.r_multiple)),
        ("realized", f"{money(trade.realized_pl, signed=True)} {home}"),
        ("financing", f"{money(trade.financing, signed=True)} {home}"),
        ("margin used", f"{money(trade.margin_used)} {home}"),
        ("stop-loss", _dependent(trade.stop_loss, places)),
        ("take-profit", _dependent(trade.take_profit, places)),
        ("trailing stop", _dependent(trade.trailing_stop, places)),
        ("guaranteed stop", _dependent(trade.guaranteed_stop, places)),
        *_exit_plan_rows(trade, store),
        ("risk to the stop", "no stop" if trade.risk is None else f"{money(trade.risk)} {home}"),
        ("tag", trade.tag or EMPTY),
        ("comment", trade.comment or EMPTY),
        ("client id", trade.client_id or EMPTY),
    ]


def _exit_plan_rows(trade: TradeRow, store: Store) -> Rows:
    plan, known = store.exit_plans.get(trade.id), store.instruments.get(trade.instrument)
    if plan is None:
        return []
    text = plan_text(plan, None if known is None else pip(known.pip_location), store.zone)
    state = store.exit_plan_states.get(trade.id) or "runs while Keydesk runs"
    return [("exit plan", text), ("", state)]


def order_rows(order: OrderRow, store: Store) -> Rows:
    """Return every value of a pending order."""
    places = _places(store, order.instrument)
    return [
        ("type", order.type.replace("_", " ").lower()),
        ("instrument", pair(order.instrument)),
        ("units", units(order.units, signed=True)),
        ("price", price(order.price, places)),
        ("distance", _plain(order.distance)),
        ("pips away", pips(order.pips_away, signed=False)),
        ("time in force", order.time_in_force),
        ("expires", EMPTY if order.gtd_ns is None else date_and_time(order.gtd_ns, store.zone)),
        ("of trade", order.trade_id or EMPTY),
        *([("reduce-only", "yes: it never opens a trade")] if order.reduces else []),
        ("stop on fill", price(order.stop_loss, places)),
        ("target on fill", price(order.take_profit, places)),
        ("tag", order.tag or EMPTY),
        ("comment", order.comment or EMPTY),
        ("client id", order.client_id or EMPTY),
        ("created", date_and_time(order.create_time_ns, store.zone)),
    ]


def position_rows(position: PositionRow, store: Store) -> Rows:
    """Return every value of a position."""
    home, places = store.home_currency, _places(store, position.instrument)
    return [
        ("instrument", pair(position.instrument)),
        ("long", units(position.long_units, signed=True)),
        ("long average", price(position.long_average, places)),
        ("short", units(position.short_units, signed=True)),
        ("short average", price(position.short_average, places)),
        ("profit or loss", _cash(position.unrealized_pl, store)),
        ("margin used", f"{money(position.margin_used)} {home}"),
        ("trades", ", ".join(f"#{trade_id}" for trade_id in position.trade_ids)),
    ]


def instrument_rows(name: str, store: Store) -> Rows:
    """Return the trading rules and the price of an instrument."""
    known, quote = store.instruments.get(name), store.quotes.get(name)
    if known is None:
        return [("instrument", pair(name))]
    places = known.display_precision
    financing = getattr(known, "financing", None)
    return [
        ("instrument", getattr(known, "display_name", None) or pair(name)),
        ("bid", price(quote.bid if quote else None, places)),
        ("ask", price(quote.ask if quote else None, places)),
        ("tradeable", "yes" if quote and quote.tradeable else "no"),
        ("pip", f"{Decimal(1).scaleb(known.pip_location):f} of the price"),
        ("margin rate", f"{percent(known.margin_rate)} %"),
        ("smallest trade", _counted_units(known.minimum_trade_size)),
        ("largest order", f"{units(known.maximum_order_units)} units"),
        ("financing long", _a_year(getattr(financing, "long_rate", None))),
        ("financing short", _a_year(getattr(financing, "short_rate", None))),
    ]


def _counted_units(size: Decimal) -> str:
    return f"{units(size)} unit{'' if size == 1 else 's'}"


def _a_year(rate: Decimal | None) -> str:
    return EMPTY if rate is None else f"{percent(rate, signed=True)} % a year"


def log_line_rows(line: LogLine, store: Store) -> Rows:
    """Return every value of a log line."""
    return [
        ("transaction", line.id or "the desk's own line"),
        ("time", date_and_time(line.time_ns, store.zone)),
        ("kind", line.kind.lower()),
        ("instrument", pair(line.instrument) if line.instrument else EMPTY),
        ("what", line.text),
        ("balance changed by", _cash(line.amount, store)),
        ("profit or loss", _cash(line.pl, store)),
    ]


def _dependent(order: DependentOrder | None, places: int) -> str:
    if order is None:
        return EMPTY
    return f"{price(order.price, places)}  #{order.order_id}"


def _cash(amount: Decimal | None, store: Store) -> str:
    return EMPTY if amount is None else f"{money(amount, signed=True)} {store.home_currency}"


def _plain(value: Decimal | None) -> str:
    return EMPTY if value is None else f"{value:f}"


def _places(store: Store, instrument: str) -> int:
    known = store.instruments.get(instrument)
    return known.display_precision if known else 5
