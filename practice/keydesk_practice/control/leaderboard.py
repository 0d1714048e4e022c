"""`keydesk practice room`: the accounts of a class on one page, ranked by result as a fraction of the money paid in.

A plain table that repaints itself on a terminal, one table in a pipe, or JSON. All it uses is the control
interface.
"""

import argparse
import json
import shutil
import sys
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import asdict

from keydesk_practice.control.client import ControlClient
from keydesk_practice.engine.wire_form import SECOND, parse_time
from keydesk_practice.errors import ControlFailed, printable

REFRESH_SECONDS = 2.0
HEADINGS = ("#", "account", "name", "", "equity", "profit", "return", "open", "orders", "last fill")
_RIGHT = frozenset({"#", "equity", "profit", "return", "open", "orders", "last fill"})
_NAME_WIDTH = 20
_HOME_AND_CLEAR = "\x1b[H\x1b[2J"
_MAX_MARKS = 3  # combining marks on a character
_WIDE = frozenset("WF")  # East Asian characters that take two columns
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
Answer = Mapping[str, Any]


class LeaderboardRow(Struct, frozen=True):
    """One account of the room; money is in its home currency, `result` is a fraction of the money paid in."""

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


def standings(state: Answer) -> list[LeaderboardRow]:
    """Return the accounts of a state, the best result first."""
    accounts = sorted(state["accounts"], key=lambda one: (-_result(one), one["id"]))
    now = parse_time(state["time"])
    return [_standing(rank, one, now) for rank, one in enumerate(accounts, 1)]


def room_lines(state: Answer, width: int = 100, height: int | None = None) -> list[str]:
    """Return the room as lines of at most `width` characters; of more accounts than fit, the first ones."""
    state_text = f"running, speed {state['speed']}" if state["running"] else "paused"
    ranked = standings(state)
    active = sum(bool(one.open_trades or one.pending_orders) for one in ranked)
    head = f"{state['time'][:19]}Z  {state_text}  {len(ranked)} accounts, {active} with trades or orders"
    rows = [_cells(one) for one in ranked]
    left = 0
    if height is not None and len(rows) > (max_rows := max(height - 3, 1)):
        rows, left = rows[: max_rows - 1 or 1], len(rows) - (max_rows - 1 or 1)
    more = [f"and {left} more: a taller window or --json shows them"] if left else []
    return [_cut(line, width).rstrip() for line in (head, *_table([HEADINGS, *rows]), *more)]


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
    _print_once(client.call("GET", "/state"), options)
    return 0


def _reset(client: ControlClient, options: argparse.Namespace) -> None:
    known = [one["id"] for one in client.call("GET", "/state")["accounts"]]
    if unknown := [one for one in options.accounts if one not in known]:
        raise ControlFailed(f"there is no account {', '.join(unknown)}: nothing is reset")
    if not options.accounts and not options.yes:
        raise SystemExit(
            f"this begins all {len(known)} accounts anew: name some, or repeat with --yes"
        )
    body = {} if options.balance is None else {"balance": options.balance}
    for account in options.accounts or known:
        client.call("POST", f"/accounts/{quote(account, safe='')}/reset", body)


def _show(client: ControlClient, options: argparse.Namespace, wait: Callable[[float], None]) -> int:
    state = client.call("GET", "/state")
    if options.json or options.once or not sys.stdout.isatty():
        _print_once(state, options)
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


def _print_once(state: Answer, options: argparse.Namespace) -> None:
    if options.json:
        shown = {name: state[name] for name in ("time", "running", "speed")}
        ranked = [asdict(one) for one in standings(state)]
        text = json.dumps({**shown, "accounts": ranked})
    else:
        text = "\n".join(room_lines(state))
    print(text)  # noqa: T201 - the command's output


def _standing(rank: int, account: Answer, now: int) -> LeaderboardRow:
    filled = account.get("lastFill")
    return LeaderboardRow(
        rank=rank,
        account=account["id"],
        name=printable(account.get("alias") or ""),
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


def _columns(character: str) -> int:
    """Return how many columns of a terminal a printable character takes."""
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in _WIDE else 1


def _width(text: str) -> int:
    return len(text) if text.isascii() else sum(map(_columns, text))


def _cut(text: str, width: int) -> str:
    """Return the beginning of a text that takes at most so many columns; marks on marks are left out."""
    if text.isascii():
        return text[:width]
    kept, used, marks = "", 0, 0
    for one in text:
        taken = _columns(one)
        marks = 0 if taken else marks + 1
        if used + taken > width:
            break
        if marks < _MAX_MARKS:
            kept, used = kept + one, used + taken
    return kept


def _padded(text: str, width: int, *, right: bool) -> str:
    space = " " * (width - _width(text))
    return space + text if right else text + space


def _cells(one: LeaderboardRow) -> tuple[str, ...]:
    return (
        str(one.rank),
        one.account,
        _cut(one.name, _NAME_WIDTH),
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
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            _padded(cell, width, right=heading in _RIGHT)
            for cell, width, heading in zip(row, widths, HEADINGS, strict=True)
        )
        for row in rows
    ]
