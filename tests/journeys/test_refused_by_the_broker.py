"""What the broker refuses lands on its field in the next ticket, in words; labels and settings of what is open."""

from pathlib import Path

from support.confirming import confirm, form_text, send
from support.terminal import Terminal, keydesk


def command(terminal: Terminal, line: str) -> None:
    terminal.press(":")
    terminal.see("Command  ")
    terminal.type(line)
    terminal.press("Enter")
    terminal.see_no_more("Tab completes")


def see_in_form(terminal: Terminal, text: str) -> None:
    terminal.until(lambda: text in form_text(terminal), what=repr(text))


def test_a_refusal_is_on_its_field_and_labels_and_margin_rate_are_changed(
    practice_folder: Path,
) -> None:
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), (120, 35), env) as terminal:
        terminal.see("prices ok")
        command(terminal, "replay faults requotes")
        send(terminal, "B", "s", *"31")
        terminal.see("NOT FILLED")
        terminal.press("B")
        see_in_form(terminal, "REJECTED: not enough liquidity at the price")
        see_in_form(terminal, "u size 10,000 units")
        see_in_form(terminal, "s stop 31 pips")  # as it was typed
        terminal.press("Escape")
        terminal.see_no_more("Esc drops")
        command(terminal, "replay faults off")
        send(terminal, "B")
        terminal.see("FILLED 10,000")

        command(terminal, "tag")
        see_in_form(terminal, "TAG AND COMMENT")
        terminal.press("k", *"swing", "Enter")
        confirm(terminal)
        terminal.see("DONE tag swing")

        command(terminal, "configure")
        see_in_form(terminal, "ACCOUNT SETTINGS")
        terminal.press("m", *"0", "Enter")
        see_in_form(terminal, "is not above 0")
        terminal.press("m", *"10", "Enter")
        see_in_form(terminal, "50 to 1 → 10.00 %")
        confirm(terminal)
        terminal.see("DONE ACCOUNT margin rate 10.00 %")
