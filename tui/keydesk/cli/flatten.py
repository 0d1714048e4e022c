"""`keydesk flatten`, `cancel-all` and `lock`: safety commands from a second login."""

import asyncio
import dataclasses
import os
import random
import sys
from argparse import Namespace
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import redirect_stdout
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from keydesk.cli.account_access import (
    OpenAccount,
    close_and_cancel,
    open_account,
    unreadable_account,
    warn_exposed,
)
from keydesk.cli.all_accounts import MAX_REASON_LENGTH, every_account
from keydesk.cli.script_output import Document, Refusal, print_document
from keydesk.cli.token_access import is_confirmed
from keydesk.config.folders import find_folders
from keydesk.config.settings import load_settings, profile_to_open
from keydesk.keys.confirm import Letters
from keydesk.keys.guard import SEND
from keydesk.settings.values import PRACTICE_MARKET
from keydesk.terminal.output import print_error, print_lines
from keydesk.text.sanitize import clean, safe
from keydesk.trading.desk_session import DeskLock
from keydesk.trading.journal import open_journal
from keydesk.trading.open_items import OpenItems, open_items_at_broker
from keydesk.words.order_text import intent_text
from keydesk_client.auth.profiles import Profile
from keydesk_client.errors import KeydeskClientError
from keydesk_client.orders.outcome import Action

Heads = Sequence[Mapping[str, Any]]
"""What a document says of each account that was looked at: its profile, environment and id."""


class ClosedAccount(Struct, frozen=True):
    """Which account."""

    profile: str
    environment: Literal["PRACTICE", "LIVE"]
    account_id: str


class FlattenDocument(Document, frozen=True, tag="flatten"):
    """`keydesk flatten --json`: the accounts that have no position and no entry order now; what is left is an error."""

    accounts: list[ClosedAccount]


class CancelAllDocument(Document, frozen=True, tag="cancel-all"):
    """`keydesk cancel-all --json`: the accounts that have no entry order now; what is left is an error."""

    accounts: list[ClosedAccount]


class LockDocument(Document, frozen=True, tag="lock"):
    """`keydesk lock --json`: whether a desk on this machine is exit-only now."""

    profile: str
    locked: bool


def cancel_all(options: Namespace) -> int:
    """Cancel entry orders; return the exit code, 0 if none is left."""
    return _in_words_or_json(CancelAllDocument, _cancel_all(options), options)


def _in_words_or_json(
    document: type[FlattenDocument | CancelAllDocument],
    work: Coroutine[None, None, Heads],
    options: Namespace,
) -> int:
    """Do the work; with --json, its words go to stderr and the accounts, of which nothing is left, to stdout."""
    if not options.json:
        asyncio.run(work)
        return 0
    with redirect_stdout(sys.stderr):
        heads = asyncio.run(work)
    print_document(document([ClosedAccount(**each) for each in heads]))
    return 0


async def _cancel_all(options: Namespace) -> Heads:
    async with open_account(options, for_exit=True) as account:
        with unreadable_account(f"NOTHING WAS SENT: {account.name}", "cancel-all"):
            open_items = _entries(await open_items_at_broker(account.client))
        if open_items.is_flat:
            print_lines(safe(f"{account.name} has no entry order"))
            return [account.head]
        print_lines(safe(f"CANCEL {account.name}: {open_items.text}"))
        if not (options.yes or is_confirmed(SEND, "cancel them")):
            raise Refusal("nothing was sent")
        left = await close_and_cancel(account, "cancel-all", _entries, open_items)
        if left.is_flat:
            print_lines(safe(f"{account.name} has no entry order"))
            return [account.head]
        raise Refusal(f"NOT CANCELLED, still there: {left.text}; again: keydesk cancel-all")


def _entries(open_items: OpenItems) -> OpenItems:
    return replace(open_items, trades=(), unreadable_trades=0)


def flatten(options: Namespace) -> int:
    """Flatten the account, or with --all every account; return the exit code, 0 if nothing is left open."""
    work = _flatten_all(options) if options.all else _flatten(options)
    return _in_words_or_json(FlattenDocument, work, options)


async def _flatten(options: Namespace) -> Heads:
    async with open_account(options, for_exit=True) as account:
        with unreadable_account(f"NOTHING WAS SENT: {account.name}", "flatten"):
            open_items = await open_items_at_broker(account.client)
        if open_items.is_flat:
            print_lines(safe(f"FLAT: {account.name} has no position and no entry order"))
            _say_unknown(account)
            return [account.head]
        print_lines(safe(f"FLATTEN {account.name}: {_count_text(open_items)}: {open_items.text}"))
        letter = Letters(random.SystemRandom().choice).draw()
        if not (options.yes or is_confirmed(letter, "flatten")):
            raise Refusal("nothing was sent")
        left = await close_and_cancel(account, "flatten", lambda whole: whole, open_items)
        if left.is_flat:
            print_lines(safe(f"FLAT: {account.name} has no position and no entry order"))
            _say_unknown(account)
            return [account.head]
        raise Refusal(f"NOT FLAT, still there: {left.text}; again: keydesk flatten")


async def _flatten_all(options: Namespace) -> Heads:
    """Flatten every account of every profile at once, after one letter; say of each what became of it."""
    async with every_account(options, for_exit=True) as profiles:
        unread = [f"{each.profile.name}: {each.why}" for each in profiles if each.why]
        accounts = [account for each in profiles for account in each.accounts]
        found = await asyncio.gather(*(_open_items(each) for each in accounts))
        to_close: list[tuple[OpenAccount, OpenItems]] = []
        for account, items in zip(accounts, found, strict=True):
            if isinstance(items, str):
                unread.append(f"{account.name}: {items}")
            elif items.is_flat:
                print_lines(safe(f"FLAT: {account.name}"))
                _say_unknown(account)
            else:
                print_lines(safe(f"FLATTEN {account.name}: {_count_text(items)}: {items.text}"))
                to_close.append((account, items))
        for each in unread:
            print_lines(safe(f"CANNOT BE READ, stays as it is: {clean(each, MAX_REASON_LENGTH)}"))
        left = await _closed(to_close, options) if to_close else []
        if left or unread:
            raise Refusal(
                f"NOT ALL FLAT: {'; '.join([*left, *unread])}; again: keydesk flatten --all"
            )
        print_lines("ALL FLAT: no account of any profile has a position or an entry order")
        return [account.head for account in accounts]


async def _open_items(account: OpenAccount) -> OpenItems | str:
    """Return what is open on an account, or why that cannot be read."""
    try:
        return await open_items_at_broker(account.client)
    except KeydeskClientError as error:
        return str(error)


async def _closed(
    to_close: Sequence[tuple[OpenAccount, OpenItems]], options: Namespace
) -> list[str]:
    """Ask for one letter, then flatten these accounts side by side; return what is left, in words."""
    count = len(to_close)
    what = f"flatten {'this account' if count == 1 else f'these {count} accounts'}"
    letter = Letters(random.SystemRandom().choice).draw()
    if not (options.yes or is_confirmed(letter, what)):
        raise Refusal("nothing was sent")
    return [each for each in await asyncio.gather(*(_flat(*pair) for pair in to_close)) if each]


async def _flat(account: OpenAccount, items: OpenItems) -> str:
    """Flatten one account; return what is left of it, "" if nothing is."""
    try:
        left = await close_and_cancel(account, "flatten", lambda whole: whole, items)
    except (Refusal, KeydeskClientError) as error:
        return f"{account.name}: {error}"
    if left.is_flat:
        print_lines(safe(f"FLAT: {account.name} has no position and no entry order"))
        _say_unknown(account)
        return ""
    return f"{account.name}: still there: {left.text}"


def _say_unknown(account: OpenAccount) -> None:
    """Say which orders of this machine have no known outcome: one of them may open a trade on an account that is flat."""
    for intent in open_journal(account.journal).open_intents():
        if intent.action in (Action.CREATE, Action.REPLACE):
            print_error(
                safe(
                    f"NOT KNOWN {account.name}: {intent_text(intent)} may still take effect: look again"
                )
            )


def _count_text(open_items: OpenItems) -> str:
    trades, orders = len(open_items.trades), len(open_items.orders)
    return (
        f"close {trades} {'trade' if trades == 1 else 'trades'}, "
        f"cancel {orders} entry {'order' if orders == 1 else 'orders'}"
    )


def lock(options: Namespace) -> int:
    """Set or release the lock; return the exit code."""
    folders = find_folders(options.data, os.environ)
    if not options.release:
        folders = dataclasses.replace(folders, warn=warn_exposed)
    profile = profile_to_open(
        options.profile, load_settings(folders.config), practice=options.practice
    )
    name = profile.name if profile else PRACTICE_MARKET
    lock = DeskLock.of(folders.private("orders"), name)
    action = "unlock" if options.release else "lock"
    if not (options.yes or is_confirmed(SEND, f"{action} {name}")):
        raise Refusal("nothing was changed")
    if options.release:
        lock.unlock()
    else:
        lock.lock()
    if options.json:
        print_document(LockDocument(name, not options.release))
    elif options.release:
        print_lines(safe(f"Unlocked: a desk on {name} may be armed again with A"))
    else:
        text = f"LOCKED: a desk on {name} closes, cancels and tightens, and opens nothing. "
        print_lines(safe(f"{text}Release it: keydesk lock {_profile_option(profile)} --release"))
    return 0


def _profile_option(profile: Profile | None) -> str:
    return f"--profile {profile.name}" if profile else "--practice"
