"""Text from outside made safe to print: what the server, a file or another person wrote."""

import unicodedata

LINE_LIMIT = 256
MARKS_A_LETTER = 2  # more combining marks than this climb over the lines above and below
UNSEEN = "\N{REPLACEMENT CHARACTER}"
DELETE = "\x7f"
FIRST_PRINTABLE = " "

# Control, format (bidirectional overrides, zero-width joiners), surrogate, private and unassigned
# characters can move the cursor, reorder what is read or have a width no two terminals agree on.
HARMFUL = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
SPACES = frozenset({"Zs", "Zl", "Zp"})
MARKS = frozenset({"Mn", "Me"})


def clean(text: str, limit: int = LINE_LIMIT) -> str:
    """Text as one line that no terminal acts upon; what was harmful shows as a sign, never raw."""
    if len(text) <= limit and text.isascii() and text.isprintable():
        return text
    kept: list[str] = []
    marks = 0
    for character in text:
        if len(kept) >= limit:
            kept.append("…")
            break
        category = unicodedata.category(character)
        marks = marks + 1 if category in MARKS else 0
        if marks > MARKS_A_LETTER:
            continue
        kept.append(_seen(character, category))
    return "".join(kept)


def _seen(character: str, category: str) -> str:
    if category in SPACES or character in "\t\n\r\v\f":
        return " "
    if category not in HARMFUL:
        return character
    if character < FIRST_PRINTABLE:
        return chr(0x2400 + ord(character))  # the picture of the control character
    return "\N{SYMBOL FOR DELETE}" if character == DELETE else UNSEEN
