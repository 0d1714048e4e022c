"""Printing to a terminal or file that has no signs beyond ASCII: a loss keeps its minus."""

import codecs
import os
import sys
from io import TextIOWrapper

from keydesk.character_set import ascii_locale

ERRORS = "keydesk-ascii"


def replace_signs() -> None:
    """Let every sign that the output lacks be printed as the nearest one that it has."""
    codecs.register_error(ERRORS, _nearest)
    shown_in_ascii = _shown_in_ascii()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            plain = stream.isatty() and shown_in_ascii
            stream.reconfigure(encoding="ascii" if plain else None, errors=ERRORS)


def _shown_in_ascii() -> bool:
    """Whether the terminal shows ASCII only: by the locale, or because tmux or screen was started without UTF-8."""
    if ascii_locale(os.environ):
        return True
    in_multiplexer = os.environ.get("TMUX") or os.environ.get("STY")
    if not (in_multiplexer and sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    from keydesk.terminal_check import TerminalCheck  # noqa: PLC0415 - rarely needed

    return bool(TerminalCheck(os.environ).facts().ascii_because)


def _nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    from keydesk.widgets.ascii_only import in_ascii  # noqa: PLC0415 - rarely needed

    return in_ascii(error.object[error.start : error.end]), error.end
