"""`keydesk login`, `logout` and `profiles`: store, remove and list profiles and their tokens."""

import asyncio
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Literal

from msgspec import Meta, Struct

from keydesk.app.account_sources import CannotOpen, accounts_to_choose, urls_of
from keydesk.cli.script_output import Document, Refusal, UsageError, print_document
from keydesk.cli.sign_in.sign_in_dialog import (
    ask_addresses,
    ask_environment,
    is_practice_money,
    signed_in_at_terminal,
)
from keydesk.cli.token_access import (
    VAULT,
    ask_token,
    given_passphrase,
    has_terminal,
    store_of,
    with_retries,
)
from keydesk.config.file_edit import refuse_read_only
from keydesk.config.folders import FILE, Folders, find_folders
from keydesk.config.live_safety import LiveSafetyNote
from keydesk.config.settings import (
    delete_profile,
    load_settings,
    profile_named,
    save_last_profile,
    save_profile,
)
from keydesk.settings.values import PRACTICE_MARKET
from keydesk.terminal.output import print_lines
from keydesk.text.sanitize import Printable, SafeText, clean, safe
from keydesk.words.sign_in import LIVE_SAFETY, LIVE_SAFETY_TITLE, TOKEN_PLACES
from keydesk_client.auth.profiles import Profile
from keydesk_client.auth.secret import Secret
from keydesk_client.auth.token_store import Passphrase, check_token, unlocked_native_store
from keydesk_client.errors import KeydeskClientError, StoreDamaged, StoreLocked

SEALED = (
    "its token stays in the vault, which cannot be opened without the passphrase; "
    "the vault goes with the last profile that uses it"
)
TAIL = 4
WIDTH, LABEL = 79, 14  # columns
PLACES = {"native": "desktop's token store", "vault": "token vault"}


def login(options: Namespace) -> int:
    """Sign in; return the exit code."""
    folders = find_folders(options.data, os.environ)
    refuse_read_only(folders.config / FILE)  # before the token is asked for, and stored
    settings = load_settings(folders.config)
    known = settings.profiles.get(options.name)
    asked_for = _asked_for(options, known)
    if known and known.environment != asked_for.environment:
        raise Refusal(
            f"profile {options.name} is signed in for {known.environment}; take another name, "
            f"or sign out first: keydesk logout {options.name}"
        )
    given = given_passphrase(options.passphrase_fd, options.passphrase_file)
    if sys.stdin.isatty():
        print_lines(safe(f"The token will be kept in {_place_to_be(given, known)}."))
    profile, token = (
        signed_in_at_terminal(asked_for) if sys.stdin.isatty() else _signed_in_by_script(asked_for)
    )
    profile = _store_profile(folders, profile, token, given, known)
    where = "the desktop's token store" if profile.kept_in == "native" else "the token vault"
    money = "practice money" if profile.is_practice else "LIVE, real money"
    text = (
        f"Signed in: profile {profile.name}, {profile.environment} ({money}), "
        f"account {profile.account_id}. "
    )
    if settings.last_profile == PRACTICE_MARKET:  # no other account that commands would use
        save_last_profile(folders.config, profile.name)
        opened = "keydesk and its commands use it from now on"
    else:
        opened = f"Open it: keydesk --profile {profile.name}"
    print_lines(safe(f"{text}The token is in {where}. {opened}"))
    if sys.stdin.isatty() and not profile.is_practice:
        _say_safety(LiveSafetyNote.of(folders.state))
    return 0


def _place_to_be(given: Passphrase | None, known: Profile | None) -> str:
    """Return in words where the token will be kept, before it is typed."""
    if known is not None and not given:
        is_native = known.kept_in == "native"
    else:
        is_native = not given and unlocked_native_store() is not None
    return TOKEN_PLACES["native" if is_native else "vault"]


def _say_safety(note: LiveSafetyNote) -> None:
    """Print the page of safety, at the first sign-in of a person to real money."""
    if note.is_shown:
        return
    print_lines("", LIVE_SAFETY_TITLE)
    for name, text in LIVE_SAFETY.items():
        lines = wrap(text, WIDTH - LABEL)
        print_lines(
            *(
                safe(f"{label:<{LABEL}}{line}")
                for label, line in zip((name, *[""] * len(lines)), lines, strict=False)
            )
        )
    note.write()


def _asked_for(options: Namespace, known: Profile | None) -> Profile:
    """Return the profile as the options name it; where they do not, as it was signed in before, or as it is asked for."""
    environment = options.environment or (known.environment if known else None)
    if environment is None and not sys.stdin.isatty():
        raise UsageError(f"profile {options.name} is new: name its --environment")
    urls = [options.rest_url, options.stream_url]
    if environment is None:
        named = options.practice_money or urls != [None, None]
        environment = "custom" if named else ask_environment(options.name)
    if environment != "custom" and urls != [None, None]:
        raise UsageError("--rest-url and --stream-url go with --environment custom only")
    if environment != "custom" and options.practice_money:
        raise UsageError("--practice-money goes with --environment custom only")
    before = known if known and known.environment == environment else None
    practice_money = options.practice_money
    if before is not None and urls == [None, None]:
        urls = [before.rest_url, before.stream_url]
        practice_money = practice_money or before.practice_money
    if environment == "custom" and None in urls:
        if not sys.stdin.isatty():
            raise UsageError("--environment custom needs --rest-url and --stream-url")
        urls = ask_addresses(urls[0], urls[1])
        practice_money = practice_money or is_practice_money()
    account = options.account or (before.account_id if before else "")
    rest_url, stream_url = (url or "" for url in urls)
    proxy = known.proxy if known else None
    return Profile(
        options.name,
        environment,
        account,
        rest_url,
        stream_url,
        proxy=proxy,
        practice_money=practice_money,
    )


def _signed_in_by_script(profile: Profile) -> tuple[Profile, Secret]:
    """Return the profile with its account, and the token from stdin."""
    token = ask_token(profile.name)
    check_token(token)
    return _with_account(profile, token), token


def _with_account(profile: Profile, token: Secret) -> Profile:
    """Return the profile with its account, after the broker confirmed that the token may use it."""
    try:
        accounts = [each.id for each in asyncio.run(accounts_to_choose(profile, token))]
    except CannotOpen as error:
        raise Refusal(f"{error}; nothing was stored") from error
    except KeydeskClientError as error:
        raise Refusal(
            f"the token could not be checked at {urls_of(profile)[0]}: {error}; nothing was stored, try again"
        ) from error
    account = profile.account_id or (accounts[0] if len(accounts) == 1 else "")
    if account not in accounts:
        which = f"has no account {account}" if account else "may use several accounts"
        raise Refusal(
            f"the token {which}; name one with --account, of: {', '.join(accounts)}; nothing was stored"
        )
    return replace(profile, account_id=account)


def _store_profile(
    folders: Folders,
    profile: Profile,
    token: Secret,
    given: Passphrase | None,
    known: Profile | None,
) -> Profile:
    """Store token and profile; a new token replaces the old one in its store."""
    store = store_of(folders, given, known.kept_in if known and not given else None)
    with_retries(lambda: store.store(profile.name, profile.environment, token), given)
    profile = replace(profile, kept_in=store.kind)
    save_profile(folders.config, profile)
    return profile


def logout(options: Namespace) -> int:
    """Sign out; return the exit code. The passphrase of the vault is not needed: it may be forgotten."""
    folders = find_folders(options.data, os.environ)
    refuse_read_only(folders.config / FILE)  # before the token is removed
    settings = load_settings(folders.config)
    profile = profile_named(options.name, settings)
    given = given_passphrase(options.passphrase_fd, options.passphrase_file)
    others = [each for each in settings.profiles.values() if each.name != profile.name]
    token = _forgotten(folders, profile, given, others)
    delete_profile(folders.config, profile.name)
    text = f"Signed out: profile {profile.name} is gone, {token}. "
    print_lines(safe(f"{text}The broker accepts the token until you revoke it there."))
    return 0


def _forgotten(
    folders: Folders, profile: Profile, given: Passphrase | None, others: Sequence[Profile]
) -> str:
    """Remove the token, as far as possible without the passphrase; return the result in words.

    Without the passphrase a single token cannot be taken out of the vault: the vault goes with its last profile.
    """
    vault = folders.private("tokens") / VAULT
    if profile.kept_in == "vault" and not given:
        if not has_terminal():
            return _left_sealed(vault, others)
        print_lines("Enter alone signs out without the vault's passphrase.")
    store = store_of(folders, given, profile.kept_in)
    try:
        had = with_retries(lambda: store.forget(profile.name, profile.environment), given)
    except (StoreLocked, StoreDamaged):
        return _left_sealed(vault, others)
    return "its token was removed" if had else "no token was stored for it"


def _left_sealed(vault: Path, others: Sequence[Profile]) -> str:
    if any(each.kept_in == "vault" for each in others):
        return SEALED
    vault.unlink(missing_ok=True)
    return "and so is the token vault, which held no other profile's token"


class ProfileName(Struct, frozen=True):
    """A profile that is signed in."""

    name: str
    environment: Literal["practice", "live", "custom"]
    is_practice_money: Annotated[bool, Meta(description="false: a desk on it says LIVE")]
    account_id: str
    is_last: Annotated[bool, Meta(description="the one that commands use without --profile")]


class ProfilesDocument(Document, frozen=True, tag="profiles"):
    """`keydesk profiles --json`."""

    profiles: list[ProfileName]


def profiles(options: Namespace) -> int:
    """List the profiles; return the exit code."""
    settings = load_settings(find_folders(options.data, os.environ).config)
    if options.json:
        named = [
            ProfileName(
                each.name,
                each.environment,
                each.is_practice,
                each.account_id,
                each.name == settings.last_profile,
            )
            for each in settings.profiles.values()
        ]
        print_document(ProfilesDocument(named))
        return 0
    lines: list[Printable] = [
        _line(profile, settings.last_profile) for profile in settings.profiles.values()
    ]
    if not lines:
        lines = ["No profile yet. Sign in: keydesk login NAME --environment practice|live|custom"]
    print_lines(*lines)
    return 0


def _line(profile: Profile, last: str) -> SafeText:
    mark = "*" if profile.name == last else " "
    money = "PRACTICE" if profile.is_practice else "LIVE"
    host = f"  {clean(profile.rest_url)}" if profile.rest_url else ""
    return safe(
        f"{mark} {clean(profile.name):<16} {profile.environment:<8} {money:<8}  "
        f"account …{clean(profile.account_id[-TAIL:]):<{TAIL}}  {PLACES[profile.kept_in]}{host}"
    )
