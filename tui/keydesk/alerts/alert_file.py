"""The file of an account's alerts: private, written atomically under a lock, so that two desks at once lose nothing.

A damaged file never stops the desk: it is kept under another name, which is reported, and the list begins empty. Where the
file cannot be written, the list stays in memory, which is reported as well. The file is JSON; each condition stands in it as
its typed line. Changes are written in a thread, one after another, and firings are claimed in the file before they are
delivered.
"""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import time_ns
from typing import Any, Literal, get_args

from msgspec import Struct, field
from msgspec.structs import asdict

from keydesk.alerts.alert_list import (
    MAX_ALERTS,
    MAX_HISTORY,
    AlertList,
    AlertListError,
    Change,
    ClaimFirings,
    TakeOver,
    mark_delivered,
)
from keydesk.calc.alerts.alert import Alert, AlertState, Firing, FiringRecord
from keydesk.calc.alerts.condition_base import AlertSyntaxError
from keydesk.parse.alerts import read_condition
from keydesk.text.file_errors import file_trouble
from keydesk.text.sanitize import clean
from keydesk_client.auth.private_files import locked, private_folder, read_private, replace_file
from keydesk_client.errors import UnsafeFile

VERSION = 2
MAX_BYTES = 2_000_000  # bytes
LOCK_TIMEOUT = 2.0  # seconds that another desk may hold the file
MAX_WORDS_LENGTH, MAX_TEXT_LENGTH = 400, 200  # characters
MAX_WHOLE_NUMBER = 2**63
UNREADABLE = (
    *(ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError),
    AlertSyntaxError,
)
STATES = get_args(AlertState)
FIRING_NAMES = (("text", "words"), ("delivered", "told"))
"""Members of a firing, and their names in the file."""


Level = Literal["info", "good", "warn", "bad"]
Deliver = Callable[[FiringRecord, bool], None]  # the firing; whether this desk claimed it
Tell = Callable[[Level, str], None]
Done = Callable[[str], None]  # gets why a change was refused, "" if it was made


class NewerFile(UnsafeFile):
    """Raised for a file that a newer Keydesk wrote: it is neither understood nor replaced."""


class AlertFile(Struct):
    """The list of an account in a file, or in memory alone where there is none."""

    path: Path | None
    wall_ns: Callable[[], int] = time_ns
    alert_list: AlertList = field(default_factory=AlertList)
    trouble: str = ""  # why it is not kept; "": it is
    news: str = ""  # what is wrong with it, found while it was changed
    _stamp: tuple[int, int, int] | None = None
    _is_newer: bool = False  # a newer Keydesk wrote it

    def load(self) -> str:
        """Read the file; return what is wrong with it, "" if nothing is."""
        if self.path is None:
            return ""
        self._stamp = self._stamp_now()
        try:
            self.alert_list = _alert_list_of(json.loads(read_private(self.path, MAX_BYTES)))
        except FileNotFoundError:
            return ""
        except UNREADABLE:
            return self._keep_aside(self.path)
        except (OSError, UnsafeFile) as error:
            self.trouble = file_trouble(error, self.path)
            self._is_newer = isinstance(error, NewerFile)
            return f"Alerts are not read, and kept in this desk only: {self.trouble}"
        return ""

    def has_changed(self) -> bool:
        """Return whether another desk wrote the file since it was read here."""
        return self.path is not None and self._stamp_now() != self._stamp

    def change(self, change: Change) -> AlertList:
        """Apply a change to the list as the file has it now, and write it; return the new list.

        Raises:
            AlertListError: the change makes no sense; nothing was written.
        """
        if self.path is None or (self.trouble and not self._is_mendable()):
            self.alert_list = change(self.alert_list)
            return self.alert_list
        try:
            private_folder(self.path.parent)
            with locked(self.path, patience_s=LOCK_TIMEOUT):
                if not self.trouble or self.has_changed():  # else it has less than this desk
                    self.news = self.load() or self.news
                if self.trouble and not self._is_mendable():
                    self.alert_list = change(self.alert_list)
                    return self.alert_list
                after = change(self.alert_list)
                if after != self.alert_list:
                    replace_file(self.path, _written(after))
                    self._stamp = self._stamp_now()
        except (OSError, UnsafeFile) as error:
            self.trouble = file_trouble(error, self.path)
            self.alert_list = change(self.alert_list)
        else:
            self.trouble = ""
            self.alert_list = after
        return self.alert_list

    def _is_mendable(self) -> bool:
        """Return whether writing may succeed now: a full disk may have been freed, a file of another user stays unwritable."""
        if self.path is None or self._is_newer:
            return False
        with suppress(FileNotFoundError):
            try:
                read_private(self.path, MAX_BYTES)
            except (OSError, UnsafeFile):
                return False
        return True

    def _keep_aside(self, path: Path) -> str:
        aside = path.with_name(f"{path.name}.damaged-{self.wall_ns()}")
        try:
            path.rename(aside)
        except OSError as error:
            self.trouble = file_trouble(error, path)
            return f"The alert file is damaged and cannot be renamed: {self.trouble}"
        return f"The alert file was damaged: it was renamed to {clean(aside.name)}, and the list is empty"

    def _stamp_now(self) -> tuple[int, int, int] | None:
        if self.path is None:
            return None
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_ino, status.st_size


class AlertFileWriter:
    """Writes the list, claims firings in it, and delivers them.

    Args:
        file: The list of the account.
        take: Called with the list whenever it was read or changed.
        deliver: Called with each firing: by the desk that claimed it, or another one that saw it written.
        tell: Shows a message about the file.
    """

    def __init__(
        self, file: AlertFile, take: Callable[[AlertList], None], deliver: Deliver, tell: Tell
    ) -> None:
        self.file, self.is_loaded = file, False
        self._apply, self._deliver, self._tell = take, deliver, tell
        self.waiting: list[Firing] = []  # not claimed yet
        self._jobs: deque[tuple[Change, Done]] = deque()
        self._wake = asyncio.Event()
        self._settled = asyncio.Event()  # nothing waits to be written or delivered
        self._shown: set[tuple[str, int, int]] = set()  # firings delivered here
        self._trouble = ""

    @property
    def has_jobs(self) -> bool:
        """Whether changes wait to be written."""
        return bool(self._jobs)

    async def load(self) -> None:
        """Read the file."""
        text = await asyncio.to_thread(self.file.load)
        if text:
            self._tell("bad", text)
        self._take(self.file.alert_list)

    async def run(self) -> None:
        """Deliver what was left undelivered, and carry out jobs until cancelled."""
        self.take_over()
        while True:
            if not self._wake.is_set():
                self._settled.set()
            await self._wake.wait()
            self._wake.clear()
            if self.waiting:
                await self._claim()
            while self._jobs:
                change, done = self._jobs.popleft()
                done(await self._change(change))

    def claim(self, firings: Sequence[Firing]) -> None:
        """Queue firings, which are delivered once they are claimed."""
        if firings:
            self.waiting += firings
            self._begin()

    def take_over(self) -> None:
        """Queue the delivery of what another program claimed and did not deliver, if there is any."""
        if self.file.alert_list.abandoned(self.file.wall_ns()):
            taking = TakeOver(self.file.wall_ns())
            self.change(taking, lambda _: self._deliver_own(taking.records))

    def change(self, change: Change, done: Done = lambda _: None) -> None:
        """Queue a change of the list; `done` gets why it was refused, "" if it was made."""
        self._jobs.append((change, done))
        self._begin()

    def _begin(self) -> None:
        self._settled.clear()
        self._wake.set()

    async def settled(self) -> None:
        """Wait until everything was written and delivered."""
        await self._settled.wait()

    async def _change(self, change: Change) -> str:
        """Make a change; return why it was refused, "" if it was made."""
        try:
            alert_list = await asyncio.to_thread(self.file.change, change)
        except AlertListError as error:
            return str(error)
        self._take(alert_list)
        self._tell_trouble()
        return ""

    def _tell_trouble(self) -> None:
        if self.file.news:
            self._tell("bad", self.file.news)
            self.file.news = ""
        if self.file.trouble and self.file.trouble != self._trouble:
            self._tell("warn", f"Alerts are kept in this desk only: {self.file.trouble}")
        self._trouble = self.file.trouble

    async def _claim(self) -> None:
        """Claim what fired, in the order of time, and deliver what no other program claimed before."""
        batch = sorted(self.waiting, key=lambda each: each.until_ns)
        self.waiting.clear()
        claim = ClaimFirings(batch, self.file.wall_ns())
        await self._change(claim)
        self._deliver_own(claim.records)

    def _deliver_own(self, records: Sequence[FiringRecord]) -> None:
        if records:
            self._deliver_all(records, mine=True)
            self._jobs.appendleft(
                (mark_delivered(records), lambda _: None)
            )  # before another market
            self._begin()

    def _deliver_all(self, firings: Iterable[FiringRecord], *, mine: bool) -> None:
        for each in firings:
            if each.key not in self._shown:
                self._shown.add(each.key)
                self._deliver(each, mine)

    def _take(self, alert_list: AlertList) -> None:
        """Show what another desk delivered meanwhile, and hand the list on."""
        if self.is_loaded:
            delivered = [each for each in alert_list.history if each.delivered]
            self._deliver_all(delivered, mine=False)
        else:  # before this desk was opened, also in an account that was left for a replay
            lists = (alert_list, *alert_list.others.values())
            self._shown |= {each.key for kept in lists for each in kept.history if each.delivered}
        self.is_loaded = True
        self._apply(alert_list)


# The content.


def _written(alert_list: AlertList) -> bytes:
    return json.dumps(_members(alert_list), indent=1).encode() + b"\n"


def _members(alert_list: AlertList) -> dict[str, object]:
    members: dict[str, object] = {
        "version": VERSION,
        "next_id": alert_list.next_id,
        "seen_ns": alert_list.seen_ns,
        "account_ns": alert_list.account_ns,
        "sides": dict(alert_list.sides),
        "alerts": [written_alert(each) for each in alert_list.alerts],
        "history": [_written_firing(each) for each in alert_list.history],
    }
    if alert_list.others:
        members["others"] = {str(ns): _members(each) for ns, each in alert_list.others.items()}
    return members


def _written_firing(firing: FiringRecord) -> dict[str, object]:
    members = asdict(firing)
    for name, in_file in FIRING_NAMES:
        members[in_file] = members.pop(name)
    return members


def _alert_list_of(members: Mapping[str, Any]) -> AlertList:
    version = members["version"]
    if isinstance(version, int) and version > VERSION:
        raise NewerFile("a newer Keydesk wrote this file: update this one")
    if version != VERSION:
        raise ValueError(f"version {version!r} is not known")
    alerts = tuple(map(read_alert, members["alerts"][:MAX_ALERTS]))
    history = tuple(_firing(each) for each in members["history"][-MAX_HISTORY:])
    sides = {str(id_): int(side) for id_, side in members["sides"].items()}
    highest = max((int(each.id) for each in alerts), default=0)
    return AlertList(
        alerts,
        history,
        max(_whole(members["next_id"]), highest + 1),
        _whole(members["seen_ns"]),
        sides,
        _whole(members.get("account_ns", 0)),
        {int(ns): _alert_list_of(each) for ns, each in members.get("others", {}).items()},
    )


def _firing(members: Mapping[str, Any]) -> FiringRecord:
    return FiringRecord(
        str(members["alert_id"])[:20],
        _whole(members["number"]),
        _whole(members["time_ns"]),
        clean(str(members["words"]), MAX_WORDS_LENGTH),
        clean(str(members["value"])),
        late=members["late"] is True,
        delivered=members["told"] is True,
        claimed_ns=_whole(members.get("claimed_ns", 0)),
        taken_over=members.get("taken_over") is True,
    )


def written_alert(alert: Alert) -> dict[str, object]:
    """Return an alert as values of JSON."""
    return {
        "id": alert.id,
        "instrument": alert.condition.instrument,
        "line": alert.condition.saved_line,
        "repeat_s": alert.repeat_s,
        "expires_ns": alert.expires_ns,
        "note": alert.note,
        "state": alert.state,
        "made_ns": alert.made_ns,
        "fired_ns": alert.fired_ns,
        "count": alert.count,
    }


def read_alert(members: Mapping[str, Any]) -> Alert:
    """Return the alert described by values of JSON.

    Raises:
        ValueError, TypeError, KeyError, AlertSyntaxError: they do not describe an alert.
    """
    repeat_s, expires_ns = members["repeat_s"], members["expires_ns"]
    if members["state"] not in STATES:
        raise ValueError(f"{str(members['state'])[:20]!r} is not one of {STATES}")
    return Alert(
        _text(members["id"]),
        read_condition(_text(members["line"]).split(), _text(members["instrument"])),
        made_ns=_whole(members["made_ns"]),
        repeat_s=None if repeat_s is None else _whole(repeat_s),
        expires_ns=None if expires_ns is None else _whole(expires_ns),
        note=_text(members["note"]),
        state=members["state"],
        fired_ns=_whole(members["fired_ns"]),
        count=_whole(members["count"]),
    )


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > MAX_TEXT_LENGTH:
        raise TypeError(f"{str(value)[:20]!r} is not text")
    return value


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < MAX_WHOLE_NUMBER:
        raise TypeError(f"{str(value)[:20]!r} is not a whole number")
    return value
