"""Sign in at a terminal, question by question; the token is typed once, and stays hidden."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace

from keydesk.app.account_sources import CannotOpen, accounts_to_choose, urls_of
from keydesk.cli.script_output import Refusal
from keydesk.cli.token_access import TRIES, ask_token, interruptible
from keydesk.terminal.output import print_lines
from keydesk.text.sanitize import clean, safe
from keydesk.trading.accounts.token_accounts import TokenAccount
from keydesk_client.auth.profiles import ENVIRONMENTS, Environment, Profile
from keydesk_client.auth.secret import Secret
from keydesk_client.auth.token_store import check_token
from keydesk_client.errors import InvalidSettings, KeydeskClientError
from keydesk_client.http.endpoint import address_of

MEANINGS = {
    "practice": "practice money at the broker",
    "live": "real money",
    "custom": "another host",
}
MAX_ANSWER_LENGTH = 500  # characters
PRACTICE_WORD = "practice"


def ask_environment(name: str) -> Environment:
    """Ask where the token of a new profile belongs."""
    print_lines(
        safe(f"Where does the token of {clean(name)} belong? It is never sent anywhere else.")
    )
    for number, each in enumerate(ENVIRONMENTS, 1):
        print_lines(safe(f"  {number}  {each:<9} {MEANINGS[each]}"))
    return ENVIRONMENTS[_chosen("Number, then Enter", len(ENVIRONMENTS))]


def ask_addresses(rest_url: str | None, stream_url: str | None) -> list[str | None]:
    """Ask for the addresses of a custom host that were not named."""
    rest = rest_url or _asked_address("Address of the host, such as https://broker.example", "")
    stream = stream_url or _asked_address("Address of its streams (Enter: the same)", rest)
    return [rest, stream]


def _asked_address(question: str, usual: str) -> str:
    while True:
        typed = _answer(f"{question}: ") or usual
        try:
            address_of(typed)
        except ValueError as error:
            print_lines(clean(str(error), MAX_ANSWER_LENGTH))
        else:
            return typed


def is_practice_money() -> bool:
    """Ask whether a custom host deals with practice money; any other answer means real money."""
    return (
        _answer(
            f"If it trades practice money, type {PRACTICE_WORD}; Enter alone means real money, LIVE: "
        )
        == PRACTICE_WORD
    )


def signed_in_at_terminal(profile: Profile) -> tuple[Profile, Secret]:
    """Ask for the token, at most three times, and let the account be chosen from its list.

    Raises:
        Refusal: no token was accepted.
    """
    for tries_left in reversed(range(TRIES)):
        token = ask_token(profile.name)
        try:
            check_token(token)
            accounts = _accounts_of(profile, token)
        except (CannotOpen, InvalidSettings) as error:
            if not tries_left:
                raise Refusal(f"{error}; nothing was stored") from error
            print_lines(
                safe(f"{clean(_sentence(error), MAX_ANSWER_LENGTH)}. Try again, or Ctrl-C leaves.")
            )
            continue
        return replace(profile, account_id=_chosen_account(profile, accounts)), token
    raise AssertionError


def _sentence(error: Exception) -> str:
    text = str(error)
    return text[:1].upper() + text[1:]


def _accounts_of(profile: Profile, token: Secret) -> Sequence[TokenAccount]:
    """Return the accounts of the token; a broker that does not answer is asked again as often as the person wants."""
    while True:
        try:
            return asyncio.run(accounts_to_choose(profile, token))
        except KeydeskClientError as error:
            text = clean(f"{urls_of(profile)[0]} does not answer: {error}", MAX_ANSWER_LENGTH)
            print_lines(safe(f"The token could not be checked. {text}."))
            _answer("Enter asks the broker again with the same token, Ctrl-C leaves: ")


def _chosen_account(profile: Profile, accounts: Sequence[TokenAccount]) -> str:
    """Return the number of the account: the named one, the only one, or the one that is chosen."""
    ids = [each.id for each in accounts]
    if profile.account_id in ids:
        return profile.account_id
    if profile.account_id:
        print_lines(safe(f"The token has no account {clean(profile.account_id)}."))
    elif len(accounts) == 1:
        return ids[0]
    print_lines(safe(f"The accounts of the token of {clean(profile.name)}:"))
    for number, each in enumerate(accounts, 1):
        print_lines(safe(f"  {number:>2}  {each.text}"))
    return ids[_chosen("Which one? Number, then Enter", len(accounts))]


def _chosen(question: str, count: int) -> int:
    """Ask for a number from 1 to `count` until one is typed; return it counted from 0."""
    while True:
        typed = _answer(f"{question} (1-{count}): ")
        if typed.isascii() and typed.isdecimal() and 1 <= int(typed) <= count:
            return int(typed) - 1
        print_lines(safe(f"Type a number from 1 to {count}."))


def _answer(question: str) -> str:
    """Prompt, with what is typed shown; the first Ctrl-C ends it.

    Raises:
        Refusal: the terminal is at its end (Ctrl-D).
    """
    with interruptible():
        print_lines(safe(question), end="")
        line = sys.stdin.readline(MAX_ANSWER_LENGTH)
    if not line:
        raise Refusal("nothing was typed; nothing was stored")
    return line.strip()
