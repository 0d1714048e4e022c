"""Tab on the command line: the last word as far as only one way goes on."""

from collections.abc import Iterable, Sequence

from keydesk.calc.dictated import KEYWORDS

COMMANDS = ("quit", "help", "keys", "messages", "undo", "buy", "sell")


def completed(line: str, instruments: Iterable[str]) -> str:
    """Return the line with its last word completed; unchanged where none or several go on differently."""
    before, space, last = line.rpartition(" ")
    colon = ":" if last.startswith(":") else ""
    typed = last.lower().lstrip(":")
    names = [name.replace("_", "").lower() for name in instruments]
    found = [word for word in _known(before.split(), names) if typed and word.startswith(typed)]
    if not found:
        return line
    end = " " if len(found) == 1 else ""
    return f"{before}{space}{colon}{_common(found)}{end}"


def _known(before: Sequence[str], names: Sequence[str]) -> Sequence[str]:
    """What may stand behind so many words: a command or instrument, then an instrument, then fields."""
    match len(before):
        case 0:
            return [*COMMANDS, *names]
        case 1:
            return [*names, *KEYWORDS]
        case _:
            return KEYWORDS


def _common(words: Sequence[str]) -> str:
    """The letters with which all of them begin."""
    shortest = min(words, key=len)
    for at, letter in enumerate(shortest):
        if any(word[at] != letter for word in words):
            return shortest[:at]
    return shortest
