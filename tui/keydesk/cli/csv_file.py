"""Writing a CSV file for a spreadsheet: for its owner only, whole or not at all, and no cell that runs as a formula."""

import csv
import io
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from keydesk.cli.refusal import Refusal
from keydesk.text.sanitize import Printable, safe
from keydesk_client.auth.private_files import replace_file

Row: TypeAlias = Mapping[str, str]
FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the wide ones run, too
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def refuse_existing(path: Path, *, overwrite: bool) -> None:
    """Refuse to write over a file or a disk, and where there is no folder; a pipe or a terminal may be written to.

    Raises:
        Refusal: with the reason.
    """
    if not path.parent.is_dir():
        raise Refusal(f"--csv: there is no folder {path.parent}")
    if path.is_block_device():
        raise Refusal(f"--csv: {path} is a disk; choose a file")
    if path.is_dir() or (path.is_file() and not overwrite):
        raise Refusal(f"--csv: {path} is there already; choose another name, or add --force")


def write_csv(
    path: Path | None, columns: Sequence[str], rows: Sequence[Row], text_columns: Collection[str]
) -> None:
    """Write the file, mode 0600, or standard output, with a line of column names."""
    head: list[Printable] = [safe(name) for name in columns]
    lines: list[list[Printable]] = [
        [_cell(row[name], is_text=name in text_columns) for name in columns] for row in rows
    ]
    content = encoded([head, *lines])
    if path is None:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    else:
        replace_file(path, content)


def encoded(lines: Iterable[Sequence[Printable]]) -> bytes:
    """Return lines of cells as the bytes of a CSV file."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue().encode()


def _cell(cell: str, *, is_text: bool) -> Printable:
    """Return a cell that no terminal and no spreadsheet acts upon; a number stays exactly as it is."""
    shown = safe(cell)
    if not is_text and NUMBER.fullmatch(cell):
        return shown
    return safe(f"'{shown}") if shown.lstrip().startswith(FORMULA) else shown
