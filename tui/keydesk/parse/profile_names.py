"""The names that a profile may have."""

import re

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")


def is_profile_name(text: str) -> bool:
    """Return whether a text has the form of a profile's name; the name of the practice market has it, too."""
    return NAME.fullmatch(text) is not None
