"""`keydesk practice ledgers`: list, open, name and delete the kept ledgers, through the running broker or without one."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from keydesk_practice.engine.wire_form import to_wire
from keydesk_practice.errors import LedgerUnavailable
from keydesk_practice.ledger.kept_ledgers import (
    FolderLedgerStore,
    delete_ledger,
    end_change,
    facts_of,
    name_ledger,
    path_of,
    set_ledger_aside,
    undo_change,
)
from keydesk_practice.ledger.ledger_file import FILE_NAME, check_copy, damaged_error
from keydesk_practice.ledger.ledger_store import HOME, HOME_IN_USE

_WORDS = {"list": (), "open": ("NAME",), "name": ("NAME", "NEW"), "delete": ("NAME",)}
Answer = dict[str, Any]
Request = tuple[str, str, Answer | None]


def add_ledgers(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("action", nargs="?", choices=tuple(_WORDS), default="list", help="(list)")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"the ledger as it is listed ({HOME}: the one that a replay goes back to); "
        "of name its present and its new name",
    )
    parser.add_argument("--yes", action="store_true", help="delete without a way back")


def check_ledgers(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error where the words do not fit the action."""
    expected = _WORDS[options.action]
    count = len(options.names)
    if count != len(expected):
        usage = " ".join(("ledgers", options.action, *expected))
        lacks = f"lacks {' and '.join(expected[count:])}"
        fault = (
            lacks if count < len(expected) else f"takes no further {options.names[len(expected)]!r}"
        )
        parser.error(f"{options.action!r} {fault}: write {usage}")
    if options.action == "delete" and not options.yes:
        parser.error(
            f"delete removes {options.names[0]!r} with its accounts for ever: add --yes to do it"
        )


def ledgers_request(options: argparse.Namespace) -> Request:
    """Return the request to a running broker."""
    match options.action, options.names:
        case "open", [name]:
            return "POST", "/ledgers/open", {"name": name}
        case "name", [name, new]:
            return "POST", "/ledgers/name", {"name": name, "newName": new}
        case "delete", [name]:
            return "DELETE", f"/ledgers/{quote(name, safe='')}", None
        case _:
            return "GET", "/ledgers", None


def change_without_broker(data: Path, options: argparse.Namespace) -> Answer:
    """Do the same on the files of a data folder that no broker runs on; raise `LedgerUnavailable`."""
    from keydesk_practice.control.ledger_operations import ledgers_of  # noqa: PLC0415 - loads the market

    undo_change(data)
    match options.action, options.names:
        case "open", [name]:
            _open(data, name)
        case "name", [name, new]:
            name_ledger(data, name, new)
        case "delete", [name]:
            if name == HOME and "replay" in facts_of(data / FILE_NAME):
                raise LedgerUnavailable(HOME_IN_USE)
            delete_ledger(data, name)
    return to_wire(ledgers_of(FolderLedgerStore(data)))


def _open(data: Path, name: str) -> None:
    path = path_of(data, name)
    if problems := check_copy(path).problems:
        raise damaged_error(path, problems[0])
    is_replay = "replay" in facts_of(data / FILE_NAME)
    as_home = (data / FILE_NAME).exists() and "replay" in facts_of(path) and not is_replay
    set_ledger_aside(data, as_home=as_home, opened=path)
    end_change(data)


def ledger_lines(ledgers: Sequence[Answer]) -> list[str]:
    """Return the kept ledgers as lines for people."""
    if not ledgers:
        return ["No ledger is kept beside the one in use."]
    lines = []
    for one in ledgers:
        left = f"left at {one['left'][:19]}Z" if "left" in one else ""
        lines.append(f"{one['name']:<32}{one['what']:<24}{left:<30}{one['bytes'] / 1e6:.1f} MB")
        lines += [
            f"  {account['id']}  {account['currency']} balance {account['balance']}  "
            f"{account['openTrades']} trades  {account['pendingOrders']} orders"
            for account in one["accounts"]
        ]
    return lines
