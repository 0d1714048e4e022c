"""The lines of the command line that were run, kept over restarts in a file that only its owner may read.

Only what was understood as a command is kept: a token pasted by mistake is none.
"""

from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field

from keydesk.text.sanitize import clean
from keydesk_client.auth.private_files import make_folders, read_private, replace_file
from keydesk_client.errors import UnsafeFile

MAX_LINES = 200
MAX_LENGTH = 200  # characters of a line
MAX_BYTES = 4 * MAX_LINES * MAX_LENGTH


class CommandHistory(Struct):
    """The lines, newest first.

    Args:
        path: The file; None: nothing is kept.
    """

    path: Path | None = None
    lines: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, folder: Path) -> "CommandHistory":
        """Read the history in a folder; a file that is missing or cannot be used is an empty one."""
        path = folder / "commands"
        return cls(path, read(path))

    def add(self, line: str) -> None:
        """Put a line in front; it stands once."""
        line = line.strip()
        self.lines = [line, *(each for each in self.lines if each != line)][:MAX_LINES]

    def save(self) -> None:
        """Write the file; do nothing where it cannot be written."""
        if self.path is not None:
            with suppress(OSError, UnsafeFile):
                make_folders(self.path.parent)
                replace_file(self.path, "".join(f"{each}\n" for each in self.lines).encode())


def read(path: Path) -> list[str]:
    """Return the lines of a file; one that is too long or has a control character was not written here."""
    try:
        content = read_private(path, MAX_BYTES).decode(errors="replace")
    except (OSError, UnsafeFile):
        return []
    lines = dict.fromkeys(each.strip() for each in content.split("\n"))
    return [each for each in lines if 0 < len(each) <= MAX_LENGTH and clean(each) == each]
