"""The parser of every verb: no abbreviations, "did you mean" for a wrong word, and errors as JSON for a script."""

import argparse
import re
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from textwrap import fill
from typing import NoReturn

from msgspec import Struct

from keydesk.cli.script_output import print_error_json

WIDTH = 79  # columns of a description
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
WRONG_CHOICE = re.compile(r"invalid choice: '(?P<typed>[^']*)' \(choose from (?P<known>.*)\)$")
UNKNOWN = "unrecognized arguments"


class CommandParser(argparse.ArgumentParser):
    """A parser of one verb.

    Args:
        words: The verb, such as "order buy"; "" is the desk.
        description: A sentence or two.
        examples: Lines to type.
        repeats_unknown: False where an unknown argument could be a token.
    """

    def __init__(
        self,
        words: str,
        description: str,
        examples: Sequence[str] = (),
        *,
        repeats_unknown: bool = True,
    ) -> None:
        super().__init__(
            prog=f"keydesk {words}".rstrip(),
            description=fill(description, WIDTH),
            epilog="\n".join(f"example: {line}" for line in examples) or None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self._repeats_unknown = repeats_unknown
        self._wants_json = False

    def read(self, arguments: Sequence[str]) -> Namespace:
        """Return the options; exit with 2 where they are wrong, as JSON on stdout if that was asked for."""
        self._wants_json = "--json" in arguments
        return self.parse_args(arguments)

    def error(self, message: str) -> NoReturn:
        """Exit with 2 and a sentence: what is wrong, and what may have been meant."""
        text = f"{message}{self._remedy(message)}"
        if message.startswith(UNKNOWN) and not self._repeats_unknown:
            text = (
                "too many arguments; the token is asked for, or read from stdin, never an argument"
            )
        if self._wants_json:
            self.exit(print_error_json("invalid", text))
        super().error(text)

    def _remedy(self, message: str) -> str:
        if message.endswith("expected one argument"):
            option = message.removeprefix("argument ").partition(":")[0].split("/")[-1]
            return f"; one that begins with - is given as {option}=-x"
        if message.startswith(UNKNOWN):
            unknown = next((word for word in message.split() if word.startswith("--")), "")
            return did_you_mean(unknown.partition("=")[0], OPTION.findall(self.format_help()))
        if wrong := WRONG_CHOICE.search(message):
            return did_you_mean(wrong["typed"], re.findall(r"[\w-]+", wrong["known"]))
        return ""


def did_you_mean(typed: str, known: Iterable[str]) -> str:
    """Return "; did you mean X?" if a known word is like the typed one, else ""."""
    from difflib import get_close_matches  # noqa: PLC0415 - for a wrong word only

    near = get_close_matches(typed, sorted(set(known)), n=1) if typed else []
    return f"; did you mean {near[0]}?" if near else ""


class Verb(Struct, frozen=True):
    """A command: what is typed, what it does, and where its function is.

    `run` is a module of `keydesk.cli` and its function, imported when the command runs.
    """

    words: str
    run: str
    summary: str
    add: Callable[[CommandParser], None]
    examples: tuple[str, ...]
    check: Callable[[CommandParser, Namespace], None] | None = None
    more: str = ""  # after the summary, in its own help
    repeats_unknown: bool = True
    writes: bool = False  # it may change the account

    def verify(self, parser: CommandParser, options: Namespace) -> None:
        """Exit with 2 and a sentence if options do not go together."""
        if self.check is not None:
            self.check(parser, options)

    def parser(self) -> CommandParser:
        """Return the parser with the verb's options."""
        parser = CommandParser(
            self.words,
            f"{self.summary} {self.more}".rstrip(),
            self.examples,
            repeats_unknown=self.repeats_unknown,
        )
        self.add(parser)
        return parser
