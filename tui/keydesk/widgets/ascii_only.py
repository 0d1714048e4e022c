"""`--ascii`: every glyph beyond ASCII replaced, whoever drew it, at the last step before the terminal."""

from __future__ import annotations

from functools import lru_cache

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

LINES = {
    **dict.fromkeys("─━╌┄═", "-"),
    **dict.fromkeys("│┃╎║▏▎▍▌▐", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯┏┓┗┛", "+"),
}
CANDLES = {**dict.fromkeys("┃╻╹╽╿█▄▀", "#"), **dict.fromkeys("╷╵", "|")}
SIGNS = dict(zip("−–—…×·•●○▲▼▶◀▸◂↑↓←→✓✗≤≥", "---~x.**o^v><><^v<>+x<>", strict=True))
BARS = {**dict.fromkeys("▁▂▃", "_"), **dict.fromkeys("▅▆▇", "#"), **dict.fromkeys("░▒▓■", "#")}
GLYPHS = {ord(k): v for k, v in {**LINES, **CANDLES, **SIGNS, **BARS}.items()}
UNSEEN = "?"


class AsciiOnly(LineFilter):
    """Replaces glyph by glyph, so that every line keeps its width."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """The segments with ASCII only."""
        return [Segment(in_ascii(text), style, control) for text, style, control in segments]


@lru_cache(maxsize=4096)
def in_ascii(text: str) -> str:
    """Text of the same width in ASCII."""
    if text.isascii():
        return text
    kept = (c if c.isascii() else UNSEEN * Segment(c).cell_length for c in text.translate(GLYPHS))
    return "".join(kept)
