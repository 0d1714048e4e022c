"""The alerts of an account in the desk's records: each change is made to the list as another desk left it, so that nothing is lost.

A damaged list never stops the desk: it is set aside, which is reported, and begins empty. Where it cannot be written, it stays
in memory, which is reported as well. Each condition stands in the record as its typed line. Changes are written in a thread, one
after another, and firings are claimed in the record before they are delivered.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import time_ns
from typing import Annotated, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import asdict, replace

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
from keydesk.records.desk_records import DeskRecords, Row
from keydesk.records.errors import FAILURES, NOT_KEPT, DamagedRecords
from keydesk.records.json_text import Kind
from keydesk.text.file_errors import file_trouble
from keydesk.text.sanitize import clean

LOCK_TIMEOUT = 2.0  # seconds that another desk may write, in a thread
MAX_WORDS_LENGTH, MAX_TEXT_LENGTH = 400, 200  # characters
ALL_LEDGERS = 0  # a list has those of the ledgers that were left in it

Level = Literal["info", "good", "warn", "bad"]
Deliver = Callable[[FiringRecord, bool], None]  # the firing; whether this desk claimed it
Tell = Callable[[Level, str], None]
Done = Callable[[str], None]  # gets why a change was refused, "" if it was made
Whole = Annotated[int, Meta(ge=0)]
Text = Annotated[str, Meta(max_length=MAX_TEXT_LENGTH)]


class KeptAlert(Struct, frozen=True):
    """An alert in the record: its condition is the line as it is typed."""

    id: Text
    instrument: Text
    line: Text
    repeat_s: Whole | None
    expires_ns: Whole | None
    note: Text
    state: AlertState
    made_ns: Whole
    fired_ns: Whole
    count: Whole

    @classmethod
    def of(cls, alert: Alert) -> "KeptAlert":
        """Return an alert as it is kept."""
        members, condition = asdict(alert), alert.condition
        del members["condition"]
        return cls(instrument=condition.instrument, line=condition.saved_line, **members)

    @property
    def alert(self) -> Alert:
        """The alert; raise AlertSyntaxError if its line makes no sense."""
        members = asdict(self)
        instrument, line = members.pop("instrument"), members.pop("line")
        return Alert(condition=read_condition(line.split(), instrument), **members)


class KeptList(Struct, frozen=True):
    """The list in the record."""

    alerts: tuple[KeptAlert, ...]
    history: tuple[FiringRecord, ...]
    next_id: Whole
    seen_ns: Whole
    sides: Mapping[str, int]
    account_ns: Whole
    others: Mapping[int, "KeptList"]

    @classmethod
    def of(cls, alert_list: AlertList) -> "KeptList":
        """Return a list as it is kept."""
        return cls(
            tuple(map(KeptAlert.of, alert_list.alerts)),
            alert_list.history,
            alert_list.next_id,
            alert_list.seen_ns,
            alert_list.sides,
            alert_list.account_ns,
            {ns: KeptList.of(each) for ns, each in alert_list.others.items()},
        )

    @property
    def alert_list(self) -> AlertList:
        """The list; raise AlertSyntaxError if the line of an alert makes no sense."""
        return AlertList(
            tuple(each.alert for each in self.alerts[:MAX_ALERTS]),
            tuple(map(_cleaned, self.history[-MAX_HISTORY:])),
            self.next_id,
            self.seen_ns,
            self.sides,
            self.account_ns,
            {ns: each.alert_list for ns, each in self.others.items()},
        )


def _cleaned(firing: FiringRecord) -> FiringRecord:
    text, value = clean(firing.text, MAX_WORDS_LENGTH), clean(firing.value)
    return replace(firing, text=text, value=value)


ALERTS = Kind("alerts", KeptList)


class AlertRecords(Struct):
    """The list of an account in the desk's records, or in memory alone where there are none."""

    records: DeskRecords | None
    wall_ns: Callable[[], int] = time_ns
    alert_list: AlertList = field(default_factory=AlertList)
    trouble: str = ""  # why it is not kept; "": it is
    news: str = ""  # what is wrong with it, found while it was changed
    _version: int | None = None  # of the record, as it was last read or written

    def load(self) -> str:
        """Read the list; return what is wrong with it, "" if nothing is."""
        if self.records is None:
            return ""
        try:
            self._version = self.records.version(ALERTS, ALL_LEDGERS)
            self.alert_list = _list_of(self.records.read(ALERTS, ALL_LEDGERS))
        except (DamagedRecords, AlertSyntaxError):
            return self._set_aside(self.records)
        except NOT_KEPT as error:
            self.trouble = file_trouble(error, self.records.path)
            return f"Alerts are not read, and kept in this desk only: {self.trouble}"
        return ""

    def has_changed(self) -> bool:
        """Return whether another desk wrote the list since it was read here."""
        try:
            return (
                self.records is not None
                and self.records.version(ALERTS, ALL_LEDGERS) != self._version
            )
        except FAILURES:
            return False  # a change says why

    def change(self, change: Change) -> AlertList:
        """Apply a change to the list as the record has it now, and write it; return the new list.

        Raises:
            AlertListError: the change makes no sense; nothing was written.
        """
        if self.records is None:
            self.alert_list = change(self.alert_list)
            return self.alert_list
        try:
            self._change(self.records, change)
        except (DamagedRecords, AlertSyntaxError):
            self.news = self._set_aside(self.records)
            return self.change(change) if not self.trouble else self._change_here(change)
        except NOT_KEPT as error:
            self.trouble = file_trouble(error, self.records.path)
            return self._change_here(change)
        self.trouble = ""
        return self.alert_list

    def _change_here(self, change: Change) -> AlertList:
        self.alert_list = change(self.alert_list)
        return self.alert_list

    def _change(self, records: DeskRecords, change: Change) -> None:
        with replace(records, patience=LOCK_TIMEOUT).row(ALERTS, ALL_LEDGERS) as row:
            before = self._as_kept(row)
            after = change(before)
            if after != before or self.trouble:  # the record may have less than this desk
                row.write(KeptList.of(after))
            version = row.version
        self.alert_list, self._version = after, version

    def _as_kept(self, row: Row[KeptList]) -> AlertList:
        """Return the list as the record has it; that of this desk, if it is of the same version."""
        return self.alert_list if row.version == self._version else _list_of(row.read())

    def _set_aside(self, records: DeskRecords) -> str:
        """Set a damaged record aside; return what was done. What this desk knows is written with its next change."""
        self._version = 0
        try:
            if done := records.set_aside_damaged():
                return done
            with records.row(ALERTS, ALL_LEDGERS) as row:
                _set_aside(row)
        except FAILURES as error:
            self.trouble = file_trouble(error, records.path)
            return f"The alerts are damaged and cannot be set aside: {self.trouble}"
        return f"The alerts were damaged: they are set aside in {clean(str(records.path))}, and the list is empty"


def _list_of(kept: KeptList | None) -> AlertList:
    return AlertList() if kept is None else kept.alert_list


def _set_aside(row: Row[KeptList]) -> None:
    """Set the list aside, unless another desk has begun a new one meanwhile."""
    try:
        _list_of(row.read())
    except (DamagedRecords, AlertSyntaxError):
        row.set_aside()


class AlertWriter:
    """Writes the list, claims firings in it, and delivers them.

    Args:
        kept: The list of the account.
        take: Called with the list whenever it was read or changed.
        deliver: Called with each firing: by the desk that claimed it, or another one that saw it written.
        notify: Shows a message about the records.
    """

    def __init__(
        self, kept: AlertRecords, take: Callable[[AlertList], None], deliver: Deliver, notify: Tell
    ) -> None:
        self.kept, self.is_loaded = kept, False
        self._apply, self._deliver, self._notify = take, deliver, notify
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
        """Read the list."""
        text = await asyncio.to_thread(self.kept.load)
        if text:
            self._notify("bad", text)
        self._take(self.kept.alert_list)

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
        if self.kept.alert_list.abandoned(self.kept.wall_ns()):
            taking = TakeOver(self.kept.wall_ns())
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
            alert_list = await asyncio.to_thread(self.kept.change, change)
        except AlertListError as error:
            return str(error)
        self._take(alert_list)
        self._tell_trouble()
        return ""

    def _tell_trouble(self) -> None:
        if self.kept.news:
            self._notify("bad", self.kept.news)
            self.kept.news = ""
        if self.kept.trouble and self.kept.trouble != self._trouble:
            self._notify("warn", f"Alerts are kept in this desk only: {self.kept.trouble}")
        self._trouble = self.kept.trouble

    async def _claim(self) -> None:
        """Claim what fired, in the order of time, and deliver what no other program claimed before."""
        batch = sorted(self.waiting, key=lambda each: each.until_ns)
        self.waiting.clear()
        claim = ClaimFirings(batch, self.kept.wall_ns())
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
            self._shown |= {each.key for one in lists for each in one.history if each.delivered}
        self.is_loaded = True
        self._apply(alert_list)
