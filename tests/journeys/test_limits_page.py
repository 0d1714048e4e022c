"""The page of limits in the real desk: a limit set there refuses the next ticket by name, is kept, and stops no exit."""

from pathlib import Path

from support.confirming import confirm, form_text, see_a_form_that_can_be_sent, send
from support.order_evidence import kinds_in
from support.terminal import Terminal, keydesk

SIZE = (120, 35)
AUDITED = {
    *("start", "key", "preview", "confirm", "decided", "sending", "outcome"),
    *("settings", "refused", "leave"),
}


def test_a_limit_set_on_the_page_refuses_the_next_ticket_and_no_exit(
    practice_folder: Path,
) -> None:
    home = practice_folder / "home"
    env = {"KEYDESK_HOME": str(home), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), SIZE, env) as terminal:
        terminal.see("prices ok")
        send(terminal, "B")
        terminal.see("FILLED")
        terminal.press("g", "s")
        terminal.see("Your limits of the account")
        terminal.press(*"jjjjj", "1", "Enter")
        terminal.see("Limits in force: ")
        assert "hard_open_trades = 1" in (home / "templates.toml").read_text()
        terminal.press("B")
        refused = "your own limit of 1 (Trades and entry orders). Close or cancel one"
        terminal.until(lambda: refused in form_text(terminal), what=refused)
        terminal.press("y")
        terminal.see("Esc drops")
        terminal.press("Escape", "C")
        confirm(terminal)
        terminal.see("CLOSED 10,000")
        terminal.press("B")
        see_a_form_that_can_be_sent(terminal)
        terminal.press("Escape")
        terminal.see_no_more("Esc drops")
        terminal.press("g", "u")
        terminal.see("Rollover")
        terminal.press("Escape", ":", "q", "Enter")
        assert terminal.wait_for_exit() == 0
    assert kinds_in(home) >= AUDITED
