"""What the desk loads before its first picture: half of a second of imports waits until after it."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.e2e

HEAVY = {
    "pydantic",
    "httpx",
    "keyring",
    "cryptography",
    "numpy",
    "plotext",
    "click",
    "pygments",
    "tomlkit",
    "sqlite3",
}
CODE = """
import sys, keydesk.cli.desk, keydesk.app.app
print(*{name.partition('.')[0] for name in sys.modules})
"""


def test_nothing_heavy_is_loaded_before_the_first_picture() -> None:
    said = subprocess.run([sys.executable, "-c", CODE], check=True, capture_output=True, text=True)
    loaded = set(said.stdout.split())
    assert not HEAVY & loaded
    assert "keydesk_practice" not in loaded
