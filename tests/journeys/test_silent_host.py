"""A host that answers no request any more while its streams go on: said within seconds, and taken back when it answers."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from support.broker import PracticeServer
from support.confirming import LOOK_AGAIN, TRIES, confirm, form_text, send
from support.proxies.chaos_proxy import Fate, chaos_proxy
from support.proxies.silent_relay import silent_relay
from support.signing_in import Home
from support.terminal import NeverSeen, Terminal, keydesk

SIZES = ((80, 24), (120, 35), (200, 50))


def test_a_silent_rest_host_is_told_with_its_age_at_every_size(
    practice: PracticeServer, practice_folder: Path
) -> None:
    home = Home(practice_folder / "home")
    with silent_relay(practice.rest_url) as relay:
        home.signed_in("quiet", practice, rest_url=relay.url)
        desk = keydesk("--profile", "quiet", *home.unlocked)
        with Terminal(desk, SIZES[0], home.env) as terminal:
            terminal.see("prices ok", 60)
            terminal.see("round trip", 60)
            relay.is_silent = True
            terminal.see("requests waiting")
            terminal.see("requests SLOW")
            assert "round trip" not in terminal.text
            for size in SIZES:
                terminal.resize(*size)
                terminal.see("requests DOWN")
                terminal.until(  # SLOW on a busy machine, where the last answers were
                    lambda: any(
                        "requests DOWN" in row and ("prices ok" in row or "prices SLOW" in row)
                        for row in terminal.rows
                    )
                )
                assert "round trip" not in terminal.line_with("requests DOWN")
            relay.is_silent = False
            row = terminal.see("round trip", 90)
            assert "requests" not in row
            terminal.quit()
            assert terminal.wait_for_exit() == 0


def command(terminal: Terminal, line: str) -> None:
    terminal.press(":")
    terminal.see("Command  ")
    terminal.type(line)
    terminal.press("Enter")
    terminal.see_no_more("Tab completes")


def see_in_form(terminal: Terminal, text: str) -> None:
    terminal.until(lambda: text in form_text(terminal), what=repr(text))


def arm(terminal: Terminal, account_id: str) -> None:
    terminal.see("prices ok")
    terminal.see("round trip")
    terminal.press("A")
    for _ in range(TRIES):  # digits that a busy machine reads at once count as a burst
        terminal.see("ARM the keyboard")
        terminal.press(*account_id[-3:])
        with suppress(NeverSeen):
            terminal.see_no_more("exit only", LOOK_AGAIN)
            return
        if "ARM the keyboard" not in terminal.text:
            terminal.press("A")
    terminal.see_no_more("exit only")


def tag(terminal: Terminal, text: str) -> None:
    command(terminal, "tag")
    see_in_form(terminal, "TAG AND COMMENT")
    terminal.press("k", *["Backspace"] * 10, *text, "Enter")
    confirm(terminal)


def set_margin_rate(terminal: Terminal, percent: str, account_id: str) -> None:
    if "exit only" in terminal.text:  # events were lost meanwhile
        arm(terminal, account_id)
    command(terminal, "configure")
    see_in_form(terminal, "ACCOUNT SETTINGS")
    terminal.press("m", *percent, "Enter")
    confirm(terminal)


def set_exit_plan(terminal: Terminal) -> None:
    command(terminal, "plan")
    see_in_form(terminal, "EXIT PLAN")
    terminal.press("e", "2")
    confirm(terminal)
    terminal.see("EXIT PLAN of #")


@pytest.mark.soak  # a silent host is given up after a minute
def test_labels_settings_and_exit_plans_while_the_host_is_silent(
    practice: PracticeServer, practice_folder: Path
) -> None:
    home = Home(practice_folder / "home")
    with silent_relay(practice.rest_url) as relay:
        home.signed_in("quiet", practice, rest_url=relay.url)
        desk = keydesk("--profile", "quiet", *home.unlocked)
        with Terminal(desk, SIZES[1], home.env) as terminal:
            arm(terminal, practice.account_id)
            send(terminal, "B")
            terminal.see("FILLED 10,000")
            terminal.press("g", "t")
            relay.is_silent = True
            terminal.see("requests SLOW")
            tag(terminal, "swing")
            set_exit_plan(terminal)  # of this desk alone: it needs no answer
            terminal.see("NOT CONFIRMED tag swing", 200)
            terminal.see("set it again")
            command(terminal, "configure")
            terminal.press("m", *"10", "Enter")
            see_in_form(terminal, "DISARMED is exit-only")  # the events were lost meanwhile
            terminal.press("Escape")
            relay.is_silent = False
            terminal.see("events ok", 120)
            arm(terminal, practice.account_id)
            tag(terminal, "swing")
            terminal.see("DONE tag swing", 120)
            set_margin_rate(terminal, "10", practice.account_id)
            terminal.see("DONE ACCOUNT margin rate 10.00 %", 120)


@pytest.mark.soak
async def test_labels_and_settings_whose_answers_are_lost_are_what_the_screen_says(
    practice: PracticeServer, practice_folder: Path
) -> None:
    home = Home(practice_folder / "home")
    faults = (Fate.RESET_UNANSWERED, Fate.RESET_HALF, Fate.CLOSED_HALF, Fate.GARBAGE)
    async with chaos_proxy(practice.rest_url, seed=11, faulty=0.4, faults=faults) as chaos:
        home.signed_in("main", practice, rest_url=chaos.url, stream_url=practice.stream_url)
        said = await asyncio.to_thread(_label_and_configure, home, practice.account_id)
        await chaos.everything_arrived()
    trades = (await practice.get("{a}/openTrades")).json()["trades"]
    account = (await practice.get("{a}")).json()["account"]
    text, rates = said
    assert trades[0]["clientExtensions"]["tag"] == text
    assert account["marginRate"] == rates


def _label_and_configure(home: Home, account_id: str) -> tuple[str, str]:
    """Change both several times; returns tag and margin rate that the screen said last to be set."""
    desk = keydesk("--profile", "main", *home.unlocked)
    with Terminal(desk, SIZES[1], home.env) as terminal:
        arm(terminal, account_id)
        send(terminal, "B")
        terminal.see("Trades 1")
        terminal.press("g", "t")
        for number in range(5):
            text, rate = f"tag{number}", f"{number + 5}"
            tag(terminal, text)
            _see_done(terminal, f"tag {text}", partial(tag, terminal, text))
            set_margin_rate(terminal, rate, account_id)
            words = f"ACCOUNT margin rate {rate}.00 %"
            _see_done(terminal, words, partial(set_margin_rate, terminal, rate, account_id))
    return "tag4", "0.09"


def _see_done(terminal: Terminal, text: str, again: Callable[[], None]) -> None:
    """Wait for the outcome; what was not confirmed is set again, as the screen asks, unless it turns out to be set."""
    terminal.until(
        lambda: any(f"{said} {text}" in terminal.text for said in ("DONE", "NOT CONFIRMED")),
        200,
        f"the outcome of {text}",
    )
    if f"DONE {text}" not in terminal.text:
        terminal.pause(1.2)
        terminal.press("Escape")
        try:
            again()
        except NeverSeen:
            see_in_form(terminal, "Nothing is changed")
            terminal.press("Escape")
