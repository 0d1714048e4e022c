"""Whether the tour of the first trade is shown at the next start: one word in the state folder, kept over restarts."""

from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from keydesk.text.file_errors import file_trouble
from keydesk_client.auth.private_files import make_folders, read_private, replace_file
from keydesk_client.errors import UnsafeFile

BEGUN, ENDED = "begun", "ended"
MAX_BYTES = 20  # ours has six


class TourFile(Struct, frozen=True):
    """The file, and whether the tour begins with this start."""

    path: Path
    begins: bool = False

    @classmethod
    def of(cls, folder: Path) -> "TourFile":
        """Return the file of a folder; the tour begins where no desk has written to the folder yet, or until it was ended."""
        path = folder / "tour"
        try:
            word = read_private(path, MAX_BYTES).decode(errors="replace").strip()
        except FileNotFoundError:
            return cls(path, begins=_is_new(folder))
        except (OSError, UnsafeFile):
            return cls(path)
        return cls(path, begins=word == BEGUN)

    def write(self, word: str) -> str:
        """Keep `BEGUN` or `ENDED`; return why that failed, "" if it did not."""
        try:
            make_folders(self.path.parent)
            replace_file(self.path, f"{word}\n".encode())
        except (OSError, UnsafeFile) as error:
            return file_trouble(error, self.path)
        return ""


def _is_new(folder: Path) -> bool:
    with suppress(OSError):
        return not any(folder.iterdir())
    return True
