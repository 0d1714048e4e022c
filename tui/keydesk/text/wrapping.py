"""Cutting and wrapping printable text by the cells that it takes; what comes out is as safe as what went in."""

from textwrap import wrap

from rich.cells import cell_len, chop_cells, set_cell_size

from keydesk.text.sanitize import Printable, SafeText, safe


def shortened(text: Printable, width: int) -> SafeText:
    """Return text of at most this many cells; what is left out shows as an ellipsis."""
    if cell_len(text) <= width:
        return safe(text)
    return safe(set_cell_size(text, width - 1) + "…") if width > 0 else safe("")


def lines_of(text: Printable, width: int) -> list[SafeText]:
    """Return text over as many lines of this many cells as it needs."""
    width = max(1, width)
    if text.isascii():
        return [safe(line) for line in wrap(text, width)]
    return [safe(line) for line in _wrapped_by_cells(text, max(2, width))]


def _wrapped_by_cells(text: str, width: int) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines += chop_cells(word, width)
    return lines
