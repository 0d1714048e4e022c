"""What a person does with a form: opens it, reads what it asks for at that moment, presses that, and looks again."""

import re
from contextlib import suppress

from support.terminal import PATIENCE, NeverSeen, Terminal

FORM, WRONG_LETTER = "Esc drops", "NOT SENT: 3 wrong letters"
LOOK_AGAIN = (
    3.0  # seconds that a form may stand after its key before a person looks what it asks for now
)
TRIES = 10
SEEN = 1.2  # seconds to read a notice before Esc counts as having seen it
GONE_WITHIN = 3.0  # seconds after Esc; a notice that came in the last second before it stays


def send(terminal: Terminal, capital: str, *keys: str) -> None:
    """Open a form by its capital, fill it, send it; once more where the form asked for another key meanwhile."""
    for _ in range(TRIES):
        terminal.press(capital)
        terminal.see(FORM)
        terminal.press(*keys)
        confirm(terminal)
        if WRONG_LETTER not in terminal.text:
            return
        take_as_seen(terminal, WRONG_LETTER)
    raise NeverSeen(f"{capital} was sent in none of {TRIES} tries; the screen:\n{terminal.text}")


def confirm(terminal: Terminal) -> None:
    """Press what the open form asks for until it has gone: `y`, or the letter that it shows on a slow machine."""
    for _ in range(TRIES):
        see_a_form_that_can_be_sent(terminal)
        terminal.pause()  # read it: a confirm in the first quarter second does not count
        key = _asked_for(terminal)
        if not key:  # it refuses just now, or waits for a price
            continue
        terminal.press(key)
        try:
            terminal.see_no_more(FORM, LOOK_AGAIN)
        except NeverSeen:  # it asks once more, for the price ran, or the key came before it counted
            continue
        return
    raise NeverSeen(f"the form still stands after {TRIES} keys; the screen:\n{terminal.text}")


def take_as_seen(terminal: Terminal, text: str) -> None:
    """Read a notice and press Esc until it has gone."""
    for _ in range(TRIES):
        terminal.pause(SEEN)
        terminal.press("Escape")
        with suppress(NeverSeen):
            return terminal.see_no_more(text, GONE_WITHIN)
    raise NeverSeen(f"{text!r} still stands after {TRIES} Esc; the screen:\n{terminal.text}")


def see_a_form_that_can_be_sent(terminal: Terminal) -> str:
    """Wait until the open form asks for a key, and return it: a letter where the price ran on a slow machine."""
    terminal.until(lambda: _asked_for(terminal) != "", PATIENCE, "a form that can be sent")
    return _asked_for(terminal)


def form_text(terminal: Terminal) -> str:
    """What the open form says, its lines joined: in a column a sentence may stand on several."""
    lines = (re.search("┃(.*)┃", row) for row in terminal.rows)
    return " ".join(" ".join(line.group(1).split()) for line in lines if line is not None)


def _asked_for(terminal: Terminal) -> str:
    """The key that the open form asks for now; none while it refuses."""
    letter = re.search(r"type\s+(\w)\s+to send", terminal.text)
    if letter is not None:
        return letter.group(1)
    return "y" if "y sends" in terminal.text else ""
