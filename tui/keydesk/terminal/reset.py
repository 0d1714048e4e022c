"""Restore the terminal, after the desk and after a desk that was killed.

A killed desk (SIGKILL, SIGSEGV, out of memory) leaves the terminal without echo and line editing, on the alternate
screen, without a cursor, with focus and mouse reports enabled.
Sequences: https://invisible-island.net/xterm/ctlseqs/ctlseqs.html
"""

import os
import termios
import time
from contextlib import suppress
from typing import Any

TERMINAL = 0  # standard input: the desk is not opened without a terminal there
MOUSE_MODES = (1000, 1002, 1003, 1005, 1006, 1015, 1016)
CLICKS = "\x1b[?1000h\x1b[?1006h"
NO_MOUSE = "".join(f"\x1b[?{mode}l" for mode in MOUSE_MODES)
# The window title: pushed on the terminal's own stack (XTWINOPS 22) and popped. A terminal without that stack is
# left with an empty title, not with the name of an account that is closed.
PUSH_TITLE = "\x1b[22;2t"
POP_TITLE = "\x1b]2;\x07\x1b[23;2t"
NO_TITLE = ("linux", "vt", "cons", "ansi", "sun")  # consoles that print what they do not know
RESTORE = (
    b"\x18\x1b\\"  # ends a sequence that was cut off
    b"\x1b[?2026l"  # synchronized output
    b"\x1b[?1004l\x1b[?2004l\x1b[?2048l"  # focus reports, bracketed paste, size reports
    b"\x1b[<u"  # keyboard protocol of kitty; its stack belongs to the alternate screen
    b"\x1b[0m\x1b[?7h"  # plain colours, line wrap
    # On a terminal that shows its normal screen already, the cursor stays where it is saved.
    b"\x1b7\x1b[?1049l"
    b"\x1b[=0u\x1b[?25h\r\n"  # no keyboard protocol, visible cursor
) + NO_MOUSE.encode()
SOFT_RESET = b"\x1b[!p\x1b(B\x0f"  # DECSTR: margins, insert mode, character sets
FLUSH_SECONDS = 0.1
I_FLAGS, O_FLAGS, L_FLAGS, CHARACTERS = 0, 1, 3, 6  # places in what tcgetattr returns
CANONICAL = termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG
SANE_CHARACTERS = {
    termios.VINTR: b"\x03",
    termios.VQUIT: b"\x1c",
    termios.VERASE: b"\x7f",
    termios.VKILL: b"\x15",
    termios.VEOF: b"\x04",
    termios.VMIN: b"\x01",
    termios.VTIME: b"\x00",
    termios.VSTART: b"\x11",
    termios.VSTOP: b"\x13",
    termios.VSUSP: b"\x1a",
}


def left_by_a_desk(attributes: list[Any]) -> bool:
    """Return whether the terminal is in the mode that only Textual sets: no input processing, but output processing."""
    raw_input = not attributes[L_FLAGS] & CANONICAL and not attributes[I_FLAGS] & termios.ICRNL
    return raw_input and bool(attributes[O_FLAGS] & termios.OPOST)


def sane(attributes: list[Any]) -> list[Any]:
    """Return the attributes as `stty sane` sets them; speed, parity and character size stay."""
    found = [*attributes]
    found[I_FLAGS] |= termios.BRKINT | termios.ICRNL | termios.IXON | termios.IMAXBEL
    found[I_FLAGS] &= ~(termios.IGNBRK | termios.INLCR | termios.IGNCR | termios.IXOFF)
    found[O_FLAGS] |= termios.OPOST | termios.ONLCR
    found[L_FLAGS] |= CANONICAL | termios.ECHOE | termios.ECHOK | termios.ECHOCTL | termios.ECHOKE
    found[L_FLAGS] &= ~(termios.ECHONL | termios.NOFLSH | termios.TOSTOP)
    found[CHARACTERS] = [*attributes[CHARACTERS]]
    for place, character in SANE_CHARACTERS.items():
        found[CHARACTERS][place] = character
    return found


def has_title(term: str) -> bool:
    """Return whether a terminal of this TERM takes a window title, as far as is known."""
    return bool(term) and not term.startswith(NO_TITLE)


def pop_title(term: str) -> bytes:
    """Return the sequence that restores the window's own title."""
    return POP_TITLE.encode() if has_title(term) else b""


def reset(term: str, *, terminal: int = TERMINAL) -> None:
    """Reset the terminal: modes, title, line editing. Raises termios.error if it is not a terminal."""
    before = termios.tcgetattr(terminal)
    write_without_waiting(RESTORE + SOFT_RESET + pop_title(term))
    termios.tcsetattr(terminal, termios.TCSANOW, sane(before))


def repair_if_left(term: str) -> bool:
    """Reset a terminal that a killed desk left behind; returns whether it was one."""
    with suppress(termios.error):
        if left_by_a_desk(termios.tcgetattr(TERMINAL)):
            reset(term)
            return True
    return False


def write_without_waiting(data: bytes, *, seconds: float = FLUSH_SECONDS) -> bool:
    """Write to the terminal, discarding its output buffer if that is full; return whether it was written.

    The buffer is discarded repeatedly while another thread is still writing into it.
    """
    try:
        terminal = os.open(os.ttyname(TERMINAL), os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return False
    until = time.monotonic() + seconds
    try:
        while not _write_at_once(terminal, data):
            if time.monotonic() > until:
                return False
            with suppress(termios.error):
                termios.tcflush(terminal, termios.TCOFLUSH)
            time.sleep(0.001)
    except OSError:
        return False
    finally:
        os.close(terminal)
    return True


def _write_at_once(terminal: int, data: bytes) -> bool:
    try:
        return os.write(terminal, data) == len(data)
    except BlockingIOError:
        return False
