"""Rows of the accident table at the real desk, on one desk: what a slip of the hand makes of a ticket, and what stands before it."""

import re
from contextlib import suppress
from pathlib import Path

from support.confirming import FORM, LOOK_AGAIN, confirm, form_text, send
from support.order_evidence import kinds_in
from support.terminal import KEYS, NeverSeen, Terminal, keydesk

ALONE = 0.1  # seconds after which a key is no burst with the one before
DWELL = 0.26  # seconds from the key to a confirmation that counts
PASTE = b"\x1b[200~By\r\x1b[201~"


def see_in_form(terminal: Terminal, text: str) -> None:
    terminal.until(lambda: text in form_text(terminal), what=repr(text))


def tap(terminal: Terminal, *groups: str) -> None:
    """Type each group of keys once the program has read the former one: as fast as the guard takes them."""
    for group in groups:
        terminal.write(KEYS.get(group, group.encode()))
        terminal.wait_until_read(ALONE)


def fill_in(terminal: Terminal, capital: str, *groups: str) -> None:
    """Open a form and fill it, once it has been painted."""
    tap(terminal, capital)
    terminal.see(FORM)
    tap(terminal, *groups)


def drop(terminal: Terminal) -> None:
    tap(terminal, "Escape")
    terminal.see_no_more(FORM)


def test_slips_of_the_hand_are_named_asked_for_or_refused(practice_folder: Path) -> None:
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), (120, 35), env) as terminal:
        terminal.see("prices ok")
        terminal.see("No trades.")
        a_size_is_shown_in_full_and_an_absurd_one_refused(terminal)
        pips_typed_as_a_price_and_a_stop_on_the_wrong_side_are_refused(terminal)
        a_limit_that_would_fill_at_once_says_so(terminal)
        no_capital_turns_the_side_or_sends(terminal)
        three_capitals_without_a_form_ask_for_caps_lock(terminal)
        terminal.see("No trades.")
        a_confirmation_after_a_quarter_second_counts_and_an_early_one_can_be_repeated(terminal)
        the_same_order_again_asks_for_a_letter(terminal)
        a_stop_at_break_even_that_would_fire_now_is_refused(terminal)
        a_part_below_one_unit_offers_the_whole(terminal)
        the_other_side_says_that_it_reduces(terminal)
        cancelling_the_entries_leaves_the_stop_alone(terminal)
        an_exit_leaves_although_the_desk_was_disarmed(terminal)
    assert kinds_in(practice_folder) >= {"guard", "disarm", "refused"}


def a_size_is_shown_in_full_and_an_absurd_one_refused(terminal: Terminal) -> None:
    fill_in(terminal, "B", "u25000")
    see_in_form(terminal, "BUY 25,000 EUR/USD")
    tap(terminal, "u900000000")
    see_in_form(terminal, "Above the maximum order size")
    terminal.press("y")
    see_in_form(terminal, "Above the maximum order size")
    drop(terminal)


def pips_typed_as_a_price_and_a_stop_on_the_wrong_side_are_refused(terminal: Terminal) -> None:
    fill_in(terminal, "B", "op20")
    see_in_form(terminal, "from the market: pips typed as a price?")
    terminal.press("y")
    see_in_form(terminal, "from the market: pips typed as a price?")
    drop(terminal)
    fill_in(terminal, "B", "sm9.9")
    see_in_form(terminal, "must be below the entry")
    drop(terminal)


def a_limit_that_would_fill_at_once_says_so(terminal: Terminal) -> None:
    fill_in(terminal, "B", "o")
    see_in_form(terminal, "limit")
    ask = re.search(r"ask ([\d.]+)", form_text(terminal))
    assert ask is not None
    tap(terminal, f"p{float(ask[1]) * 1.004:.5f}")
    see_in_form(terminal, "MARKETABLE")
    drop(terminal)


def no_capital_turns_the_side_or_sends(terminal: Terminal) -> None:
    fill_in(terminal, "B")
    see_in_form(terminal, "BUY 10,000")
    for capital in "SY":
        tap(terminal, capital)
        see_in_form(terminal, "Only small letters send: is Caps Lock on?")
        assert "BUY 10,000" in form_text(terminal)
    drop(terminal)


def three_capitals_without_a_form_ask_for_caps_lock(terminal: Terminal) -> None:
    tap(terminal, *"QWK")
    terminal.see("is Caps Lock on?")


def a_confirmation_after_a_quarter_second_counts_and_an_early_one_can_be_repeated(
    terminal: Terminal,
) -> None:
    """On a machine that draws late the first one is too early, which the form says; the next ones come at once."""
    terminal.write(b"B")
    terminal.pause(DWELL)
    terminal.see(FORM)
    terminal.write(b"y")
    terminal.until(lambda: FORM not in terminal.text or refusal_in(terminal) != "")
    while refusal_in(terminal) == "Too early":
        terminal.write(b"y")
        terminal.wait_until_read(pause=ALONE)
    with suppress(NeverSeen):
        terminal.see_no_more(FORM, LOOK_AGAIN)
    if FORM in terminal.text:  # the price ran: it asks once more
        confirm(terminal)
    if "Keys dropped" in terminal.text:  # a busy machine read several of these keys at once
        terminal.press("A")
        terminal.see("ARM the keyboard")
        confirm(terminal)
        send(terminal, "B")
    terminal.see("FILLED 10,000")


def refusal_in(terminal: Terminal) -> str:
    """Why the key did not send: too early, or the price ran and the form shows a letter now."""
    text = form_text(terminal)
    found = re.search(r"Too early|NOT SENT|to send", text)
    return "" if found is None else found[0]


def the_same_order_again_asks_for_a_letter(terminal: Terminal) -> None:
    fill_in(terminal, "B")
    terminal.until(
        lambda: (
            re.search(r"The same order was sent \d+ s ago", form_text(terminal)) is not None
            or "y sends" in terminal.text
        ),  # ten seconds have passed on this machine
        what="a warning",
    )
    drop(terminal)


def a_stop_at_break_even_that_would_fire_now_is_refused(terminal: Terminal) -> None:
    tap(terminal, "gt")
    fill_in(terminal, "E", "o300")
    see_in_form(terminal, "It would fire now")
    terminal.press("y")
    see_in_form(terminal, "It would fire now")
    drop(terminal)


def a_part_below_one_unit_offers_the_whole(terminal: Terminal) -> None:
    fill_in(terminal, "O", "0.001%")
    see_in_form(terminal, "less than one unit: C closes the whole trade")
    drop(terminal)


def the_other_side_says_that_it_reduces(terminal: Terminal) -> None:
    fill_in(terminal, "S", "u4000")
    see_in_form(terminal, "REDUCES")
    drop(terminal)


def cancelling_the_entries_leaves_the_stop_alone(terminal: Terminal) -> None:
    fill_in(terminal, "Z")
    see_in_form(terminal, "CANCEL 0 entry orders of EUR/USD")
    see_in_form(terminal, "2 protective orders stay")
    drop(terminal)


def an_exit_leaves_although_the_desk_was_disarmed(terminal: Terminal) -> None:
    terminal.write(PASTE)
    terminal.see("pasted")
    terminal.see("exit only")
    terminal.pause()  # a key within 60 ms of a paste counts as part of it
    fill_in(terminal, "B")
    see_in_form(terminal, "DISARMED is exit-only: A arms")
    drop(terminal)
    send(terminal, "C")
    terminal.see("CLOSED 10,000")
    terminal.see("Trades 0")
