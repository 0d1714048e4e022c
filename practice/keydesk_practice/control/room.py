"""`keydesk practice room`: the accounts of a class on one page, ranked by what they made of what was paid in.

A plain table that repaints itself on a terminal, one table in a pipe, or JSON. It works with one process and with a cluster:
all it uses is the control interface.
"""

import argparse
import json
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from keydesk_practice.control.client import ControlClient
from keydesk_practice.engine.wire_form import SECOND, parse_time

REFRESH_SECONDS = 2.0
HEADINGS = ("#", "account", "name", "", "equity", "profit", "return", "open", "orders", "last fill")
_RIGHT = frozenset({"#", "equity", "profit", "return", "open", "orders", "last fill"})
_NAME_WIDTH = 20
_HOME_AND_CLEAR = "\x1b[H\x1b[2J"
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
Answer = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Standing:
    """One account of the room; money is in its home currency, `result` is a fraction of what was paid in."""

    rank: int
    account: str
    name: str
    currency: str
    equity: str
    profit: str
    result: str
    open_trades: int
    pending_orders: int
    seconds_since_fill: int | None


def standings(state: Answer) -> list[Standing]:
    """Return the accounts of a state, the best result first."""
    accounts = sorted(state["accounts"], key=lambda one: (-_result(one), one["id"]))
    now = parse_time(state["time"])
    return [_standing(rank, one, now) for rank, one in enumerate(accounts, 1)]


def room_lines(state: Answer, width: int = 100, height: int | None = None) -> list[str]:
    """Return the room as lines of at most `width` characters; of more accounts than fit, the first ones."""
    pace = f"running, speed {state['speed']}" if state["running"] else "paused"
    ranked = standings(state)
    active = sum(bool(one.open_trades or one.pending_orders) for one in ranked)
    head = f"{state['time'][:19]}Z  {pace}  {len(ranked)} accounts, {active} with trades or orders"
    rows = [_cells(one) for one in ranked]
    left = 0
    if height is not None and len(rows) > (most := max(height - 3, 1)):
        rows, left = rows[: most - 1 or 1], len(rows) - (most - 1 or 1)
    more = [f"and {left} more: a taller window or --json shows them"] if left else []
    return [line[:width].rstrip() for line in (head, *_table([HEADINGS, *rows]), *more)]


def run_room(
    client: ControlClient,
    options: argparse.Namespace,
    wait: Callable[[float], None] = time.sleep,
) -> int:
    """Show the room, or act on all of it; return the exit code."""
    match options.action:
        case "pause" | "play" as action:
            client.call("POST", f"/clock/{action}", {})
        case "reset":
            _reset(client, options)
        case _:
            return _show(client, options, wait)
    print("\n".join(room_lines(client.call("GET", "/state"))))  # noqa: T201 - the command's output
    return 0


def _reset(client: ControlClient, options: argparse.Namespace) -> None:
    known = [one["id"] for one in client.call("GET", "/state")["accounts"]]
    if not options.accounts and not options.yes:
        raise SystemExit(
            f"this begins all {len(known)} accounts anew: name some, or repeat with --yes"
        )
    body = {} if options.balance is None else {"balance": options.balance}
    for account in options.accounts or known:
        client.call("POST", f"/accounts/{account}/reset", body)


def _show(client: ControlClient, options: argparse.Namespace, wait: Callable[[float], None]) -> int:
    state = client.call("GET", "/state")
    if options.json:
        shown = {name: state[name] for name in ("time", "running", "speed")}
        ranked = [asdict(one) for one in standings(state)]
        print(json.dumps({**shown, "accounts": ranked}))  # noqa: T201 - the command's output
        return 0
    if options.once or not sys.stdout.isatty():
        print("\n".join(room_lines(state)))  # noqa: T201 - the command's output
        return 0
    try:
        while True:
            size = shutil.get_terminal_size()
            lines = room_lines(state, size.columns - 1, size.lines - 1)
            print(_HOME_AND_CLEAR + "\n".join(lines), end="", flush=True)  # noqa: T201
            wait(options.refresh)
            state = client.call("GET", "/state")
    except KeyboardInterrupt:
        print()  # noqa: T201 - the shell's prompt begins a line of its own
        return 130


def _standing(rank: int, account: Answer, now: int) -> Standing:
    filled = account.get("lastFill")
    return Standing(
        rank=rank,
        account=account["id"],
        name=_printable(account.get("alias") or ""),
        currency=account["currency"],
        equity=f"{Decimal(account['nav']):.2f}",
        profit=f"{_profit(account):.2f}",
        result=f"{_result(account):.4f}",
        open_trades=account["openTrades"],
        pending_orders=account["pendingOrders"],
        seconds_since_fill=None if filled is None else max(now - parse_time(filled), 0) // SECOND,
    )


def _profit(account: Answer) -> Decimal:
    return Decimal(account["nav"]) - Decimal(account["paidIn"])


def _result(account: Answer) -> Decimal:
    paid_in = Decimal(account["paidIn"])
    return _profit(account) / paid_in if paid_in > 0 else Decimal(0)


def _printable(text: str) -> str:
    """Return a trader's text without what a terminal would obey."""
    return "".join(one if one.isprintable() else "?" for one in text)


def _cells(one: Standing) -> tuple[str, ...]:
    return (
        str(one.rank),
        one.account,
        one.name[:_NAME_WIDTH],
        one.currency,
        f"{Decimal(one.equity):,.2f}",
        f"{Decimal(one.profit):+,.2f}",
        f"{Decimal(one.result) * 100:+.2f}%",
        str(one.open_trades),
        str(one.pending_orders),
        _age(one.seconds_since_fill),
    )


def _age(seconds: int | None) -> str:
    if seconds is None:
        return "never"
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if heading in _RIGHT else cell.ljust(width)
            for cell, width, heading in zip(row, widths, HEADINGS, strict=True)
        )
        for row in rows
    ]
