"""A trader replays the past at the desk: blind, and on the morning of the franc with a stop that slips."""

import re
from pathlib import Path

from support.confirming import send
from support.terminal import Terminal, keydesk

SIZE = (120, 35)


def env_of(folder: Path) -> dict[str, str]:
    return {"KEYDESK_HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(folder)}


def command(terminal: Terminal, line: str) -> None:
    terminal.press(":")
    terminal.see("Command  ")
    terminal.type(line)
    terminal.press("Enter")
    terminal.see_no_more("Tab completes")


def begin(terminal: Terminal) -> None:
    """Agree to begin anew."""
    terminal.see("y starts it")
    terminal.pause()
    terminal.press("y")


def paused_at(terminal: Terminal, time: str) -> None:
    """Wait for a time in the replay strip."""
    shown = re.compile(f"{time} UTC +PAUSED")
    terminal.until(lambda: shown.search(terminal.text) is not None, what=f"paused at {time}")


def test_a_blind_replay_is_traded_and_shows_where_and_when_it_was_at_its_end(
    practice_folder: Path,
) -> None:
    with Terminal(keydesk("--practice"), SIZE, env_of(practice_folder)) as terminal:
        terminal.see("prices ok")
        terminal.see(";; replay")
        terminal.press(";", "b")
        begin(terminal)
        terminal.see("BLIND REPLAY")
        terminal.see("ABC/XYZ M5")
        strip = terminal.see("PAUSED")
        assert "2089" in strip or "2090" in strip or "2091" in strip
        began = strip

        terminal.press(";", "n")
        paused_at(terminal, "07:05:00")
        send(terminal, "B")
        terminal.see("FILLED 10,000 ABC/XYZ")

        terminal.press(";", "p")
        terminal.see(" x1 ")
        terminal.press(";", "f")
        terminal.see(" x2 ")
        terminal.press(";", "e")
        found = terminal.see("The replay was")
        assert "PAUSED" in terminal.text
        year = re.search(r"from (20[0-2]\d)-", found)
        assert year is not None, found
        assert year[1] not in began
        instrument = re.search(r"The replay was ([A-Z]{3}/[A-Z]{3}) from", found)
        assert instrument is not None

        terminal.press("Escape", "g", "l", "a")
        terminal.see("Audit log")
        terminal.see(f"The replay was {instrument[1]}")
        terminal.press("Escape")
        terminal.quit()


def test_the_stop_of_a_long_franc_trade_slips_at_half_past_nine(practice_folder: Path) -> None:
    with Terminal(keydesk("--practice"), SIZE, env_of(practice_folder)) as terminal:
        terminal.see("prices ok")
        command(terminal, "replay franc")
        begin(terminal)
        terminal.see("EUR/CHF M5")
        paused_at(terminal, "Thu 15 Jan 2015 09:00:00")
        send(terminal, "B")
        terminal.see("stop 1.19")
        command(terminal, "replay jump +29m")
        paused_at(terminal, "Thu 15 Jan 2015 09:29:00")
        terminal.see_no_more("orders fill on the way")
        terminal.press(";", "n")
        paused_at(terminal, "Thu 15 Jan 2015 09:30:00")
        terminal.see_no_more("… pauses")
        terminal.press(";", "n")
        hit = terminal.see("STOP HIT")
        slip = re.search(r"([\d,]+\.\d) pips worse", hit)
        assert slip is not None, hit
        assert float(slip[1].replace(",", "")) > 50, "the fill is far behind the stop"
        terminal.see("Trades 0")
        terminal.quit()


def test_the_way_back_from_a_replay_leads_to_the_account_that_was_left_also_by_another_desk(
    practice_folder: Path,
) -> None:
    with Terminal(keydesk("--practice"), SIZE, env_of(practice_folder)) as terminal:
        terminal.see("prices ok")
        send(terminal, "B")
        terminal.see("Trades 1")
        command(terminal, "replay franc")
        terminal.see("Your account with 1 open trade and 2 orders stays")
        begin(terminal)
        terminal.see("EUR/CHF M5")
        terminal.see("Trades 0")
        terminal.quit()

    with Terminal(keydesk("--practice"), SIZE, env_of(practice_folder)) as terminal:
        terminal.see(";g back")
        terminal.see("PAUSED")
        terminal.see("Trades 0")
        terminal.press(";", "g")
        terminal.see("Back from the replay")
        terminal.see("Your own account, left at")
        terminal.pause()
        terminal.press("y")
        terminal.see("Back in your own account")
        terminal.see("Trades 1")
        terminal.see_no_more("PAUSED")
        terminal.quit()
