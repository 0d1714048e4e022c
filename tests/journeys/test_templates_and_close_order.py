"""A named template, a part closed newest first, and a reversal that carries the template's bracket, by keys in the real desk."""

from pathlib import Path

from support.confirming import confirm, form_words, send
from support.terminal import Terminal, keydesk

SIZE = (120, 35)
SCALP = """
[templates.scalp]
size = "7000"
stop = "30p"
target = "3r"
"""


def test_a_template_opens_newest_first_closes_and_reverse_turns(practice_folder: Path) -> None:
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
        see_in_form(terminal, "30.0p")
        confirm(terminal)
        terminal.see("FILLED 7,000")
        terminal.see("Trades 2")
        terminal.press("g", "p", "g", "g", "O", *"7000", "u", "o")
        see_in_form(terminal, "the newest trade first (LIFO)")
        confirm(terminal)
        terminal.see("CLOSED 7,000 EUR/USD")
        terminal.see("Trades 1")
        terminal.press("R")
        see_in_form(terminal, "REVERSE EUR/USD +10,000")
        confirm(terminal)
        terminal.see("TURNED EUR/USD +10,000 → −10,000")


def see_in_form(terminal: Terminal, words: str) -> None:
    terminal.until(lambda: words in form_words(terminal), what=repr(words))
