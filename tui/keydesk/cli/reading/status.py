"""`keydesk status`: print the account."""

import asyncio
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from keydesk.cli.account_access import OpenAccount, open_account
from keydesk.cli.reading.order_lines import level, order_line
from keydesk.terminal.output import say
from keydesk.text.format import (
    UNLIMITED,
    counted,
    date_and_time,
    money,
    pair,
    percent,
    units,
)
from keydesk.text.sanitize import Printable, SafeText, clean, clean_name, safe
from keydesk_client.account.values import READ_ERRORS
from keydesk_client.client import Client
from keydesk_client.errors import KeydeskClientError
from keydesk_client.models import Account, Order, TradeSummary

STOPS = (
    ("SL", "stop_loss_order_id"),
    ("GSL", "guaranteed_stop_loss_order_id"),
    ("TSL", "trailing_stop_loss_order_id"),
)
TARGET = (("TP", "take_profit_order_id"),)
ACCOUNT_ID = 40  # characters
USUAL = "EUR_USD"  # whose price is asked for the time where nothing is held


def status(options: Namespace) -> int:
    """Print the account, or with --all every account of every profile; return the exit code."""
    if options.all:
        from keydesk.cli.all_accounts import status_of_all  # noqa: PLC0415 - for --all only

        return asyncio.run(status_of_all(options))
    asyncio.run(_status(options))
    return 0


async def _status(options: Namespace) -> None:
    async with open_account(options) as reach:
        account = (await reach.client.accounts.get()).account
        if options.json:
            reach.say_document("status", {"account": account.to_wire()})
        else:
            say(*_lines(reach, account, await _present_time(reach.client, account)))


async def _present_time(client: Client, account: Account) -> int | None:
    """Return the broker's time, which in a replay is another one than the machine's; None where no price can be read."""
    held = {each.instrument for each in account.trades}
    with suppress(KeydeskClientError, *READ_ERRORS):
        answer = await client.pricing.get(sorted(held) or [USUAL])
        return answer.time.ns
    return None


def _lines(reach: OpenAccount, account: Account, time_ns: int | None) -> Iterator[Printable]:
    alias = f" {clean(account.alias)}" if account.alias else ""
    hedging = "hedging" if account.hedging_enabled else "netting"
    who = f"{clean(reach.target.profile)}  account {clean_name(account.id, ACCOUNT_ID)}{alias}"
    time = "" if time_ns is None else f"  {date_and_time(time_ns, reach.zone)}"
    yield safe(f"{reach.environment}  {who}  {clean_name(account.currency)}, {hedging}{time}")
    yield safe(
        f"NAV {money(account.nav)}   balance {money(account.balance)}   "
        f"open P/L {money(account.unrealized_pl, signed=True)}"
    )
    yield safe(
        f"margin used {money(account.margin_used)}   available {money(account.margin_available)}   "
        f"closeout {percent(account.margin_closeout_percent, 1)} %"
    )
    orders = {order.id: order for order in account.orders}
    unprotected = sum(not _stops(each, orders) for each in account.trades)
    if unprotected:
        yield safe(f"open risk {UNLIMITED}: {counted(unprotected, 'trade')} without a stop")
    yield from _list_lines("trade", [_trade_line(each, orders) for each in account.trades])
    dependents = {
        getattr(trade, name, None) for trade in account.trades for _, name in (*STOPS, *TARGET)
    }
    entries = [
        safe(f"  {order_line(each, {})}") for each in account.orders if each.id not in dependents
    ]
    yield from _list_lines("entry order", entries)


def _list_lines(what: str, lines: Sequence[Printable]) -> Iterator[Printable]:
    yield ""
    yield safe(f"{len(lines) or 'No'} {what}{'' if len(lines) == 1 else 's'}")
    yield from lines


def _trade_line(trade: TradeSummary, orders: Mapping[str, Order]) -> SafeText:
    side = "LONG" if trade.current_units > 0 else "SHORT"
    stops, target = _stops(trade, orders), _levels(trade, orders, TARGET)
    levels = [*(stops or ["no stop"]), *(target if stops or target else ["no target"])]
    return safe(
        f"  #{clean_name(trade.id)} {side} {units(abs(trade.current_units))} {pair(trade.instrument)} "
        f"@ {trade.price}  {money(trade.unrealized_pl, signed=True)}  "
        f"{(' ' if stops else ', ').join(levels)}"
    )


def _stops(trade: TradeSummary, orders: Mapping[str, Order]) -> list[str]:
    return _levels(trade, orders, STOPS)


def _levels(
    trade: TradeSummary, orders: Mapping[str, Order], kinds: Sequence[tuple[str, str]]
) -> list[str]:
    """Return the levels of a trade's dependent orders of these kinds, each with its word."""
    found = ((word, orders.get(getattr(trade, name) or "")) for word, name in kinds)
    return [
        f"{word} {level(order).removeprefix('@ ')}" for word, order in found if order is not None
    ]
