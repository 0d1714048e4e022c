"""`keydesk profiles`: the accounts that are signed in; never a token."""

import argparse
import os
from collections.abc import Sequence

from keydesk.config import config, paths
from keydesk.config.config import Profile
from keydesk.terminal.output import say
from keydesk.text.sanitize import Printable, SafeText, clean, safe

TAIL = 4
PLACES = {"native": "desktop's token store", "vault": "token vault"}


def profiles(words: Sequence[str]) -> int:
    """List the profiles; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="keydesk profiles",
        description="List the profiles that are signed in.",
        allow_abbrev=False,
    )
    parser.add_argument("--data", metavar="DIR", help="keep settings and state in this folder")
    options = parser.parse_args(words)
    settings = config.load(paths.find(options.data, os.environ).config)
    lines: list[Printable] = [
        _line(profile, settings.last_profile) for profile in settings.profiles.values()
    ]
    if not lines:
        lines = ["No profile yet. Sign in: keydesk login NAME --environment practice|live|custom"]
    say(*lines)
    return 0


def _line(profile: Profile, last: str) -> SafeText:
    mark = "*" if profile.name == last else " "
    host = f"  {clean(profile.rest_url)}" if profile.rest_url else ""
    return safe(
        f"{mark} {clean(profile.name):<16} {profile.environment:<8}  "
        f"account …{clean(profile.account_id[-TAIL:]):<{TAIL}}  {PLACES[profile.kept_in]}{host}"
    )
