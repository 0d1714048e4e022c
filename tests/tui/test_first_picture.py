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


LEAN = """
import sys
from keydesk.lean_textual import stand_in
stand_in()
import keydesk.app
real = {"textual.widgets._select", "textual.widgets._directory_tree", "platformdirs.api"}
print(real & set(sys.modules))
from difflib import get_close_matches, SequenceMatcher
from platformdirs import user_downloads_path
from textual.command import Matcher
print(get_close_matches("colr", ["color"]), SequenceMatcher.__module__, user_downloads_path().is_absolute())
print(Matcher.__module__, sys.modules["textual.command"].CommandPalette.__mro__[1].__name__)
"""


def test_what_stands_in_for_the_palette_and_others_gives_way_to_whoever_asks() -> None:
    said = subprocess.run([sys.executable, "-c", LEAN], check=True, capture_output=True, text=True)
    assert said.stdout.splitlines() == [
        "set()",
        "['color'] difflib True",
        "textual.fuzzy SystemModalScreen",
    ]
