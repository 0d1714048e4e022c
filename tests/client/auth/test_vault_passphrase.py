"""Another passphrase for the vault: the tokens stay, the old passphrase opens nothing, and a kill leaves a whole vault."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from keydesk_client.auth.vault import VaultKeyring, VaultLocked, VaultPassphraseWrong

QUICK = 2**10
TOKEN = "planted-0123456789abcdef"
OLD, NEW = "open sesame", "a longer sentence"
CHANGER = """
import sys
from keydesk_client.auth.vault import VaultKeyring, VaultPassphraseWrong
path, one, other = sys.argv[1:]
try:
    VaultKeyring(path, lambda: one, work=2**10).get_password("keydesk", "practice:main")
except VaultPassphraseWrong:
    one, other = other, one
print("ready", flush=True)
while True:
    VaultKeyring(path, lambda: one, work=2**10).change_passphrase(lambda: other)
    one, other = other, one
"""


def vault(folder: Path, phrase: str) -> VaultKeyring:
    return VaultKeyring(folder / "tokens" / "tokens.vault", lambda: phrase, work=QUICK)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A folder with a vault of two tokens."""
    for name in ("main", "other"):
        vault(tmp_path, OLD).set_password("keydesk", f"practice:{name}", TOKEN)
    return tmp_path


def test_the_new_passphrase_opens_every_token_and_the_old_one_none(kept: Path) -> None:
    before = vault(kept, OLD).path.read_bytes()
    vault(kept, OLD).change_passphrase(lambda: NEW)
    assert vault(kept, NEW).get_password("keydesk", "practice:main") == TOKEN
    assert vault(kept, NEW).get_password("keydesk", "practice:other") == TOKEN
    with pytest.raises(VaultPassphraseWrong):
        vault(kept, OLD).get_password("keydesk", "practice:main")
    after = vault(kept, NEW).path.read_bytes()
    assert before != after
    assert TOKEN.encode() not in after
    assert NEW.encode() not in after


def test_the_open_vault_goes_on_with_the_new_passphrase(kept: Path) -> None:
    opened = vault(kept, OLD)
    opened.change_passphrase(lambda: NEW)
    opened.set_password("keydesk", "practice:third", TOKEN)
    assert vault(kept, NEW).get_password("keydesk", "practice:third") == TOKEN


@pytest.mark.parametrize("new", ["", None])
def test_an_empty_passphrase_changes_nothing(kept: Path, new: str | None) -> None:
    with pytest.raises(VaultLocked, match="the vault is as it was"):
        vault(kept, OLD).change_passphrase(lambda: new)
    assert vault(kept, OLD).get_password("keydesk", "practice:main") == TOKEN


def test_a_wrong_present_passphrase_changes_nothing(kept: Path) -> None:
    before = vault(kept, OLD).path.read_bytes()
    with pytest.raises(VaultPassphraseWrong):
        vault(kept, "guessed").change_passphrase(lambda: NEW)
    assert vault(kept, OLD).path.read_bytes() == before


def test_without_a_vault_there_is_nothing_to_change(tmp_path: Path) -> None:
    with pytest.raises(VaultLocked, match="nothing to change"):
        vault(tmp_path, OLD).change_passphrase(lambda: NEW)
    assert not (tmp_path / "tokens").exists()


def test_what_a_killed_writer_left_behind_goes_with_the_next_change(kept: Path) -> None:
    left = vault(kept, OLD).path.with_name(".tokens.vault.4711")
    left.write_bytes(b"half a vault")
    vault(kept, OLD).change_passphrase(lambda: NEW)
    assert not left.exists()


def opens_with(folder: Path) -> list[str]:
    """Which of the two passphrases open the vault, with every token in it."""
    found = []
    for phrase in (OLD, NEW):
        try:
            tokens = [
                vault(folder, phrase).get_password("keydesk", f"practice:{each}")
                for each in ("main", "other")
            ]
        except VaultPassphraseWrong:
            continue
        assert tokens == [TOKEN, TOKEN]
        found.append(phrase)
    return found


def kills_during_changes(folder: Path, kills: int) -> None:
    path, draw = vault(folder, OLD).path, random.Random(kills)
    for _ in range(kills):
        changer = subprocess.Popen(
            [sys.executable, "-c", CHANGER, str(path), OLD, NEW],
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert changer.stdout is not None
        assert changer.stdout.readline() == b"ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            changer.wait(draw.uniform(0.0, 0.05))
        os.kill(changer.pid, signal.SIGKILL)
        changer.wait()
        changer.stdout.close()
        assert len(opens_with(folder)) == 1


@pytest.mark.e2e
def test_a_kill_in_the_middle_of_a_change_leaves_a_vault_that_one_of_the_two_opens(
    kept: Path,
) -> None:
    kills_during_changes(kept, kills=3)


@pytest.mark.e2e
@pytest.mark.soak
def test_a_hundred_kills_in_the_middle_of_changes(kept: Path) -> None:
    kills_during_changes(kept, kills=100)
