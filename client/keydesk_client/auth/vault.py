"""The token vault of hosts without a desktop: one encrypted file behind keyring's interface.

scrypt makes a key of the passphrase, AES-256-GCM seals all tokens at once and the header with them: no flipped bit goes
unseen. A write replaces the file at once and is synced: a crash leaves the old vault or the new one. The file is 0600
in a 0700 folder, which is checked whenever it is read. keyring never picks this backend by itself.

Import this module late: keyring and cryptography take a tenth of a second.
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

from keydesk_client.auth.private_files import locked, private_folder, read_private, replace_file
from keydesk_client.auth.secret import Secret
from keydesk_client.errors import StoreDamaged, StoreLocked, WrongPassphrase

Passphrase: TypeAlias = Callable[[], str | None]
"""Asks for the passphrase, once; None or nothing means that nobody gave one."""
Tokens: TypeAlias = dict[str, dict[str, str]]
"""Service, user, token."""

WORK: Final = 2**17
"""scrypt's n: 0.4 s and 128 MB for each guess."""
POSSIBLE_WORK: Final = frozenset(2**power for power in range(10, 18))
"""What a header may ask for: it is not known to be ours before the work is done, and 2**20 would take a gigabyte."""
LARGEST: Final = 1024 * 1024
LOCK_PATIENCE_S: Final = 5.0
KEY_BYTES: Final = 32
CHECK_BYTES: Final = 16
VERSION: Final = 1


class VaultLocked(StoreLocked, KeyringLocked):
    """No passphrase was given."""


class VaultPassphraseWrong(WrongPassphrase, KeyringLocked):
    """The passphrase does not open the vault."""


class VaultDamaged(StoreDamaged, KeyringError):
    """The file is not what was written."""


@dataclass(frozen=True, slots=True)
class Key:
    """What a passphrase becomes with a salt."""

    work: int
    salt: bytes
    seal: bytes
    check: bytes
    """Tells a wrong passphrase from a damaged file."""

    def __repr__(self) -> str:
        return "Key(…)"

    @property
    def header(self) -> dict[str, str | int]:
        """What stands unencrypted in the file, and is sealed with the rest."""
        return {
            "version": VERSION,
            "work": self.work,
            "salt": b64encode(self.salt).decode(),
            "check": b64encode(self.check).decode(),
        }


class VaultKeyring(KeyringBackend):
    """A keyring backend in one encrypted file; the passphrase is asked for when the first token is."""

    def __init__(
        self,
        path: Path | str,
        passphrase: Passphrase | None = None,
        *,
        work: int = WORK,
        lock_patience_s: float = LOCK_PATIENCE_S,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.path: Path = Path(path)
        self._passphrase = passphrase
        self._work = work
        self._lock_patience_s = lock_patience_s
        self._key: Key | None = None

    @properties.classproperty
    def priority(self) -> float:
        """Not among those that keyring may choose from."""
        raise RuntimeError("the vault is chosen explicitly")

    def set_properties_from_env(self) -> None:
        """The environment has no say in where tokens are kept."""

    def get_password(self, service: str, username: str) -> str | None:
        """The token, or None."""
        return self._read().get(service, {}).get(username)

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep a token; it is on disk when this returns."""
        private_folder(self.path.parent)
        self._read()  # asks for the passphrase: nobody should wait for the lock while a person types
        with locked(self.path, patience_s=self._lock_patience_s):
            tokens = self._read()
            tokens.setdefault(service, {})[username] = password
            self._write(tokens)

    def delete_password(self, service: str, username: str) -> None:
        """Forget a token; PasswordDeleteError when there is none."""
        self._read()
        with locked(self.path, patience_s=self._lock_patience_s):
            tokens = self._read()
            if username not in tokens.get(service, {}):
                raise PasswordDeleteError("the vault has no such token")
            del tokens[service][username]
            self._write(tokens)

    def _read(self) -> Tokens:
        try:
            content = read_private(self.path, LARGEST)
        except FileNotFoundError:
            return {}
        return self._opened(content)

    def _opened(self, content: bytes) -> Tokens:
        try:
            held = json.loads(content)
            work, salt = int(held["work"]), b64decode(held["salt"])
            check, nonce, sealed = (b64decode(held[name]) for name in ("check", "nonce", "sealed"))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise VaultDamaged(f"{self.path} is no vault any more") from error
        if held.get("version") != VERSION or work not in POSSIBLE_WORK:
            raise VaultDamaged(f"{self.path} has a header that was never written")
        key = self._unlocked(work, salt)
        if not compare_digest(key.check, check):
            self._key = None
            raise VaultPassphraseWrong("the passphrase does not open the vault")
        return self._unsealed(key, nonce, sealed)

    def _unsealed(self, key: Key, nonce: bytes, sealed: bytes) -> Tokens:
        try:
            plain = AESGCM(key.seal).decrypt(nonce, sealed, _bound(key))
            tokens: Tokens = json.loads(plain)
        except (InvalidTag, ValueError):
            raise VaultDamaged(f"{self.path} was changed since it was written") from None
        return tokens

    def _write(self, tokens: Tokens) -> None:
        key = self._key or self._unlocked(self._work, os.urandom(16))
        nonce = os.urandom(12)
        sealed = AESGCM(key.seal).encrypt(nonce, json.dumps(tokens).encode(), _bound(key))
        held = key.header | {
            "nonce": b64encode(nonce).decode(),
            "sealed": b64encode(sealed).decode(),
        }
        replace_file(self.path, json.dumps(held).encode() + b"\n")

    def _unlocked(self, work: int, salt: bytes) -> Key:
        if self._key is not None and (self._key.work, self._key.salt) == (work, salt):
            return self._key
        passphrase = Secret((self._passphrase() if self._passphrase is not None else None) or "")
        if not passphrase.reveal():
            raise VaultLocked("the token vault is locked: no passphrase was given")
        self._key = _key_of(passphrase, work, salt)
        return self._key


def _key_of(passphrase: Secret, work: int, salt: bytes) -> Key:
    """The key; an interrupt while it is made, which takes its time, shows the passphrase as no local."""
    made = Scrypt(salt=salt, length=KEY_BYTES + CHECK_BYTES, n=work, r=8, p=1)
    both = made.derive(passphrase.reveal().encode("utf-8", "surrogateescape"))
    return Key(work, salt, seal=both[:KEY_BYTES], check=both[KEY_BYTES:])


def _bound(key: Key) -> bytes:
    return json.dumps(key.header, sort_keys=True).encode()
