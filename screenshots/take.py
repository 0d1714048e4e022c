"""Take the pictures of the README and of docs/pictures.md: the real desk on its practice market, in a real terminal, as SVG.

    python screenshots/take.py [THEME]...      dark into this folder, light and colour-blind into folders of their own

Needs the test extra (`pip install -c constraints.txt -e '.[test]'`).
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from pyte.screens import Char, Screen  # noqa: E402

from keydesk.config.tour_file import ENDED, TourFile  # noqa: E402
from support.confirming import confirm  # noqa: E402
from support.journal_home import fill_journal  # noqa: E402
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
THEMES = ("dark", "light", "colour-blind")
USUAL_SIZE = (120, 35)
Look = tuple[str, str, bool]  # foreground, background, bold


@dataclass(frozen=True)
class Picture:
    """One picture: its file, the window's size, the keys before and after it, what is to be seen, in which themes."""

    name: str
    size: tuple[int, int] = USUAL_SIZE
    keys: tuple[str, ...] = ()
    seen: str = "EUR"
    after: tuple[str, ...] = ()
    themes: tuple[str, ...] = THEMES
    wait: float = 1.5  # seconds before it is taken


PICTURES = (
    Picture("desk-120x35", themes=("dark",)),
    Picture("ticket-120x35", keys=("B",), seen="new stop", after=("Escape",)),
    Picture(
        "crosshair-120x35",
        keys=("g", "c", "z", "i", *"hhhhhh", "."),
        seen="from last",
        after=("i", "z"),
    ),
    Picture("chart-120x35", keys=("g", "c", "z"), seen="Bollinger", after=("z",)),
    Picture("books-120x35", keys=("g", "c", "z", "c", "c"), seen="since", after=(*"cccccc", "z")),
    Picture("watchlist-120x35", keys=("g", "w", "z"), seen="▁", after=("z",), wait=30),
    Picture("desk-80x24", (80, 24), themes=("dark",)),
    Picture("desk-100x30", (100, 30)),
    Picture("desk-200x50", (200, 50), themes=("dark",)),
    Picture("four-charts-250x70", (250, 70), seen="EUR/USD M1"),
    Picture("mini-40x12", (40, 12), seen="flatten"),
)


# Of fixed trades in the journal, its list first; each view of the page of statistics has a number.
STATISTICS = (
    ("journal", ("g", "j"), "won, net"),
    ("statistics", ("g", "k"), "expectancy"),
    ("calendar", ("g", "k", "7"), "Result of each"),
    ("day", ("g", "d"), "Result:"),
    ("equity", ("g", "k", "3"), "Realized"),
    ("hours", ("g", "k", "6"), "by hour and weekday"),
    ("excursions", ("g", "k", "5"), "how far for you"),
)
JOURNAL_PICTURES = tuple(
    Picture(
        f"{name}-{columns}x{rows}",
        (columns, rows),
        keys,
        seen,
        after=("Escape",),
        themes=THEMES if (columns, rows) == USUAL_SIZE else ("dark",),
        wait=2,
    )
    for columns, rows in ((120, 35), (80, 24), (200, 50))
    for name, keys, seen in (STATISTICS if (columns, rows) == USUAL_SIZE else STATISTICS[:4])
)


def main() -> None:
    """Take all pictures of the themes that are named, or of all themes."""
    if unknown := set(sys.argv[1:]) - set(THEMES):
        sys.exit(
            f"{min(unknown)!r} is not a theme: use {', '.join(THEMES)}, or none of them for all"
        )
    for theme in sys.argv[1:] or THEMES:
        folder = HERE if theme == THEMES[0] else HERE / theme
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory() as home:
            for name, picture in (*taken(theme, home), *taken_of_journal(theme, home)):
                (folder / f"{name}.svg").write_text(picture, encoding="utf-8")
                print(theme, name, flush=True)  # noqa: T201


def taken(theme: str, home: str) -> Iterator[tuple[str, str]]:
    """Run the desk, trade so that every pane has content, and yield each picture's name and SVG text."""
    without_tour(Path(home))
    command = keydesk("--theme", theme)
    with Terminal(command, USUAL_SIZE, {"KEYDESK_HOME": home}) as terminal:
        terminal.see("prices ok")
        terminal.pause(4)
        trade(terminal)
        yield from _each(terminal, theme, PICTURES)


def taken_of_journal(theme: str, home: str) -> Iterator[tuple[str, str]]:
    """Write fixed trades into the journal of a fresh account, run the desk, and yield the pages of statistics and days."""
    folder = Path(home, "journal-pictures")
    folder.mkdir(mode=0o700)
    with Terminal(
        keydesk("journal", "list", "--practice"), USUAL_SIZE, {"KEYDESK_HOME": str(folder)}
    ) as first:
        first.wait_for_exit()
    fill_journal(folder)
    without_tour(folder)
    with Terminal(keydesk("--theme", theme), USUAL_SIZE, {"KEYDESK_HOME": str(folder)}) as terminal:
        terminal.see("prices ok")
        terminal.pause(4)
        yield from _each(terminal, theme, JOURNAL_PICTURES)


def without_tour(home: Path) -> None:
    """Let the desk open as for a trader who has traded: no picture has the notice line of the first run."""
    TourFile(home / "desk" / "tour").write(ENDED)


def _each(terminal: Terminal, theme: str, pictures: Sequence[Picture]) -> Iterator[tuple[str, str]]:
    """Yield the pictures of a theme, and leave the desk."""
    for picture in pictures:
        if theme not in picture.themes:
            continue
        terminal.resize(*picture.size)
        terminal.pause(1.5)
        terminal.press(*picture.keys)
        terminal.see(picture.seen)
        terminal.see_no_more("Loading candles")
        terminal.see_no_more("being read")
        terminal.pause(picture.wait)
        yield picture.name, svg(terminal.screen)
        terminal.press(*picture.after)
    terminal.press(":", "q", "Enter")
    terminal.wait_for_exit()


def trade(terminal: Terminal) -> None:
    """Buy at market, rest a limit order below by the crosshair, sell another instrument, choose indicators."""
    terminal.press("B")
    confirm(terminal)
    terminal.see("FILLED")
    terminal.press("g", "c", "i", *",,", "B")
    confirm(terminal)
    terminal.see("Orders 3")
    terminal.press("Escape", "g", "w", "j", "j", "S")
    confirm(terminal)
    terminal.see("Trades 2")
    terminal.press("k", "k", ":")
    terminal.see("Tab completes")
    terminal.type("ind ema 20, ema 50, bb 20 2")
    terminal.press("Enter")
    terminal.pause(15)  # prices move, the trades live a little, the lines of the day are read


def svg(screen: Screen) -> str:
    """Draw the emulator's screen cell by cell."""
    rows = [
        [screen.buffer[row][column] for column in range(screen.columns)]
        for row in range(screen.lines)
    ]
    looks = Counter(_look(cell) for row in rows for cell in row)
    surface = Counter(background for _, background, _ in looks.elements()).most_common(1)[0][0]
    classes = {look: _class_name(number) for number, (look, _) in enumerate(looks.most_common())}
    width, height = screen.columns * CELL_WIDTH, screen.lines * CELL_HEIGHT
    styles = "".join(
        f".{name}{{fill:#{look[0]}{';font-weight:bold' if look[2] else ''}}}"
        for look, name in classes.items()
    )
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width + 16:.0f} {height + 16:.0f}" '
            f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="{FONT_SIZE}" xml:space="preserve">'
        ),
        f'<style>{styles}</style><rect width="100%" height="100%" rx="6" fill="#{surface}"/>',
        '<g transform="translate(8 8)" shape-rendering="crispEdges">',
    ]
    for number, row in enumerate(rows):
        parts += _row(row, number, surface, classes)
    return "\n".join([*parts, "</g></svg>"]) + "\n"


def _class_name(number: int) -> str:
    return f"{chr(ord('a') + number % 26)}{number // 26 or ''}"


def _row(cells: list[Char], row: int, surface: str, classes: dict[Look, str]) -> Iterator[str]:
    column = 0
    for look, run in groupby(cells, key=_look):
        text = "".join(cell.data or " " for cell in run)
        x, y, width = column * CELL_WIDTH, row * CELL_HEIGHT, len(text) * CELL_WIDTH
        column += len(text)
        if look[1] != surface:
            yield f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{CELL_HEIGHT}" fill="#{look[1]}"/>'
        for words, at in _words(text):
            left, size = x + at * CELL_WIDTH, len(words) * CELL_WIDTH
            yield (
                f'<text x="{left:.1f}" y="{y + 14}" class="{classes[look]}" textLength="{size:.1f}" '
                f'lengthAdjust="spacingAndGlyphs">{escape(words)}</text>'
            )


def _words(text: str) -> Iterator[tuple[str, int]]:
    """Yield the text without the blanks around it, with its place; nothing of blanks alone."""
    words = text.strip()
    if words:
        yield words, text.index(words[0])


def _look(cell: Char) -> Look:
    foreground, background = _colour(cell.fg, FOREGROUND), _colour(cell.bg, BACKGROUND)
    if cell.reverse:
        foreground, background = background, foreground
    return foreground, background, cell.bold


def _colour(name: str, default: str) -> str:
    return default if name == "default" else NAMES.get(name.removeprefix("bright"), name)


if __name__ == "__main__":
    main()
