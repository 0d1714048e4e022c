"""What the details of a row say: name and value, everything that is known of it."""

from decimal import Decimal

from keydesk.records import DependentOrder, OrderRow, PositionRow, TradeRow
from keydesk.store.state import LogLine
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
from keydesk.text.sanitize import Printable

Rows = list[tuple[Printable, str]]


def of_trade(trade: TradeRow, store: Store) -> Rows:
    """Everything known of an open trade."""
    home, places = _home(store), _places(store, trade.instrument)
    return [
        ("instrument", pair(trade.instrument)),
        ("units", units(trade.units, signed=True)),
        ("opened with", units(trade.initial_units, signed=True)),
        ("entry", price(trade.price, places)),
        ("opened", date_and_time(trade.open_time_ns)),
        ("now", price(trade.now, places)),
        ("profit or loss", _cash(trade.unrealized_pl, store)),
        ("pips", pips(trade.pips)),
        ("R", r_multiple(trade.r_multiple)),
        ("realised", f"{money(trade.realized_pl, signed=True)} {home}"),
        ("financing", f"{money(trade.financing, signed=True)} {home}"),
        ("margin used", f"{money(trade.margin_used)} {home}"),
        ("stop-loss", _dependent(trade.stop_loss, places)),
        ("take-profit", _dependent(trade.take_profit, places)),
        ("trailing stop", _dependent(trade.trailing_stop, places)),
        ("guaranteed stop", _dependent(trade.guaranteed_stop, places)),
        ("risk to the stop", "no stop" if trade.risk is None else f"{money(trade.risk)} {home}"),
        ("tag", trade.tag or EMPTY),
    ]


def of_order(order: OrderRow, store: Store) -> Rows:
    """Everything known of a pending order."""
    places = _places(store, order.instrument)
    return [
        ("type", order.type.replace("_", " ").lower()),
        ("instrument", pair(order.instrument)),
        ("units", units(order.units, signed=True)),
        ("price", price(order.price, places)),
        ("distance", _plain(order.distance)),
        ("pips away", pips(order.pips_away, signed=False)),
        ("time in force", order.time_in_force),
        ("expires", EMPTY if order.gtd_ns is None else date_and_time(order.gtd_ns)),
        ("of trade", order.trade_id or EMPTY),
        *([("reduce-only", "yes: it never opens a trade")] if order.reduces else []),
        ("stop on fill", price(order.stop_loss, places)),
        ("target on fill", price(order.take_profit, places)),
        ("client id", order.client_id or EMPTY),
        ("created", date_and_time(order.create_time_ns)),
    ]


def of_position(position: PositionRow, store: Store) -> Rows:
    """Everything known of a position."""
    home, places = _home(store), _places(store, position.instrument)
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


def of_instrument(name: str, store: Store) -> Rows:
    """What may be done with an instrument, and its price."""
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
        ("pip", f"{Decimal(1).scaleb(known.pip_location):f}"),
        ("margin rate", percent(known.margin_rate)),
        ("smallest trade", f"{known.minimum_trade_size:f} units"),
        ("largest order", units(known.maximum_order_units)),
        ("financing long", percent(getattr(financing, "long_rate", None), signed=True)),
        ("financing short", percent(getattr(financing, "short_rate", None), signed=True)),
    ]


def of_log_line(line: LogLine, store: Store) -> Rows:
    """Everything a line of the log holds."""
    return [
        ("transaction", line.id or "the desk's own line"),
        ("time", date_and_time(line.time_ns)),
        ("kind", line.kind.lower()),
        ("instrument", pair(line.instrument) if line.instrument else EMPTY),
        ("what", line.text),
        ("balance changed by", _cash(line.amount, store)),
        ("profit or loss", _cash(line.pl, store)),
    ]


def of_notices(store: Store) -> Rows:
    """Everything that was told, newest first."""
    told: Rows = [
        (date_and_time(notice.time_ns), notice.text) for notice in reversed(store.notices)
    ]
    return told or [("nothing yet", "What becomes of an order is told here")]


def _dependent(order: DependentOrder | None, places: int) -> str:
    if order is None:
        return EMPTY
    return f"{price(order.price, places)}  #{order.order_id}"


def _cash(amount: Decimal | None, store: Store) -> str:
    return EMPTY if amount is None else f"{money(amount, signed=True)} {_home(store)}"


def _plain(value: Decimal | None) -> str:
    return EMPTY if value is None else f"{value:f}"


def _home(store: Store) -> str:
    return store.account.currency if store.account else ""


def _places(store: Store, instrument: str) -> int:
    known = store.instruments.get(instrument)
    return known.display_precision if known else 5
