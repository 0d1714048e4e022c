"""Write what is made from the commands' parsers and models: completions, man page, JSON schemas, the guide for agents.

    python docs/build_shell_files.py           # writes tui/keydesk/shell/
    python docs/build_shell_files.py --check   # fails if a file is stale

The files are part of the repository and of the wheel, so that neither a build nor a user needs `shtab` or
`argparse-manpage`.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import shtab
from argparse_manpage.manpage import Manpage

from keydesk.cli.arguments.tree import whole_tree
from keydesk.cli.documents import DOCUMENTS
from keydesk.cli.shell_files import COMPLETIONS, FOLDER
from keydesk_practice.control.commands import whole_parser

MAN_PAGE = "keydesk.1"
MADE_WITH = (3, 11)  # other versions of Python write the options of a man page otherwise
COMPLETED = {"FILE": shtab.FILE, "PATH": shtab.FILE, "DIR": shtab.DIRECTORY}


def documents() -> Iterator[tuple[str, str]]:
    """Yield the path below the folder, and the text, of each file."""
    tree = whole_tree(whole_parser())
    for parser in parsers_of(tree):
        for action in parser._actions:  # noqa: SLF001 - as shtab reads them; argparse has no public list
            if isinstance(action.metavar, str) and action.metavar in COMPLETED:
                action.complete = COMPLETED[action.metavar]  # type: ignore[attr-defined]
    for shell, name in COMPLETIONS.items():
        yield name, f"{shtab.complete(tree, shell=shell).rstrip()}\n"
    yield MAN_PAGE, man_page(tree)
    for kind, model in DOCUMENTS.items():
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
        schema |= without_titles(model.model_json_schema(by_alias=True))
        yield f"schemas/{kind}.json", f"{json.dumps(schema, indent=2)}\n"


def parsers_of(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield a parser and those of its subcommands."""
    yield parser
    for action in parser._actions:  # noqa: SLF001 - as above
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - as above
            for own in action.choices.values():
                yield from parsers_of(own)


def man_page(tree: argparse.ArgumentParser) -> str:
    """Return the page of `man keydesk`, without a date, so that it is the same on every day."""
    page = Manpage(
        tree,
        _data={
            "project_name": "keydesk",
            "manual_title": "Keydesk",
            "manual_section": "1",
            "description": "trade v20 accounts from the terminal",
        },
    )
    return re.sub(r'^(\.TH KEYDESK "1") "[^"]*"', r"\1 \"\"", f"{str(page).rstrip()}\n")


def without_titles(schema: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a schema without the titles that only repeat names."""
    if isinstance(schema, Mapping):
        return {
            name: {key: without_titles(each) for key, each in value.items()}
            if name in {"properties", "$defs"}
            else without_titles(value)
            for name, value in schema.items()
            if name != "title"
        }
    return [without_titles(each) for each in schema] if isinstance(schema, list) else schema


def stale() -> list[str]:
    """Return the files that are not as they would be written now, and those that should not be there."""
    made = dict(documents())
    there = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file()}
    changed = {
        name
        for name, text in made.items()
        if name not in there
        or (
            (name != MAN_PAGE or sys.version_info[:2] == MADE_WITH)
            and (FOLDER / name).read_text(encoding="utf-8") != text
        )
    }
    return sorted(changed | (there - made.keys()))


def main() -> int:
    """Write the files, or check them."""
    if sys.argv[1:] == ["--check"]:
        names = stale()
        for name in names:
            sys.stderr.write(f"stale: {FOLDER / name}: run python docs/build_shell_files.py\n")
        return 1 if names else 0
    for name, text in documents():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
