"""Text for the terminal's clipboard by OSC 52, wrapped for tmux and screen.

The text is encoded in base64: nothing in it can end the sequence or begin another one. A terminal that does not know the
sequence, or is set to refuse it, ignores it without an answer.
"""

import os
import subprocess
from base64 import b64encode
from collections.abc import Mapping

from msgspec import Struct

from keydesk.terminal.notification import BELL, wrapped

MAX_BYTES = 70_000  # terminals take some 75,000 and drop a longer sequence whole
SCREEN_PART = 76  # characters of a wrapped sequence that GNU screen passes on whole
SECONDS = 1.0  # the server is on this machine and answers within 10 ms
SEPARATOR = "|"
OPTIONS = SEPARATOR.join(("#{set-clipboard}", "#{allow-passthrough}"))
REMEDY = "tmux keeps it from the terminal: tmux set -s set-clipboard on, then copy again"


class TmuxOptions(Struct, frozen=True):
    """What tmux does with a clipboard sequence of a program in it."""

    takes_own: bool = False  # it is for tmux, which hands it on
    passes_wrapped: bool = False  # it is wrapped for the terminal around tmux


def tmux_options(environment: Mapping[str, str]) -> TmuxOptions | None:
    """Ask the tmux server whose pane this is, within a second; None outside tmux, or without an answer."""
    pane = environment.get("TMUX_PANE", "")
    if not environment.get("TMUX") or not pane.startswith("%"):
        return None
    try:
        answer = subprocess.run(  # noqa: S603 - fixed words and a pane's number
            ["tmux", "display-message", "-p", "-t", pane, OPTIONS],  # noqa: S607 - the person's own tmux
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            env={**os.environ, **environment},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_options(answer.stdout)


def parse_options(answer: str) -> TmuxOptions:
    """Read the answer: both options on one line."""
    own, _, passing = answer.strip().partition(SEPARATOR)
    return TmuxOptions(own == "on", passing in {"1", "2", "on", "all"})


def clipboard_sequence(
    text: str, environment: Mapping[str, str], tmux: TmuxOptions | None = None
) -> str:
    """Return the bytes that put a text on the clipboard, as text for the terminal; "" where tmux would drop them."""
    sequence = f"\x1b]52;c;{b64encode(text.encode()).decode()}{BELL}"
    if environment.get("TMUX"):
        if tmux is None or tmux.passes_wrapped:
            return wrapped(sequence, environment)
        return sequence if tmux.takes_own else ""
    if environment.get("STY"):
        parts = (sequence[at : at + SCREEN_PART] for at in range(0, len(sequence), SCREEN_PART))
        return "".join(wrapped(part, environment) for part in parts)
    return sequence


def fitting(text: str) -> str:
    """Return the whole lines of a text that a terminal takes."""
    content = text.encode()
    if len(content) <= MAX_BYTES:
        return text
    kept = content[:MAX_BYTES].decode(errors="ignore")
    return kept.rpartition("\n")[0] or kept
