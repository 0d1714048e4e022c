"""How the desk was left, for the next start: instrument, timeframe, the panes in front. One small file a profile.

It is a convenience and nothing more: a file that is missing, damaged or of another version leaves the defaults, and a
disk that takes no writes is no reason to say anything.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from keydesk_client.auth.private_files import replace_file

SAVE_EVERY = 2.0  # seconds from look to look
LARGEST = 10_000  # bytes; ours are some hundred
GRANULARITIES = ("M1", "M5", "M15", "H1", "H4", "D")


@dataclass(frozen=True, slots=True)
class Workspace:
    """What is worth finding again."""

    instrument: str = ""
    granularity: str = "M5"
    fronts: Mapping[str, str] = field(default_factory=dict)  # of a shared place: its pane in front
    focused: str = ""
    sorting: str = ""  # of the watchlist


@dataclass(slots=True)
class WorkspaceFile:
    """Where a profile's workspace is kept; it writes only what changed."""

    path: Path
    saved: Workspace = field(default_factory=Workspace)
    _looked: float = float("-inf")

    @classmethod
    def of(cls, folder: Path, profile: str) -> "WorkspaceFile":
        """Return the file of a profile, read as far as it makes sense."""
        path = folder / f"{profile}.json"
        return cls(path, read(path))

    def keep(self, look: Callable[[], Workspace], clock: float) -> None:
        """Look every other second, and save what changed."""
        if clock - self._looked >= SAVE_EVERY:
            self._looked = clock
            self.save(look())

    def save(self, now: Workspace) -> None:
        """Save the workspace if it changed."""
        if now == self.saved:
            return
        self.saved = now
        with suppress(OSError):
            self.path.parent.mkdir(mode=0o700, exist_ok=True)
            replace_file(self.path, json.dumps(asdict(now)).encode())


def read(path: Path) -> Workspace:
    """Return what the file says, each member that makes no sense at its default."""
    try:
        with path.open(encoding="utf-8") as file:
            said = json.loads(file.read(LARGEST))
    except (OSError, ValueError, RecursionError):
        return Workspace()
    if not isinstance(said, dict):
        return Workspace()
    fronts = said.get("fronts")
    granularity = _text(said, "granularity")
    return Workspace(
        instrument=_text(said, "instrument"),
        granularity=granularity if granularity in GRANULARITIES else "M5",
        fronts={key: value for key, value in fronts.items() if isinstance(value, str)}
        if isinstance(fronts, dict)
        else {},
        focused=_text(said, "focused"),
        sorting=_text(said, "sorting"),
    )


def _text(said: Mapping[str, object], key: str) -> str:
    value = said.get(key)
    return value if isinstance(value, str) and value.isascii() and value.isprintable() else ""
