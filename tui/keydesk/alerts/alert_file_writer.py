"""Keeping the list of alerts: changes are written in a thread, one after another, and firings are claimed before they are delivered."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from keydesk.alerts.alert_file import AlertFile
from keydesk.alerts.alert_list import (
    AlertList,
    AlertListError,
    Change,
    ClaimFirings,
    TakeOver,
    mark_delivered,
)
from keydesk.calc.alerts.alert import Firing, FiringRecord

Level = Literal["info", "good", "warn", "bad"]
Deliver = Callable[[FiringRecord, bool], None]  # the firing; whether this desk claimed it
Tell = Callable[[Level, str], None]
Done = Callable[[str], None]  # gets why a change was refused, "" if it was made


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
        self._shown: set[tuple[str, int]] = set()  # firings delivered here
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
            self.change(mark_delivered(records))

    def _deliver_all(self, firings: Iterable[FiringRecord], *, mine: bool) -> None:
        for each in firings:
            key = (each.alert_id, each.number)
            if key not in self._shown:
                self._shown.add(key)
                self._deliver(each, mine)

    def _take(self, alert_list: AlertList) -> None:
        """Show what another desk delivered meanwhile, and hand the list on."""
        delivered = [each for each in alert_list.history if each.delivered]
        if self.is_loaded:
            self._deliver_all(delivered, mine=False)
        else:  # before this desk was opened
            self._shown |= {(each.alert_id, each.number) for each in delivered}
        self.is_loaded = True
        self._apply(alert_list)
