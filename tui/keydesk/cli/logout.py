"""`keydesk logout`: forget a profile and its token."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from keydesk.cli.arguments import add_passphrase_options
from keydesk.cli.asking import has_terminal
from keydesk.cli.choosing import profile_named
from keydesk.cli.token_place import (
    VAULT,
    given_passphrase,
    store_of,
    with_patience,
)
from keydesk.config import config, paths
from keydesk.config.config import Profile
from keydesk.config.paths import Folders
from keydesk.config.profiles import delete_profile
from keydesk.terminal.output import say
from keydesk.text.sanitize import safe
from keydesk_client.auth.tokens import Passphrase
from keydesk_client.errors import StoreDamaged, StoreLocked

SEALED = (
    "its token stays in the vault, which nobody opens without the passphrase; "
    "the vault goes with the last profile that uses it"
)


def logout(words: Sequence[str]) -> int:
    """Sign out; returns the exit code. The passphrase of the vault is not needed: one may have forgotten it."""
    options = _logout_options(words)
    folders = paths.find(options.data, os.environ)
    settings = config.load(folders.config)
    profile = profile_named(options.name, settings)
    given = given_passphrase(options.passphrase_fd, options.passphrase_file)
    others = [each for each in settings.profiles.values() if each.name != profile.name]
    token = _forgotten(folders, profile, given, others)
    delete_profile(folders.config, profile.name)
    words = f"Signed out: profile {profile.name} is gone, {token}. "
    say(safe(f"{words}At the broker the token is good until you revoke it there."))
    return 0


def _forgotten(
    folders: Folders, profile: Profile, given: Passphrase | None, others: Sequence[Profile]
) -> str:
    """Forget the token, as far as that is possible without the passphrase; returns what became of it.

    Without the passphrase a single token cannot be taken out of the vault: the vault goes with its last profile.
    """
    vault = folders.private("tokens") / VAULT
    if profile.kept_in == "vault" and not given:
        if not has_terminal():
            return _left_sealed(vault, others)
        say("Enter alone signs out without the vault's passphrase.")
    store = store_of(folders, given, profile.kept_in)
    try:
        had = with_patience(lambda: store.forget(profile.name, profile.environment), given)
    except (StoreLocked, StoreDamaged):
        return _left_sealed(vault, others)
    return "its token is forgotten" if had else "no token was kept for it"


def _left_sealed(vault: Path, others: Sequence[Profile]) -> str:
    if any(each.kept_in == "vault" for each in others):
        return SEALED
    vault.unlink(missing_ok=True)
    return "and so is the token vault, which held no other profile's token"


def _logout_options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="keydesk logout", description="Forget a profile and its token.", allow_abbrev=False
    )
    parser.add_argument("name", metavar="NAME", help="the profile")
    add_passphrase_options(parser)
    parser.add_argument("--data", metavar="DIR", help="keep settings and state in this folder")
    return parser.parse_args(words)
