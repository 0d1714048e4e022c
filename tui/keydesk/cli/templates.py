"""The command `keydesk templates`: list, export and import the trader's named templates."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from keydesk.calc.orders.ticket_settings import Template
from keydesk.config.settings import TEMPLATES_FILE, find_folders, table_in
from keydesk.config.templates import export_templates, import_templates, read_templates
from keydesk.config.user_files import load_templates
from keydesk.terminal.output import say
from keydesk.text.sanitize import clean, safe


def templates(arguments: Sequence[str]) -> int:
    """Run `keydesk templates list`, `export [NAME ...]` or `import FILE`."""
    parser = argparse.ArgumentParser(
        prog="keydesk templates", description="The named templates of new tickets, as TOML."
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    listing = verbs.add_parser("list", help="name them, and the instruments that begin with each")
    exporting = verbs.add_parser("export", help="print them as TOML")
    exporting.add_argument("names", metavar="NAME", nargs="*", help="only these")
    importing = verbs.add_parser("import", help="import the templates of a file")
    importing.add_argument("file", metavar="FILE", type=Path)
    for verb in (listing, exporting, importing):
        verb.add_argument("--data", metavar="DIR", help="the folder of settings and state")
    options = parser.parse_args(arguments)
    folder = find_folders(options.data, os.environ).config
    standard, _ = load_templates(folder)
    match options.verb:
        case "export":
            text = export_templates(folder, tuple(options.names), standard)
            say(*(safe(line) for line in text.rstrip().split("\n")))
        case "import":
            names = import_templates(folder, options.file, standard)
            say(
                safe(
                    clean(
                        f"Imported: {', '.join(names)}. A desk that is open reads them at its next start."
                    )
                )
            )
        case _:
            _list(folder, standard)
    return 0


def _list(folder: Path, standard: Template) -> None:
    path = folder / TEMPLATES_FILE
    book = read_templates(table_in(path), standard, path)
    for name in book.names:
        used = [each for each, of in book.by_instrument.items() if of == name]
        say(safe(clean(f"{name}  {', '.join(used)}".rstrip())))
