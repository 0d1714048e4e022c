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
from keydesk.lean_imports import TEXTUAL, without
with without(TEXTUAL):
    import keydesk.app
keydesk.app.load_all()
parts = {"textual.widgets._select", "platformdirs.api", "difflib", "http.client", "http.cookiejar"}
print(parts & set(sys.modules))
from textual.suggestions import get_suggestion
from textual.app import user_downloads_path
print(get_suggestion("colr", ["color"]), user_downloads_path().is_absolute())
import urllib.request
from http.cookiejar import CookieJar
from textual.command import CommandPalette
real = CookieJar, CommandPalette, urllib.request.Request
print(*(len(vars(each)) > 5 for each in real))
"""


def test_what_the_desk_never_comes_to_is_not_loaded_and_is_there_for_whoever_asks() -> None:
    said = subprocess.run([sys.executable, "-c", LEAN], check=True, capture_output=True, text=True)
    assert said.stdout.splitlines() == ["set()", "color True", "True True True"]
