"""All verbs in one table: what is typed is looked up here, and help, completions and man pages are made from it."""

import argparse
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from keydesk.cli.arguments import (
    config,
    desk,
    files,
    journal,
    order,
    reading,
    safety,
    shell,
    sign_in,
)
from keydesk.cli.arguments.parser import CommandParser, Verb, did_you_mean
from keydesk.cli.script_output import EXIT_CODES, print_error_json

VERBS = {
    verb.words: verb
    for module in (sign_in, reading, order, journal, files, config, safety, shell)
    for verb in module.VERBS
}
"""By what is typed, one word or two."""
PRACTICE = "practice"
GROUPS = {
    PRACTICE: "The practice broker: serve it, replay and shock its market, manage its accounts.",
    "order": "Buy, sell, close, protect, cancel: what it would do; with --yes, it is sent.",
    "config": "The files of settings: where they are, what they set, whether they can be used.",
    "vault": "The encrypted file of tokens.",
    "templates": "The named templates of new tickets, as TOML.",
}
"""The words that a second word follows, each with what those verbs are about; those of `practice` are the broker's own."""


def find_verb(arguments: Sequence[str]) -> tuple[Verb, Sequence[str]]:
    """Return the verb that is typed and the arguments after it; exit with 2 if there is none."""
    first, *others = arguments
    if verb := VERBS.get(first):
        return verb, others
    if first not in GROUPS:
        raise _no_such_verb(
            first, {words.partition(" ")[0] for words in VERBS} | {PRACTICE}, arguments
        )
    second = others[0] if others else ""
    if verb := VERBS.get(f"{first} {second}"):
        return verb, others[1:]
    if second in {"-h", "--help"}:
        group_parser(first).print_help()
        raise SystemExit(0)
    raise _no_such_verb(f"{first} {second}".strip(), _words_of(first), arguments)


def _words_of(group: str) -> list[str]:
    return [words for words in VERBS if words.startswith(f"{group} ")]


def _no_such_verb(typed: str, known: Collection[str], arguments: Sequence[str]) -> SystemExit:
    """Say which verbs there are; return the end with 2."""
    from keydesk.text.sanitize import clean  # noqa: PLC0415 - for a wrong word only

    text = (
        f"there is no command {clean(typed)}{did_you_mean(typed, known)} "
        f"(known: {', '.join(sorted(known))})"
    )
    if "--json" in arguments:
        return SystemExit(print_error_json("invalid", text))
    sys.stderr.write(f"keydesk: {text}\n")
    return SystemExit(EXIT_CODES["invalid"])


def desk_parser() -> CommandParser:
    """Return the parser of the bare command; its help lists every verb."""
    parser = desk.DESK.parser()
    width = max(map(len, dict(first_words())))
    lines = [f"  {words:<{width}}  {summary}" for words, summary in first_words()]
    parser.epilog = "\n".join(["commands, each with --help:", *lines, "", parser.epilog or ""])
    return parser


def first_words() -> Iterator[tuple[str, str]]:
    """Yield the first words, each with what it does."""
    for words, verb in VERBS.items():
        if " " not in words:
            yield words, verb.summary
    yield from GROUPS.items()


def group_parser(group: str) -> CommandParser:
    """Return the parser of a word that a second word follows."""
    parser = CommandParser(group, GROUPS[group])
    _add_verbs(parser, {w.partition(" ")[2]: VERBS[w] for w in _words_of(group)})
    return parser


def whole_tree(practice: argparse.ArgumentParser) -> CommandParser:
    """Return one parser of everything, for completions and man pages; `practice` is the broker's own."""
    parser = desk.DESK.parser()
    actions = _add_verbs(parser, {w: verb for w, verb in VERBS.items() if " " not in w})
    for group, summary in GROUPS.items():
        own = practice if group == PRACTICE else group_parser(group)
        actions.add_parser(group, help=summary, made=own)
    return parser


def _add_verbs(parser: CommandParser, verbs: Mapping[str, Verb]) -> Any:  # noqa: ANN401 - argparse's private type
    made: Any = _made
    actions: Any = parser.add_subparsers(metavar="COMMAND", parser_class=made)
    for name, verb in verbs.items():
        actions.add_parser(name, help=verb.summary, made=verb.parser())
    return actions


def _made(*, made: argparse.ArgumentParser, **_: object) -> argparse.ArgumentParser:
    """Return the parser that was made already, in the place of a class of parsers."""
    return made
