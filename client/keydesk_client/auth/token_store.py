"""Token storage: the desktop's native store when it is unlocked, else the encrypted vault, and nothing else.

The backend is built here by name: keyring's own choice silently takes a plain-text store where some packages are
installed. keyring is imported when a store is opened, since that takes 60 ms.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias, TypeVar

from keydesk_client.auth.private_files import Warn, refuse_unsafe
from keydesk_client.auth.secret import Secret, as_secret, strip_traceback
from keydesk_client.errors import (
    InvalidSettings,
    KeydeskClientError,
    NoTokenStore,
    StoreLocked,
    TokenStoreError,
)

T = TypeVar("T")
Passphrase: TypeAlias = Callable[[], str | None]
Kind: TypeAlias = Literal["native", "vault"]

SERVICE: Final = "keydesk"
KEYCHAIN_STATE: Final = ("/usr/bin/security", "show-keychain-info")
SHORTEST_TOKEN, MAX_TOKEN_LENGTH = 8, 1024
MAX_PASSPHRASE_LENGTH = 4096
AS_TYPED: Final = "surrogateescape"
"""A passphrase is bytes: one in another encoding must not raise an error that shows them."""


class Backend(Protocol):
    """The methods of a keyring backend that a store uses."""

    def get_password(self, service: str, username: str, /) -> str | None: ...
    def set_password(self, service: str, username: str, password: str, /) -> None: ...
    def delete_password(self, service: str, username: str, /) -> None: ...


class TokenStore:
    """Stores tokens by profile and environment."""

    def __init__(self, backend: Backend, kind: Kind) -> None:
        self._backend = backend
        self.kind: Kind = kind
        """The kind of store; pass it as `choice` next time, so that the same store is opened."""

    def store(self, profile: str, environment: str, token: str | Secret) -> None:
        """Store a token; raise InvalidSettings for an invalid one."""
        token = as_secret(token)
        check_token(token)
        user, secret = _user(profile, environment), token
        self._call(lambda: self._backend.set_password(SERVICE, user, secret.reveal()), secret)

    def load(self, profile: str, environment: str) -> Secret | None:
        """Return the token, or None when there is none."""
        user = _user(profile, environment)
        token = self._call(lambda: self._backend.get_password(SERVICE, user))
        return None if token is None else Secret(token)

    def forget(self, profile: str, environment: str) -> bool:
        """Delete a token; return False when there was none."""
        if self.load(profile, environment) is None:
            return False
        user = _user(profile, environment)
        self._call(lambda: self._backend.delete_password(SERVICE, user))
        return True

    def _call(self, work: Callable[[], T], token: Secret | None = None) -> T:
        """Return the result of `work`; raise its errors, and an interrupt, without frames that hold secrets."""
        failure: BaseException
        try:
            return work()
        except _translated_errors(self.kind) as error:
            failure = _store_error(error, token)
        except BaseException as error:  # noqa: BLE001 - re-raised without traceback
            failure = strip_traceback(error)
        raise failure

    def __repr__(self) -> str:
        return f"TokenStore({self.kind!r})"


def open_token_store(
    vault_path: Path,
    passphrase: Passphrase | None = None,
    *,
    choice: Kind | None = None,
    warn: Warn | None = None,
) -> TokenStore:
    """Return the store of this machine: the one of `choice`, else the native one if it is unlocked, else the vault.

    The vault calls `passphrase` once, when the first token is stored or loaded. With `warn`, a vault that others can
    read is used after a warning instead of being refused.

    Raises:
        NoTokenStore: the chosen store is not available.
    """
    if choice != "vault":
        backend = unlocked_native_store()
        if backend is not None:
            return TokenStore(backend, "native")
    if choice == "native" or passphrase is None:
        raise NoTokenStore(
            "no token store: unlock the native one, or give a passphrase for the vault"
        )
    from keydesk_client.auth.vault import VaultKeyring  # noqa: PLC0415 - takes 100 ms

    return TokenStore(VaultKeyring(vault_path, passphrase, warn=warn), "vault")


def unlocked_native_store() -> Backend | None:
    """Return the desktop's token store, or None when there is none or it is locked; never prompt."""
    return _keychain() if sys.platform == "darwin" else _secret_service()


def check_token(token: Secret) -> None:
    """Raise InvalidSettings for an invalid token."""
    token.check()
    length = len(token.reveal())
    if not SHORTEST_TOKEN <= length <= MAX_TOKEN_LENGTH:
        raise InvalidSettings(
            f"invalid token length {length}: a token has {SHORTEST_TOKEN} to {MAX_TOKEN_LENGTH} characters"
        )


def passphrase_from_descriptor(descriptor: int) -> Passphrase:
    """Return a passphrase function that reads the first line of an open file descriptor."""

    def read() -> str:
        with os.fdopen(descriptor, encoding="utf-8", errors=AS_TYPED, closefd=False) as file:
            return file.readline(MAX_PASSPHRASE_LENGTH).rstrip("\r\n")

    return read


def passphrase_from_file(path: Path, warn: Warn | None = None) -> Passphrase:
    """Return a passphrase function that reads the first line of a file, which must have mode 0600.

    With `warn`, one that others can read is used after a warning.
    """

    def read() -> str:
        with path.open(encoding="utf-8", errors=AS_TYPED) as file:
            refuse_unsafe(path, os.fstat(file.fileno()), warn)
            return file.readline(MAX_PASSPHRASE_LENGTH).rstrip("\r\n")

    return read


def _keychain() -> Backend | None:
    """Return the login keychain of macOS if it is unlocked, without a prompt; over SSH it is usually locked."""
    from keyring.backends.macOS import Keyring  # noqa: PLC0415 - exists on macOS only

    state = subprocess.run(KEYCHAIN_STATE, capture_output=True, check=False)  # noqa: S603 - constant arguments
    backend: Backend = Keyring()  # type: ignore[no-untyped-call]
    return backend if state.returncode == 0 else None


def _secret_service() -> Backend | None:
    """Return the Secret Service of a Linux desktop if its default collection is unlocked, without a prompt."""
    try:
        import secretstorage  # noqa: PLC0415 - exists on Linux only
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
    backend: Backend = Keyring()  # type: ignore[no-untyped-call]
    return backend


def _user(profile: str, environment: str) -> str:
    if not profile or ":" in environment:
        raise InvalidSettings(
            f"invalid profile {profile!r} or environment {environment!r}: both need a name, without a colon in the environment"
        )
    return f"{environment}:{profile}"


def _translated_errors(kind: Kind) -> tuple[type[Exception], ...]:
    """Return the exceptions to translate: any of a native store; not those of the vault's passphrase function."""
    from keyring.errors import KeyringError  # noqa: PLC0415 - takes 60 ms

    return (Exception,) if kind == "native" else (KeydeskClientError, KeyringError, OSError)


def _store_error(error: Exception, token: Secret | None) -> KeydeskClientError:
    from keyring.errors import KeyringError, KeyringLocked  # noqa: PLC0415 - takes 60 ms

    if isinstance(error, KeydeskClientError):
        error.__cause__ = error.__context__ = error.__traceback__ = None
        return error
    reason = str(error) if isinstance(error, KeyringError | OSError) else type(error).__name__
    reason = reason if token is None else token.redact(reason)
    match error:
        case KeyringLocked():
            return StoreLocked(f"the native token store is locked: {reason}")
        case OSError():
            return TokenStoreError(f"cannot use the token store: {reason}")
        case _:
            return TokenStoreError(f"the native token store failed: {reason}")
