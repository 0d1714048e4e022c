"""`keydesk status`: print the account."""

import asyncio
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Annotated

from msgspec import Meta

from keydesk.cli.account_access import OpenAccount, open_account
from keydesk.cli.broker_records import AccountFigures, as_sent
from keydesk.cli.reading.order_lines import level, order_line
from keydesk.cli.script_output import AccountDocument, print_document
from keydesk.terminal.output import print_lines
from keydesk.text.format import (
    UNLIMITED,
    counted,
    date_and_time,
    money,
    pair,
    percent,
    side_word,
    units,
)
from keydesk.text.sanitize import Printable, SafeText, clean, clean_name, safe
from keydesk.trading.open_items import UNKNOWN, unread_parts
from keydesk_client.account.values import MAX_VALUE, READ_ERRORS
from keydesk_client.client import Client
from keydesk_client.errors import KeydeskClientError
from keydesk_client.models import Account, Order, TradeSummary
from keydesk_client.models._core.record import Record

STOPS = (
    ("SL", "stop_loss_order_id"),
    ("GSL", "guaranteed_stop_loss_order_id"),
    ("TSL", "trailing_stop_loss_order_id"),
)
TARGET = (("TP", "take_profit_order_id"),)
ACCOUNT_ID = 40  # characters
UNREAD = 500  # characters of what could not be read
USUAL = "EUR_USD"  # whose price is asked for the time where nothing is held


class StatusDocument(AccountDocument, frozen=True, tag="status"):
    """`keydesk status --json`."""

    unread: Annotated[
        list[str],
        Meta(
            description="what the broker answered and could not be read: not known, and not none; empty as a rule"
        ),
    ]
    account: AccountFigures


def status(options: Namespace) -> int:
    """Print the account, or with --all every account of every profile; return the exit code."""
    if options.all:
        from keydesk.cli.all_accounts import status_of_all  # noqa: PLC0415 - for --all only

        return asyncio.run(status_of_all(options))
    asyncio.run(_status(options))
    return 0


async def _status(options: Namespace) -> None:
    async with open_account(options) as account:
        details = (await account.client.accounts.get()).account
        if options.json:
            [sent] = as_sent(AccountFigures, [details])
            unread = list(unread_parts(details))
            print_document(StatusDocument(**account.head, unread=unread, account=sent))
        else:
            print_lines(*_lines(account, details, await _present_time(account.client, details)))


async def _present_time(client: Client, account: Account) -> int | None:
    """Return the broker's time, which in a replay is another one than the machine's; None where no price can be read."""
    with suppress(KeydeskClientError, *READ_ERRORS):
        held = {each.instrument for each in account.trades}
        answer = await client.pricing.get(sorted(held) or [USUAL])
        return answer.time.ns
    return None


def _lines(account: OpenAccount, details: Account, time_ns: int | None) -> Iterator[Printable]:
    alias = f" {clean(known)}" if (known := _text(details, "alias")) else ""
    hedging = getattr(details, "hedging_enabled", None)
    kind = UNKNOWN if hedging is None else "hedging" if hedging else "netting"
    number = clean_name(_text(details, "id") or UNKNOWN, ACCOUNT_ID)
    who = f"{clean(account.target.profile)}  account {number}{alias}"
    time = "" if time_ns is None else f"  {date_and_time(time_ns, account.zone)}"
    currency = clean_name(_text(details, "currency") or UNKNOWN)
    yield safe(f"{account.environment}  {who}  {currency}, {kind}{time}")
    unread = unread_parts(details)
    if unread:
        yield safe(
            f"NOT KNOWN, as the broker's answer could not be read: {clean('; '.join(unread), UNREAD)}"
        )
    yield safe(
        f"NAV {_money(details, 'nav')}   balance {_money(details, 'balance')}   "
        f"open P/L {_money(details, 'unrealized_pl', signed=True)}"
    )
    closeout = _amount(details, "margin_closeout_percent")
    yield safe(
        f"margin used {_money(details, 'margin_used')}   available {_money(details, 'margin_available')}   "
        f"closeout {UNKNOWN if closeout is None else percent(closeout, 1)} %"
    )
    yield from _held(details)


def _held(account: Account) -> Iterator[Printable]:
    """Yield the trades and the entry orders, as far as they can be read."""
    listed: Sequence[Order] | None = getattr(account, "orders", None)
    trades: Sequence[TradeSummary] | None = getattr(account, "trades", None)
    orders = {id_: each for each in listed or () if (id_ := _text(each, "id"))}
    unprotected = sum(_has_no_stop(each) for each in trades or ())
    if unprotected:
        yield safe(f"open risk {UNLIMITED}: {counted(unprotected, 'trade')} without a stop")
    lines = None if trades is None else [_trade_line(each, orders) for each in trades]
    yield from _list_lines("trade", lines)
    named = (_text(trade, name) for trade in trades or () for _, name in (*STOPS, *TARGET))
    dependents = {*named, None} - {None}
    entries = None
    if listed is not None:
        entries = [
            safe(f"  {order_line(each, {})}")
            for each in listed
            if _text(each, "id") not in dependents
        ]
    yield from _list_lines("entry order", entries)


def _list_lines(what: str, lines: Sequence[Printable] | None) -> Iterator[Printable]:
    yield ""
    if lines is None:
        yield safe(f"{what}s: not known")
        return
    yield safe(f"{len(lines) or 'No'} {what}{'' if len(lines) == 1 else 's'}")
    yield from lines


def _trade_line(trade: TradeSummary, orders: Mapping[str, Order]) -> SafeText:
    size, price = _amount(trade, "current_units"), _text(trade, "price")
    side = UNKNOWN if size is None else side_word(size)
    stops, target = _levels(trade, orders, STOPS), _levels(trade, orders, TARGET)
    levels = [*(stops or ["no stop"]), *(target if stops or target else ["no target"])]
    return safe(
        f"  #{clean_name(_text(trade, 'id') or UNKNOWN)} {side} "
        f"{UNKNOWN if size is None else units(abs(size))} {pair(_text(trade, 'instrument') or UNKNOWN)} "
        f"@ {clean_name(price or UNKNOWN)}  {_money(trade, 'unrealized_pl', signed=True)}  "
        f"{(' ' if stops else ', ').join(levels)}"
    )


def _has_no_stop(trade: TradeSummary) -> bool:
    """Return whether a trade names no stop; False where that cannot be read."""
    try:
        return not any(getattr(trade, name) for _, name in STOPS)
    except READ_ERRORS:
        return False


def _levels(
    trade: TradeSummary, orders: Mapping[str, Order], kinds: Sequence[tuple[str, str]]
) -> list[str]:
    """Return the levels of a trade's dependent orders of these kinds, each with its word; one that cannot be read is `?`."""
    found: list[str] = []
    for word, name in kinds:
        try:
            id_ = getattr(trade, name)
        except READ_ERRORS:
            found.append(f"{word} {UNKNOWN}")
            continue
        if id_ is not None:
            known = level(orders[id_]).removeprefix("@ ") if id_ in orders else UNKNOWN
            found.append(f"{word} {known}")
    return found


def _text(record: Record, member: str) -> str | None:
    """Return a member as text, None where there is none or it cannot be read."""
    value = getattr(record, member, None)
    return None if value is None else str(value)


def _amount(record: Record, member: str) -> Decimal | None:
    value = getattr(record, member, None)
    return value if isinstance(value, Decimal) and abs(value) < MAX_VALUE else None


def _money(record: Record, member: str, *, signed: bool = False) -> str:
    value = _amount(record, member)
    return UNKNOWN if value is None else money(value, signed=signed)
