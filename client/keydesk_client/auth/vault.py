"""Token vault for hosts without a desktop: a keyring backend in one encrypted file.

scrypt derives a key from the passphrase; AES-256-GCM encrypts all tokens together and authenticates the header. A write
replaces the file atomically and syncs it. The file has mode 0600 in a folder of mode 0700, checked on each read. keyring
never chooses this backend. Import this module late: importing keyring and cryptography takes 100 ms.
"""

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass
from hmac import compare_digest
from pathlib import Path
from typing import Final, TypeAlias

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from keyring.backend import KeyringBackend
from keyring.compat import properties
from keyring.errors import KeyringError, KeyringLocked, PasswordDeleteError

from keydesk_client.auth.private_files import (
    Warn,
    locked,
    private_folder,
    read_private,
    replace_file,
)
from keydesk_client.auth.secret import Secret
from keydesk_client.errors import StoreDamaged, StoreLocked, WrongPassphrase

Passphrase: TypeAlias = Callable[[], str | None]
"""Returns the passphrase; None or an empty string when none was given."""
Tokens: TypeAlias = dict[str, dict[str, str]]
"""Tokens by service and user."""

WORK: Final = 2**17
"""The cost n of scrypt: 0.4 s and 128 MB for each guess."""
ALLOWED_WORK: Final = frozenset(2**power for power in range(10, 18))
"""Costs that a header may name; it is authenticated only after that work, and 2**20 would take a gigabyte."""
MAX_FILE_BYTES: Final = 1024 * 1024
LOCK_PATIENCE_S: Final = 5.0
KEY_BYTES: Final = 32
CHECK_BYTES: Final = 16
VERSION: Final = 1


class VaultLocked(StoreLocked, KeyringLocked):
    """No passphrase was given."""


class VaultPassphraseWrong(WrongPassphrase, KeyringLocked):
    """The passphrase does not open the vault."""


class VaultDamaged(StoreDamaged, KeyringError):
    """The file was changed since it was written."""


@dataclass(frozen=True, slots=True)
class Key:
    """The key that a passphrase and a salt give."""

    work: int
    salt: bytes
    seal: bytes
    check: bytes
    """Distinguishes a wrong passphrase from a damaged file."""

    def __repr__(self) -> str:
        return "Key(…)"

    @property
    def header(self) -> dict[str, str | int]:
        """The unencrypted part of the file, authenticated with the rest."""
        return {
            "version": VERSION,
            "work": self.work,
            "salt": b64encode(self.salt).decode(),
            "check": b64encode(self.check).decode(),
        }


class VaultKeyring(KeyringBackend):
    """A keyring backend in one encrypted file; it calls `passphrase` when it is first used.

    A file that others can access is refused, or with `warn` read after a warning, where not everybody can write to it.
    """

    def __init__(
        self,
        path: Path | str,
        passphrase: Passphrase | None = None,
        *,
        work: int = WORK,
        lock_patience_s: float = LOCK_PATIENCE_S,
        warn: Warn | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.path: Path = Path(path)
        self._passphrase = passphrase
        self._work = work
        self._lock_patience_s = lock_patience_s
        self._warn = warn
        self._key: Key | None = None

    @properties.classproperty
    def priority(self) -> float:
        """Raise, so that keyring does not choose this backend by itself."""
        raise RuntimeError("the vault is chosen explicitly")

    def set_properties_from_env(self) -> None:
        """Ignore the environment, which must not decide where tokens are stored."""

    def get_password(self, service: str, username: str) -> str | None:
        """Return the token, or None."""
        return self._read().get(service, {}).get(username)

    def set_password(self, service: str, username: str, password: str) -> None:
        """Store a token; it is on disk when this returns."""
        private_folder(self.path.parent)
        self._read()  # calls `passphrase` before the lock is taken: typing takes a while
        with locked(self.path, patience_s=self._lock_patience_s):
            tokens = self._read()
            tokens.setdefault(service, {})[username] = password
            self._write(tokens)

    def delete_password(self, service: str, username: str) -> None:
        """Delete a token; raise PasswordDeleteError when there is none."""
        self._read()
        with locked(self.path, patience_s=self._lock_patience_s):
            tokens = self._read()
            if username not in tokens.get(service, {}):
                raise PasswordDeleteError("the vault has no such token")
            del tokens[service][username]
            self._write(tokens)

    def change_passphrase(self, new: Passphrase) -> None:
        """Encrypt all tokens with another passphrase, under a new salt.

        The file is replaced in one step, after the new content was opened with the new passphrase: a crash at any moment
        leaves the vault as it was or as it will be.

        Raises:
            VaultLocked: there is no vault yet, or a passphrase is empty.
            WrongPassphrase: the present passphrase does not open it.
        """
        if not self.path.exists():
            raise VaultLocked(f"there is no token vault at {self.path}: nothing to change")
        self._read()  # asks for the present passphrase before the lock is taken
        passphrase = Secret(new() or "")
        if not passphrase.reveal():
            raise VaultLocked("no new passphrase was given; the vault is as it was")
        key = _derived_key(passphrase, self._work, os.urandom(16))
        with locked(self.path, patience_s=self._lock_patience_s):
            for left in self.path.parent.glob(f".{self.path.name}.*"):
                left.unlink(missing_ok=True)  # of a killed writer; a living one holds the lock
            tokens, before = self._read(), self._key
            self._key = key
            try:
                self._write(tokens)
            except BaseException:
                self._key = before
                raise

    def _read(self) -> Tokens:
        try:
            content = read_private(self.path, MAX_FILE_BYTES, self._warn)
        except FileNotFoundError:
            return {}
        return self._decoded(content)

    def _decoded(self, content: bytes) -> Tokens:
        try:
            held = json.loads(content)
            work, salt = int(held["work"]), b64decode(held["salt"])
            check, nonce, sealed = (b64decode(held[name]) for name in ("check", "nonce", "sealed"))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise VaultDamaged(
                f"{self.path} is not a readable vault: restore it, or delete it and sign in again"
            ) from error
        if held.get("version") != VERSION or work not in ALLOWED_WORK:
            raise VaultDamaged(
                f"{self.path} has an invalid header: restore it, or delete it and sign in again"
            )
        key = self._key_for(work, salt)
        if not compare_digest(key.check, check):
            self._key = None
            raise VaultPassphraseWrong("the passphrase does not open the vault")
        return self._decrypted(key, nonce, sealed)

    def _decrypted(self, key: Key, nonce: bytes, sealed: bytes) -> Tokens:
        try:
            plain = AESGCM(key.seal).decrypt(nonce, sealed, _authenticated(key))
            tokens: Tokens = json.loads(plain)
        except (InvalidTag, ValueError):
            raise VaultDamaged(
                f"{self.path} was changed since it was written: restore it, or delete it and sign in again"
            ) from None
        return tokens

    def _write(self, tokens: Tokens) -> None:
        key = self._key or self._key_for(self._work, os.urandom(16))
        nonce = os.urandom(12)
        sealed = AESGCM(key.seal).encrypt(nonce, json.dumps(tokens).encode(), _authenticated(key))
        held = key.header | {
            "nonce": b64encode(nonce).decode(),
            "sealed": b64encode(sealed).decode(),
        }
        content = json.dumps(held).encode() + b"\n"
        if self._decoded(content) != tokens:
            raise VaultDamaged("the vault could not be encrypted; the file is as it was")
        replace_file(self.path, content)

    def _key_for(self, work: int, salt: bytes) -> Key:
        if self._key is not None and (self._key.work, self._key.salt) == (work, salt):
            return self._key
        passphrase = Secret((self._passphrase() if self._passphrase is not None else None) or "")
        if not passphrase.reveal():
            raise VaultLocked("the token vault is locked, and no passphrase was given")
        self._key = _derived_key(passphrase, work, salt)
        return self._key


def _derived_key(passphrase: Secret, work: int, salt: bytes) -> Key:
    """Derive the key; no local holds the passphrase, which the traceback of an interrupt would show."""
    scrypt = Scrypt(salt=salt, length=KEY_BYTES + CHECK_BYTES, n=work, r=8, p=1)
    both = scrypt.derive(passphrase.reveal().encode("utf-8", "surrogateescape"))
    return Key(work, salt, seal=both[:KEY_BYTES], check=both[KEY_BYTES:])


def _authenticated(key: Key) -> bytes:
    return json.dumps(key.header, sort_keys=True).encode()
