"""The accounts that this desk may open without being left: those of the profiles, and the practice market.

The token vault is opened once, by its passphrase; then its key is kept until the desk is left, not the passphrase.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from keydesk.app import practice_broker
from keydesk.app.account_sources import AccountSource, CannotOpen, PracticeMarket, ProfileAccount
from keydesk.app.practice_broker import EmbeddedBroker
from keydesk.config.settings import load_settings
from keydesk.settings.toml_text import BadSettings
from keydesk.settings.values import PRACTICE_MARKET, Settings
from keydesk_client.auth.profiles import VAULT, Profile
from keydesk_client.errors import KeydeskClientError, StoreLocked, WrongPassphrase

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from keydesk.config.folders import Folders
    from keydesk_client.auth.profiles import TokenPlace
    from keydesk_client.auth.secret import Secret
    from keydesk_client.auth.token_store import TokenStore

Answer = TypeVar("Answer")
STORE_ERRORS = (KeydeskClientError, OSError)
NO_NATIVE = (
    "the desktop's token store, where its token is, is locked or cannot be reached from here"
)


class VaultIsLocked(CannotOpen):
    """Raised where the vault's passphrase is needed first."""


class DeskAccounts:
    """The accounts that can be opened, and their tokens.

    Args:
        folders: Of settings and state.
        settings: As they were read at the start; profiles are read again after each sign-in.
        price_rate: Of a practice market that is started later.
        source: The account that the desk opens first.
        store: The token store that was opened for it, if one was.
    """

    def __init__(
        self,
        folders: Folders,
        settings: Settings,
        source: AccountSource,
        store: TokenStore | None = None,
        price_rate: int | None = None,
    ) -> None:
        self.folders, self.settings = folders, settings
        self._price_rate = price_rate
        self._market = source if isinstance(source, PracticeMarket) else None
        self._vault = store if store is not None and store.kind == "vault" else None

    def read_again(self) -> None:
        """Read the profiles again; settings that cannot be used stay as they were."""
        with suppress(BadSettings, OSError):
            self.settings = load_settings(self.folders.config)

    @property
    def profiles(self) -> Sequence[Profile]:
        """The profiles, in the order of their names."""
        return [self.settings.profiles[name] for name in sorted(self.settings.profiles)]

    @property
    def vault_path(self) -> Path:
        """The file of the vault."""
        return self.folders.state / VAULT

    # Tokens.

    @property
    def is_vault_open(self) -> bool:
        """Whether the passphrase was given since the desk was started."""
        return self._vault is not None

    async def open_vault(self, passphrase: Secret) -> None:
        """Open the vault, or begin one, with a passphrase, which is not kept.

        Raises:
            WrongPassphrase: it does not open the vault.
            KeydeskClientError: the vault cannot be used.
        """
        self._vault = await asyncio.to_thread(_opened_vault, self.vault_path, passphrase)

    async def token(self, profile: Profile) -> Secret:
        """Return the token of a profile.

        Raises:
            VaultIsLocked: the passphrase is needed first.
            CannotOpen: there is no token, or its store cannot be read.
        """
        store = await self._store(profile.kept_in)
        try:
            token = await self.use(store, partial(store.load, profile.name, profile.environment))
        except STORE_ERRORS as error:
            raise CannotOpen(f"profile {profile.name}: {error}") from error
        if token is None:
            raise CannotOpen(
                f"no token is stored for profile {profile.name}; sign in again: :login {profile.name}"
            )
        return token

    async def use(self, store: TokenStore, work: Callable[[], Answer]) -> Answer:
        """Return what a store answers, asked in a thread.

        Raises:
            VaultIsLocked: it is the vault, and another program has changed its passphrase meanwhile.
            KeydeskClientError: it cannot be used.
        """
        try:
            return await asyncio.to_thread(work)
        except (StoreLocked, WrongPassphrase) as error:
            if store.kind == "native":
                raise
            self._vault = None
            raise VaultIsLocked("the token vault is locked") from error

    async def _store(self, place: TokenPlace) -> TokenStore:
        if place == "vault":
            if self._vault is None:
                raise VaultIsLocked("the token vault is locked")
            return self._vault
        store = await asyncio.to_thread(_native_store, self.vault_path)
        if store is None:
            raise CannotOpen(NO_NATIVE)
        return store

    async def place_for(self, known: Profile | None) -> TokenPlace:
        """Return where the token of a profile will be kept: where it is, else the desktop's store, else the vault."""
        if known is not None:
            return known.kept_in
        return "native" if await asyncio.to_thread(_native_store, self.vault_path) else "vault"

    async def store_for(self, known: Profile | None) -> TokenStore:
        """Return the store that takes a token: the one that has the profile's, else the desktop's, else the vault.

        Raises:
            VaultIsLocked: it is the vault, and its passphrase is needed first.
            CannotOpen: it cannot be reached.
        """
        if known is None:
            native = await asyncio.to_thread(_native_store, self.vault_path)
            return native or await self._store("vault")
        return await self._store(known.kept_in)

    # Accounts.

    async def source(self, name: str, account_id: str = "") -> AccountSource:
        """Return the account of a profile, or the practice market, ready to be opened.

        Args:
            name: Of the profile, or of the practice market.
            account_id: Another account of its token; "" for the profile's own.

        Raises:
            VaultIsLocked: the passphrase is needed first.
            CannotOpen: there is no such profile, or its token cannot be read.
        """
        if name == PRACTICE_MARKET:
            return await asyncio.to_thread(self._practice_market)
        profile = self.settings.profiles.get(name)
        if profile is None:
            raise CannotOpen(f"there is no profile {name}; sign in: :login {name}")
        token = await self.token(profile)
        if account_id:
            profile = replace(profile, account_id=account_id)
        return ProfileAccount(profile, token, f":login {name}")

    def _practice_market(self) -> PracticeMarket:
        """Return the practice market; its broker is started the first time, and goes on until the desk is left."""
        if self._market is None:
            ledger = self.folders.private("practice")
            if practice_broker.is_ledger_locked(ledger):
                raise CannotOpen(
                    f"the practice market in {ledger} is open already, in another desk or broker"
                )
            self._market = PracticeMarket(EmbeddedBroker.start(ledger, self._price_rate), ledger)
        return self._market

    @property
    def has_practice_market(self) -> bool:
        """Whether its broker was started."""
        return self._market is not None

    # The end.

    def stop(self) -> None:
        """Stop the broker of the practice market, if one was started."""
        if self._market is not None:
            self._market.stop()

    def abandon(self) -> None:
        """Stop it by SIGKILL if it does not end at once."""
        if self._market is not None:
            self._market.abandon()


def _native_store(vault: Path) -> TokenStore | None:
    from keydesk_client.auth.token_store import open_token_store  # noqa: PLC0415 - loads keyring
    from keydesk_client.errors import NoTokenStore  # noqa: PLC0415 - as above

    try:
        return open_token_store(vault, choice="native")
    except NoTokenStore:
        return None


def _opened_vault(path: Path, passphrase: Secret) -> TokenStore:
    """Return the vault, opened; a passphrase for one that does not exist yet is used with its first token."""
    from keydesk_client.auth.token_store import open_token_store  # noqa: PLC0415 - loads keyring

    given = [passphrase]

    def answer() -> str | None:
        return given[0].reveal() if given else None

    store = open_token_store(path, answer, choice="vault")
    if path.exists():
        store.load("-", "any")
        given.clear()
    return store
