"""Where tokens live: the desktop's own store when it is unlocked, else our encrypted vault; never anything else.

keyring would choose by itself, and with some packages installed it silently takes a store in plain text. So the
backend is built here, by name. A token goes in through `store` and comes out as a Secret; neither passes through the
environment, an argument or a log.

The desktop's own token store, if there is one and it is unlocked. Nothing is asked of the user here.

Import this module late: keyring takes a while.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias, TypeVar

from keyring.backend import KeyringBackend

from keydesk_client.auth.private_files import refuse_unsafe
from keydesk_client.auth.secret import Secret, as_secret, strip_traceback
from keydesk_client.errors import (
    InvalidSettings,
    KeydeskClientError,
    NoTokenStore,
    StoreLocked,
    TokenStoreError,
)

KEYCHAIN_STATE = ("/usr/bin/security", "show-keychain-info")


def unlocked_native_store() -> KeyringBackend | None:
    """The store, or None."""
    return _keychain() if sys.platform == "darwin" else _secret_service()


def _keychain() -> KeyringBackend | None:
    """The login keychain of macOS: over SSH it is locked as a rule, and its state is told without a prompt."""
    from keyring.backends.macOS import Keyring  # noqa: PLC0415 - there on macOS only

    state = subprocess.run(KEYCHAIN_STATE, capture_output=True, check=False)  # noqa: S603 - fixed words
    made: KeyringBackend = Keyring()  # type: ignore[no-untyped-call]
    return made if state.returncode == 0 else None


def _secret_service() -> KeyringBackend | None:
    """The Secret Service of a Linux desktop. Its default collection is looked at, not opened: that would prompt."""
    try:
        import secretstorage  # noqa: PLC0415 - there on Linux only
        from keyring.backends.SecretService import Keyring  # noqa: PLC0415
    except ImportError:
        return None
    try:
        with closing(secretstorage.dbus_init()) as bus:
            if not secretstorage.check_service_availability(bus):
                return None
            if secretstorage.Collection(bus).is_locked():
                return None
    except (secretstorage.SecretStorageException, OSError):
        return None
    made: KeyringBackend = Keyring()  # type: ignore[no-untyped-call]
    return made


T = TypeVar("T")
Passphrase: TypeAlias = Callable[[], str | None]
Kind: TypeAlias = Literal["native", "vault"]

SERVICE: Final = "keydesk"
SHORTEST_TOKEN, LONGEST_TOKEN = 8, 1024
LONGEST_PASSPHRASE = 4096
AS_TYPED: Final = "surrogateescape"
"""A passphrase is bytes: a terminal of another encoding must not make it an error that shows them."""


class Keeper(Protocol):
    """What a store needs of a keyring backend."""

    def get_password(self, service: str, username: str, /) -> str | None: ...
    def set_password(self, service: str, username: str, password: str, /) -> None: ...
    def delete_password(self, service: str, username: str, /) -> None: ...


class TokenStore:
    """Tokens by profile and environment."""

    def __init__(self, backend: Keeper, kind: Kind) -> None:
        self._backend = backend
        self.kind: Kind = kind
        """Which store it is; note it beside the profile, and ask for the same one next time."""

    def store(self, profile: str, environment: str, token: str | Secret) -> None:
        """Keep a token; InvalidSettings when it can not be one."""
        token = as_secret(token)
        check_token(token)
        user, held = _user(profile, environment), token
        self._closed_in(lambda: self._backend.set_password(SERVICE, user, held.reveal()), held)

    def load(self, profile: str, environment: str) -> Secret | None:
        """The token, or None when there is none."""
        user = _user(profile, environment)
        found = self._closed_in(lambda: self._backend.get_password(SERVICE, user))
        return None if found is None else Secret(found)

    def forget(self, profile: str, environment: str) -> bool:
        """Take a token out; False when there was none."""
        if self.load(profile, environment) is None:
            return False
        user = _user(profile, environment)
        self._closed_in(lambda: self._backend.delete_password(SERVICE, user))
        return True

    def _closed_in(self, work: Callable[[], T], token: Secret | None = None) -> T:
        """What a backend's work gives. Its errors, and an interrupt, come without frames where secrets lie open."""
        failure: BaseException
        try:
            return work()
        except _expected_of(self.kind) as error:
            failure = _in_our_words(error, token)
        except BaseException as error:  # noqa: BLE001 - it goes on, without its frames
            failure = strip_traceback(error)
        raise failure

    def __repr__(self) -> str:
        return f"TokenStore({self.kind!r})"


def open_token_store(
    vault_path: Path,
    passphrase: Passphrase | None = None,
    *,
    choice: Kind | None = None,
) -> TokenStore:
    """The store of this machine: the one that was chosen, else the native one if it is unlocked, else the vault.

    The vault asks for its `passphrase` when the first token is stored or loaded, once.
    """
    from keydesk_client.auth.token_store import unlocked_native_store  # noqa: PLC0415 - late: 60 ms

    if choice != "vault":
        backend = unlocked_native_store()
        if backend is not None:
            return TokenStore(backend, "native")
    if choice == "native" or passphrase is None:
        raise NoTokenStore(
            "no native token store is unlocked here, and the vault needs a passphrase"
        )
    from keydesk_client.auth.vault import VaultKeyring  # noqa: PLC0415 - late: 100 ms

    return TokenStore(VaultKeyring(vault_path, passphrase), "vault")


def check_token(token: Secret) -> None:
    """InvalidSettings when this can not be a token."""
    token.check()
    length = len(token.reveal())
    if not SHORTEST_TOKEN <= length <= LONGEST_TOKEN:
        raise InvalidSettings(
            f"a token has {SHORTEST_TOKEN} to {LONGEST_TOKEN} characters, this has {length}"
        )


def passphrase_from_descriptor(descriptor: int) -> Passphrase:
    """A passphrase that a script hands over on an open file descriptor; its first line."""

    def read() -> str:
        with os.fdopen(descriptor, encoding="utf-8", errors=AS_TYPED, closefd=False) as file:
            return file.readline(LONGEST_PASSPHRASE).rstrip("\r\n")

    return read


def passphrase_from_file(path: Path) -> Passphrase:
    """A passphrase in a file of its own, 0600; its first line."""

    def read() -> str:
        with path.open(encoding="utf-8", errors=AS_TYPED) as file:
            refuse_unsafe(path, os.fstat(file.fileno()))
            return file.readline(LONGEST_PASSPHRASE).rstrip("\r\n")

    return read


def _user(profile: str, environment: str) -> str:
    if not profile or ":" in environment:
        raise InvalidSettings("a token belongs to a profile with a name, and to an environment")
    return f"{environment}:{profile}"


def _expected_of(kind: Kind) -> tuple[type[Exception], ...]:
    """A desktop's store raises what libraries under it do; what asks for the vault's passphrase may raise its own."""
    from keyring.errors import KeyringError  # noqa: PLC0415 - late

    return (Exception,) if kind == "native" else (KeydeskClientError, KeyringError, OSError)


def _in_our_words(error: Exception, token: Secret | None) -> KeydeskClientError:
    from keyring.errors import KeyringError, KeyringLocked  # noqa: PLC0415 - late

    if isinstance(error, KeydeskClientError):
        error.__cause__ = error.__context__ = error.__traceback__ = None
        return error
    said = str(error) if isinstance(error, KeyringError | OSError) else type(error).__name__
    said = said if token is None else token.redact(said)
    match error:
        case KeyringLocked():
            return StoreLocked(f"the native token store is locked: {said}")
        case OSError():
            return TokenStoreError(f"the token store can not be used: {said}")
        case _:
            return TokenStoreError(f"the native token store failed: {said}")
