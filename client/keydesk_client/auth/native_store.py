"""The desktop's own token store, if there is one and it is unlocked. Nothing is asked of the user here.

Import this module late: keyring takes a while.
"""

import subprocess
import sys
from contextlib import closing

from keyring.backend import KeyringBackend

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
