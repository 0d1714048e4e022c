"""A window that is dragged about while charts, books, the crosshair and a docked ticket stand on it: each is whole after."""

import random
import re
from pathlib import Path

from support.confirming import confirm
from support.terminal import Terminal, keydesk

HOME_SIZE = (120, 35)
SIZES = (
    (250, 70),
    (200, 50),
    (140, 45),
    (120, 24),
    (100, 30),
    (80, 24),
    (79, 23),
    (40, 12),
    (9, 4),
)
PRICE = re.compile(r" (\d\.\d{4,5})\b")
AXIS_FROM = 90  # column: right of the candles of a chart that fills the window


def storm(terminal: Terminal, chance: random.Random) -> None:
    """Change the size again and again, faster than the desk draws, and come back."""
    for _ in range(14):
        terminal.resize(*chance.choice((*SIZES, (chance.randint(40, 250), chance.randint(12, 70)))))
        terminal.pause(chance.choice((0.0, 0.02, 0.1)))
    terminal.resize(*HOME_SIZE)


def axis(terminal: Terminal) -> list[float]:
    """The prices of the axis from top to bottom, of a chart that fills the window."""
    found = (PRICE.search(row[AXIS_FROM:]) for row in terminal.rows[4:28])
    return [float(match.group(1)) for match in found if match]


def is_whole(terminal: Terminal) -> bool:
    """Whether the chart fills the window, its prices in order and nothing of another size between them."""
    prices = axis(terminal)
    return (
        len(prices) > 4
        and prices == sorted(set(prices), reverse=True)
        and terminal.rows[2].startswith("─ EUR/USD M5 ─")
        and "command" in terminal.rows[34]
        and "UTC" in terminal.rows[29]
    )


def test_charts_books_crosshair_and_a_docked_ticket_outlive_a_storm_of_sizes(
    practice_folder: Path,
) -> None:
    chance = random.Random(10)
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), (250, 70), env) as terminal:
        terminal.see("prices ok")
        for name in ("M5", "H1", "D from 17:00", "M1"):
            terminal.see(f"EUR/USD {name}")
        terminal.press("g", "c", "z")
        storm(terminal, chance)
        terminal.until(lambda: is_whole(terminal), what="the chart alone, whole")
        terminal.press("i", "h", "h")
        terminal.see("from last")
        storm(terminal, chance)
        terminal.see("from last")
        terminal.until(lambda: "±10" in terminal.rows[34], what="the keys of the crosshair")
        terminal.press("Escape")
        terminal.see_no_more("from last")
        terminal.press("c", "c")
        terminal.see("sell│buy")
        storm(terminal, chance)
        terminal.see("sell│buy")
        terminal.press("z", "B")
        terminal.see("BUY 10,000 EUR/USD")
        storm(terminal, chance)
        terminal.see("new stop")
        terminal.see("Esc drops")
        terminal.until(lambda: all(row[0] in "┏┃┗" for row in terminal.rows[22:35]))
        confirm(terminal)
        terminal.see("Trades 1")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
