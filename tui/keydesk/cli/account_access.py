"""Open an account for a command, and close and cancel what is open on it by the order protocol."""

import argparse
import asyncio
import os
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import UTC, tzinfo
from pathlib import Path
from time import monotonic
from typing import Any

from msgspec import Struct

from keydesk.app import practice_broker
from keydesk.app.account_sources import AccountAddress, Band, ProfileAccount, practice_account
from keydesk.app.practice_broker import EmbeddedBroker, PracticeFailed
from keydesk.cli.script_output import Refusal
from keydesk.cli.token_access import given_passphrase, token_of
from keydesk.config.folders import Folders, find_folders
from keydesk.config.own_themes import OwnThemes, load_own_themes
from keydesk.config.settings import load_settings, profile_to_open
from keydesk.settings.toml_text import BadSettings
from keydesk.settings.values import Settings
from keydesk.terminal.output import print_error, print_lines
from keydesk.text.format import pair
from keydesk.text.sanitize import clean, safe
from keydesk.trade_journal.files import JournalFiles
from keydesk.trading.audit import AuditLog
from keydesk.trading.journal import open_journal
from keydesk.trading.open_items import PASSES, OpenItems, open_items_at_broker
from keydesk.values import Command
from keydesk.words.outcomes import report_of
from keydesk_client.client import Client
from keydesk_client.errors import (
    ConnectionLost,
    Forbidden,
    KeydeskClientError,
    NotFound,
    ServerFailed,
    TimedOut,
    Unauthorized,
    Unreachable,
)
from keydesk_client.http.retry import Retries
from keydesk_client.orders.outcome import Action, Outcome
from keydesk_client.orders.sender import Sender

Part = Callable[[OpenItems], OpenItems]
SAY_EVERY = 10.0  # seconds without an answer


class OpenAccount(Struct, frozen=True):
    """An account that a command works on."""

    client: Client
    target: AccountAddress
    environment: Band
    folder: Path  # of the journals
    zone: tzinfo = UTC  # the trader's

    @property
    def name(self) -> str:
        """The account in words: LIVE main account 101-001-1000001-001."""
        return f"{self.environment} {self.target.profile} account {self.target.account_id}"

    @property
    def head(self) -> Mapping[str, Any]:
        """What each document about the account begins with."""
        return {
            "profile": self.target.profile,
            "environment": self.environment,
            "account_id": self.target.account_id,
        }

    @property
    def journal(self) -> Path:
        """The path of the order journal, shared with the desks of this account."""
        return self.folder / f"{self.target.records}.journal"

    @property
    def audit(self) -> Path:
        """The path of the audit log, shared with the desks of this account."""
        return self.folder / f"{self.target.records}.audit"

    @property
    def records(self) -> Path:
        """The path of what is kept of the trade journal, shared with the desks of this account."""
        return self._journal_files.records

    @property
    def notes(self) -> Path:
        """The path of the trader's notes on trades, shared with the desks of this account."""
        return self._journal_files.notes

    @property
    def _journal_files(self) -> JournalFiles:
        return JournalFiles.of(self.folder.parent / "journal", self.target.records)


def trader_zone(options: argparse.Namespace) -> tzinfo:
    """Return the time zone of the settings that the options select, else the system's."""
    return load_settings(find_folders(options.data, os.environ).config).zone


def trader_theme(options: argparse.Namespace) -> tuple[str, OwnThemes]:
    """Return the name of the theme in the settings that the options select, and the trader's own themes."""
    folder = find_folders(options.data, os.environ).config
    return load_settings(folder).theme, load_own_themes(folder)


@asynccontextmanager
async def open_account(
    options: argparse.Namespace, *, for_exit: bool = False
) -> AsyncIterator[OpenAccount]:
    """Open the account that the options select; leaving the block closes it.

    An exit is not refused where others can read the folders or the vault: the token was there already.
    """
    folders = find_folders(options.data, os.environ)
    if for_exit:
        folders = replace(folders, warn=warn_exposed)
    settings = _settings(options, folders, for_exit=for_exit)
    profile = profile_to_open(options.profile, settings, practice=options.practice)
    if profile is None:
        async with _practice_market(folders) as target:
            account = opened_account(target, "PRACTICE", folders, settings)
            async with account.client:
                yield account
        return
    given = given_passphrase(options.passphrase_fd, options.passphrase_file, folders.warn)
    login = folders.login_command(profile.name)
    source = ProfileAccount(profile, token_of(folders, profile, given), login)
    account = opened_account(source.address_offline(), source.environment, folders, settings)
    try:
        async with account.client:
            yield account
    except (Unreachable, ConnectionLost, TimedOut) as error:
        raise Refusal(
            f"the broker at {source.address_offline().rest_url} does not answer: {error}; again, or see keydesk doctor",
            "network",
        ) from error
    except ServerFailed as error:
        raise Refusal(
            f"the broker at {source.address_offline().rest_url} failed: {error}; again, or see keydesk doctor",
            "network",
        ) from error
    except (Unauthorized, Forbidden, NotFound) as error:
        raise Refusal(
            f"the broker refuses profile {profile.name} ({error}); is its token revoked, or the account "
            f"closed? sign in again: {login}",
            "auth",
        ) from error


def _settings(options: argparse.Namespace, folders: Folders, *, for_exit: bool) -> Settings:
    """Return the settings; an exit on the practice market needs none, so a wrong file does not refuse it."""
    try:
        return load_settings(folders.config)
    except BadSettings as error:
        if not (for_exit and options.practice):
            raise
        warn_exposed(str(error))
        return Settings()


def warn_exposed(text: str) -> None:
    """Say that others can read a folder or file, which an exit uses nevertheless."""
    print_error(
        safe(
            f"keydesk: warning: {clean(text)}. The command goes on, because it only closes or cancels"
        )
    )


def opened_account(
    target: AccountAddress, environment: Band, folders: Folders, settings: Settings
) -> OpenAccount:
    """Return an account with a client that is not open yet."""
    client = Client(
        token=target.token,
        rest_url=target.rest_url,
        stream_url=target.stream_url,
        account_id=target.account_id,
        proxy=target.proxy,
        retries=Retries(max_retries=3),  # a person waits
    )
    return OpenAccount(client, target, environment, folders.state / "orders", settings.zone)


@asynccontextmanager
async def _practice_market(folders: Folders) -> AsyncIterator[AccountAddress]:
    """Use the broker of an open desk, or start one for the block."""
    data = folders.private("practice")
    address = practice_broker.running_broker(data)
    if address is not None:
        yield practice_account(address)
        return
    broker = EmbeddedBroker.start(data)
    try:
        try:
            address = await broker.address()
        except PracticeFailed as error:
            raise Refusal(str(error), "local") from error
        yield practice_account(address)
    finally:
        broker.stop()


async def close_and_cancel(
    account: OpenAccount, command: str, part: Part, open_items: OpenItems
) -> OpenItems:
    """Close and cancel, then check with the broker, at most three times; return what is left of the part."""
    journal, audit = (
        open_journal(account.journal),
        AuditLog(account.audit, redact=account.target.token.redact),
    )
    audit.write(command, f"from the command line: {open_items.text}")
    last = await _last_transaction_id(
        account, open_items
    )  # lost answers are looked for from here on
    instruments = dict(open_items.trades)
    sender = Sender(
        account.client,
        journal,
        lambda: last,
        instrument_of=lambda action, about: (
            instruments.get(about, "") if action is Action.CLOSE_TRADE else ""
        ),
    )
    for _ in range(PASSES):
        await _close_and_cancel_all(sender, open_items, f"keydesk {command}", audit)
        with unreadable_account(
            "the outcomes of the requests are shown above; what is left", command
        ):
            open_items = part(await open_items_at_broker(account.client))
        if open_items.is_flat:
            break
    audit.write(command, f"left: {open_items.text or 'nothing'}")
    if audit.failed:
        print_error(safe(f"The audit log cannot be written: {audit.failed}"))
    return open_items


async def _last_transaction_id(account: OpenAccount, open_items: OpenItems) -> int:
    if open_items.last_transaction_id is not None:
        return open_items.last_transaction_id
    return int((await account.client.accounts.summary()).last_transaction_id)


async def _close_and_cancel_all(
    sender: Sender, open_items: OpenItems, again: str, audit: AuditLog
) -> None:
    closing = [
        _report(Command(f"CLOSE #{id_} {pair(instrument)}", again), sender.close_trade(id_), audit)
        for id_, instrument in open_items.trades
    ]
    cancelling = [
        _report(Command(f"CANCEL order #{id_}", again), sender.cancel(id_), audit)
        for id_ in open_items.orders
    ]
    await wait_for_outcomes([*closing, *cancelling])


async def wait_for_outcomes(
    sending: Sequence[Coroutine[None, None, None]], say_every: float = SAY_EVERY
) -> None:
    """Wait for all of them, and say meanwhile, or when it is interrupted, what has no outcome yet."""
    tasks = [asyncio.create_task(each) for each in sending]
    waiting, began = set(tasks), monotonic()
    try:
        while waiting:
            _, waiting = await asyncio.wait(waiting, timeout=say_every)
            if waiting:
                _say_waiting(len(waiting), len(tasks), monotonic() - began)
    except asyncio.CancelledError:
        left = sum(not each.done() for each in tasks)
        print_error(
            safe(
                f"LEFT: {left} of {len(tasks)} requests had no outcome and may still be carried out; see keydesk status"
            )
        )
        raise
    for each in tasks:
        each.result()


def _say_waiting(waiting: int, of: int, seconds: float) -> None:
    print_error(
        safe(
            f"no outcome of {waiting} of {of} requests after {seconds:.0f} s; the broker is asked again. "
            "Ctrl-C leaves: what was sent may still be carried out"
        )
    )


@contextmanager
def unreadable_account(what: str, command: str) -> Iterator[None]:
    """Raise Refusal with `what` and the remedy if the account cannot be read."""
    try:
        yield
    except (Unauthorized, Forbidden, NotFound):
        raise
    except KeydeskClientError as error:
        raise Refusal(f"{what} cannot be read: {error}; again: keydesk {command}") from error


async def _report(command: Command, sending: Awaitable[Outcome], audit: AuditLog) -> None:
    began = monotonic()
    outcome = await sending
    took = (monotonic() - began) * 1000
    text = report_of(outcome, Command(command.text, command.again, milliseconds=took)).text
    audit.write_outcome(outcome, text)
    print_lines(safe(text))
