"""What a program sent to its terminal, piece by piece; all that is not on the desk's own list is named.

A strict reader: text must be UTF-8 and visible, a control sequence must be one that the desk itself sends, with numbers
that it sends. Nothing is skipped, so a sequence cannot hide behind another.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# What the desk and Textual's driver send; numbers of places and colours are looked at below.
OWN: Final = re.compile(
    r"""
      \x1b\[\?(?:1049|25|9|100[0-6]|1015|1016|2004|2026|2048|7)[hl]  # modes, on and off
    | \x1b\[\?(?:2026|2048)\$p                     # is the mode known?
    | \x1b\[>[0-9]{0,2}u | \x1b\[<[0-9]{0,2}u      # the keyboard protocol, on and off
    | \x1b\]22;(?:default|text|pointer)\x07       # the pointer's shape
    | \x1b\[(?:(?P<row>[0-9]{1,3});(?P<column>[0-9]{1,3}))?H
    | \x1b\[[0-9]{1,3}H                              # the beginning of a line
    | \x1b\[(?P<ahead>[0-9]{0,3})[CDX] | \x1b\[B   # on, back, blanks; down
    | \x1b\]2;(?:Keydesk[ ][ -~]{1,60}(?:…[0-9]{1,3})?)?\x07         # the window's title: no text of the server
    | \x1b\]777;notify;(?P<notice>[^\x1b\x07;]{1,60};[^\x1b\x07]{0,200})\x07  # a desktop notification: its text is looked at below
    | \x1b\[2[23];2t                                # its old title, kept and restored
    | \x1b\[c | \x1b\[[56]n                         # which terminal is it, is it there, where is the cursor?
    | \x1bP\+q524742\x1b\\ | \x1b\]11;\?\x1b\\      # has it 24-bit colours, which background?
    | \x1b7 | \x1b8 | \x1b\[K                       # around the measured width of a character
    | \x1b\[(?P<colours>[0-9;]*)m
    """,
    re.VERBOSE,
)
COPIED: Final = re.compile(r"\x1b\]52;c;[A-Za-z0-9+/]+={0,2}\x07")  # what the trader copied
PLAIN_CODES: Final = frozenset({"", "0", "1", "2", "3", "4", "7", "9", "22", "39", "49"})
NAMED_COLOURS: Final = frozenset(map(str, (*range(30, 38), *range(40, 48), *range(90, 108))))
BYTE: Final = 256
BREAKS: Final = "\r\n\b"


def foreign_pieces(
    raw: bytes, size: tuple[int, int] = (200, 60), bells: int = 0, *, copies: bool = False
) -> Iterator[str]:
    """Name every piece of the output that is not the desk's own, with what stands around it.

    More bells than the desk may have rung are foreign, too, and so is text for the clipboard unless the keys may have copied.
    """
    text = raw.decode("utf-8", errors="surrogateescape")
    at = 0
    while at < len(text):
        character = text[at]
        if character == "\x1b":
            found = OWN.match(text, at)
            if copies and (copied := COPIED.match(text, at)) is not None:
                at = copied.end()
                continue
            if found is None or not _is_plausible(found, size):
                yield f"sequence {text[at : at + 24]!r} after {text[max(0, at - 60) : at]!r}"
                at += 1
            else:
                at = found.end()
            continue
        if character == "\a" and bells > 0:
            bells -= 1
        elif character not in BREAKS and unicodedata.category(character) in INVISIBLE:
            yield f"character {character!r} in {text[max(0, at - 30) : at + 30]!r}"
        at += 1


def _is_plausible(found: re.Match[str], size: tuple[int, int]) -> bool:
    columns, rows = size
    row, column, ahead, colours = (found[name] for name in ("row", "column", "ahead", "colours"))
    if row is not None:
        return int(row) <= rows and int(column) <= columns
    if ahead:
        return int(ahead) <= columns
    if (notice := found["notice"]) is not None:
        return INVISIBLE.isdisjoint(unicodedata.category(character) for character in notice)
    return colours is None or _is_own_colours(colours)


def _is_own_colours(text: str) -> bool:
    codes = text.split(";")
    while codes:
        match codes:
            case ["38" | "48", "2", red, green, blue, *codes]:
                if not all(_is_byte(each) for each in (red, green, blue)):
                    return False
            case ["38" | "48", "5", number, *codes]:
                if not _is_byte(number):
                    return False
            case [code, *codes]:
                if code not in PLAIN_CODES | NAMED_COLOURS:
                    return False
    return True


def _is_byte(text: str) -> bool:
    return text.isdecimal() and int(text) < BYTE
