"""Writing a CSV file for a spreadsheet: for its owner only, whole or not at all, and no cell that runs as a formula."""

import csv
import io
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from keydesk.clean import clean
from keydesk.cli.refusal import Refusal
from keydesk_client.private_files import replace_file

Row: TypeAlias = Mapping[str, str]
FORMULA = ("=", "+", "-", "@")


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


def write(
    path: Path | None, columns: Sequence[str], rows: Sequence[Row], text_columns: Collection[str]
) -> None:
    """Write the file, mode 0600, or standard output, with a line of column names."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(
            [_text(row[name]) if name in text_columns else row[name] for name in columns]
        )
    content = text.getvalue().encode()
    if path is None:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    else:
        replace_file(path, content)


def _text(cell: str) -> str:
    """Return what a person or a program wrote, so that a spreadsheet shows it and does not run it."""
    shown = clean(cell)
    return f"'{shown}" if shown.lstrip().startswith(FORMULA) else shown
