"""The account of the desk: opening it once the first frame is painted, its files and its audit log, and what forms ask of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from time import monotonic, time_ns
from typing import TYPE_CHECKING

from textual.app import App

from keydesk.app.account_connection import Connection, open_account
from keydesk.app.account_sources import AccountAddress
from keydesk.keys.guarded_app import GuardedKeys
from keydesk.keys.keymap import KeyMap
from keydesk.settings.values import Reconciliation
from keydesk.store.state import Notice, NoticeLevel
from keydesk.store.store import Store
from keydesk.text.file_errors import file_trouble
from keydesk.text.sanitize import safe
from keydesk.trading.desk_session import DeskSession

if TYPE_CHECKING:
    from keydesk.records.desk_records import DeskRecords
    from keydesk.trading.commands import Instruction
    from keydesk.trading.message_log import MessageLog


class DeskAccount:
    """The account of the desk while it is open, and this desk among the others that have it open.

    Args:
        store: The state of account and market.
        keymap: The keys, as messages name them.
        state: The folder of order journals and audit logs.
        checks: When the account is compared with the broker's.
        keys: When one was pressed last, which says what was read.
    """

    def __init__(
        self,
        store: Store,
        keymap: KeyMap,
        state: Path,
        checks: Reconciliation,
        keys: GuardedKeys,
    ) -> None:
        self.connection: Connection | None = None
        self._store, self._keymap, self._state, self._checks = store, keymap, state, checks
        self._keys = keys
        self._session: DeskSession | None = None
        self.audit: Path | None = None  # the audit log, once the account is known
        self._messages: MessageLog | None = None

    async def run(self, target: AccountAddress, on_open: Callable[[Connection], None]) -> None:
        """Open the account, call `on_open`, and run its feeds until cancelled."""
        journal, audit = (self._state / f"{target.records}.{kind}" for kind in ("journal", "audit"))
        self._session = session = DeskSession(
            self._state,
            target.shared_records,
            wall_ns=lambda: self._store.time_ns(monotonic(), time_ns()),
        )
        self.audit = audit
        opening = open_account(
            target,
            self._store,
            journal,
            audit,
            self._keymap,
            reconciliation=self._checks,
            session=session,
        )
        try:
            async with opening as connection:
                self.connection = connection
                self._store.audit.listen(connection.commands.dispatcher.record)
                session.open()  # the journal has made its folder
                if damaged := await asyncio.to_thread(self._set_aside_damaged):
                    self._store.notify("bad", damaged)
                connection.exit_plans.open(self.records)
                await self._keep_messages(self.file("messages"), target)
                for name, left in session.pop_left_over().items():
                    text = safe(left.late_text(self._store.zone))
                    self._store.add_notice(
                        Notice(left.level, text, time_ns(), asks=True, outcome=name)
                    )
                on_open(connection)
                if (
                    why := self._store.sent.no_orders
                ):  # last: the newest message stands above the others
                    self._store.notify("bad", f"EXITS ONLY, no order journal: {why}")
                await connection.run()
        finally:
            session.key_pressed(self._keys.last_key_at)
            session.close()

    def file(self, kind: str) -> Path:
        """Return a file of the account in the state folder, the same for every profile that opens it."""
        assert self._session is not None  # noqa: S101 - of an open account
        return self._state / f"{self._session.name}.{kind}"

    def _set_aside_damaged(self) -> str:
        """Keep damaged records under another name; return what was done, or why it was not, "" if nothing had to be."""
        try:
            return self.records.set_aside_damaged()
        except OSError as error:
            return f"The records of this desk are damaged and cannot be renamed: {file_trouble(error, self.records.path)}"

    @property
    def records(self) -> DeskRecords:
        """What the desks of the account keep for each other and for the next start."""
        from keydesk.records.desk_records import DeskRecords  # noqa: PLC0415 - SQLite is loaded after the first picture

        assert self._session is not None  # noqa: S101 - of an open account
        return DeskRecords.of(self._state, self._session.name)

    async def _keep_messages(self, path: Path, target: AccountAddress) -> None:
        """Read the messages that earlier desks left, and write those of this one from now on."""
        from keydesk.trading.message_log import MessageLog, read_messages  # noqa: PLC0415 - with the account

        self._store.kept_notices = await asyncio.to_thread(read_messages, path)
        self._messages = MessageLog(path, target.token.redact)

    def note_painted(self, outcomes: Iterable[str]) -> None:
        """Note that these outcomes stand on the screen."""
        if self._session is not None:
            for name in outcomes:
                self._session.shown(name)

    def keep_outcome(self, name: str, level: NoticeLevel, text: str) -> bool:
        """Keep an outcome of another account until it is read here; return False while this account is not open."""
        if self._session is None or self.connection is None:
            return False
        self._session.keep_outcome(name, level, text)
        return True

    def forget_outcome(self, name: str) -> None:
        """Note that another account's desk keeps an outcome of this one from now on."""
        if self._session is not None:
            self._session.forget_outcome(name)

    def check(self) -> None:
        """Tell of other programs' fills, write new messages, note which outcomes were read, and report other desks that came or went."""
        if self.connection is not None:
            self.connection.notifier.check()
        if self._messages is not None and (fresh := self._store.pop_unkept_notices()):
            self._messages.write(fresh)
        if self._session is not None:
            self._session.key_pressed(self._keys.last_key_at)
            for level, text in self._session.changed():
                self._store.add_notice(Notice(level, safe(text), time_ns(), asks=level == "warn"))

    def revalue(self, now: float) -> None:
        """Update profit, margin and totals after the prices that changed, before they are drawn."""
        if self.connection is not None:
            from keydesk.store.valuation import revalue  # noqa: PLC0415 - loaded with the account

            revalue(self._store, now)


class AccountRequests:
    """Runs what forms ask of the account: orders and a price, each in a worker.

    Args:
        app: Runs the workers.
        account: Is asked, once it is open.
        store: Shows messages.
    """

    def __init__(self, app: App[int], account: DeskAccount, store: Store) -> None:
        self._app, self._account, self._store = app, account, store

    def execute(self, instruction: Instruction | None) -> None:
        """Start a command in its own worker."""
        if instruction is None:
            return
        if self._account.connection is None:
            self._store.notify("bad", "NOT SENT: the account is not open yet")
            return
        self._app.run_worker(
            self._account.connection.commands.execute(instruction),
            type(instruction).__name__,
            group="commands",
            exit_on_error=False,
        )

    def ask_price(self, instrument: str) -> None:
        """Read the price of an instrument again for an open form."""
        if self._account.connection is not None:
            asking = self._account.connection.commands.requote(instrument)
            name = f"price of {instrument}"
            self._app.run_worker(asking, name, group="quotes", exit_on_error=False)
