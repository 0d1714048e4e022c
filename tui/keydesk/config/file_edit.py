"""Change a settings file and keep what is the trader's: comments, line ends, byte order mark, mode, links.

tomlkit, which keeps the comments, is imported by what writes: the desk reads only.
"""

import os
import stat
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from keydesk.settings.toml_text import BadSettings, ReadOnlySettings, first_line, text_in
from keydesk_client.auth.private_files import locked, make_folders, replace_file

if TYPE_CHECKING:
    import tomlkit

NEW_FILE_MODE = 0o600


def change_file(folder: Path, name: str, change: Callable[["tomlkit.TOMLDocument"], None]) -> None:
    """Change a settings file and keep its comments; a missing one is created.

    Raises:
        BadSettings: the file is not a text, not TOML, or read-only; it is left as it is.
    """
    with locked_file(folder, name) as path:
        text = text_in(path) if path.exists() else f"{first_line(name)}\n\n"
        document = editable(text, path)
        change(document)
        write_file(path, document.as_string())


@contextmanager
def locked_file(folder: Path, name: str, patience_s: float | None = None) -> Iterator[Path]:
    """Hold the lock of a settings file, and return its path; where it is a link, that of its target, so that a link stays one."""
    make_folders(folder)
    named = folder / name
    path = named.resolve()
    beside = path if path.is_file() or not path.exists() else named  # no lock file beside a device
    refuse_read_only(path)
    with locked(beside, patience_s=patience_s):
        yield path


def editable(text: str, path: Path) -> "tomlkit.TOMLDocument":
    """Return a text as a document that keeps its comments; raise `BadSettings` if it is not TOML."""
    import tomlkit  # noqa: PLC0415 - needed for writing only
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415 - same

    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise BadSettings(f"{path} is not valid TOML: {error}; fix it, then try again") from error


def refuse_read_only(path: Path) -> None:
    """Raise `BadSettings` for a file that its owner made read-only, also where the system would let this user write to it."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return
    if not mode & stat.S_IWUSR or not os.access(path, os.W_OK):
        raise ReadOnlySettings(
            f"{path} is read-only (mode {mode:04o}), and nothing was written; allow it: chmod u+w {path}"
        )


def write_file(path: Path, text: str) -> None:
    """Replace the text of a settings file; its mode, its byte order mark and the line ends of most lines stay.

    Raises:
        BadSettings: the file is read-only.
    """
    refuse_read_only(path)
    try:
        before, mode = path.read_bytes(), stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        before, mode = b"", NEW_FILE_MODE
    if 2 * before.count(b"\r\n") > before.count(b"\n"):
        text = text.replace("\n", "\r\n")
    mark = BOM_UTF8 if before.startswith(BOM_UTF8) else b""
    replace_file(path, mark + text.encode(), mode=mode)
