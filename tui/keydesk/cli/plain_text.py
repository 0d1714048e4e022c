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
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            plain = stream.isatty() and ascii_locale(os.environ)
            stream.reconfigure(encoding="ascii" if plain else None, errors=ERRORS)


def _nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    from keydesk.widgets.ascii_only import in_ascii  # noqa: PLC0415 - rarely needed

    return in_ascii(error.object[error.start : error.end]), error.end
