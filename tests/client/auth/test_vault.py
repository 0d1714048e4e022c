"""The token vault: encrypted, private, whole after any crash, and clear about what is wrong with it."""

import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import keyring
import pytest
from keyring.errors import KeyringLocked, PasswordDeleteError

from keydesk_client import TokenStore
from keydesk_client.auth.private_files import locked
from keydesk_client.auth.vault import VaultDamaged, VaultKeyring, VaultLocked, VaultPassphraseWrong
from keydesk_client.errors import TokenStoreError, UnsafeFile

QUICK = 2**10
"""Little work: these tests are not about guessing passphrases."""
TOKEN = "planted-0123456789abcdef"


def vault_at(folder: Path, phrase: str | None = "open sesame") -> VaultKeyring:
    return VaultKeyring(folder / "private" / "vault.json", lambda: phrase, work=QUICK)


def vault_with_tokens(folder: Path) -> VaultKeyring:
    vault = vault_at(folder)
    vault.set_password("keydesk", "practice:main", TOKEN)
    return vault


def test_a_token_comes_back_in_another_session(tmp_path: Path) -> None:
    vault_with_tokens(tmp_path)
    again = vault_at(tmp_path)
    assert again.get_password("keydesk", "practice:main") == TOKEN
    assert again.get_password("keydesk", "live:main") is None


def test_it_serves_through_keyring_itself(tmp_path: Path) -> None:
    before = keyring.get_keyring()
    keyring.set_keyring(vault_at(tmp_path))
    try:
        keyring.set_password("keydesk", "practice:main", TOKEN)
        assert keyring.get_password("keydesk", "practice:main") == TOKEN
    finally:
        keyring.set_keyring(before)


def test_keyring_never_picks_it_by_itself() -> None:
    assert VaultKeyring not in {type(each) for each in keyring.backend.get_all_keyring()}


def test_the_file_shows_no_token_no_profile_and_is_private(tmp_path: Path) -> None:
    path = vault_with_tokens(tmp_path).path
    content = path.read_bytes()
    assert TOKEN.encode() not in content
    assert b"main" not in content
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert sorted(each.name for each in path.parent.iterdir()) == ["vault.json", "vault.json.lock"]


def test_a_wrong_passphrase_and_none_are_told_apart(tmp_path: Path) -> None:
    vault_with_tokens(tmp_path)
    with pytest.raises(VaultPassphraseWrong, match="does not open"):
        vault_at(tmp_path, "wrong").get_password("keydesk", "practice:main")
    with pytest.raises(VaultLocked, match="no passphrase"):
        vault_at(tmp_path, None).get_password("keydesk", "practice:main")
    with pytest.raises(KeyringLocked):
        vault_at(tmp_path, "wrong").get_password("keydesk", "practice:main")


def test_a_wrong_passphrase_can_not_write_over_the_vault(tmp_path: Path) -> None:
    vault_with_tokens(tmp_path)
    with pytest.raises(VaultPassphraseWrong):
        vault_at(tmp_path, "wrong").set_password("keydesk", "practice:main", "other-token")
    assert vault_at(tmp_path).get_password("keydesk", "practice:main") == TOKEN


def test_the_passphrase_is_asked_for_once(tmp_path: Path) -> None:
    vault_with_tokens(tmp_path)
    asked: list[str] = []

    def ask() -> str:
        asked.append("asked")
        return "open sesame"

    vault = VaultKeyring(tmp_path / "private" / "vault.json", ask, work=QUICK)
    for _ in range(3):
        vault.get_password("keydesk", "practice:main")
    vault.set_password("keydesk", "live:main", TOKEN)
    assert asked == ["asked"]


def test_no_flipped_bit_yields_a_token(tmp_path: Path) -> None:
    path = vault_with_tokens(tmp_path).path
    whole = path.read_bytes()
    for place in range(len(whole) - 1):
        broken = bytearray(whole)
        broken[place] ^= 1
        path.write_bytes(broken)
        try:
            found = vault_at(tmp_path).get_password("keydesk", "practice:main")
        except (VaultDamaged, VaultPassphraseWrong):
            continue
        assert found == TOKEN, f"byte {place}"


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\x00\xff", b'{"work": 1e99}'])
def test_what_is_no_vault_is_called_damaged(tmp_path: Path, content: bytes) -> None:
    vault_with_tokens(tmp_path).path.write_bytes(content)
    with pytest.raises(VaultDamaged):
        vault_at(tmp_path).get_password("keydesk", "practice:main")


def test_a_header_can_not_ask_for_endless_work(tmp_path: Path) -> None:
    path = vault_with_tokens(tmp_path).path
    path.write_bytes(path.read_bytes().replace(b'"work": 1024', b'"work": 1073741824'))
    with pytest.raises(VaultDamaged, match="header"):
        vault_at(tmp_path).get_password("keydesk", "practice:main")


@pytest.mark.parametrize(
    "loosen", [lambda path: path.chmod(0o640), lambda path: path.parent.chmod(0o750)]
)
def test_a_vault_that_others_can_reach_is_refused(
    tmp_path: Path, loosen: Callable[[Path], None]
) -> None:
    loosen(vault_with_tokens(tmp_path).path)
    with pytest.raises(UnsafeFile):
        vault_at(tmp_path).get_password("keydesk", "practice:main")


def test_a_token_that_is_not_there_can_not_be_forgotten(tmp_path: Path) -> None:
    vault = vault_with_tokens(tmp_path)
    vault.delete_password("keydesk", "practice:main")
    with pytest.raises(PasswordDeleteError):
        vault.delete_password("keydesk", "practice:main")


def test_two_processes_do_not_lose_each_others_tokens(tmp_path: Path) -> None:
    one, other = vault_at(tmp_path), vault_at(tmp_path)
    one.set_password("keydesk", "practice:a", TOKEN)
    other.set_password("keydesk", "practice:b", TOKEN)
    one.set_password("keydesk", "practice:c", TOKEN)
    found = [vault_at(tmp_path).get_password("keydesk", f"practice:{name}") for name in "abc"]
    assert found == [TOKEN] * 3


def test_a_vault_cut_off_at_any_byte_yields_no_token(tmp_path: Path) -> None:
    path = vault_with_tokens(tmp_path).path
    whole = path.read_bytes()
    for place in range(len(whole) - 1):
        path.write_bytes(whole[:place])
        with pytest.raises(VaultDamaged):
            vault_at(tmp_path).get_password("keydesk", "practice:main")


@pytest.mark.parametrize("work", ["1048576", "524288", "262144", "1e999", "[[[1]]]", "NaN", "0"])
def test_a_header_can_ask_for_no_more_memory_than_we_do(tmp_path: Path, work: str) -> None:
    path = vault_with_tokens(tmp_path).path
    path.write_bytes(path.read_bytes().replace(b'"work": 1024', f'"work": {work}'.encode()))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(VaultDamaged):
        vault_at(tmp_path).get_password("keydesk", "practice:main")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_a_vault_of_endless_depth_is_damaged(tmp_path: Path) -> None:
    vault_with_tokens(tmp_path).path.write_bytes(b"[" * 100_000)
    with pytest.raises(VaultDamaged):
        vault_at(tmp_path).get_password("keydesk", "practice:main")


def link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def grow(path: Path) -> None:
    os.truncate(path, 2**40)


def give_away(path: Path) -> None:
    os.chown(path, 65534, -1)


def give_the_folder_away(path: Path) -> None:
    os.chown(path.parent, 65534, -1)


@pytest.mark.parametrize(
    "harm",
    [link, pipe, grow]
    + [
        pytest.param(
            each, marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root gives away")
        )
        for each in (give_away, give_the_folder_away)
    ],
)
def test_what_is_no_private_file_of_ours_is_not_read(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    harm(vault_with_tokens(tmp_path).path)
    with pytest.raises(UnsafeFile):
        vault_at(tmp_path).get_password("keydesk", "practice:main")
    with pytest.raises(UnsafeFile):
        vault_at(tmp_path).set_password("keydesk", "practice:main", "another-token")


def test_what_a_killed_writer_left_does_not_lend_its_rights(tmp_path: Path) -> None:
    path = vault_with_tokens(tmp_path).path
    left = path.with_name(f".{path.name}.{os.getpid()}")
    left.write_text("half")
    left.chmod(0o666)
    vault_at(tmp_path).set_password("keydesk", "practice:b", TOKEN)
    assert path.stat().st_mode & 0o777 == 0o600
    assert not left.exists()


def test_a_lock_that_nobody_gives_back_is_an_error_that_says_so(tmp_path: Path) -> None:
    path = vault_with_tokens(tmp_path).path
    hasty = VaultKeyring(path, lambda: "open sesame", work=QUICK, lock_patience_s=0.05)
    with locked(path), pytest.raises(TokenStoreError, match="another process holds"):
        TokenStore(hasty, "vault").store("main", "practice", TOKEN)


def test_a_file_system_without_locks_is_an_error_and_not_a_guess(tmp_path: Path) -> None:
    path = vault_with_tokens(tmp_path).path
    lock = path.with_name(path.name + ".lock")
    lock.unlink()
    lock.mkdir()
    with pytest.raises(TokenStoreError, match="cannot use the token store"):
        TokenStore(vault_at(tmp_path), "vault").store("main", "practice", TOKEN)
    assert vault_at(tmp_path).get_password("keydesk", "practice:main") == TOKEN


def test_nobody_waits_for_the_lock_while_a_person_types(tmp_path: Path) -> None:
    path = vault_with_tokens(tmp_path).path

    def type_slowly() -> str:
        with locked(path, patience_s=0):
            return "open sesame"

    slow = VaultKeyring(path, type_slowly, work=QUICK)
    slow.set_password("keydesk", "practice:b", TOKEN)
    assert slow.get_password("keydesk", "practice:b") == TOKEN
    another = VaultKeyring(path, type_slowly, work=QUICK)
    another.delete_password("keydesk", "practice:b")
    assert slow.get_password("keydesk", "practice:b") is None


TWENTY = """
import sys
from keydesk_client.auth.vault import VaultKeyring
vault = VaultKeyring(sys.argv[1], lambda: "open sesame", work=2**10)
for number in range(20):
    vault.set_password("keydesk", f"practice:{sys.argv[2]}-{number}", "a-token")
"""


@pytest.mark.e2e
def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = vault_with_tokens(tmp_path).path
    writers = [
        subprocess.Popen([sys.executable, "-c", TWENTY, str(path), name])
        for name in ("a", "b", "c")
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    vault = vault_at(tmp_path)
    names = [f"practice:{name}-{number}" for name in "abc" for number in range(20)]
    assert {vault.get_password("keydesk", name) for name in names} == {"a-token"}
    assert vault.get_password("keydesk", "practice:main") == TOKEN


WRITER = """
import sys
from keydesk_client.auth.vault import VaultKeyring
vault = VaultKeyring(sys.argv[1], lambda: "open sesame", work=2**10)
vault.get_password("keydesk", "practice:main")
print("ready", flush=True)
number = 0
while True:
    number += 1
    vault.set_password("keydesk", "practice:other", f"token-{number:08}")
"""


def kills_during_writes(folder: Path, kills: int) -> None:
    path = vault_with_tokens(folder).path
    draw = random.Random(kills)
    for _ in range(kills):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)],
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            writer.wait(draw.uniform(0.0, 0.05))
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        vault = vault_at(folder)
        assert vault.get_password("keydesk", "practice:main") == TOKEN
        other = vault.get_password("keydesk", "practice:other")
        assert other is None or other.startswith("token-")


@pytest.mark.e2e
def test_a_kill_in_the_middle_of_a_write_loses_nothing(tmp_path: Path) -> None:
    kills_during_writes(tmp_path, kills=3)


@pytest.mark.e2e
@pytest.mark.soak
def test_a_hundred_kills_in_the_middle_of_writes_lose_nothing(tmp_path: Path) -> None:
    kills_during_writes(tmp_path, kills=100)
