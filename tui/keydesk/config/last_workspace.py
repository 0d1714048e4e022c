"""The workspace of a profile, stored for its next start.

A file that is missing, damaged or of another version means the defaults; write errors are ignored.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import get_args

from msgspec import Struct, field
from msgspec.structs import asdict

from keydesk.calc.market.granularity import SECONDS
from keydesk.settings.values import INSTRUMENT
from keydesk.store.state import USUAL_ZOOM, Zoom
from keydesk_client.auth.private_files import make_folders, replace_file

SAVE_EVERY = 2.0  # seconds from look to look


MAX_CHARTS = 3  # beside the desk's own


MAX_BYTES = 10_000  # bytes; ours are some hundred

ZOOMS: tuple[Zoom, ...] = get_args(Zoom)
ZOOM_NAMED: Mapping[str, Zoom] = {each: each for each in ZOOMS}


class Workspace(Struct, frozen=True):
    """The layout and selection that the next start restores."""

    instrument: str = ""
    granularity: str = "M5"
    fronts: Mapping[str, str] = field(default_factory=dict)  # of a shared place: its pane in front
    focused: str = ""
    sorting: str = ""  # of the watchlist, in words
    watchlist: str = ""  # the name of the list on the screen
    filter: str = ""  # of its rows, in words
    zoomed: str = ""  # the pane that stands alone
    charts: tuple[tuple[str, str], ...] = ()  # further ones: instrument, "" for the desk's; length
    dots: bool = True  # charts draw indicators as braille dots
    zoom: Zoom = USUAL_ZOOM  # width of the candles of every chart


class WorkspaceFile(Struct):
    """The workspace file of a profile; only changes are written."""

    path: Path
    saved: Workspace = field(default_factory=Workspace)
    _checked_at: float = float("-inf")

    @classmethod
    def of(cls, folder: Path, profile: str) -> "WorkspaceFile":
        """Return the file of a profile, with its valid members read."""
        path = folder / f"{profile}.json"
        return cls(path, read(path))

    def autosave(self, look: Callable[[], Workspace], clock: float) -> None:
        """Save changes, at most every two seconds."""
        if clock - self._checked_at >= SAVE_EVERY:
            self._checked_at = clock
            self.save(look())

    def save(self, now: Workspace) -> None:
        """Save the workspace if it changed."""
        if now == self.saved:
            return
        self.saved = now
        with suppress(OSError):
            make_folders(self.path.parent)
            replace_file(self.path, json.dumps(asdict(now)).encode())


def read(path: Path) -> Workspace:
    """Return the content of the file; invalid members get their defaults."""
    try:
        with path.open(encoding="utf-8") as file:
            members = json.loads(file.read(MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return Workspace()
    if not isinstance(members, dict):
        return Workspace()
    fronts = members.get("fronts")
    granularity = _text(members, "granularity")
    return Workspace(
        instrument=_text(members, "instrument"),
        granularity=granularity if granularity in SECONDS else "M5",
        fronts={key: value for key, value in fronts.items() if isinstance(value, str)}
        if isinstance(fronts, dict)
        else {},
        focused=_text(members, "focused"),
        sorting=_text(members, "sorting"),
        watchlist=_text(members, "watchlist", ascii_only=False),
        filter=_text(members, "filter", ascii_only=False),
        zoomed=_text(members, "zoomed"),
        charts=charts_in(members.get("charts")),
        dots=members.get("dots") is not False,
        zoom=ZOOM_NAMED.get(str(members.get("zoom")), USUAL_ZOOM),
    )


def charts_in(value: object) -> tuple[tuple[str, str], ...]:
    """Return the further charts; a choice that makes no sense follows the desk."""
    if not isinstance(value, list):
        return ()
    return tuple(_chart(each) for each in value[:MAX_CHARTS])


def _chart(value: object) -> tuple[str, str]:
    if not (isinstance(value, list) and len(value) == len(("instrument", "length"))):
        return "", ""
    instrument, granularity = value
    return (
        instrument if isinstance(instrument, str) and INSTRUMENT.fullmatch(instrument) else "",
        granularity if isinstance(granularity, str) and granularity in SECONDS else "",
    )


def _text(members: Mapping[str, object], key: str, *, ascii_only: bool = True) -> str:
    value = members.get(key)
    if not isinstance(value, str) or not value.isprintable():
        return ""
    return value if value.isascii() or not ascii_only else ""
