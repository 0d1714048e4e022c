"""What a command asks a person for: on the terminal, without echo, never in an argument or the environment."""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from getpass import GetPassWarning, getpass

from keydesk.cli.refusal import Refusal
from keydesk.terminal.output import say
from keydesk.text.sanitize import safe
from keydesk_client.auth.secret import Secret

TERMINAL = "/dev/tty"
LONGEST_LINE = 4096


def has_terminal() -> bool:
    """Whether a person can be asked, whatever stdin is."""
    try:
        os.close(os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def hidden_answer(question: str) -> str:
    """Ask on the terminal without echo.

    Raises:
        Refusal: the terminal cannot be kept from showing what is typed.
    """
    with warnings.catch_warnings(), interruptible():
        warnings.simplefilter("error", GetPassWarning)  # it would go on, and show what is typed
        try:
            return getpass(question)
        except (GetPassWarning, EOFError):
            raise Refusal("nothing was typed, or this terminal would show it") from None


def ask_token(name: str) -> Secret:
    """Ask for a token on the terminal, or read it from stdin when that is no terminal.

    Raises:
        Refusal: there was none.
    """
    if sys.stdin.isatty():
        text = hidden_answer(f"Token for {name} (not shown): ")
    else:
        text = sys.stdin.buffer.readline(LONGEST_LINE).decode(errors="replace")
    if not text.strip():
        raise Refusal("no token was given: type it at a terminal, or hand it over on stdin")
    return Secret(text.strip())


def confirmed(letter: str, deed: str) -> bool:
    """Show a letter and ask for it; anything else means no.

    Raises:
        Refusal: nobody is there to ask.
    """
    if not sys.stdin.isatty():
        raise Refusal("there is no terminal to confirm at; a script says --yes")
    words = f"Type {letter} and Enter to {deed}; anything else leaves everything as it is: "
    say(safe(words), end="")
    with interruptible():
        return sys.stdin.readline().strip() == letter


@contextmanager
def interruptible() -> Iterator[None]:
    """Let the first Ctrl-C end the question: `asyncio.run` would only note it, and the read would go on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
