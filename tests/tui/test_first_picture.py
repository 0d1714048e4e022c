"""What the desk loads before its first picture: half of a second of imports waits until after it."""

import subprocess
import sys

HEAVY = {"pydantic", "httpx", "keyring", "cryptography", "numpy", "plotext", "click", "pygments"}
CODE = """
import sys, keydesk.cli.desk, keydesk.app
print(*{name.partition('.')[0] for name in sys.modules})
"""


def test_nothing_heavy_is_loaded_before_the_first_picture() -> None:
    said = subprocess.run([sys.executable, "-c", CODE], check=True, capture_output=True, text=True)
    loaded = set(said.stdout.split())
    assert not HEAVY & loaded
    assert "keydesk_practice" not in loaded


PALETTE = """
import sys
from keydesk.lean_textual import without_palette
without_palette()
import keydesk.app
print("textual.widgets._select" in sys.modules, "textual.widgets._directory_tree" in sys.modules)
from textual.command import Matcher
print(Matcher.__module__, sys.modules["textual.command"].CommandPalette.__mro__[1].__name__)
"""


def test_textual_s_command_palette_is_not_loaded_until_somebody_asks_for_more_of_it() -> None:
    said = subprocess.run(
        [sys.executable, "-c", PALETTE], check=True, capture_output=True, text=True
    )
    assert said.stdout.splitlines() == ["False False", "textual.fuzzy SystemModalScreen"]
