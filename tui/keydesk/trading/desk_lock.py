"""A lock that another login puts on a desk: exits only, until it is taken off.

It is a file beside the order journal: it needs no network and no token, it holds for a desk that is opened later,
and it survives a restart.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

LOOK_EVERY = 1.0  # seconds


@dataclass(slots=True)
class DeskLock:
    """The lock of one profile."""

    path: Path
    is_on: bool = field(default=False, init=False)
    _looked: float = field(default=float("-inf"), init=False)

    @classmethod
    def of(cls, folder: Path, profile: str) -> "DeskLock":
        """Return the lock of a profile, its file in the folder of the journals."""
        return cls(folder / f"{profile}.locked")

    def look(self, now: float) -> bool:
        """Return whether it is on; the disk is asked once a second."""
        if now - self._looked >= LOOK_EVERY:
            self._looked = now
            with suppress(OSError):  # a folder that is not ours has no journal either: exits only
                self.is_on = self.path.exists()
        return self.is_on

    def put_on(self) -> None:
        """Lock."""
        self.path.touch(mode=0o600)

    def take_off(self) -> None:
        """Unlock; arming is still up to the person at the desk."""
        self.path.unlink(missing_ok=True)
