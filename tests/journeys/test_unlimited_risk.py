"""A trade without a stop at the real desk: its risk is unlimited wherever risk is summed, and stops no exit."""

import os
from pathlib import Path

from support.confirming import confirm, form_text, send
from support.forked import run_forked
from support.terminal import Terminal, keydesk

SIZE = (120, 35)


def test_the_risk_of_a_trade_without_a_stop_is_unlimited_and_a_limit_refuses_what_adds_to_it(
    practice_folder: Path,
) -> None:
    home = practice_folder / "home"
    env = {"KEYDESK_HOME": str(home), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), SIZE, env) as terminal:
        terminal.see("prices ok")
        send(terminal, "B", "t", "Backspace", "s", "Backspace")
        terminal.see("open risk UNLIMITED")
        terminal.see("risk UNLIMITED")
        assert "open risk 0.00" not in terminal.text
        terminal.press("g", "x")
        terminal.see("UNLIMITED: 1 trade without a stop")
        terminal.press("Escape")
        terminal.see_no_more("Esc closes ─")

        status = run_forked(("status", "--practice"), {**os.environ, "KEYDESK_HOME": str(home)})
        assert "open risk UNLIMITED: 1 trade without a stop" in status.stdout

        terminal.press("g", "s")
        terminal.see("Your limits of the account")
        terminal.see("UNLIMITED, 1 no stop")
        terminal.press(*"jjjj", "5", "Enter")
        terminal.see("Limits in force: ")
        terminal.press("B")
        refused = "Open risk without limit: 1 trade or order has no stop"
        terminal.until(lambda: refused in form_text(terminal), what=refused)
        terminal.press("Escape", "C")
        confirm(terminal)
        terminal.see("CLOSED 10,000")
        terminal.see_no_more("UNLIMITED")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
