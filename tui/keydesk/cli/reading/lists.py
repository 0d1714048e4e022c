"""`keydesk orders`, `positions`, `trades`, `transactions` and `accounts`: what the account has, as lines or as JSON."""

import asyncio
from argparse import Namespace
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from keydesk.cli.account_access import OpenAccount, open_account
from keydesk.cli.broker_records import (
    AccountName,
    OrderRecord,
    PositionRecord,
    TradeRecord,
    TransactionRecord,
)
from keydesk.cli.option_values import instrument_of, read_period
from keydesk.cli.reading.order_lines import order_line
from keydesk.cli.script_output import AccountDocument, kind_of, print_document
from keydesk.terminal.output import print_lines
from keydesk.text.format import counted, date_and_time, money, pair, side_word, units
from keydesk.text.sanitize import SafeText, clean, clean_name, safe
from keydesk_client.account.rows import words_of
from keydesk_client.account.values import READ_ERRORS
from keydesk_client.client import Client
from keydesk_client.errors import KeydeskClientError, message_of
from keydesk_client.models import Position, Trade, Transaction
from keydesk_client.models._core.record import Record
from keydesk_client.resources.answers import text as text_of
from keydesk_client.resources.transactions import Types

TYPE = 40  # characters
WHY = 120
IDS_AT_ONCE = 100
Read = Callable[[OpenAccount, Namespace], Awaitable[Sequence[Record]]]


class OrdersDocument(AccountDocument, frozen=True, tag="orders"):
    """`keydesk orders --json`, newest first."""

    orders: list[OrderRecord]


class TradesDocument(AccountDocument, frozen=True, tag="trades"):
    """`keydesk trades --json`, newest first."""

    trades: list[TradeRecord]


class PositionsDocument(AccountDocument, frozen=True, tag="positions"):
    """`keydesk positions --json`."""

    positions: list[PositionRecord]


class TransactionsDocument(AccountDocument, frozen=True, tag="transactions"):
    """`keydesk transactions --json`, oldest first."""

    transactions: list[TransactionRecord]


class AccountsDocument(AccountDocument, frozen=True, tag="accounts"):
    """`keydesk accounts --json`; `account_id` is the selected one."""

    accounts: list[AccountName]


def orders(options: Namespace) -> int:
    """Print orders; return the exit code."""
    trades: dict[str, Trade] = {}  # of the stops and targets

    async def read(account: OpenAccount, options: Namespace) -> Sequence[Record]:
        found = await _orders(account, options)
        if not options.json:
            trades.update(await _trades_of(account.client, found))
        return found

    return asyncio.run(
        _print(options, OrdersDocument, read, lambda each, _: order_line(each, trades))
    )


def positions(options: Namespace) -> int:
    """Print positions; return the exit code."""
    return asyncio.run(
        _print(options, PositionsDocument, _positions, lambda each, _: position_line(each))
    )


def trades(options: Namespace) -> int:
    """Print trades; return the exit code."""
    return asyncio.run(_print(options, TradesDocument, _trades, lambda each, _: trade_line(each)))


def transactions(options: Namespace) -> int:
    """Print transactions, oldest first; return the exit code."""
    read_period(options)
    return asyncio.run(_print(options, TransactionsDocument, _transactions, transaction_line))


def accounts(options: Namespace) -> int:
    """Print the accounts of the token; return the exit code."""
    return asyncio.run(_print(options, AccountsDocument, _accounts, account_line))


async def _print(
    options: Namespace,
    document: type[AccountDocument],
    read: Read,
    line: Callable[..., SafeText],
) -> int:
    kind = kind_of(document)
    async with open_account(options) as account:
        if getattr(options, "instrument", None):
            options.instrument = await instrument_of(account, options.instrument)
        records = await read(account, options)
        if options.json:
            listed: Mapping[str, Any] = {kind: [each.to_wire() for each in records]}
            print_document(document(**account.head, **listed))
        else:
            lines = [_line(line, each, account) for each in records]
            print_lines(
                *lines, safe(f"{counted(len(records), kind.removesuffix('s'))} of {account.name}")
            )
    return 0


def _line(line: Callable[..., SafeText], record: Record, account: OpenAccount) -> SafeText:
    """Return the line of a record; of one that cannot be read, what can be."""
    try:
        return line(record, account)
    except READ_ERRORS as error:
        words = words_of(record, clean)
        return safe(f"{words or 'a record'}  NOT KNOWN: {clean(message_of(error), WHY)}")


async def _orders(account: OpenAccount, options: Namespace) -> Sequence[Record]:
    found = account.client.orders.iterate(state=options.state, instrument=options.instrument)
    return await _first(found, options.count)


async def _trades_of(client: Client, orders: Sequence[Record]) -> Mapping[str, Trade]:
    """Return the trades of stops and targets by id, also those that were closed; without those that cannot be read."""
    ids = sorted({id_ for each in orders if (id_ := text_of(each, "trade_id"))}, key=len)
    found: dict[str, Trade] = {}
    for start in range(0, len(ids), IDS_AT_ONCE):
        with suppress(KeydeskClientError, *READ_ERRORS):
            wanted = ids[start : start + IDS_AT_ONCE]
            answer = await client.trades.list(state="ALL", ids=wanted, count=IDS_AT_ONCE)
            found |= {each.id: each for each in answer.trades}
    return found


async def _trades(account: OpenAccount, options: Namespace) -> Sequence[Record]:
    found = account.client.trades.iterate(state=options.state, instrument=options.instrument)
    return await _first(found, options.count)


async def _first(found: AsyncIterator[Record], count: int) -> Sequence[Record]:
    records: list[Record] = []
    async for each in found:
        records.append(each)
        if len(records) == count:
            break
    return records


async def _positions(account: OpenAccount, options: Namespace) -> Sequence[Record]:
    positions = account.client.positions
    answer = await (positions.list() if options.all else positions.open())
    wanted = options.instrument
    return [each for each in answer.positions if wanted in {None, text_of(each, "instrument")}]


async def _transactions(account: OpenAccount, options: Namespace) -> Sequence[Record]:
    client, type_ = account.client, options.type or None
    if options.since is not None:
        found = client.transactions.iterate_since(options.since, type_=type_)
        return [each async for each in found]
    if options.from_ is not None or options.to is not None:
        period = client.transactions.iterate(from_=options.from_, to=options.to, type_=type_)
        return [each async for each in period]
    return await _newest(client, options.count, type_)


async def _newest(client: Client, count: int, type_: Types | None) -> Sequence[Transaction]:
    """Return the newest transactions, among the last `count` ids."""
    last = int((await client.accounts.summary()).last_transaction_id)
    found = client.transactions.iterate_since(max(0, last - count), type_=type_)
    return [each async for each in found]


async def _accounts(account: OpenAccount, _: Namespace) -> Sequence[Record]:
    return (await account.client.accounts.list()).accounts


def position_line(position: Position) -> SafeText:
    """Return a position as a line: instrument, units and average price of each side, profit."""
    sides = [
        f"{word} {units(abs(side.units))} @ {side.average_price or '–'}"
        for word, side in (("LONG", position.long), ("SHORT", position.short))
        if side.units
    ]
    profit = money(position.unrealized_pl, signed=True)
    return safe(f"{pair(position.instrument)}  {', '.join(sides) or 'flat'}  {profit}")


def trade_line(trade: Trade) -> SafeText:
    """Return a trade as a line: id, side, units, entry, profit and state."""
    is_open = trade.state == "OPEN"
    size = trade.current_units if is_open else trade.initial_units
    profit = trade.unrealized_pl if is_open else trade.realized_pl
    return safe(
        f"#{clean_name(trade.id)} {side_word(trade.initial_units)} {units(abs(size))} "
        f"{pair(trade.instrument)} @ {trade.price}  "
        f"{money(profit, signed=True)}  {clean_name(str(trade.state), TYPE)}"
    )


def transaction_line(transaction: Transaction, account: OpenAccount) -> SafeText:
    """Return a transaction as a line: id, time, type, and the members that say what it did."""
    names = ("instrument", "units", "price", "reason", "reject_reason", "pl", "account_balance")
    members = [clean(str(value)) for name in names if (value := getattr(transaction, name, None))]
    time = date_and_time(transaction.time.ns, account.zone)
    kind = clean_name(str(transaction.type), TYPE)
    return safe(f"#{clean_name(transaction.id)} {time} {kind} {' '.join(members)}".rstrip())


def account_line(record: Record, account: OpenAccount) -> SafeText:
    """Return an account of the token as a line; `*` marks the one that is open."""
    id_ = text_of(record, "id") or ""
    mark = "*" if id_ == account.target.account_id else " "
    tags = " ".join(getattr(record, "tags", None) or ())
    return safe(f"{mark} {clean_name(id_, TYPE)} {clean(tags)}".rstrip())
