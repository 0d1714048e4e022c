"""A scale-out by the keys of a person: its steps in the ticket, three trades at the broker, and what cannot be divided."""

from pathlib import Path

from support.confirming import confirm, form_text
from support.terminal import Terminal, keydesk

TEMPLATES = """
[templates.thirds]
scale_out = "33/33/34 1r 2r"

[instruments]
EUR_USD = "thirds"
"""


def see_in_form(terminal: Terminal, text: str) -> None:
    terminal.until(lambda: text in form_text(terminal), what=repr(text))


def test_a_scale_out_is_shown_refused_and_sent(practice_folder: Path) -> None:
    home = practice_folder / "home"
    home.mkdir(mode=0o700)
    (home / "templates.toml").write_text(TEMPLATES, encoding="utf-8")
    env = {"KEYDESK_HOME": str(home), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), (120, 35), env) as terminal:
        terminal.see("prices ok")
        terminal.press("B")
        see_in_form(terminal, "scale-out 33/33/34 1r 2r: 3 orders at the broker")
        terminal.press("u", "2")
        see_in_form(terminal, "the least of 3 parts would be below 1")
        terminal.press("u", *"10000")
        terminal.press("s", "Backspace", *"20")  # by itself it is as wide as the hour's spread asks
        see_in_form(terminal, "3,400 trails 20.0 pips behind")
        confirm(terminal)
        terminal.see("Trades 3")
        terminal.press("g", "t")
        terminal.see("3 trades")
        for units in ("3,300", "3,400"):
            terminal.see(units)
