"""`keydesk reset-terminal`: repair a terminal that a killed desk left without echo, cursor and line editing."""

import argparse
import os
import termios
from collections.abc import Sequence

from keydesk.cli.refusal import Refusal
from keydesk.terminal.output import say
from keydesk.terminal.reset import reset


def reset_terminal(words: Sequence[str]) -> int:
    """Reset the terminal; returns the exit code."""
    argparse.ArgumentParser(
        prog="keydesk reset-terminal",
        description="Repair this terminal after a program was killed in it: line editing, echo, cursor, normal "
        "screen, mouse, focus reports, bracketed paste, keyboard protocol, title. Nothing is sent to a broker.",
        allow_abbrev=False,
    ).parse_args(words)
    try:
        reset(os.environ.get("TERM", ""))
    except termios.error:
        raise Refusal("standard input is no terminal, so there is nothing to reset") from None
    say("The terminal is reset.")
    return 0
