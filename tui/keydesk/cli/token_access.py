"""Ask for tokens and passphrases on the terminal, and open the token store of a command."""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from getpass import GetPassWarning, getpass
from pathlib import Path
from typing import TypeVar

from keydesk.cli.script_output import Refusal
from keydesk.config.folders import Folders
from keydesk.terminal.output import print_lines
from keydesk.text.sanitize import safe
from keydesk_client.auth.private_files import Warn
from keydesk_client.auth.profiles import VAULT as VAULT_PATH
from keydesk_client.auth.profiles import Profile, TokenPlace
from keydesk_client.auth.secret import Secret
from keydesk_client.auth.token_store import (
    Passphrase,
    TokenStore,
    open_token_store,
    passphrase_from_descriptor,
    passphrase_from_file,
)
from keydesk_client.errors import NoTokenStore, WrongPassphrase

TERMINAL = "/dev/tty"
MAX_LINE_LENGTH = 4096
VAULT = VAULT_PATH.name
TRIES = 3
SHORTEST_PASSPHRASE = 8
TOO_SHORT = f"a passphrase for the vault has {SHORTEST_PASSPHRASE} characters or more"
FORGOTTEN = (
    "If it is forgotten, the tokens in the vault are lost, and nothing else: account, positions and orders stay "
    "as they are at the broker. Begin again: keydesk logout NAME for each profile in the vault, with Enter alone "
    "for the passphrase; the vault goes with the last of them. Then sign in as the first time, with a token from the broker"
)
Answer = TypeVar("Answer")


def has_terminal() -> bool:
    """Return whether a person can be prompted, whatever stdin is."""
    try:
        os.close(os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def hidden_answer(question: str) -> str:
    """Prompt on the terminal without echo.

    Raises:
        Refusal: the terminal cannot be kept from showing what is typed.
    """
    with warnings.catch_warnings(), interruptible():
        warnings.simplefilter(
            "error", GetPassWarning
        )  # getpass would continue and echo the typed text
        try:
            return getpass(question)
        except (GetPassWarning, EOFError):
            raise Refusal("nothing was typed, or this terminal would show it") from None


def ask_token(name: str) -> Secret:
    """Prompt for a token on the terminal, or read it from stdin if that is not a terminal.

    Raises:
        Refusal: there was none.
    """
    if sys.stdin.isatty():
        text = hidden_answer(f"Token for {name} (not shown): ")
    else:
        text = sys.stdin.buffer.readline(MAX_LINE_LENGTH).decode(errors="replace")
    if not text.strip():
        raise Refusal("no token was given: type it at a terminal, or write it to stdin", "auth")
    return Secret(text.strip())


def is_confirmed(letter: str, action: str) -> bool:
    """Show a letter and prompt for it; any other input means no.

    Raises:
        Refusal: there is no terminal to ask at.
    """
    if not sys.stdin.isatty():
        raise Refusal("there is no terminal to confirm at; use --yes in a script")
    text = f"Type {letter} and Enter to {action}; anything else leaves everything as it is: "
    with interruptible():
        print_lines(safe(text), end="")
        return sys.stdin.readline().strip() == letter


@contextmanager
def interruptible() -> Iterator[None]:
    """Let the first Ctrl-C end a prompt; `asyncio.run` would only note it while the read goes on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class PassphraseForgotten(Refusal, WrongPassphrase):
    """Raised after the last wrong passphrase."""


def given_passphrase(
    descriptor: int | None, path: Path | None, warn: Warn | None = None
) -> Passphrase | None:
    """Return a reader of the passphrase that a script gave, None if it gave none; `warn` as in `Folders`."""
    if descriptor is not None:
        return _readable(passphrase_from_descriptor(descriptor), f"--passphrase-fd {descriptor}")
    if path is not None:
        return _readable(passphrase_from_file(path, warn), f"--passphrase-file {path}")
    return None


def store_of(folders: Folders, given: Passphrase | None, choice: TokenPlace | None) -> TokenStore:
    """Open the chosen store; without a choice, a given passphrase selects the vault."""
    vault = folders.private("tokens") / VAULT
    passphrase = _checked(given, vault) if given else _ask_passphrase(vault)
    return _opened_store(folders, passphrase, choice or ("vault" if given else None))


def _opened_store(
    folders: Folders, passphrase: Passphrase, choice: TokenPlace | None
) -> TokenStore:
    vault = folders.private("tokens") / VAULT
    try:
        return open_token_store(vault, passphrase, choice=choice, warn=folders.warn)
    except NoTokenStore:
        raise Refusal(
            "the token is in this desktop's own store, which is locked or cannot be reached from this login; "
            "unlock it, or sign in again with --passphrase-file PATH to keep the token in the vault",
            "auth",
        ) from None


def with_retries(ask: Callable[[], Answer], given: Passphrase | None) -> Answer:
    """Call `ask`; a person at the terminal has three attempts at the passphrase."""
    for tries_left in reversed(range(TRIES)):
        try:
            return ask()
        except WrongPassphrase as error:
            if given or not tries_left:
                raise PassphraseForgotten(f"{error}. {FORGOTTEN}", "auth") from error
            print_lines("That passphrase does not open the vault.")
    raise AssertionError


def token_of(folders: Folders, profile: Profile, given: Passphrase | None) -> Secret:
    """Return the token of a profile; prompt for the vault's passphrase once.

    Raises:
        Refusal: no token is kept for the profile.
        TokenStoreError: the store is locked, or the passphrase wrong.
    """
    store = store_of(folders, given, profile.kept_in)
    return with_retries(lambda: token_in(store, profile, folders), given)


class _AtThePrompt:
    """A question for the passphrase that is asked before the desk opens only: later its screen is in the terminal."""

    def __init__(self, ask: Passphrase) -> None:
        self._ask: Passphrase | None = ask

    def __call__(self) -> str | None:
        return None if self._ask is None else self._ask()

    def end(self) -> None:
        """Answer nothing from now on."""
        self._ask = None


def token_and_store(
    folders: Folders, profile: Profile, given: Passphrase | None
) -> tuple[Secret, TokenStore]:
    """Return the token of a profile, and its store, which stays open and asks nothing any more; raise as `token_of`."""
    vault = folders.private("tokens") / VAULT
    prompt = _AtThePrompt(_checked(given, vault) if given else _ask_passphrase(vault))
    store = _opened_store(folders, prompt, profile.kept_in)
    token = with_retries(lambda: token_in(store, profile, folders), given)
    prompt.end()
    return token, store


def token_in(store: TokenStore, profile: Profile, folders: Folders) -> Secret:
    """Return the token of a profile from its store.

    Raises:
        Refusal: no token is kept for the profile.
        TokenStoreError: the store is locked, or the passphrase wrong.
    """
    token = store.load(profile.name, profile.environment)
    if token is None:
        raise Refusal(
            f"no token is stored for profile {profile.name}; sign in again: "
            f"{folders.login_command(profile.name)}",
            "auth",
        )
    return token


def _readable(read: Passphrase, where: str) -> Passphrase:
    def passphrase() -> str | None:
        try:
            return read()
        except (OSError, UnicodeDecodeError) as error:
            raise Refusal(f"{where} cannot be read: {error}") from None

    return passphrase


def _checked(given: Passphrase, vault: Path) -> Passphrase:
    def passphrase() -> str | None:
        text = given()
        return text if vault.exists() else _long_enough(text or "")

    return passphrase


def _ask_passphrase(vault: Path) -> Passphrase:
    def passphrase() -> str:
        if not has_terminal():
            raise Refusal(
                "the token vault needs its passphrase and there is no terminal to ask at; "
                "give it with --passphrase-fd N or --passphrase-file PATH",
                "auth",
            )
        return hidden_answer("Vault passphrase: ") if vault.exists() else _new_passphrase()

    return passphrase


def _new_passphrase() -> str:
    return new_passphrase("No token vault here yet. Choose a passphrase for it: ")


def new_passphrase(question: str) -> str:
    """Ask for a new passphrase twice; a person has three attempts, so that no token has to be typed again.

    Raises:
        Refusal: none of them was usable.
    """
    for tries_left in reversed(range(TRIES)):
        first = hidden_answer(question)
        if len(first) < SHORTEST_PASSPHRASE:
            why = TOO_SHORT
        elif hidden_answer("The same passphrase again: ") != first:
            why = "the two passphrases differ"
        else:
            return first
        if not tries_left:
            raise Refusal(f"{why}; nothing was stored")
        print_lines(safe(f"{why[:1].upper()}{why[1:]}. Again:"))
    raise AssertionError


def _long_enough(passphrase: str) -> str:
    if len(passphrase) < SHORTEST_PASSPHRASE:
        raise Refusal(TOO_SHORT)
    return passphrase
