"""Whether the page of safety was shown: once, at the first sign-in to real money."""

from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from keydesk_client.auth.private_files import make_folders


class LiveSafetyNote(Struct, frozen=True):
    """The file that is there once the page was shown."""

    path: Path

    @classmethod
    def of(cls, state: Path) -> "LiveSafetyNote":
        """Return the note in the state folder."""
        return cls(state / "desk" / "live-safety-shown")

    @property
    def is_shown(self) -> bool:
        """Whether the page was shown before."""
        return self.path.exists()

    def write(self) -> None:
        """Note that it was shown; where that cannot be written, it is shown again."""
        with suppress(OSError):
            make_folders(self.path.parent)
            self.path.touch(mode=0o600)
