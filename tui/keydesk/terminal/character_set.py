"""Whether the terminal's locale has signs beyond ASCII: desk, commands and doctor ask here, so that they agree.

The variables are read and not Python's own encoding: Python talks UTF-8 in the C locale too, whatever the terminal
reads, and sets LC_CTYPE itself then (PEP 538). With no variable at all nobody said C: most terminals read UTF-8.

What a terminal does with UTF-8 is also measured: it prints two characters and says where its cursor is after each.
screen without UTF-8 prints one cell for each printable byte of a character. tmux hides what its clients show, so it is
asked (see `keydesk.terminal.multiplexer`).
"""

from collections.abc import Mapping, Sequence

CURSOR_POSITION = b"\x1b[6n"
# The minus sign is wide in some East Asian fonts, and two of its bytes are control characters of ISO 8859; the bytes of
# the letter are printable in every 8-bit character set. The cursor goes back and what was printed is erased.
WIDTH_REQUESTS = (
    b"\x1b7",
    CURSOR_POSITION,
    "\N{MINUS SIGN}".encode(),
    CURSOR_POSITION,
    "\N{LATIN SMALL LETTER E WITH ACUTE}".encode(),
    CURSOR_POSITION,
    b"\x1b8\x1b[K",
)
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


def measured_ascii(positions: Sequence[tuple[int, int]]) -> str:
    """Return why the terminal is to be drawn in ASCII, by the cursor's positions around the two characters.

    Empty where it is fit for more, or did not say.
    """
    if len(positions) != WIDTH_REQUESTS.count(CURSOR_POSITION):
        return ""
    before, minus, after = positions
    if before == minus == after:  # at the right edge nothing moves
        return ""
    if minus == (before[0], before[1] + 1) and after == (before[0], before[1] + 2):
        return ""
    return "the terminal does not print a minus sign and an accented letter in one column each"


def remedy(environment: Mapping[str, str]) -> str:
    """Return how to get lines and candles where only ASCII is shown."""
    if environment.get("TMUX"):
        return "start tmux as tmux -u, or set LANG=C.UTF-8 before it starts"
    if environment.get("STY"):
        return "start screen as screen -U, or set LANG=C.UTF-8 before it starts"
    return "use a terminal and a locale of UTF-8, such as LC_ALL=C.UTF-8"
