"""`keydesk login`: ask for a token, try it at its own broker, keep it where only its owner gets at it."""

import argparse
import asyncio
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

from keydesk.app.account_sources import CannotOpen, accounts_of, addresses
from keydesk.cli.arguments import add_passphrase_options
from keydesk.cli.asking import ask_token
from keydesk.cli.refusal import Refusal
from keydesk.cli.token_place import (
    given_passphrase,
    store_of,
    with_patience,
)
from keydesk.config import config, paths
from keydesk.config.config import Profile
from keydesk.config.profiles import save_profile
from keydesk.terminal.output import say
from keydesk.text.sanitize import safe
from keydesk_client.auth.secret import Secret
from keydesk_client.auth.tokens import Passphrase, check_token
from keydesk_client.errors import KeydeskClientError
from keydesk_client.http.addresses import address_of
from keydesk_client.http.retries import Retries

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")


def login(words: Sequence[str]) -> int:
    """Sign in; returns the exit code."""
    options = _login_options(words)
    folders = paths.find(options.data, os.environ)
    known = config.load(folders.config).profiles.get(options.name)
    if known and known.environment != options.environment:
        raise Refusal(
            f"profile {options.name} is signed in for {known.environment}; take another name, "
            f"or sign out first: keydesk logout {options.name}"
        )
    token = ask_token(options.name)
    check_token(token)
    profile = _with_account(_asked_for(options), token)
    given = given_passphrase(options.passphrase_fd, options.passphrase_file)
    profile = _kept(folders, profile, token, given, known)
    where = "the desktop's token store" if profile.kept_in == "native" else "the token vault"
    words = (
        f"Signed in: profile {profile.name}, {profile.environment}, account {profile.account_id}. "
    )
    say(safe(f"{words}The token is in {where}. Open it: keydesk --profile {profile.name}"))
    return 0


class _Parser(argparse.ArgumentParser):
    """A parser that repeats nothing it does not know: it could be the token."""

    def error(self, message: str) -> NoReturn:
        if message.startswith("unrecognized arguments"):
            message = (
                "too many arguments; the token is asked for, or read from stdin, never an argument"
            )
        super().error(message)


def _login_options(words: Sequence[str]) -> argparse.Namespace:
    parser = _Parser(
        prog="keydesk login",
        description="Sign in: the token is asked for, or read from stdin when that is no terminal.",
        allow_abbrev=False,
    )
    parser.add_argument("name", metavar="NAME", type=_name, help="what to call the profile")
    parser.add_argument(
        "--environment",
        required=True,
        choices=config.ENVIRONMENTS,
        help="where the token belongs; it is never sent anywhere else",
    )
    parser.add_argument("--rest-url", type=_url, metavar="U", help="of a custom host")
    parser.add_argument("--stream-url", type=_url, metavar="U", help="of a custom host")
    parser.add_argument("--account", metavar="ID", help="needed when the token has several")
    add_passphrase_options(parser)
    parser.add_argument("--data", metavar="DIR", help="keep settings and state in this folder")
    options = parser.parse_args(words)
    named = [options.rest_url, options.stream_url]
    if options.environment == "custom" and None in named:
        parser.error("--environment custom needs --rest-url and --stream-url")
    if options.environment != "custom" and named != [None, None]:
        parser.error("--rest-url and --stream-url go with --environment custom only")
    return options


def _name(text: str) -> str:
    if not NAME.fullmatch(text) or text == config.PRACTICE_MARKET:
        raise argparse.ArgumentTypeError(
            "a profile's name is up to 32 letters, digits, - and _, other than practice-market"
        )
    return text


def _url(text: str) -> str:
    try:
        address_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _asked_for(options: argparse.Namespace) -> Profile:
    return Profile(
        options.name,
        options.environment,
        options.account or "",
        options.rest_url or "",
        options.stream_url or "",
    )


def _with_account(profile: Profile, token: Secret) -> Profile:
    """Return the profile with its account, once the broker has said that the token may use it."""
    rest_url, stream_url = addresses(profile)
    try:
        found = asyncio.run(accounts_of(rest_url, stream_url, token, Retries()))
    except CannotOpen as error:
        raise Refusal(f"{error}; nothing was kept") from error
    except KeydeskClientError as error:
        raise Refusal(
            f"the token could not be tried at {rest_url}: {error}; nothing was kept, try again"
        ) from error
    if not found:
        raise Refusal("the broker has no account for this token; nothing was kept")
    wanted = profile.account_id or (next(iter(found)) if len(found) == 1 else "")
    if wanted not in found:
        which = f"has no account {wanted}" if wanted else "may use several accounts"
        raise Refusal(
            f"the token {which}; name one with --account, of: {', '.join(found)}; nothing was kept"
        )
    return replace(profile, account_id=wanted)


def _kept(
    folders: paths.Folders,
    profile: Profile,
    token: Secret,
    given: Passphrase | None,
    known: Profile | None,
) -> Profile:
    """Keep token and profile; a new token takes the place of the old one, in the store where that is."""
    store = store_of(folders, given, known.kept_in if known and not given else None)
    with_patience(lambda: store.store(profile.name, profile.environment, token), given)
    profile = replace(profile, kept_in=store.kind)
    save_profile(folders.config, profile)
    return profile
