"""Look for typed words in the text of a row."""

from __future__ import annotations


def has_text(text: str, filter_text: str) -> bool:
    """Return whether a row's text has every word of the filter, in any case; pairs are found as eurusd and eur/usd."""
    plain = text.lower()
    squeezed = _squeezed(plain)
    words = filter_text.lower().split()
    return all(word in plain or _squeezed(word) in squeezed for word in words)


def _squeezed(text: str) -> str:
    return text.replace("/", "").replace("_", "")
