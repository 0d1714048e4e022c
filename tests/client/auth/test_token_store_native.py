"""The real Secret Service of a Linux desktop, in a session of its own. Collected where it is installed: see conftest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

STORING = """
from pathlib import Path
from keydesk_client.auth.token_store import open_token_store
store = open_token_store(Path("unused"), None)
store.store("main", "practice", "planted-0123456789abcdef")
print(store.kind, store.load("main", "practice").reveal())
print(store.forget("main", "practice"), store.load("main", "practice"))
store.store("main", "practice", "planted-0123456789abcdef")
"""

LOCKED = """
from pathlib import Path
from keydesk_client.auth.token_store import open_token_store
print(open_token_store(Path("unused"), lambda: "phrase").kind)
"""


def in_a_session(folder: Path, unlock: str, script: str) -> str:
    """Run a script in a D-Bus session with its own keyring daemon."""
    homes = {name: str(folder) for name in ("HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR")}
    text = f'{unlock} exec "$0" -c "$1"'
    ran = subprocess.run(
        ["dbus-run-session", "--", "sh", "-c", text, sys.executable, script],
        env=os.environ | homes | {"XDG_CACHE_HOME": str(folder / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


UNLOCKED = "printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1;"
NOT_UNLOCKED = "gnome-keyring-daemon --start --components=secrets >/dev/null 2>&1;"


def test_an_unlocked_store_is_taken_and_keeps_the_token_encrypted(tmp_path: Path) -> None:
    said = in_a_session(tmp_path, UNLOCKED, STORING)
    assert said == "native planted-0123456789abcdef\nTrue None"
    kept = b"".join(path.read_bytes() for path in (tmp_path / "keyrings").iterdir())
    assert kept
    assert b"planted" not in kept


def test_a_locked_store_is_left_alone_and_the_vault_serves(tmp_path: Path) -> None:
    in_a_session(tmp_path, UNLOCKED, STORING)
    assert in_a_session(tmp_path, NOT_UNLOCKED, LOCKED) == "vault"
