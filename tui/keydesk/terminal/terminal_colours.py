"""How many colours the terminal has: from its environment, and from what it answers when asked.

sshd does not forward COLORTERM, so over SSH a terminal of 16 million colours looks like one of 256 or 16. Its name often
tells; where it does not, XTGETTCAP asks for the capability RGB and OSC 11 for the background colour.

Formats: https://invisible-island.net/xterm/ctlseqs/ctlseqs.html
"""

import re
from collections.abc import Mapping
from typing import Literal

from keydesk.terminal.terminal_query import Replies

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
    """Return how many colours the terminal has, by what it says of itself."""
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
    """Return what to ask the terminal; nothing where its answer would change nothing or the question be printed.

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
    """Say whether the terminal answered that its background is light."""
    found = replies.matching(BACKGROUND)
    if found is None:
        return False
    levels = [int(part, 16) / float(16 ** len(part) - 1) for part in found.groups()]
    luminance = sum(weight * level for weight, level in zip(LUMINANCE, levels, strict=True))
    return bool(luminance > LIGHT)


def _is_one_of(term: str, names: tuple[str, ...]) -> bool:
    return any(term == name or term.startswith(f"{name}-") for name in names)
