"""Desktop notifications by the terminal: OSC 777, OSC 9 and OSC 99, wrapped for tmux and screen. The text is cleaned here.

Every sequence ends with BEL: a string terminator inside would end the wrapping of screen. tmux passes a wrapped sequence on
where its option `allow-passthrough` is on. A terminal that does not know a sequence ignores it.
"""

from collections.abc import Iterable, Mapping
from typing import Literal
from unicodedata import combining, normalize

from keydesk.text.sanitize import clean

OscKind = Literal["777", "9", "99"]
OSC_KINDS: tuple[OscKind, ...] = ("777", "9", "99")
MAX_TITLE_LENGTH, MAX_TEXT_LENGTH = 60, 200
BELL = "\x07"
OF_TERM: Mapping[str, OscKind] = {
    "xterm-kitty": "99",
    "xterm-ghostty": "777",
    "wezterm": "777",
    "foot": "777",
    "foot-extra": "777",
    "rxvt-unicode-256color": "777",
}
OF_PROGRAM: Mapping[str, OscKind] = {
    "iTerm.app": "9",
    "iTerm2": "9",
    "WezTerm": "777",
    "ghostty": "777",
}


def usual_kind(environment: Mapping[str, str]) -> OscKind:
    """Return the sequence that the terminal knows best, 777 where nothing tells."""
    kind = OF_TERM.get(environment.get("TERM", ""))
    for name in ("TERM_PROGRAM", "LC_TERMINAL"):
        kind = kind or OF_PROGRAM.get(environment.get(name, ""))
    if environment.get("KITTY_WINDOW_ID") and kind is None:
        kind = "99"
    return kind or "777"


def notification(
    title: str, text: str, kinds: Iterable[OscKind], environment: Mapping[str, str]
) -> str:
    """Return the bytes that show a notification, as text for the terminal."""
    title, text = clean(title, MAX_TITLE_LENGTH), clean(text, MAX_TEXT_LENGTH)
    if _is_in_screen(environment):
        title, text = _ascii(title), _ascii(text)
    return "".join(wrapped(_sequence(kind, title, text), environment) for kind in kinds)


def _is_in_screen(environment: Mapping[str, str]) -> bool:
    return bool(environment.get("STY")) and not environment.get("TMUX")


def _ascii(text: str) -> str:
    """Return text without letters beyond ASCII.

    GNU screen passes on the low byte of each character of a wrapped sequence alone: of U+011B that is an escape.
    """
    plain = normalize("NFKD", text)
    letters = "".join(each for each in plain if not combining(each))
    return letters.encode("ascii", "replace").decode("ascii")


def _sequence(kind: OscKind, title: str, text: str) -> str:
    """Return a sequence; a semicolon would end the title of 777, and 9 reads a leading number as a command."""
    match kind:
        case "777":
            return f"\x1b]777;notify;{title.replace(';', ',')};{text}{BELL}"
        case "9":
            return f"\x1b]9;Keydesk: {title}: {text}{BELL}"
        case "99":
            first = f"\x1b]99;i=keydesk:d=0:p=title;{title}{BELL}"
            return f"{first}\x1b]99;i=keydesk:d=1:p=body;{text}{BELL}"


def wrapped(sequence: str, environment: Mapping[str, str]) -> str:
    """Return a sequence that tmux or screen passes on to the terminal around it."""
    if environment.get("TMUX"):
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    if _is_in_screen(environment):
        return f"\x1bP{sequence}\x1b\\"
    return sequence
