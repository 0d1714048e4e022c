"""The other open desks of an account on this machine, and order outcomes that the trader has not read.

Each desk holds a locked file in the folder of the order journals while it is open; the lock ends with the process.
The file stores unread outcomes: the next desk shows those that arrived while the terminal was gone.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from glob import escape
from pathlib import Path
from time import monotonic, time_ns
from typing import Final, Literal, get_args

from msgspec import Struct

from keydesk.text.format import date_and_time
from keydesk.text.sanitize import clean
from keydesk_client.auth.private_files import read_private, release_lock, try_lock
from keydesk_client.errors import UnsafeFile

Level = Literal["info", "good", "warn", "bad"]
SUFFIX: Final = ".desk"
CHECK_INTERVAL: Final = 2.0  # seconds between looks for other desks
TO_READ: Final = 0.5  # seconds that an outcome must be on the screen before a key marks it as read
MAX_BYTES: Final = 1_000_000  # bytes of such a file
MAX_UNREAD: Final = 200
TRIES: Final = 5
LOCK_LOOK_EVERY = 1.0  # seconds


class UnreadOutcome(Struct, frozen=True):
    """The outcome of an order in words, and its time."""

    level: Level
    text: str
    time_ns: int

    def late_text(self, zone: tzinfo) -> str:
        """Return the words for a trader who reads them in a later session."""
        return f"NOT SEEN BEFORE, from {date_and_time(self.time_ns, zone)}: {self.text}"


class OtherDesk(Struct, frozen=True):
    """Another desk on the account."""

    pid: int
    terminal: str

    @property
    def text(self) -> str:
        """Its process id and terminal."""
        where = f" on {self.terminal}" if self.terminal else ""
        return f"process {self.pid}{where}"


@dataclass(slots=True)
class DeskSession:
    """This desk among the open desks of its account."""

    folder: Path
    name: str  # of the account, in file names
    now: Callable[[], float] = monotonic
    wall_ns: Callable[[], int] = time_ns
    others: frozenset[OtherDesk] = field(default=frozenset(), init=False)
    left_over: dict[str, UnreadOutcome] = field(
        default_factory=dict, init=False
    )  # by desks that are gone
    _path: Path = field(init=False)
    _descriptor: int | None = field(default=None, init=False)
    _unread: dict[str, UnreadOutcome] = field(default_factory=dict, init=False)
    _shown_at: dict[str, float] = field(default_factory=dict, init=False)
    _checked_at: float = field(default=float("-inf"), init=False)

    def __post_init__(self) -> None:
        self._path = self.folder / f"{self.name}.{os.getpid()}-{os.urandom(3).hex()}{SUFFIX}"

    def open(self) -> None:
        """Lock the file of this desk, and take over unread outcomes of desks that have ended.

        If the folder cannot be written, other desks do not see this one, and unread outcomes are not shown at the next start.
        """
        with suppress(OSError):
            for _ in range(
                TRIES
            ):  # another desk may hold the lock for a moment to test whether this desk has ended
                if (descriptor := try_lock(self._path)) is not None:
                    self._descriptor = descriptor
                    break
        self.check()
        self._write()
        self.others, self._checked_at = frozenset(), float("-inf")  # `changed` tells of them

    def close(self) -> None:
        """Release the file; unread outcomes stay for the next desk."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        if self._unread:
            os.close(descriptor)
        else:
            release_lock(self._path, descriptor)

    # Other desks.

    def changed(self) -> Iterator[tuple[Level, str]]:
        """Yield a message for each desk that opened or closed; the folder is read every two seconds."""
        if self.now() - self._checked_at < CHECK_INTERVAL:
            return
        before = self.others
        self.check()
        for desk in self.others - before:
            yield "warn", f"ANOTHER DESK has this account open: {desk.text}. Both send orders"
        for desk in before - self.others:
            yield "info", f"The other desk on this account was closed: {desk.text}"

    def check(self) -> None:
        """Read the folder for other desks."""
        self._checked_at = self.now()
        others: set[OtherDesk] = set()
        with suppress(OSError):
            for path in self.folder.glob(f"{escape(self.name)}.*{SUFFIX}"):
                if path != self._path:
                    others |= self._found_at(path)
        self.others = frozenset(others)

    def _found_at(self, path: Path) -> set[OtherDesk]:
        with suppress(OSError, UnsafeFile):
            if (descriptor := try_lock(path)) is None:
                return {_other_desk(path)}
            left = _outcomes_in(_content(path))
            named = {f"{path.stem} {number}": outcome for number, outcome in enumerate(left)}
            self.left_over |= named
            self._unread |= named
            self._write()  # before the other file goes
            release_lock(path, descriptor)
        return set()

    # Outcomes that nobody has read.

    def keep_outcome(self, name: str, level: Level, text: str) -> None:
        """Keep an outcome until it was shown and a key was pressed after that."""
        self._unread[name] = UnreadOutcome(level, text, self.wall_ns())
        self._shown_at.pop(name, None)  # another outcome of it was on the screen
        while len(self._unread) > MAX_UNREAD:
            del self._unread[next(iter(self._unread))]
        self._write()

    def forget_outcome(self, name: str) -> None:
        """Drop an outcome that is told and kept elsewhere."""
        if self._unread.pop(name, None) is not None:
            self._shown_at.pop(name, None)
            self._write()

    def shown(self, name: str) -> None:
        """Note that an outcome was painted on the screen."""
        if name in self._unread:
            self._shown_at[name] = self.now()

    def pop_left_over(self) -> dict[str, UnreadOutcome]:
        """Return the unread outcomes of earlier desks by name, to be shown now."""
        left, self.left_over = self.left_over, {}
        return left

    def key_pressed(self, at: float) -> None:
        """Remove the outcomes that were on the screen long enough before this key."""
        read = [name for name, shown in self._shown_at.items() if at >= shown + TO_READ]
        for name in read:
            del self._shown_at[name]
            self._unread.pop(name, None)
        if read:
            self._write()

    def _write(self) -> None:
        if self._descriptor is None:
            return
        unread = [
            {"level": each.level, "words": each.text, "time_ns": each.time_ns}
            for each in self._unread.values()
        ]
        held = {"pid": os.getpid(), "terminal": _terminal(), "unread": unread}
        content = json.dumps(held).encode() + b"\n"
        with suppress(OSError):  # a full disk: the order journal says so
            os.pwrite(self._descriptor, content, 0)
            os.ftruncate(self._descriptor, len(content))


def _content(path: Path) -> dict[str, object]:
    """Return the content of a desk's file, {} if it is damaged."""
    text = read_private(path, MAX_BYTES).partition(b"\n")[0]
    with suppress(ValueError):
        held = json.loads(text)
        if isinstance(held, dict):
            return held
    return {}


def _other_desk(path: Path) -> OtherDesk:
    held = _content(path)
    pid, terminal = held.get("pid"), held.get("terminal")
    return OtherDesk(
        pid if isinstance(pid, int) else 0, clean(terminal) if isinstance(terminal, str) else ""
    )


def _outcomes_in(held: dict[str, object]) -> list[UnreadOutcome]:
    unread = held.get("unread")
    outcomes: list[UnreadOutcome] = []
    for each in unread if isinstance(unread, list) else ():
        with suppress(KeyError, TypeError, ValueError, OverflowError, OSError):
            level, text, moment = each["level"], each["words"], int(each["time_ns"])
            datetime.fromtimestamp(moment / 1e9, tz=UTC)  # raises where no calendar has it
            if level in get_args(Level) and isinstance(text, str):
                outcomes.append(UnreadOutcome(level, clean(text), moment))
    return outcomes


def _terminal() -> str:
    try:
        return os.ttyname(0)
    except OSError:
        return ""


class DeskLock(Struct):
    """A lock that another login sets on the desk of one profile: exits only until it is released.

    It is a file beside the order journal: it needs no network and no token, holds for a desk that is opened later, and
    survives a restart.
    """

    path: Path
    is_on: bool = False
    _checked_at: float = float("-inf")

    @classmethod
    def of(cls, folder: Path, profile: str) -> "DeskLock":
        """Return the lock of a profile, its file in the folder of the journals."""
        return cls(folder / f"{profile}.locked")

    def check(self, now: float) -> bool:
        """Return whether the lock is set; the disk is read once a second."""
        if now - self._checked_at >= LOCK_LOOK_EVERY:
            self._checked_at = now
            with suppress(OSError):  # a folder that is not ours has no journal either: exits only
                self.is_on = self.path.exists()
        return self.is_on

    def lock(self) -> None:
        """Set the lock."""
        self.path.touch(mode=0o600)

    def unlock(self) -> None:
        """Release the lock; the trader still has to arm the desk."""
        self.path.unlink(missing_ok=True)
