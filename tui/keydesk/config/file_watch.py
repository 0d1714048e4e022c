"""Which files of a folder have changed, by their size and times.

A change counts once the file has stood still from one look to the next: an editor may be writing it, or have moved the old one away.
"""

import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

MAX_FILES = 50  # of a folder

Stamp = tuple[int, ...]
"""Device, number, size and times; the error where the file cannot be looked at; empty where it is missing."""


@dataclass(slots=True)
class FileWatch:
    """Looks at files, each time it is asked.

    Args:
        paths: The files; what is there now was read already.
    """

    paths: Sequence[Path]
    _read: dict[Path, Stamp] = field(init=False)
    _seen: dict[Path, Stamp] = field(init=False)  # at the last look

    def __post_init__(self) -> None:
        self._read = {path: stamp_of(path) for path in self.paths}
        self._seen = dict(self._read)

    @property
    def is_unsettled(self) -> bool:
        """Whether a change was seen that does not count yet."""
        return self._seen != self._read

    def changed(self) -> Sequence[Path]:
        """Return the files that have changed since they were returned last, and have stood still since the last look."""
        found: list[Path] = []
        for path in self.paths:
            stamp = stamp_of(path)
            if stamp == self._seen[path] != self._read[path]:
                self._read[path] = stamp
                found.append(path)
            self._seen[path] = stamp
        return found


def stamp_of(path: Path) -> Stamp:
    """Return what changes with a file, or with one of the files of a folder."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return ()
    except OSError as error:
        return (error.errno or 0,)
    times = status.st_mtime_ns, status.st_ctime_ns
    if stat.S_ISDIR(status.st_mode):
        with suppress(OSError):
            inside = [stamp_of(each) for each in sorted(path.glob("*.toml"))[:MAX_FILES]]
            return tuple(chain(times, *inside))
    return status.st_dev, status.st_ino, status.st_size, status.st_mode, *times
