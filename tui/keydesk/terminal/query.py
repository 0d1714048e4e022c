"""Queries to the terminal before the desk opens: one write, one bounded read; and its colours.

A terminal answers requests in order, and nearly every one answers DA1 (primary device attributes). So DA1 is sent last,
and its reply ends the wait. Meanwhile the terminal neither echoes nor buffers lines. Replies after the time limit are
removed from the input by `keydesk.terminal.input`.

sshd does not forward COLORTERM, so over SSH a truecolor terminal looks like one of 256 or 16 colours. Where its name does
not tell, XTGETTCAP queries the capability RGB and OSC 11 the background colour.

Formats: https://invisible-island.net/xterm/ctlseqs/ctlseqs.html
"""

import os
import re
import select
import termios
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal

from msgspec import Struct, field

DEVICE_ATTRIBUTES = b"\x1b[c"
TERMINAL = 0  # standard input: the desk is not opened without a terminal there
LOCAL_SECONDS = 0.2  # from the write; a local terminal or multiplexer answers within milliseconds
REMOTE_SECONDS = 1.0  # over SSH, a satellite link included
MAX_BYTES = 16 * 1024  # bytes of replies
# CSI, then OSC, DCS, APC, PM and SOS strings up to ST (or BEL, which ends an OSC in practice).
REPLY = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[P_^X][^\x1b]*\x1b\\"
)
POSITION_REPLY = re.compile(rb"\x1b\[(\d+);(\d+)R")
ATTRIBUTES_REPLY = re.compile(rb"\x1b\[\?[\d;]*c")


class Replies(Struct, frozen=True):
    """The replies of the terminal, in the order of the requests; keys typed meanwhile are dropped."""

    sequences: tuple[bytes, ...] = ()

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.sequences)

    @property
    def is_complete(self) -> bool:
        """Return whether the reply to the last request (DA1) came in time."""
        return bool(self.sequences and ATTRIBUTES_REPLY.fullmatch(self.sequences[-1]))

    @property
    def cursor_positions(self) -> tuple[tuple[int, int], ...]:
        """Return (row, column), both from 1, of every cursor position report."""
        replies = (POSITION_REPLY.fullmatch(each) for each in self.sequences)
        return tuple((int(each[1]), int(each[2])) for each in replies if each)

    def matching(self, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        """Return the first reply that matches the pattern as a whole."""
        return next((match for each in self if (match := pattern.fullmatch(each))), None)


class TerminalQuery(Struct):
    """Requests that were sent to the terminal; read the replies with `replies`, exactly once, before Textual starts."""

    terminal: int  # a descriptor of our own, so that O_NONBLOCK is not set for other processes
    before: list[Any]  # the terminal's attributes
    sent_at: float = field(default_factory=time.monotonic)

    @classmethod
    def send(cls, requests: Iterable[bytes]) -> "TerminalQuery | None":
        """Write the requests and DA1 to the terminal at once; None when there is no terminal that takes them."""
        try:
            terminal = os.open(os.ttyname(TERMINAL), os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError:
            return None
        before: list[Any] = []
        try:
            before = termios.tcgetattr(terminal)
            termios.tcsetattr(terminal, termios.TCSANOW, _silent(before))
            os.write(terminal, b"".join((*requests, DEVICE_ATTRIBUTES)))
        except (OSError, termios.error):
            with suppress(termios.error):
                if before:
                    termios.tcsetattr(terminal, termios.TCSANOW, before)
            os.close(terminal)
            return None
        return cls(terminal, before)

    def replies(self, seconds: float = LOCAL_SECONDS) -> Replies:
        """Wait until all replies are there, or `seconds` after the requests were sent; then restore the terminal.

        Keys that were typed until now are dropped: nothing was on the screen that they could have been meant for.
        """
        try:
            sequences = _sequences(self._read(self.sent_at + seconds))
        finally:
            self.close()
        return Replies(sequences)

    def close(self) -> None:
        """Restore the terminal; do nothing when that is done already."""
        if self.terminal < 0:
            return
        with suppress(termios.error):
            termios.tcflush(self.terminal, termios.TCIFLUSH)
            termios.tcsetattr(self.terminal, termios.TCSANOW, self.before)
        os.close(self.terminal)
        self.terminal = -1

    def _read(self, until: float) -> bytes:
        data = b""
        while not ATTRIBUTES_REPLY.search(data) and len(data) < MAX_BYTES:
            left = max(0.0, until - time.monotonic())
            if not select.select([self.terminal], [], [], left)[0]:
                break
            try:
                more = os.read(self.terminal, 4096)
            except OSError:
                break
            if not more:  # hung up
                break
            data += more
        return data


def ask(requests: Iterable[bytes], seconds: float = LOCAL_SECONDS) -> Replies:
    """Send the requests and wait for the replies; none when there is no terminal, or no answer in time."""
    query = TerminalQuery.send(requests)
    return query.replies(seconds) if query else Replies()


def seconds_to_wait(environment: Mapping[str, str]) -> float:
    """Return how long an answer may take: a round trip over SSH is longer than one on this machine."""
    return REMOTE_SECONDS if is_remote(environment) else LOCAL_SECONDS


def is_remote(environment: Mapping[str, str]) -> bool:
    """Return whether the terminal is at the other end of an SSH connection."""
    return bool(environment.get("SSH_CONNECTION") or environment.get("SSH_TTY"))


def _sequences(data: bytes) -> tuple[bytes, ...]:
    """Return the replies among what was read, up to the one that ends them."""
    sequences: list[bytes] = []
    for match in REPLY.finditer(data):
        sequences.append(match[0])
        if ATTRIBUTES_REPLY.fullmatch(match[0]):
            break
    return tuple(sequences)


def _silent(attributes: list[Any]) -> list[Any]:
    """Return the attributes without echo and without waiting for a line end; Ctrl-C still interrupts."""
    silent = [*attributes]
    silent[3] &= ~(termios.ECHO | termios.ICANON)
    silent[6] = [*attributes[6]]
    silent[6][termios.VMIN], silent[6][termios.VTIME] = 1, 0
    return silent


Depth = Literal["truecolor", "256", "16", "mono"]

# Names under which only terminals with 24-bit colours announce themselves, also as "foot-extra".
TRUECOLOR_TERMS = (
    *("xterm-kitty", "alacritty", "foot", "xterm-ghostty", "ghostty", "wezterm", "contour"),
)
TERMS_OF_256 = ("rxvt-unicode",)
ASK_RGB = b"\x1bP+q524742\x1b\\"  # "RGB" in hexadecimal
ASK_BACKGROUND = b"\x1b]11;?\x1b\\"
HAS_RGB = re.compile(rb"\x1bP1\+r524742(?:=[0-9A-Fa-f]*)?\x1b\\")
BACKGROUND = re.compile(
    rb"\x1b\]11;rgba?:([0-9a-fA-F]+)/([0-9a-fA-F]+)/([0-9a-fA-F]+)(?:/[0-9a-fA-F]+)?(?:\x07|\x1b\\)"
)
LIGHT = 0.5  # relative luminance
LUMINANCE = (0.2126, 0.7152, 0.0722)  # of red, green and blue, ITU-R BT.709


def colour_depth(environment: Mapping[str, str], replies: Replies | None = None) -> Depth:
    """Return the colour depth, by the environment and the replies."""
    if environment.get("NO_COLOR"):
        return "mono"
    term = environment.get("TERM", "")
    if environment.get("COLORTERM", "").lower() in ("truecolor", "24bit") or "direct" in term:
        return "truecolor"
    if _is_one_of(term, TRUECOLOR_TERMS):
        return "truecolor"
    if replies is not None and replies.matching(HAS_RGB):
        return "truecolor"
    if "256" in term or _is_one_of(term, TERMS_OF_256):
        return "256"
    return "mono" if term in ("", "dumb", "vt100", "vt220") or term.endswith("-m") else "16"


def questions(environment: Mapping[str, str]) -> tuple[bytes, ...]:
    """Return the queries to send; none where the reply would change nothing or the query be printed.

    GNU screen passes a DCS on to the terminal as bare text, and the Linux console prints it.
    """
    term = environment.get("TERM", "")
    prints_them = term.startswith(("screen", "linux")) or "STY" in environment
    if prints_them or colour_depth(environment) in ("truecolor", "mono"):
        return ()
    return ASK_RGB, ASK_BACKGROUND


def theme_for(theme: str, depth: Depth, replies: Replies) -> str:
    """Return the theme to draw: with the terminal's own 16 colours, dark would be unreadable on a light background."""
    if theme == "dark" and depth == "16" and has_light_background(replies):
        return "light"
    return theme


def has_light_background(replies: Replies) -> bool:
    """Return whether the terminal reported a light background."""
    reply = replies.matching(BACKGROUND)
    if reply is None:
        return False
    levels = [int(part, 16) / float(16 ** len(part) - 1) for part in reply.groups()]
    luminance = sum(weight * level for weight, level in zip(LUMINANCE, levels, strict=True))
    return bool(luminance > LIGHT)


def _is_one_of(term: str, names: tuple[str, ...]) -> bool:
    return any(term == name or term.startswith(f"{name}-") for name in names)
