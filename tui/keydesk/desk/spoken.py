"""What a line behind `:` means: leaving, an instrument, help, or an honest no."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from keydesk.desk.draft import Side
from keydesk.desk.matching import matching

SIDES: dict[str, Side] = {"b": "BUY", "buy": "BUY", "s": "SELL", "sell": "SELL"}


KNOWN = "Try :q, :help, :eurusd, :b eurusd"


@dataclass(frozen=True, slots=True)
class Leave:
    """Leave the desk."""


@dataclass(frozen=True, slots=True)
class ShowHelp:
    """Show the keys."""


@dataclass(frozen=True, slots=True)
class ShowMessages:
    """Show what was told since the desk was opened."""


@dataclass(frozen=True, slots=True)
class TurnTo:
    """Turn chart, ticket and books to an instrument."""

    instrument: str


@dataclass(frozen=True, slots=True)
class OpenTicket:
    """Open a ticket; it asks for its own confirmation."""

    side: Side
    instrument: str


@dataclass(frozen=True, slots=True)
class Say:
    """Nothing to do but to answer."""

    level: Literal["info", "warn"]
    words: str


Spoken = Leave | ShowHelp | ShowMessages | TurnTo | OpenTicket | Say


def meaning(  # noqa: PLR0911 - one answer a command
    line: str, instruments: Iterable[str], focus: str
) -> Spoken:
    """Return what the line asks for."""
    words = line.strip().lstrip(":").lower().split()
    match words:
        case []:
            return Say("info", f"Nothing typed. {KNOWN}")
        case ["q" | "quit" | "exit"]:
            return Leave()
        case ["help" | "keys" | "?"]:
            return ShowHelp()
        case ["messages"]:
            return ShowMessages()
        case ["undo"]:
            return Say("warn", "Orders cannot be undone: close, cancel or reverse")
        case [verb, *rest] if verb in SIDES and len(rest) <= 1:
            return _ticket(SIDES[verb], rest, instruments, focus)
        case [name]:
            found = exact(name, instruments)
            return (
                TurnTo(found)
                if found
                else Say("warn", f"No command and no instrument: {name}. {KNOWN}")
            )
        case _:
            return Say("warn", f"Not understood: {' '.join(words)}. {KNOWN}")


def _ticket(side: Side, rest: list[str], instruments: Iterable[str], focus: str) -> Spoken:
    found = exact(rest[0], instruments) if rest else focus
    if not found:
        return Say("warn", f"No such instrument: {rest[0] if rest else 'none is in focus'}")
    return OpenTicket(side, found)


def exact(name: str, instruments: Iterable[str]) -> str | None:
    """Return the instrument written in any of its ways: eurusd, EUR/USD, eur_usd; else the only match."""
    names = list(instruments)
    plain = "".join(letter for letter in name.upper() if letter.isalnum())
    for each in names:
        if each.replace("_", "") == plain:
            return each
    near = matching(plain, names)
    return near[0] if len(near) == 1 else None
