"""Open another account in this desk: the account that was open is left in good order, and the desk is built anew on the other.

A new store, new forms and a new guard: nothing of one account can be shown or sent on the other. Commands under way keep
the connection of the account that was left until each has its outcome, which is written to that account's journal and told
on the desk that is open then.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from time import time_ns
from typing import TYPE_CHECKING

from textual.worker import Worker, WorkerError

from keydesk.app.account_sources import AccountSource, CannotOpen
from keydesk.settings.values import PRACTICE_MARKET
from keydesk.store.state import Notice
from keydesk.text.format import account_tail, counted
from keydesk.text.sanitize import Printable, clean, clean_name, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from keydesk.app.account_sources import AccountAddress
    from keydesk.app.accounts.account_window import AccountWindow
    from keydesk.app.desk import TradingDesk

COMMANDS, FEEDS = "commands", "feeds"
KEPT = frozenset((COMMANDS, "settings", "lifecycle", "accounts", "left account", "brokers"))
"""Groups of workers that go on when the desk changes; the others belong to the account that is left."""
CONNECTION = "account"  # the worker that holds the connection
CLOSED_WITHIN = 3.0  # seconds
KEYS_OF_BEFORE = "Keys typed while the account changed were dropped"


class AccountSwitch:
    """Opens another account in the desk's window.

    Args:
        app: Has the desk, and builds the next one.
    """

    def __init__(self, app: AccountWindow) -> None:
        self._app = app
        self._left: set[str] = set()  # records of accounts that were left with commands under way

    def why_not(self, records: str) -> str:
        """Return why an account cannot be opened now, "" if it can; `records` are the names of their files."""
        if records in self._left:
            return "an order of that account is still under way; wait for its outcome"
        target = self._app.target
        if target is not None and target.records == records:
            sent = [
                each
                for each in self._app.desk.store.in_flight.values()
                if each.state != "unconfirmed"
            ]
            if sent:
                return f"an order is under way ({sent[0].line}); wait for its outcome"
        return ""

    async def open(self, source: AccountSource) -> bool:
        """Open an account in place of the one that is open; return whether that was done.

        The other account is tried first: where it cannot be opened, this one stays.
        """
        notify = self._app.desk.store.notify
        try:
            target = await source.target()
        except CannotOpen as error:
            notify("bad", f"NOT OPENED: {clean(str(error))}. This account stays open")
            return False
        if why := self.why_not(target.records):
            notify("warn", f"NOT OPENED: {why}")
            return False
        self._app.is_changing, self._app.are_keys_dropped = True, False
        try:
            await self._leave_and_open(source, target)
        finally:
            self._app.is_changing = False
        if self._app.are_keys_dropped:  # said on the desk that is open now
            self._app.desk.store.notify("warn", KEYS_OF_BEFORE)
        return True

    async def _leave_and_open(self, source: AccountSource, target: AccountAddress) -> None:
        app, old = self._app, self._app.desk
        old_name, old_target = app.account_name, app.target
        old.close(f"another account is opened: {source.name}")
        commands, connection = self._stop_workers()
        if old_target is not None and commands:
            self._left.add(old_target.records)
            finishing = self._finish(old, old_name, old_target.records, commands, connection)
            app.run_worker(finishing, f"orders of {old_name}", group="left account")
        else:
            await _end(connection)
        await app.change_desk(source, target)
        self._say_what_was_left(old, old_name, is_told=bool(commands))
        arms = app.desk.keymap.name("arm")
        app.desk.store.notify("info", f"Opened {app.account_name}. Exits only until {arms} arms")

    def _say_what_was_left(self, old: TradingDesk, name: Printable, *, is_told: bool) -> None:
        """Say what pauses on the account that was left, and which of its orders are under way."""
        notify = self._app.desk.store.notify
        counts = (
            (len(old.store.exit_plans), "exit plan"),
            (len(old.store.alerts), "alert"),
        )
        paused = " and ".join(counted(count, what) for count, what in counts if count)
        if paused:
            notify("warn", f"{name}: {paused} paused until that account is opened again")
        for each in old.store.in_flight.values():
            is_looked_up = each.state == "unconfirmed" or not is_told
            then = (
                "it is looked up when that account is opened again"
                if is_looked_up
                else "its outcome will be told here"
            )
            notify("warn", f"{name}: {each.line}; {then}")

    def _stop_workers(self) -> tuple[Sequence[Worker[object]], Worker[object] | None]:
        """Stop what belongs to the open account; return its commands under way, and the worker of its connection."""
        commands: list[Worker[object]] = []
        connection: Worker[object] | None = None
        for worker in list(self._app.workers):
            if worker.is_finished:
                continue
            if worker.group == FEEDS and worker.name == CONNECTION:
                connection = worker
            elif worker.group == COMMANDS:
                commands.append(worker)
            elif worker.group not in KEPT:
                worker.cancel()
        return commands, connection

    async def _finish(
        self,
        old: TradingDesk,
        name: Printable,
        records: str,
        commands: Sequence[Worker[object]],
        connection: Worker[object] | None,
    ) -> None:
        """Wait for the outcomes of an account that was left, tell each, and close its connection."""
        known = {id(each) for each in old.store.notices}
        under_way = {asyncio.ensure_future(_ended(each)) for each in commands}
        try:
            while under_way:
                _, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                self._tell_outcomes(old, name, known)
            await _end(connection)
        finally:
            self._left.discard(records)

    def _tell_outcomes(self, old: TradingDesk, name: Printable, known: set[int]) -> None:
        """Tell the messages that an account got after it was left, each with its name."""
        for notice in old.store.notices:
            if id(notice) in known:
                continue
            known.add(id(notice))
            text = safe(f"{name}: {notice.text}")
            self._app.desk.store.add_notice(
                Notice(notice.level, text, time_ns(), asks=True, outcome=notice.outcome)
            )
            if notice.outcome and self._app.desk.account.keep_outcome(
                notice.outcome, notice.level, text
            ):
                old.account.forget_outcome(notice.outcome)


async def _ended(worker: Worker[object]) -> None:
    with suppress(WorkerError):
        await worker.wait()


async def _end(connection: Worker[object] | None) -> None:
    """Cancel the worker of a connection, and wait until it closed its files."""
    if connection is None:
        return
    connection.cancel()
    with suppress(TimeoutError):
        async with asyncio.timeout(CLOSED_WITHIN):
            await _ended(connection)


def name_of_account(source: AccountSource, target: AccountAddress) -> Printable:
    """Return an account in words: PRACTICE main …-002."""
    if source.name == PRACTICE_MARKET:
        return safe("the practice market")
    tail = clean_name(account_tail(target.account_id))
    return safe(f"{source.environment} {clean(source.name)} …{tail}")
