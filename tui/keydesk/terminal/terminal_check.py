"""What kind of terminal the desk is about to open on, found out before the first frame.

`TERM` says whether it can place text at all. The rest is asked: the terminal by one query, tmux by one command, both
answered while the desk is being loaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from keydesk.terminal.character_set import WIDTH_REQUESTS, ascii_locale, measured_ascii, remedy
from keydesk.terminal.multiplexer import Multiplexer, MultiplexerQuery
from keydesk.terminal.terminal_colours import questions
from keydesk.terminal.terminal_query import Replies, TerminalQuery, seconds_to_wait

UNUSABLE = frozenset(("dumb", "unknown"))


@dataclass(frozen=True, slots=True)
class TerminalFacts:
    """What was found out; the defaults are those of a terminal that says nothing."""

    ascii_because: str = ""  # why only ASCII is to be drawn; empty: everything
    warnings: tuple[str, ...] = ()
    replies: Replies = field(default_factory=Replies)


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
        )


def _ascii_because(environment: Mapping[str, str], replies: Replies, around: Multiplexer) -> str:
    locale = ascii_locale(environment)
    if locale:
        return locale
    why = measured_ascii(replies.cursor_positions)
    if not around.utf8:
        why = "a tmux client here shows no UTF-8"
    return f"{why}; for lines and candles {remedy(environment)}" if why else ""


def _cannot_place_text(term: str) -> bool:
    """Whether terminfo knows the terminal and that its cursor cannot be moved by ANSI sequences."""
    import curses  # noqa: PLC0415 - 1 ms, and only here

    try:
        curses.setupterm(term or "unknown-to-terminfo", 1)
    except curses.error:
        return False
    move = curses.tigetstr("cup")
    return move is None or not move.startswith(b"\x1b[")
