"""`keydesk status`: the account in one screenful, or whole as JSON."""

import asyncio
import json
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from time import time_ns

from keydesk.clean import clean
from keydesk.cli.reaching import Reached, account_parser, reached
from keydesk.format import EMPTY, date_and_time, money, pair, percent, units
from keydesk_client.models import Account, Order, TradeSummary

PROTECTION = (
    ("SL", "stop_loss_order_id"),
    ("GSL", "guaranteed_stop_loss_order_id"),
    ("TP", "take_profit_order_id"),
    ("TSL", "trailing_stop_loss_order_id"),
)


def main(words: Sequence[str]) -> int:
    """Print it; returns the exit code."""
    parser = account_parser("status", "The account in one screenful.")
    parser.add_argument("--json", action="store_true", help="everything, with exact numbers")
    options = parser.parse_args(words)
    print(asyncio.run(_status(options)))
    return 0


async def _status(options: Namespace) -> str:
    async with reached(options) as reach:
        account = (await reach.client.accounts.get()).account
    return _json(reach, account) if options.json else "\n".join(_lines(reach, account))


def _json(reach: Reached, account: Account) -> str:
    said = {
        "profile": reach.target.profile,
        "environment": reach.environment,
        "account": account.to_wire(),
    }
    return json.dumps(said, indent=2)


def _lines(reach: Reached, account: Account) -> Iterator[str]:
    alias = f" {clean(account.alias)}" if account.alias else ""
    hedging = "hedging" if account.hedging_enabled else "netting"
    yield (
        f"{reach.environment}  {reach.target.profile}  account {account.id}{alias}  "
        f"{account.currency}, {hedging}  {date_and_time(time_ns())}"
    )
    yield (
        f"NAV {money(account.nav)}   balance {money(account.balance)}   "
        f"open P/L {money(account.unrealized_pl, signed=True)}"
    )
    yield (
        f"margin used {money(account.margin_used)}   available {money(account.margin_available)}   "
        f"closeout {percent(account.margin_closeout_percent, 1)} %"
    )
    orders = {order.id: order for order in account.orders}
    yield from _listed("trade", [_trade_line(each, orders) for each in account.trades])
    dependents = {getattr(trade, name) for trade in account.trades for _, name in PROTECTION}
    entries = [_order_line(each) for each in account.orders if each.id not in dependents]
    yield from _listed("entry order", entries)


def _listed(what: str, lines: Sequence[str]) -> Iterator[str]:
    yield ""
    yield f"{len(lines) or 'No'} {what}{'' if len(lines) == 1 else 's'}"
    yield from lines


def _trade_line(trade: TradeSummary, orders: Mapping[str, Order]) -> str:
    side = "LONG" if trade.current_units > 0 else "SHORT"
    protection = [
        f"{word} {_level(orders[id_])}"
        for word, name in PROTECTION
        if (id_ := getattr(trade, name)) in orders
    ]
    return (
        f"  #{trade.id} {side} {units(abs(trade.current_units))} {pair(clean(trade.instrument))} "
        f"@ {trade.price}  {money(trade.unrealized_pl, signed=True)}  "
        f"{' '.join(protection) or 'no stop, no target'}"
    )


def _order_line(order: Order) -> str:
    size: Decimal | None = getattr(order, "units", None)
    side = EMPTY if size is None else ("BUY" if size > 0 else "SELL")
    instrument = pair(clean(getattr(order, "instrument", EMPTY)))
    amount = units(None if size is None else abs(size))
    return f"  #{order.id} {clean(str(order.type))} {side} {amount} {instrument} @ {_level(order)}"


def _level(order: Order) -> str:
    trailing = getattr(order, "trailing_stop_value", None)
    return str(trailing or getattr(order, "price", None) or EMPTY)
