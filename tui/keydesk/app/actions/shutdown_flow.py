"""Leave the desk by hand: ask about trades without a stop, and give commands in flight time to finish."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from keydesk.app.lifecycle import LEAVE_TIMEOUT, ForcedExit

if TYPE_CHECKING:
    from keydesk.app.desk import TradingDesk

DRAIN_SECONDS = 1.2  # an order in flight may still be answered
AGAIN_WITHIN = 2.0  # seconds from one Ctrl-C to the next
TO_READ = 0.5  # seconds that a question before leaving is on the screen before Ctrl-C answers it
INTERRUPTED = 130


class ShutdownFlow:
    """Ends the desk by hand, after commands in flight had time to finish.

    Args:
        desk: Has the workers of the group `commands`, which are waited for, and is closed.
        forced_exit: Ends the process when that takes too long.
        clock: Returns monotonic seconds.
    """

    def __init__(
        self,
        desk: TradingDesk,
        forced_exit: ForcedExit,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._desk = desk
        self._clock = clock
        self._forced_exit = forced_exit
        self._interrupted_at = float("-inf")
        self._is_asking = False
        self._begun = False

    def interrupt(self) -> bool:
        """Leave on the second Ctrl-C within two seconds; return whether it was that one.

        Where there is something to decide first, the second one asks, and a third one, once that could be read, leaves.
        """
        now = self._clock()
        since, again = now - self._interrupted_at, now - self._interrupted_at <= AGAIN_WITHIN
        if self._is_asking and since < TO_READ:
            return True
        if again and not self._is_asking and self.ask():
            self._is_asking, self._interrupted_at = True, now
            return True
        if again or self._is_asking:
            self.leave(INTERRUPTED)
            return True
        self._interrupted_at = now
        return False

    def ask_or_leave(self) -> None:
        """Leave the desk; open trades without a stop, and those that are not known, ask once."""
        if not self.ask():
            self.leave()

    def ask(self) -> bool:
        """Ask whether trades without a stop, or that are not known, are to be left; return whether there are any."""
        from keydesk.forms.account.leaving import LeaveForm, must_ask  # noqa: PLC0415 - with the first form

        if not must_ask(self._desk.store):
            return False
        self._desk.window.app.push_screen(LeaveForm(self._desk.store), self._leave_if_sure)
        return True

    def _leave_if_sure(self, yes: bool | None) -> None:
        if yes:
            self.leave()
        else:
            self.stay()

    def stay(self) -> None:
        """Note that the trader decided to stay: the next Ctrl-C is the first one again."""
        self._is_asking, self._interrupted_at = False, float("-inf")

    def leave(self, code: int = 0) -> None:
        """Leave after commands in flight had time to finish."""
        if self._begun:
            return
        self._begun = True
        self._forced_exit.arm(code, DRAIN_SECONDS + LEAVE_TIMEOUT)
        self._desk.window.app.run_worker(self._drain_and_exit(code), "leaving", group="lifecycle")

    async def _drain_and_exit(self, code: int) -> None:
        app = self._desk.window.app
        workers = app.workers
        commands = [each for each in workers if each.group == "commands" and each.is_running]
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                await asyncio.gather(*(each.wait() for each in commands), return_exceptions=True)
        self._desk.close()
        app.exit(code, return_code=code)
