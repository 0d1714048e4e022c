"""Whether the terminal's locale has signs beyond ASCII: desk, commands and doctor ask here, so that they agree.

The variables are read and not Python's own encoding: Python talks UTF-8 in the C locale too, whatever the terminal
reads, and sets LC_CTYPE itself then (PEP 538). With no variable at all nobody said C: most terminals read UTF-8.
"""

from collections.abc import Mapping

OF_NO_LANGUAGE = ("C", "POSIX")
SET_BY_PYTHON = ("C.UTF-8", "C.utf8", "UTF-8")


def ascii_locale(environment: Mapping[str, str]) -> str:
    """Return the variable that asks for ASCII, as `LANG=C`; empty where UTF-8 is read."""
    name, value = _deciding(environment)
    says_utf8 = value.lower().replace("-", "").partition("@")[0].endswith("utf8")
    return f"{name}={value}" if value and not says_utf8 else ""


def _deciding(environment: Mapping[str, str]) -> tuple[str, str]:
    """The variable that decides what a character is."""
    everything, language = environment.get("LC_ALL", ""), environment.get("LANG", "")
    characters = environment.get("LC_CTYPE", "")
    if everything:
        return "LC_ALL", everything
    if characters and not (characters in SET_BY_PYTHON and language in OF_NO_LANGUAGE):
        return "LC_CTYPE", characters
    return "LANG", language
