"""The sanitizer: text from outside (server, file, person) becomes text that no terminal interprets.

Only this module creates `SafeText`, and everything that writes (table cells, strips, forms, messages, command output,
CSV files) accepts `Printable`: safe text or a literal of our own code. A type checker that knows `LiteralString`
(pyright; `tui/pyrightconfig.json`) rejects anything else there, an f-string with server text included.
"""

import re
import unicodedata
from typing import LiteralString, NewType, TypeAlias

SafeText = NewType("SafeText", str)
"""Text without control, format or invisible characters; only this module makes it."""

Printable: TypeAlias = SafeText | LiteralString
"""What may be written: cleaned text, or a literal of our own code."""

LINE_LIMIT = 256
NAME_LIMIT = 24
SENTENCE_LIMIT = 32_000  # characters; a cell of a spreadsheet has room for 32,767
MARKS_A_LETTER = 2  # more combining marks than this overlap the lines above and below
UNSEEN = "\N{REPLACEMENT CHARACTER}"
DELETE = "\x7f"
FIRST_PRINTABLE = " "

# Control, format (bidirectional overrides, zero-width joiners), surrogate, private and unassigned
# characters can move the cursor, reorder what is read or have a width no two terminals agree on.
HARMFUL = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
SPACES = frozenset({"Zs", "Zl", "Zp"})
MARKS = frozenset({"Mn", "Me"})

# Latin letters, punctuation, arrows, mathematical signs, lines, blocks: all of them one visible character.
_PLAIN = re.compile(
    "[ -~\xa1-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u2426\u2460-\u27ff]*"
)
# Marks that show nothing or change the width of the character before them.
_SELECTORS = re.compile("[\u034f\u17b4\u17b5\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
# Letters and signs that show nothing, or join their neighbours in some terminals only: Hangul fillers and vowels,
# the blank Braille pattern, skin tones, the halves of flags.
_INVISIBLE = re.compile(
    "[\u115f-\u11ff\u2800\u3164\ud7b0-\ud7ff\uffa0\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff]"
)


def clean(text: str, limit: int = LINE_LIMIT) -> SafeText:
    """Return text from outside as one line that no terminal interprets.

    Harmful characters show as a sign, never raw; what is longer than `limit` ends in an ellipsis.
    """
    if len(text) <= limit and (_is_plain_ascii(text) or _PLAIN.fullmatch(text)):
        return SafeText(text)
    characters: list[str] = []
    marks = MARKS_A_LETTER  # a mark without a letter would stand on what is before the text
    for character in text:
        category = unicodedata.category(character)
        if category not in MARKS:
            marks = 0
        elif marks == MARKS_A_LETTER or _SELECTORS.match(character):
            continue
        else:
            marks += 1
        if len(characters) >= limit:
            characters.append("…")
            break
        characters.append(_visible_form(character, category))
    return SafeText("".join(characters))


def clean_name(text: str, limit: int = NAME_LIMIT) -> SafeText:
    """Return an identifier from outside (instrument, id, type, currency) as short ASCII text.

    The service's identifiers are ASCII, so a letter that only looks like one shows as a sign.
    """
    if text.isascii() and text.isprintable() and len(text) <= limit:
        return SafeText(text)
    characters = [each if _is_plain_ascii(each) else UNSEEN for each in text[:limit]]
    return SafeText("".join(characters) + ("…" if len(text) > limit else ""))


def safe(text: str) -> SafeText:
    """Return our own text with embedded outside text, such as f"#{trade.id} {words}", sanitized and uncut."""
    if text.isascii() and text.isprintable() and len(text) <= SENTENCE_LIMIT:  # 3,000 a second
        return SafeText(text)
    return clean(text, SENTENCE_LIMIT)


def split_at(text: SafeText, first: int, second: int) -> tuple[SafeText, SafeText, SafeText]:
    """Return three parts of a safe text."""
    return SafeText(text[:first]), SafeText(text[first:second]), SafeText(text[second:])


def without_controls(text: str) -> str:
    """Return text with a visible sign in place of each character that a terminal would interpret."""
    return "".join(
        each if each.isprintable() else _visible_form(each, unicodedata.category(each))
        for each in text
    )


def lines_without_controls(text: str) -> str:
    """Return text of several lines with a visible sign in place of each control character."""
    if text.isprintable():
        return text
    return "\n".join(without_controls(line) for line in text.split("\n"))


def _is_plain_ascii(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _visible_form(character: str, category: str) -> str:
    if category in SPACES or character in "\t\n\r\v\f":
        return " "
    if category not in HARMFUL:
        return UNSEEN if _INVISIBLE.match(character) else character
    if character < FIRST_PRINTABLE:
        return chr(0x2400 + ord(character))  # the picture of the control character
    return "\N{SYMBOL FOR DELETE}" if character == DELETE else UNSEEN
