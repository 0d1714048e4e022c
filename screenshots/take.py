"""Take the README's pictures: the real desk on its practice market, in a real terminal, drawn as SVG.

    python screenshots/take.py            all pictures, into this folder

Needs the test extra (`pip install -c constraints.txt -e '.[test]'`).
"""

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from pyte.screens import Char, Screen  # noqa: E402

from support.terminal import Terminal, keydesk  # noqa: E402

CELL_WIDTH, CELL_HEIGHT, FONT_SIZE = 8.4, 18, 14
FOREGROUND, BACKGROUND = "d0d0d0", "101010"
NAMES = {
    "black": "000000",
    "red": "cc241d",
    "green": "4ea24e",
    "brown": "c9a227",
    "blue": "4c7bd9",
    "magenta": "b16286",
    "cyan": "45a3a3",
    "white": "d0d0d0",
}


@dataclass(frozen=True)
class Picture:
    """One picture: its file, the window's size, the keys pressed before it is taken, what is to be seen."""

    name: str
    size: tuple[int, int]
    keys: tuple[str, ...] = ()
    seen: str = "EUR"
    theme: str = "dark"
    wait: float = 1  # seconds before it is taken


INDICATORS = (*":ind ema 20, ema 50, bb 20 2", "Enter")
PICTURES = (
    Picture("desk-120x35", (120, 35)),
    Picture("desk-80x24", (80, 24)),
    Picture("desk-200x50", (200, 50)),
    Picture("ticket-120x35", (120, 35), ("B",), "BUY"),
    Picture("light-120x35", (120, 35), theme="light"),
    Picture("chart-120x35", (120, 35), (*INDICATORS, "g", "c", "z"), "Bollinger"),
    Picture("chart-light-120x35", (120, 35), (*INDICATORS, "g", "c", "z"), "Bollinger", "light"),
    Picture("watchlist-120x35", (120, 35), ("g", "w", "z"), "EUR", wait=25),
)


def main() -> None:
    """Take them all."""
    for picture in PICTURES:
        with tempfile.TemporaryDirectory() as home:
            (HERE / f"{picture.name}.svg").write_text(taken(picture, home), encoding="utf-8")
        print(picture.name)  # noqa: T201


def taken(picture: Picture, home: str) -> str:
    """Run the desk, open a trade so that every pane has content, and return the picture as SVG text."""
    with Terminal(
        keydesk("--theme", picture.theme), picture.size, {"KEYDESK_HOME": home}
    ) as terminal:
        terminal.see("EUR", 20)
        terminal.pause(4)
        terminal.press("B")
        terminal.see("Esc drops")
        terminal.pause(1)
        terminal.press("y")
        terminal.see("FILLED", 20)
        terminal.pause(12)  # prices move, the trade lives a little
        terminal.press(*picture.keys)
        terminal.see(picture.seen)
        terminal.pause(picture.wait)
        return svg(terminal.screen)


def svg(screen: Screen) -> str:
    """Draw the emulator's screen cell by cell."""
    width, height = screen.columns * CELL_WIDTH, screen.lines * CELL_HEIGHT
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width + 16:.0f} {height + 16:.0f}" '
            f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="{FONT_SIZE}">'
        ),
        f'<rect width="100%" height="100%" rx="6" fill="#{BACKGROUND}"/><g transform="translate(8 8)">',
    ]
    for row in range(screen.lines):
        parts += _row([screen.buffer[row][column] for column in range(screen.columns)], row)
    return "\n".join([*parts, "</g></svg>"]) + "\n"


def _row(cells: list[Char], row: int) -> Iterator[str]:
    column = 0
    for look, run in groupby(cells, key=_look):
        text = "".join(cell.data or " " for cell in run)
        foreground, background, bold = look
        x, y, width = column * CELL_WIDTH, row * CELL_HEIGHT, len(text) * CELL_WIDTH
        column += len(text)
        if background != BACKGROUND:
            yield f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{CELL_HEIGHT}" fill="#{background}"/>'
        if text.strip():
            weight = ' font-weight="bold"' if bold else ""
            yield (
                f'<text x="{x:.1f}" y="{y + 14}" fill="#{foreground}"{weight} textLength="{width:.1f}" '
                f'lengthAdjust="spacingAndGlyphs" xml:space="preserve">{escape(text)}</text>'
            )


def _look(cell: Char) -> tuple[str, str, bool]:
    foreground, background = _colour(cell.fg, FOREGROUND), _colour(cell.bg, BACKGROUND)
    if cell.reverse:
        foreground, background = background, foreground
    return foreground, background, cell.bold


def _colour(name: str, default: str) -> str:
    return default if name == "default" else NAMES.get(name.removeprefix("bright"), name)


if __name__ == "__main__":
    main()
