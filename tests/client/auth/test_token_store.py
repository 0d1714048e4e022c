"""Tokens by profile: stored in the chosen store, never in a plain one, never shown."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from keydesk_client.auth.secret import Secret
from keydesk_client.auth.token_store import (
    TokenStore,
    open_token_store,
    passphrase_from_descriptor,
    passphrase_from_file,
)
from keydesk_client.auth.vault import VaultKeyring
from keydesk_client.errors import (
    InvalidSettings,
    NoTokenStore,
    StoreLocked,
    TokenStoreError,
    UnsafeFile,
    WrongPassphrase,
)

TOKEN = "planted-0123456789abcdef"


def store_at(folder: Path, phrase: str | None = "open sesame") -> TokenStore:
    vault = VaultKeyring(folder / "private" / "vault.json", lambda: phrase, work=2**10)
    return TokenStore(vault, "vault")


def test_a_token_is_stored_loaded_and_forgotten_by_profile_and_environment(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    store.store("main", "practice", TOKEN)
    found = store_at(tmp_path).load("main", "practice")
    assert found is not None
    assert found.reveal() == TOKEN
    assert store.load("main", "live") is None
    assert store.forget("main", "practice")
    assert not store.forget("main", "practice")
    assert store.load("main", "practice") is None


@pytest.mark.parametrize(
    "token", ["", "short", "with space 0123", "ünïcode-0123456", "line\nbreak-0123", "x" * 1025]
)
def test_what_can_not_be_a_token_is_refused_unseen(tmp_path: Path, token: str) -> None:
    with pytest.raises(InvalidSettings) as refused:
        store_at(tmp_path).store("main", "practice", token)
    assert not token or token not in str(refused.value)


def test_errors_are_ours_and_show_nothing(tmp_path: Path) -> None:
    store_at(tmp_path).store("main", "practice", Secret(TOKEN))
    with pytest.raises(WrongPassphrase):
        store_at(tmp_path, "wrong-phrase").load("main", "practice")
    with pytest.raises(StoreLocked) as locked:
        store_at(tmp_path, None).load("main", "practice")
    assert TOKEN not in repr(locked.value)
    assert TOKEN not in repr(vars(store_at(tmp_path)))


def test_a_profile_without_a_name_has_no_token(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings):
        store_at(tmp_path).store("", "practice", TOKEN)


def test_the_vault_serves_when_it_is_chosen(tmp_path: Path) -> None:
    store = open_token_store(tmp_path / "private" / "vault.json", lambda: "phrase", choice="vault")
    assert store.kind == "vault"


def test_without_a_passphrase_there_is_no_vault_and_no_fallback(tmp_path: Path) -> None:
    with pytest.raises(NoTokenStore):
        open_token_store(tmp_path / "private" / "vault.json", choice="vault")


HEADLESS = """
import sys
from pathlib import Path
from keydesk_client.errors import NoTokenStore
from keydesk_client.auth.token_store import open_token_store
assert open_token_store(Path(sys.argv[1]), lambda: "phrase").kind == "vault"
try:
    open_token_store(Path(sys.argv[1]), lambda: "phrase", choice="native")
except NoTokenStore:
    print("none")
"""


@pytest.mark.e2e
def test_on_a_headless_host_the_vault_is_what_there_is(tmp_path: Path) -> None:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("DBUS")}
    ran = subprocess.run(
        [sys.executable, "-c", HEADLESS, str(tmp_path / "vault.json")],
        env=plain | {"PYTHON_KEYRING_BACKEND": "keyrings.alt.file.PlaintextKeyring"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == "none"


@pytest.mark.e2e
def test_importing_the_door_loads_neither_keyring_nor_cryptography() -> None:
    text = (
        "import sys, keydesk_client.auth.token_store;"
        "print([n for n in ('keyring', 'cryptography') if n in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_a_passphrase_comes_from_a_descriptor() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"open sesame\nrest")
    os.close(writing)
    assert passphrase_from_descriptor(reading)() == "open sesame"
    os.close(reading)


def test_a_passphrase_comes_from_a_file_that_is_private(tmp_path: Path) -> None:
    path = tmp_path / "passphrase"
    path.touch(mode=stat.S_IRUSR | stat.S_IWUSR)
    path.write_text("open sesame\n")
    assert passphrase_from_file(path)() == "open sesame"
    path.chmod(0o644)
    with pytest.raises(UnsafeFile):
        passphrase_from_file(path)()


def test_a_failing_native_store_is_one_of_our_errors() -> None:
    from keyring.backends import fail  # noqa: PLC0415 - the one backend that always fails

    refusing = fail.Keyring()  # type: ignore[no-untyped-call]
    with pytest.raises(TokenStoreError):
        TokenStore(refusing, "native").load("main", "practice")
