"""The command `keydesk templates`: list, export and import the trader's named templates."""

import os
from argparse import Namespace
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from keydesk.calc.orders.ticket_settings import Template
from keydesk.cli.script_output import Document, print_document
from keydesk.config.folders import find_folders
from keydesk.config.templates import export_templates, import_templates, load_templates
from keydesk.terminal.output import print_lines
from keydesk.text.sanitize import clean, safe


class TemplateName(Struct, frozen=True):
    """A template of new tickets."""

    name: str
    instruments: Annotated[list[str], Meta(description="whose tickets begin with it")]


class TemplatesDocument(Document, frozen=True, tag="templates"):
    """`keydesk templates list --json`."""

    templates: list[TemplateName]


def list_templates(options: Namespace) -> int:
    """Print the names, and the instruments of each; return the exit code."""
    folder, _ = _folder_and_standard(options)
    book = load_templates(folder).named
    if options.json:
        by_name = {
            name: [each for each, of in book.by_instrument.items() if of == name]
            for name in book.names
        }
        named = [TemplateName(name, used) for name, used in by_name.items()]
        print_document(TemplatesDocument(named))
        return 0
    for name in book.names:
        used = [each for each, of in book.by_instrument.items() if of == name]
        print_lines(safe(clean(f"{name}  {', '.join(used)}".rstrip())))
    return 0


def export(options: Namespace) -> int:
    """Print templates as TOML; return the exit code."""
    folder, standard = _folder_and_standard(options)
    text = export_templates(folder, tuple(options.names), standard)
    print_lines(*(safe(line) for line in text.rstrip().split("\n")))
    return 0


def import_(options: Namespace) -> int:
    """Import the templates of a file; return the exit code."""
    folder, standard = _folder_and_standard(options)
    names = import_templates(folder, options.file, standard)
    text = f"Imported: {', '.join(names)}. A desk that is open reads them at its next start."
    print_lines(safe(clean(text)))
    return 0


def _folder_and_standard(options: Namespace) -> tuple[Path, Template]:
    folder = find_folders(options.data, os.environ).config
    return folder, load_templates(folder).standard
