"""A trader goes to 2015-01-15 on EUR_CHF by keys: the fall from 1.20 is on the chart, and a key comes back to now."""

import re
from pathlib import Path

from support.terminal import Terminal, keydesk

BEFORE, AFTER = 1.2, 1.06  # between them the franc jumped
PRICE = re.compile(r"(?<![\d.])([01]\.\d{2,5})(?!\d)")


def command(terminal: Terminal, line: str) -> None:
    terminal.press(":")
    terminal.see("Tab completes")
    terminal.type(line)
    terminal.press("Enter")
    terminal.see_no_more("Tab completes")


def axis(terminal: Terminal) -> list[float]:
    """The prices at the right of the chart, which fills the screen."""
    found = (PRICE.search(row[100:]) for row in terminal.rows[3:28])
    return [float(match.group(1)) for match in found if match]


def test_the_jump_of_the_franc_is_gone_to_by_its_date(practice_folder: Path) -> None:
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), (120, 35), env) as terminal:
        terminal.see("prices ok")
        terminal.see("EUR/USD M5")
        command(terminal, "eurchf")
        command(terminal, "tf m15")
        terminal.see("EUR/CHF M15")
        terminal.press("g", "c", "z")
        command(terminal, "date 2015-01-15 09:30")
        terminal.see("until 16 Jan 2015")
        terminal.until(lambda: max(axis(terminal)) >= BEFORE and min(axis(terminal)) <= AFTER)
        assert "Thu 15 Jan 2015" in terminal.text

        terminal.press("i")
        terminal.see("16 Jan 05:45 UTC")  # the crosshair stands on the last candle of the page
        terminal.press("Escape")
        terminal.press("h", "l")
        terminal.see("until 16 Jan 2015")
        terminal.press("g", "e")
        terminal.see_no_more("until ")
        terminal.until(lambda: max(axis(terminal)) < AFTER, what="the prices of now")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
