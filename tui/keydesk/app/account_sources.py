"""The accounts that the desk can open: the practice market's, or the account of a profile."""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from keydesk.app import practice_broker
from keydesk.app.practice_broker import EmbeddedBroker, PracticeAddress, PracticeFailed
from keydesk.parse.profile_names import is_account_id
from keydesk.settings.values import PRACTICE_MARKET
from keydesk_client.auth.profiles import Profile
from keydesk_client.auth.secret import Secret
from keydesk_client.errors import Forbidden, KeydeskClientError, Unauthorized

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from keydesk.trading.accounts.token_accounts import TokenAccount
    from keydesk_client.http.retry import Retries

MAX_STARTS = 3
MAX_NAMED = 8  # accounts that a message names
AT_ONCE = 0.3  # seconds
FIRST_ANSWER_WITHIN = 5.0  # seconds; then the desk opens and says what is wrong

Band = Literal["PRACTICE", "LIVE"]


class CannotOpen(Exception):
    """Raised when the account cannot be opened; the text is one sentence with the remedy."""


@dataclass(frozen=True, slots=True)
class AccountAddress:
    """Where an account is, and the token for it."""

    rest_url: str
    stream_url: str
    token: Secret
    account_id: str
    own_broker: bool  # the practice market on this machine
    profile: str = PRACTICE_MARKET
    # A third-party platform trades the account too, and its orders carry no ids of ours; None: not known yet.
    linked: bool | None = None
    login: str = ""  # the command that signs in to it again
    proxy: str | None = field(default=None, repr=False)  # of the profile

    @property
    def records(self) -> str:
        """The file name of journal and audit log: two brokers may use the same account id."""
        return self.account_id if self.own_broker else f"{self.profile}.{self.account_id}"

    @property
    def shared_records(self) -> str:
        """The file name of what every profile that opens the account shares."""
        if self.own_broker:  # its address is another one at every start
            return self.records
        place = hashlib.sha256(self.rest_url.encode()).hexdigest()[:8]
        return f"{self.account_id}.{place}"


class AccountSource(Protocol):
    """A source of the account to open."""

    @property
    def name(self) -> str: ...
    @property
    def environment(self) -> Band: ...
    async def target(self) -> AccountAddress: ...
    async def supervise(self, notify: Callable[[str], None]) -> None: ...
    def stop(self) -> None: ...
    def abandon(self) -> None: ...


class PracticeMarket(Struct):
    """The practice market; its broker is a child process of the desk."""

    broker: EmbeddedBroker
    ledger: Path
    name: str = PRACTICE_MARKET
    environment: Band = "PRACTICE"
    noted: bool = False
    address: PracticeAddress | None = None  # once the broker listens

    async def target(self) -> AccountAddress:
        """Return the first account once the broker listens; raise CannotOpen if it does not start."""
        if self.address is None:
            try:
                self.address = await self.broker.address()
            except PracticeFailed as error:
                raise CannotOpen(f"the practice market did not open: {error}") from error
            practice_broker.write_address(self.ledger, self.address)
            self.noted = True
        return practice_account(self.address)

    async def supervise(self, notify: Callable[[str], None]) -> None:
        """Restart the broker when it ends by itself, at most three times."""
        for _ in range(MAX_STARTS):
            await self.broker.wait_until_ended()
            if not self.broker.has_ended:  # it was stopped
                return
            notify("The practice broker ended and is started again; your orders are in its ledger")
            try:
                self.address = await self.broker.start_again()
                practice_broker.write_address(self.ledger, self.address)
            except PracticeFailed as error:
                notify(f"The practice broker does not start again: {error}")
                return
        notify("The practice broker ended too often; leave and start again")

    def stop(self) -> None:
        """Stop the broker."""
        self._remove_note()
        self.broker.stop()

    def abandon(self) -> None:
        """Stop the broker, by SIGKILL if it does not end at once; what it acknowledged is in its ledger."""
        self._remove_note()
        self.broker.stop(patience=AT_ONCE)

    def _remove_note(self) -> None:
        if self.noted:
            self.noted = False
            practice_broker.remove_address(self.ledger)


class ProfileAccount(Struct, frozen=True):
    """The account of a profile, with its token."""

    profile: Profile
    token: Secret
    login: str  # the command that signs in to it again

    @property
    def name(self) -> str:
        """The name of the profile."""
        return self.profile.name

    @property
    def environment(self) -> Band:
        """The environment shown; a custom host counts as live unless it was declared practice money."""
        return "PRACTICE" if self.profile.is_practice else "LIVE"

    async def target(self) -> AccountAddress:
        """Return the account; raise CannotOpen if the token may not use it.

        If the broker does not answer, the desk opens all the same, reports it and keeps trying.
        """
        from keydesk_client.http.retry import Retries  # noqa: PLC0415 - the desk paints first

        target = self.address_offline()
        try:
            async with asyncio.timeout(FIRST_ANSWER_WITHIN):
                found = await accounts_of(
                    target.rest_url,
                    target.stream_url,
                    self.token,
                    Retries(max_retries=0),
                    self.profile.proxy,
                )
        except CannotOpen as error:
            raise CannotOpen(f"{error}; then sign in again: {self.login}") from error
        except (KeydeskClientError, TimeoutError):
            return target
        if target.account_id not in found:
            is_command = not self.login.startswith(":")  # the desk asks for the account
            raise CannotOpen(
                f"the token of profile {self.profile.name} may not use account {self.profile.account_id}; "
                f"sign in again with one of: {_some(found)}: {self.login}{' --account ID' * is_command}"
            )
        return replace(target, linked=found[target.account_id])

    def address_offline(self) -> AccountAddress:
        """Return the account without a request to the broker."""
        rest_url, stream_url = urls_of(self.profile)
        account_id, name = self.profile.account_id, self.profile.name
        return AccountAddress(
            *(rest_url, stream_url, self.token, account_id),
            own_broker=False,
            profile=name,
            login=self.login,
            proxy=self.profile.proxy,
        )

    async def supervise(self, notify: Callable[[str], None]) -> None:
        """Do nothing: no process belongs to this account."""

    def stop(self) -> None:
        """Do nothing: no process belongs to this account."""

    def abandon(self) -> None:
        """Do nothing: no process belongs to this account."""


def _some(accounts: Iterable[str]) -> str:
    """Return the numbers of accounts, of many the first ones."""
    ids = list(accounts)
    more = f" and {len(ids) - MAX_NAMED} more" if ids[MAX_NAMED:] else ""
    return f"{', '.join(ids[:MAX_NAMED])}{more}" if ids else "none"


def practice_account(address: PracticeAddress) -> AccountAddress:
    """Return the first account of a practice market."""
    token, account_id = Secret(address.token), address.account_ids[0]
    urls = address.rest_url, address.stream_url
    return AccountAddress(*urls, token, account_id, own_broker=True, linked=False)


def urls_of(profile: Profile) -> tuple[str, str]:
    """Return the REST and stream URLs of a profile; its token is sent nowhere else."""
    from keydesk_client.resources.resource_client import LIVE, PRACTICE  # noqa: PLC0415 - the desk paints first

    match profile.environment:
        case "practice":
            return PRACTICE
        case "live":
            return LIVE
        case "custom":
            return profile.rest_url, profile.stream_url


async def accounts_of(
    rest_url: str, stream_url: str, token: Secret, retries: Retries, proxy: str | None = None
) -> Mapping[str, bool]:
    """Return the accounts that the token may use, and whether each is linked to a third-party platform.

    Raises:
        CannotOpen: the broker refuses the token.
        KeydeskClientError: it cannot be reached, or answers something else.
    """
    from keydesk_client.client import Client  # noqa: PLC0415 - the desk paints first

    async with Client(
        token=token, rest_url=rest_url, stream_url=stream_url, retries=retries, proxy=proxy
    ) as client:
        with refused_token():
            answer = await client.accounts.list()
    return {
        account.id: account.mt4_account_id is not None
        for account in answer.accounts
        if is_account_id(account.id)
    }


async def accounts_to_choose(profile: Profile, token: Secret) -> Sequence[TokenAccount]:
    """Return the accounts of a token at the host of a profile, to choose the profile's account from.

    Raises:
        CannotOpen: the broker refuses the token, or it has no account.
        KeydeskClientError: the broker cannot be reached, or answers something else.
    """
    from keydesk.trading.accounts.token_accounts import token_accounts  # noqa: PLC0415 - for a sign-in
    from keydesk_client.client import Client  # noqa: PLC0415 - the desk paints first
    from keydesk_client.http.retry import Retries  # noqa: PLC0415 - the desk paints first

    rest_url, stream_url = urls_of(profile)
    async with Client(
        token=token,
        rest_url=rest_url,
        stream_url=stream_url,
        retries=Retries(max_retries=3),
        proxy=profile.proxy,
    ) as client:
        with refused_token():
            accounts = await token_accounts(client)
    if not accounts:
        raise CannotOpen("the broker has no account for this token whose number can be used")
    return accounts


@contextmanager
def refused_token() -> Iterator[None]:
    """Raise CannotOpen with the remedy where the broker refuses the token."""
    try:
        yield
    except (Unauthorized, Forbidden) as error:
        raise CannotOpen(
            f"the broker refuses the token ({error.status}): check that it is whole, not revoked, "
            "and of the environment that was named"
        ) from error
