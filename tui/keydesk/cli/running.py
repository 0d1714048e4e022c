"""Running one command; whatever stands in its way becomes one sentence on stderr and exit code 1."""

import os
import sys
from importlib import import_module

from keydesk.app.embedded import PracticeFailed
from keydesk.cli.refusal import Refusal
from keydesk.config.config import BadSettings
from keydesk.config.paths import UnsafeFolder
from keydesk.terminal.output import disarm_stderr, replace_signs, say_error
from keydesk.text.sanitize import clean, safe
from keydesk_client.errors import KeydeskClientError

SENTENCE = 1000  # characters
USAGE = 2
COMMANDS = {
    "login": "login",
    "logout": "logout",
    "profiles": "profiles",
    "status": "status",
    "chart": "chart",
    "export": "export",
    "flatten": "flatten",
    "cancel-all": "cancel_all",
    "lock": "lock",
    "doctor": "doctor",
    "reset-terminal": "reset_terminal",
}
"""Command, and the module of this package that runs it: by a function named as the command."""


def run(command: str, words: list[str]) -> int:
    """Run a command; returns its exit code, leaves with 2 on wrong usage."""
    if command not in COMMANDS:
        known = ", ".join(["practice", *COMMANDS])
        say_error(safe(f"keydesk: there is no command {clean(command)} (known: {known})"))
        return USAGE
    disarm_stderr()
    replace_signs()
    module = import_module(f"keydesk.cli.{COMMANDS[command]}")
    function = getattr(module, command.replace("-", "_"))
    try:
        code: int = function(words)
        sys.stdout.flush()
    except BrokenPipeError:  # `keydesk ... | head`: nobody reads on, and nobody is to be told
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (
        Refusal,
        BadSettings,
        UnsafeFolder,
        PracticeFailed,
        KeydeskClientError,
        OSError,
    ) as error:
        say_why(error)
        return 1
    return code


def say_why(error: Exception) -> None:
    """Say on stderr why a command was not carried out."""
    say_error(safe(f"keydesk: {clean(str(error), SENTENCE)}"))
