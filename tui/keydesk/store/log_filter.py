"""The filter of the transaction log: kind, instrument, words, and everything about an order or a trade by its id.

A module of its own: the module of older lines imports the models, which are not loaded before the first frame.
"""

from __future__ import annotations

from collections.abc import Sequence

from keydesk.store.state import LogLine
from keydesk.text.search import has_text


def passes(line: LogLine, letters: str) -> bool:
    """Return whether a line has every word of the letters.

    A word such as #6417 asks for the transaction of that id and for those that name the order or trade.
    """
    ids, text = split_letters(letters)
    if not all(each == line.id or each in line.about for each in ids):
        return False
    return not text or has_text(f"{line.kind} {line.instrument} {line.id} {line.text}", text)


def split_letters(letters: str) -> tuple[Sequence[str], str]:
    """Return the ids and the other words of a filter."""
    words = letters.split()
    ids = [word for word in words if word[0] == "#" and word[1:].isdecimal()]
    return [word[1:] for word in ids], " ".join(word for word in words if word not in ids)
