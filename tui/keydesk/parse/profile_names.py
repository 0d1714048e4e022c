"""The names that a profile and an account may have."""

import re

LONGEST_ACCOUNT = 100  # characters; the longest file name that holds it has 255 bytes
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")


def is_profile_name(text: str) -> bool:
    """Return whether a text has the form of a profile's name; the name of the practice market has it, too."""
    return NAME.fullmatch(text) is not None


def is_account_id(text: str) -> bool:
    """Return whether a broker's number of an account can be used: files are named after it, and no file name has a slash."""
    is_short = (
        0 < len(text) <= LONGEST_ACCOUNT and len(text.encode(errors="replace")) <= LONGEST_ACCOUNT
    )
    return is_short and text.isprintable() and not {"/", "\\"} & {*text} and text[0] != "."
