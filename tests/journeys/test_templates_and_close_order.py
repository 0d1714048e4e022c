"""A named template, parts closed in each order, and a reversal with the template's bracket, by keys in the real desk."""

import re
from decimal import Decimal
from pathlib import Path

from support.confirming import FORM, confirm, form_text, send
from support.terminal import Terminal, keydesk

SIZE = (120, 35)
SCALP = """
[templates.scalp]
size = "7000"
stop = "30p"
target = "3r"
"""
TURNED = ("newest trade first (LIFO)", "worst entry first", "best entry first", "you pick")
PICKED = re.compile(r"\[.\] #(\d+) ([\d,]+) ([\d.]+)")
PART = 500


def test_a_template_opens_each_order_closes_and_reverse_turns(practice_folder: Path) -> None:
    home = practice_folder / "home"
    home.mkdir(mode=0o700)
    (home / "templates.toml").write_text(SCALP)
    env = {"KEYDESK_HOME": str(home), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), SIZE, env) as terminal:
        terminal.see("prices ok")
        terminal.see("No trades.")
        send(terminal, "B")
        terminal.see("FILLED 10,000")
        terminal.press("B", "h")
        see_in_form(terminal, "BUY 7,000 EUR/USD")
        see_in_form(terminal, "30.0 pips")
        confirm(terminal)
        terminal.see("FILLED 7,000")
        terminal.see("Trades 2")
        terminal.press("g", "p", "g", "g")

        trades = trades_to_pick(terminal)
        entry = {number: Decimal(price) for number, price in trades.items()}
        worst, best = max(trades, key=entry.__getitem__), min(trades, key=entry.__getitem__)
        first, last = trades  # of two at one price, the older one goes first
        for turns, number in enumerate((first, last, worst, best)):
            close_a_part(terminal, turns, number)

        more_than_all_of_it_is_refused(terminal)
        terminal.press("O", *"oooo")
        see_in_form(terminal, "Pick a trade: ↑ ↓ and Space")
        terminal.press("Down", " ")
        see_in_form(terminal, f"▶ [x] #{last}")
        confirm(terminal)
        terminal.see("Trades 1")

        terminal.press("R")
        see_in_form(terminal, "REVERSE EUR/USD +")
        confirm(terminal)
        terminal.see("TURNED EUR/USD +")


def trades_to_pick(terminal: Terminal) -> dict[str, str]:
    """The trades of the position, oldest first, and their prices."""
    terminal.press("O", *"oooo")
    see_in_form(terminal, "Pick a trade: ↑ ↓ and Space")
    found = {number: price for number, _, price in PICKED.findall(form_text(terminal))}
    drop(terminal)
    return found


def close_a_part(terminal: Terminal, turns: int, number: str) -> None:
    """Close a part in the order that so many turns of its key choose: it comes off this trade."""
    terminal.press("O", *str(PART), "u", *("o" * turns))
    see_in_form(terminal, TURNED[turns - 1] if turns else "the oldest trade first (FIFO)")
    see_in_form(terminal, f"of #{number} {PART}")
    confirm(terminal)
    terminal.see(f"CLOSED {PART} of #{number} EUR/USD")
    terminal.press("Escape")


def more_than_all_of_it_is_refused(terminal: Terminal) -> None:
    terminal.press("O", *"99000", "u", "o")
    see_in_form(terminal, "99,000 is more than the")
    terminal.press("y")
    see_in_form(terminal, "99,000 is more than the")
    drop(terminal)


def see_in_form(terminal: Terminal, text: str) -> None:
    terminal.until(lambda: text in form_text(terminal), what=repr(text))


def drop(terminal: Terminal) -> None:
    terminal.press("Escape")
    terminal.see_no_more(FORM)
