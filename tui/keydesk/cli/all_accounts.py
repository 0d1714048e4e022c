"""Every account of every profile whose token can be read: for `status --all` and `flatten --all`."""

import argparse
import asyncio
import dataclasses
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from decimal import Decimal
from typing import Annotated, Literal, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import replace

from keydesk.app.account_sources import CannotOpen, ProfileAccount, refused_token
from keydesk.cli.account_access import OpenAccount, opened_account, warn_exposed
from keydesk.cli.script_output import Amount, Document, Refusal, print_document
from keydesk.cli.token_access import given_passphrase, store_of, token_in, with_retries
from keydesk.config.folders import Folders, find_folders
from keydesk.config.settings import load_settings
from keydesk.settings.values import Settings
from keydesk.terminal.output import print_lines
from keydesk.text.sanitize import Printable, clean, safe
from keydesk.trading.accounts.account_overview import AccountOverview, read_account
from keydesk_client.auth.profiles import Profile, TokenPlace
from keydesk_client.auth.secret import Secret
from keydesk_client.auth.token_store import Passphrase, TokenStore
from keydesk_client.errors import KeydeskClientError
from keydesk_client.resources.answers import text

LISTED_WITHIN = 20.0  # seconds
MAX_REASON_LENGTH = 300
Answer = TypeVar("Answer")


class AccountAtAGlance(Struct, frozen=True):
    """An account at a glance; where `error` says why it cannot be read, the figures are null."""

    account_id: str
    error: str | None
    alias: str
    currency: str
    balance: Amount | None
    nav: Amount | None
    unrealized_pl: Amount | None
    margin_used: Amount | None
    margin_available: Amount | None
    open_risk: Annotated[
        Amount | None,
        Meta(
            description="loss of the trades at their stops; null where a trade has no stop, or it is not known"
        ),
    ]
    unread: Annotated[
        list[str], Meta(description="what could not be read of it: not known, and not none")
    ]
    trades: int
    entry_orders: int
    trades_without_stop: int


class ProfileAccounts(Struct, frozen=True):
    """The accounts of a profile's token; `error` says why they cannot be read."""

    profile: str
    environment: Literal["PRACTICE", "LIVE"]
    error: str | None
    accounts: Annotated[
        list[AccountAtAGlance], Meta(description="without those that a profile before it has, too")
    ]


class StatusAllDocument(Document, frozen=True, tag="status-all"):
    """`keydesk status --all --json`; the exit code is 1 if a profile or an account could not be read."""

    profiles: list[ProfileAccounts]


class ProfileReach(Struct, frozen=True):
    """A profile and the accounts of its token, or why they cannot be reached."""

    profile: Profile
    accounts: Sequence[OpenAccount] = ()
    why: str = ""
    shared: tuple[
        str, ...
    ] = ()  # accounts that a profile before it has, too, with the name of that one

    @property
    def environment(self) -> Literal["PRACTICE", "LIVE"]:
        """PRACTICE or LIVE."""
        return "PRACTICE" if self.profile.is_practice else "LIVE"


class _Tokens:
    """The tokens of several profiles: each store is opened once, and its passphrase asked for once."""

    def __init__(self, folders: Folders, given: Passphrase | None) -> None:
        self._folders, self._given = folders, given
        self._stores: dict[TokenPlace, TokenStore] = {}
        self._failures: dict[TokenPlace, str] = {}

    def load(self, profile: Profile) -> Secret:
        """Return the token of a profile; raise Refusal with the reason if it cannot be read."""
        place = profile.kept_in
        if place in self._failures:
            raise Refusal(self._failures[place])
        try:
            if place not in self._stores:
                self._stores[place] = store_of(self._folders, self._given, place)
            store = self._stores[place]
            return with_retries(lambda: token_in(store, profile, self._folders), self._given)
        except (Refusal, KeydeskClientError, OSError) as error:
            if isinstance(error, Refusal) and place in self._stores and error.category == "auth":
                raise  # this profile alone has no token there
            self._failures[place] = str(error)
            raise Refusal(str(error)) from error


@asynccontextmanager
async def every_account(
    options: argparse.Namespace, *, for_exit: bool = False
) -> AsyncIterator[Sequence[ProfileReach]]:
    """Open every account of every profile whose token can be read; an account of two profiles is opened once.

    Raises:
        Refusal: no profile is signed in.
    """
    folders = find_folders(options.data, os.environ)
    if for_exit:
        folders = dataclasses.replace(folders, warn=warn_exposed)
    settings = load_settings(folders.config)
    if not settings.profiles:
        raise Refusal(
            "no profile is signed in: keydesk login NAME; --practice is the practice market"
        )
    given = given_passphrase(options.passphrase_fd, options.passphrase_file, folders.warn)
    tokens = _Tokens(folders, given)
    opened = list(_with_tokens(settings, tokens, folders))
    async with AsyncExitStack() as stack:
        found = await asyncio.gather(*(_reached(each, folders, settings, stack) for each in opened))
        yield list(_without_doubles(found))


def _with_tokens(
    settings: Settings, tokens: _Tokens, folders: Folders
) -> Iterator[ProfileAccount | ProfileReach]:
    for profile in settings.profiles.values():
        try:
            token = tokens.load(profile)
        except Refusal as error:
            yield ProfileReach(profile, why=clean(str(error), MAX_REASON_LENGTH))
        else:
            yield ProfileAccount(profile, token, folders.login_command(profile.name))


async def _reached(
    source: ProfileAccount | ProfileReach,
    folders: Folders,
    settings: Settings,
    stack: AsyncExitStack,
) -> ProfileReach:
    """List the accounts of a token, and open a client for each."""
    if isinstance(source, ProfileReach):
        return source
    target = source.address_offline()
    first = opened_account(target, source.environment, folders, settings)
    await stack.enter_async_context(first.client)
    try:
        async with asyncio.timeout(LISTED_WITHIN):
            with refused_token():
                listed = (await first.client.accounts.list()).accounts
    except CannotOpen as error:
        return ProfileReach(source.profile, why=f"{error}; sign in again: {source.login}")
    except TimeoutError:
        return ProfileReach(
            source.profile, why=f"{target.rest_url} does not answer within {LISTED_WITHIN:.0f} s"
        )
    except KeydeskClientError as error:
        return ProfileReach(source.profile, why=clean(str(error), MAX_REASON_LENGTH))
    ids = [id_ for each in listed if (id_ := text(each, "id"))]
    linked = {text(each, "id"): each.mt4_account_id is not None for each in listed}
    reaches = [
        opened_account(
            dataclasses.replace(target, account_id=each, linked=linked[each]),
            source.environment,
            folders,
            settings,
        )
        for each in ids
    ]
    for each in reaches:
        await stack.enter_async_context(each.client)
    return ProfileReach(source.profile, reaches)


def _without_doubles(found: Sequence[ProfileReach]) -> Iterator[ProfileReach]:
    """Yield the profiles; an account that several of them list is kept by the first of them."""
    owners: dict[tuple[str, str], str] = {}
    for each in found:
        own, shared = list[OpenAccount](), list[str]()
        for account in each.accounts:
            place = (account.target.rest_url, account.target.account_id)
            if place in owners:
                shared.append(f"{account.target.account_id} (see {owners[place]})")
            else:
                owners[place] = each.profile.name
                own.append(account)
        yield replace(each, accounts=own, shared=tuple(shared))


# keydesk status --all


async def status_of_all(options: argparse.Namespace) -> int:
    """Print every account of every profile; return the exit code, 1 if one could not be read."""
    async with every_account(options) as profiles:
        read = await asyncio.gather(*(_overviews(each) for each in profiles))
        if options.json:
            shown = [_shown(*each) for each in zip(profiles, read, strict=True)]
            print_document(StatusAllDocument(shown))
        else:
            for profile, accounts in zip(profiles, read, strict=True):
                print_lines(*_lines(profile, accounts))
        failed = any(each.why for each in profiles) or any(
            account.why for accounts in read for account in accounts
        )
        return 1 if failed else 0


async def _overviews(profile: ProfileReach) -> Sequence[AccountOverview]:
    return await asyncio.gather(
        *(read_account(each.client, each.target.account_id) for each in profile.accounts)
    )


def _lines(profile: ProfileReach, accounts: Sequence[AccountOverview]) -> Iterator[Printable]:
    head = f"{profile.environment}  {clean(profile.profile.name)}"
    if profile.why:
        yield safe(f"{head}  CANNOT BE READ: {clean(profile.why, MAX_REASON_LENGTH)}")
        return
    yield safe(head)
    for account in accounts:
        yield from (safe(f"  {line}") for line in account.lines)
    for each in profile.shared:
        yield safe(f"  {clean(each)}")


def _shown(profile: ProfileReach, accounts: Sequence[AccountOverview]) -> ProfileAccounts:
    own = [_at_a_glance(each) for each in accounts]
    return ProfileAccounts(profile.profile.name, profile.environment, profile.why or None, own)


def _at_a_glance(account: AccountOverview) -> AccountAtAGlance:
    def amount(value: Decimal | None) -> str | None:
        return None if value is None else f"{value:f}"

    return AccountAtAGlance(
        account_id=account.id,
        error=account.why or None,
        alias=account.alias,
        currency=account.currency,
        balance=amount(account.balance),
        nav=amount(account.nav),
        unrealized_pl=amount(account.unrealized_pl),
        margin_used=amount(account.margin_used),
        margin_available=amount(account.margin_available),
        open_risk=amount(None if account.unprotected else account.open_risk),
        unread=list(account.unread),
        trades=account.trades,
        entry_orders=account.entry_orders,
        trades_without_stop=account.unprotected,
    )
