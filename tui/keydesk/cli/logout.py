"""`keydesk logout`: forget a profile and its token."""

import argparse
import os
from collections.abc import Sequence

from keydesk import config, paths, profiles
from keydesk.cli.arguments import add_passphrase_options
from keydesk.cli.choosing import profile_named
from keydesk.cli.plain_text import say
from keydesk.cli.token_place import (
    given_passphrase,
    store_of,
    with_patience,
)
from keydesk.text.sanitize import safe


def main(words: Sequence[str]) -> int:
    """Sign out; returns the exit code."""
    options = _options(words)
    folders = paths.find(options.data, os.environ)
    profile = profile_named(options.name, config.load(folders.config))
    given = given_passphrase(options.passphrase_fd, options.passphrase_file)
    store = store_of(folders, given, profile.kept_in)
    had_token = with_patience(lambda: store.forget(profile.name, profile.environment), given)
    profiles.forget(folders.config, profile.name)
    token = "its token is forgotten" if had_token else "no token was kept for it"
    words = f"Signed out: profile {profile.name} is gone, {token}. "
    say(safe(f"{words}At the broker the token is good until you revoke it there."))
    return 0


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="keydesk logout", description="Forget a profile and its token.", allow_abbrev=False
    )
    parser.add_argument("name", metavar="NAME", help="the profile")
    add_passphrase_options(parser)
    parser.add_argument("--data", metavar="DIR", help="keep settings and state in this folder")
    return parser.parse_args(words)
