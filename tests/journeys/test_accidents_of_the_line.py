"""Rows of the accident table at the real desk whose broker misbehaves: old prices, gaps and repetitions, and exits through all of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.confirming import FORM, form_text, send
from support.signing_in import Home
from support.terminal import Terminal, keydesk

MUTE = "mute_streams_s = 0.01\n"  # both streams stay open and are silent; requests are answered
SILENT = MUTE + "error_503 = 1.0\n"  # and no request is answered
REPEATED = "duplicates = 1.0\nlate_ms = 200.0\ncut_streams_s = 1.0\n"


@contextmanager
def misbehaving(home: Home, profile: str) -> Iterator[None]:
    """Let the desk's broker misbehave for a while."""
    file = home.folder.parent / "faults.toml"
    file.write_text(profile)
    faults("on", home, str(file))
    yield
    faults("off", home, "off")


def faults(what: str, home: Home, profile: str) -> None:
    done = home.run("practice", "faults", profile, "--data", str(home.folder / "practice"))
    assert done.returncode == 0, f"{what}: {done.stdout}{done.stderr}"


@pytest.mark.soak  # twice ten seconds until a price is old
def test_an_old_price_refuses_a_ticket_and_no_exit_and_a_gap_is_filled(
    practice_folder: Path,
) -> None:
    home = Home(practice_folder / "home")
    env = {**home.env, "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), (120, 35), env) as terminal:
        terminal.see("prices ok")
        with misbehaving(home, REPEATED):
            send(terminal, "B")
            terminal.see("FILLED 10,000")
            send(terminal, "B", "u", *"2000")
            terminal.see("FILLED 2,000")
            terminal.see("Trades 2")
        with misbehaving(home, SILENT):
            terminal.see("prices STALE")
            terminal.press("B")
            old = "could not be read again"
            terminal.until(lambda: old in form_text(terminal), what=old)
            terminal.press("y")
            terminal.see(FORM)
            terminal.press("Escape")
            terminal.see_no_more(FORM)
        terminal.see("prices ok")
        terminal.see("Trades 2")
        with misbehaving(home, MUTE):
            terminal.see("prices STALE")
            terminal.press("g", "t")
            send(terminal, "C")
            terminal.see("CLOSED 10,000")
            terminal.see("Trades 1")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
