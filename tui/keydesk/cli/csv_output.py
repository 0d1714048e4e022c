"""Write a table as CSV: a file whole or not at all, mode 0600, and no cell that starts a formula in a spreadsheet."""

import csv
import io
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from keydesk.cli.script_output import Refusal
from keydesk.terminal.output import print_error, print_lines
from keydesk.text.sanitize import Printable, safe
from keydesk_client.auth.private_files import replace_file

Row: TypeAlias = Mapping[str, str]
FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the wide ones run, too
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def refuse_existing(path: Path, *, overwrite: bool, option: str = "--csv") -> None:
    """Refuse to overwrite a file or a disk, and a missing folder; a pipe or a terminal is allowed.

    Raises:
        Refusal: with the reason.
    """
    if not path.parent.is_dir():
        raise Refusal(f"{option}: there is no folder {path.parent}")
    if path.is_block_device():
        raise Refusal(f"{option}: {path} is a disk; choose a file")
    if path.is_dir():
        raise Refusal(f"{option}: {path} is a folder; name a file in it")
    if path.is_file() and not overwrite:
        raise Refusal(f"{option}: {path} is there already; choose another name, or add --force")


def write_csv(
    path: Path | None, columns: Sequence[str], rows: Iterable[Row], text_columns: Collection[str]
) -> None:
    """Write the file (mode 0600) or standard output, with a header line."""
    head: list[Printable] = [safe(name) for name in columns]
    lines: Iterator[list[Printable]] = (
        [_cell(row[name], is_text=name in text_columns) for name in columns] for row in rows
    )
    content = encode_csv(chain((head,), lines))
    if path is None:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    else:
        replace_file(path, content)


def say_written(count: int, thing: str, path: Path | None) -> None:
    """Say how many rows were written; on stderr where they went to standard output."""
    text = f"{count} {thing}" if count == 1 else f"{count} {thing}s"
    if path is None:
        print_error(safe(text))
    else:
        print_lines(safe(f"{text} in {path}"))


def encode_csv(lines: Iterable[Sequence[Printable]]) -> bytes:
    """Return rows of cells as a CSV file."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue().encode()


def _cell(cell: str, *, is_text: bool) -> Printable:
    """Return a cell that no terminal or spreadsheet interprets; numbers are unchanged."""
    shown = safe(cell)
    if not is_text and NUMBER.fullmatch(cell):
        return shown
    return safe(f"'{shown}") if shown.lstrip().startswith(FORMULA) else shown
