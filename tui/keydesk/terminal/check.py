"""Checks of the terminal before the first frame: can it place text, does it show UTF-8, who else can type into it.

`TERM` says whether text can be placed. The locale variables say which characters are read; Python's own encoding is
not used, since Python assumes UTF-8 in the C locale and sets LC_CTYPE itself (PEP 538). The terminal is also measured:
it prints two characters and reports the cursor position after each (`screen` without UTF-8 prints one cell per byte).
tmux hides what its clients show, so the tmux server is queried for their UTF-8 flag, for synchronized panes and for
further clients. All queries run while the desk is loading.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from keydesk.terminal.query import Replies, TerminalQuery, questions, seconds_to_wait

CURSOR_POSITION = b"\x1b[6n"
# The minus sign is wide in some East Asian fonts, and two of its bytes are control characters of ISO 8859; the bytes of
# the letter are printable in every 8-bit character set. The cursor goes back and what was printed is erased.
WIDTH_REQUESTS = (
    b"\x1b7",
    CURSOR_POSITION,
    "\N{MINUS SIGN}".encode(),
    CURSOR_POSITION,
    "\N{LATIN SMALL LETTER E WITH ACUTE}".encode(),
    CURSOR_POSITION,
    b"\x1b8\x1b[K",
)
OF_NO_LANGUAGE = ("C", "POSIX")
SET_BY_PYTHON = ("C.UTF-8", "C.utf8", "UTF-8")


def ascii_locale(environment: Mapping[str, str]) -> str:
    """Return the variable that asks for ASCII, as `LANG=C`; empty where UTF-8 is read."""
    name, value = _deciding(environment)
    says_utf8 = value.lower().replace("-", "").partition("@")[0].endswith("utf8")
    return f"{name}={value}" if value and not says_utf8 else ""


def _deciding(environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the variable that decides what a character is."""
    everything, language = environment.get("LC_ALL", ""), environment.get("LANG", "")
    characters = environment.get("LC_CTYPE", "")
    if everything:
        return "LC_ALL", everything
    if characters and not (characters in SET_BY_PYTHON and language in OF_NO_LANGUAGE):
        return "LC_CTYPE", characters
    return "LANG", language


def measured_ascii(positions: Sequence[tuple[int, int]]) -> str:
    """Return why the terminal is to be drawn in ASCII, by the cursor's positions around the two characters.

    Empty where it is fit for more, or did not say.
    """
    if len(positions) != WIDTH_REQUESTS.count(CURSOR_POSITION):
        return ""
    before, minus, after = positions
    if before == minus == after:  # at the right edge nothing moves
        return ""
    if minus == (before[0], before[1] + 1) and after == (before[0], before[1] + 2):
        return ""
    return "the terminal does not print a minus sign and an accented letter in one column each"


def remedy(environment: Mapping[str, str]) -> str:
    """Return how to get lines and candles where only ASCII is shown."""
    if environment.get("TMUX"):
        return "start tmux as tmux -u, or set LANG=C.UTF-8 before it starts"
    if environment.get("STY"):
        return "start screen as screen -U, or set LANG=C.UTF-8 before it starts"
    return "use a terminal and a locale of UTF-8, such as LC_ALL=C.UTF-8"


SECONDS = 0.5  # the server is on this machine and answers within 10 ms
SEPARATOR = "|"
PANE = SEPARATOR.join(("#{pane_synchronized}", "#{window_panes}"))
CLIENT = SEPARATOR.join(("#{client_utf8}", "#{client_readonly}"))


class Multiplexer(Struct, frozen=True):
    """The pane's surroundings; the defaults mean that there is nothing to warn of."""

    clients: int = 1  # that may type
    utf8: bool = True  # of every client that looks
    synchronized: bool = False  # what is typed in another pane is typed here, too

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a trader must know before the first key."""
        problems = []
        if self.synchronized:
            problems.append(
                "tmux synchronize-panes is on: keys typed in another pane reach this desk too. "
                "Turn it off: tmux setw synchronize-panes off"
            )
        if self.clients > 1:
            problems.append(
                f"{self.clients} tmux clients show this desk and each can type into it. "
                "See who: tmux list-clients"
            )
        return tuple(problems)


class MultiplexerQuery:
    """A question to tmux that is answered while the desk loads; None outside tmux."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    @classmethod
    def start(cls, environment: Mapping[str, str]) -> "MultiplexerQuery | None":
        """Ask the tmux server whose pane this is."""
        pane = environment.get("TMUX_PANE", "")
        if not environment.get("TMUX") or not pane.startswith("%"):
            return None
        display = ["display-message", "-p", "-t", pane, PANE]
        clients = ["list-clients", "-t", pane, "-F", CLIENT]
        try:
            process = subprocess.Popen(  # noqa: S603 - fixed words and a pane's number
                ["tmux", *display, ";", *clients],  # noqa: S607 - the tmux that the person uses
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env={**os.environ, **environment},
            )
        except OSError:
            return None
        return cls(process)

    def answer(self, seconds: float = SECONDS) -> Multiplexer:
        """Return what it says; the defaults when it does not answer in time."""
        try:
            out, _ = self._process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            return Multiplexer()
        return parse_multiplexer(out)


def parse_multiplexer(out: str) -> Multiplexer:
    """Read the answer: a line of the pane, then one of each client."""
    pane, *clients = [line.split(SEPARATOR) for line in out.splitlines()] or [[""]]
    typing = [each for each in clients if each[1:] != ["1"]]
    return Multiplexer(
        clients=max(1, len(typing)),
        utf8=not any(each[0] == "0" for each in clients),
        synchronized=pane[0] == "1" and pane[1:] != ["1"],
    )


UNUSABLE = frozenset(("dumb", "unknown"))
# What terminfo says of those in use most, for which it need not be asked: loading curses takes 0.5 MB.
ERASES_IN_COLOUR = {"xterm-256color": True, "tmux-256color": False, "screen-256color": False}


class TerminalFacts(Struct, frozen=True):
    """What was found out; the defaults are those of a terminal that says nothing."""

    ascii_because: str = ""  # why only ASCII is to be drawn; empty: everything
    warnings: tuple[str, ...] = ()
    replies: Replies = field(default_factory=Replies)
    erases_in_colour: bool = False  # erased cells take the current background


def unusable(environment: Mapping[str, str]) -> str:
    """Return why the desk cannot be drawn on a terminal of this TERM, with the remedy; empty where it can.

    A name that terminfo does not know is no reason: newer terminals are often missing on the other side of SSH.
    """
    term = environment.get("TERM", "")
    if term.lower() in UNUSABLE or _cannot_place_text(term):
        return (
            f"TERM={term}: this terminal cannot place text on the screen. Use another one; if it can, "
            "say so: TERM=xterm-256color keydesk"
        )
    return ""


class TerminalCheck:
    """A check that was begun; `facts` ends it, exactly once, and gives the terminal back as it was."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._multiplexer = MultiplexerQuery.start(environment)
        # Where the locale asks for ASCII there is nothing to measure, and nothing else is printed.
        measured = () if ascii_locale(environment) else WIDTH_REQUESTS
        requests = (*measured, *questions(environment))
        self._query = TerminalQuery.send(requests) if requests else None

    def facts(self) -> TerminalFacts:
        """Wait for the answers, within a bounded time."""
        replies = Replies()
        if self._query is not None:
            replies = self._query.replies(seconds_to_wait(self._environment))
        around = self._multiplexer.answer() if self._multiplexer else Multiplexer()
        return TerminalFacts(
            ascii_because=_ascii_because(self._environment, replies, around),
            warnings=around.warnings,
            replies=replies,
            erases_in_colour=erases_in_colour(self._environment),
        )


def _ascii_because(environment: Mapping[str, str], replies: Replies, around: Multiplexer) -> str:
    locale = ascii_locale(environment)
    if locale:
        return locale
    why = measured_ascii(replies.cursor_positions)
    if not around.utf8:
        why = "a tmux client here shows no UTF-8"
    return f"{why}; for lines and candles {remedy(environment)}" if why else ""


def erases_in_colour(environment: Mapping[str, str]) -> bool:
    """Return whether terminfo says that the terminal erases characters (ECH), and in the current background (BCE).

    tmux and screen, by their own names, do not say so; nor does a terminal that terminfo does not know.
    """
    term = environment.get("TERM", "")
    if term in ERASES_IN_COLOUR:
        return ERASES_IN_COLOUR[term]
    import curses  # noqa: PLC0415 - as below

    if not _knows_terminfo(term):
        return False
    erase = curses.tigetstr("ech")
    return curses.tigetflag("bce") == 1 and erase is not None and erase.startswith(b"\x1b[")


def _cannot_place_text(term: str) -> bool:
    """Return whether terminfo knows the terminal and that its cursor cannot be moved by ANSI sequences."""
    if term in ERASES_IN_COLOUR:
        return False
    import curses  # noqa: PLC0415 - 1 ms, and only here

    if not _knows_terminfo(term):
        return False
    move = curses.tigetstr("cup")
    return move is None or not move.startswith(b"\x1b[")


def _knows_terminfo(term: str) -> bool:
    """Return whether terminfo has an entry of this name; Python reads the first one that a process asks for only."""
    import curses  # noqa: PLC0415 - 1 ms, and only here

    try:
        curses.setupterm(term or "unknown-to-terminfo", 1)
    except curses.error:
        return False
    return True
