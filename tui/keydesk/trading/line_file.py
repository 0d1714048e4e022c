"""A bounded file of JSON lines that several desks append to: one write to the end of the file for each line.

The file is the user's alone (0600). A full one is renamed, the oldest of its kind is removed. Each line goes to the file
that has the name at that moment, so lines neither mix nor get lost when another desk renames it.
"""

import os
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from keydesk_client.auth.private_files import locked

WRITE = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW


class LineFile(Struct, frozen=True):
    """A file of lines and the older ones that it was renamed to."""

    path: Path
    largest: int  # bytes after which it is renamed
    old_files: int  # how many older ones are kept

    def append(self, line: bytes) -> None:
        """Append a line with its end; raise OSError when that fails."""
        handle = os.open(self.path, WRITE, 0o600)
        try:
            size = os.fstat(handle).st_size + os.write(handle, line)
        finally:
            os.close(handle)
        if size >= self.largest:
            self._rotate()

    def _rotate(self) -> None:
        """Rename the full file; of two desks that find it full one does, and without the lock neither waits."""
        with suppress(TimeoutError), locked(self.path, patience_s=0.0):
            if self.path.stat().st_size < self.largest:
                return
            for number in range(self.old_files, 1, -1):
                with suppress(FileNotFoundError):
                    old_file(self.path, number - 1).replace(old_file(self.path, number))
            self.path.replace(old_file(self.path, 1))


def old_file(path: Path, number: int) -> Path:
    """Return the file that was renamed so many times."""
    return path.with_name(f"{path.name}.{number}")


def newest_text(path: Path, max_bytes: int) -> bytes:
    """Return the last bytes of a file and, where it has fewer, of the one before it; raise OSError without a file."""
    text = _tail(path, max_bytes)
    if len(text) < max_bytes:
        with suppress(OSError):
            text = _tail(old_file(path, 1), max_bytes - len(text)) + text
    return text


def _tail(path: Path, max_bytes: int) -> bytes:
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - max_bytes))
        return file.read(max_bytes)
