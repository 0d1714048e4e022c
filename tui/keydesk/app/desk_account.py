"""The account of the desk: opening it once the first frame is painted, its files and its audit log, and what forms ask of it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING

from textual.app import App

from keydesk import forms
from keydesk.app.account_connection import Connection, load_all, open_account
from keydesk.app.account_sources import AccountAddress, AccountSource, CannotOpen
from keydesk.app.desk_session import DeskSession
from keydesk.app.garbage_collection import settle
from keydesk.config.settings import Reconciliation
from keydesk.keys.guarded_app import NoticeLevel
from keydesk.keys.keymap import KeyMap
from keydesk.store.state import Notice
from keydesk.store.store import Store
from keydesk.text.sanitize import safe

if TYPE_CHECKING:
    from keydesk.calc.orders.instructions import Instruction
    from keydesk.forms.sheet import FormContext

LONG_START = 5.0  # seconds after which a message names the reason for waiting
MAX_UNRECORDED = 100  # entries from before the account is known


class DeskAccount:
    """The account of the desk while it is open, and this desk among the others that have it open.

    Args:
        store: The state of account and market.
        keymap: The keys, as messages name them.
        state: The folder of order journals and audit logs.
        checks: When the account is compared with the broker's.
        tell: Shows one line to the trader.
        last_key_at: When a key was pressed last, which says what was read.
    """

    def __init__(
        self,
        store: Store,
        keymap: KeyMap,
        state: Path,
        checks: Reconciliation,
        *,
        tell: Callable[[NoticeLevel, str], None],
        last_key_at: Callable[[], float],
    ) -> None:
        self.connection: Connection | None = None
        self._store, self._keymap, self._state, self._checks = store, keymap, state, checks
        self._tell = tell
        self._last_key_at = last_key_at
        self._session: DeskSession | None = None
        self.audit: Path | None = None  # the audit log, once the account is known
        self._unrecorded: deque[tuple[str, str]] = deque(maxlen=MAX_UNRECORDED)

    async def run(self, target: AccountAddress, on_open: Callable[[Connection], None]) -> None:
        """Open the account, call `on_open`, and run its feeds until cancelled."""
        journal, audit = (self._state / f"{target.records}.{kind}" for kind in ("journal", "audit"))
        self._session = session = DeskSession.of(self._state, target)
        self.audit = audit
        opening = open_account(
            target,
            self._store,
            journal,
            audit,
            self._keymap,
            reconciliation=self._checks,
            unread=session,
        )
        try:
            async with opening as connection:
                self.connection = connection
                session.open()  # the journal has made its folder
                connection.exit_plans.open(self.file("exit-plans"))
                for name, left in session.pop_left_over().items():
                    text = safe(left.late_text(self._store.zone))
                    self._store.notify(Notice(left.level, text, time_ns(), asks=True, outcome=name))
                if why := connection.commands.no_orders:
                    self._tell("bad", f"EXITS ONLY, no order journal: {why}")
                on_open(connection)
                await connection.run()
        finally:
            session.key_pressed(self._last_key_at())
            session.close()

    def file(self, kind: str) -> Path:
        """Return a file of the account in the state folder, the same for every profile that opens it."""
        assert self._session is not None  # noqa: S101 - of an open account
        return self._state / f"{self._session.name}.{kind}"

    def record(self, what: str, text: str) -> None:
        """Write an entry to the audit log of the account; those from before it is open are written then."""
        if self.connection is None:
            self._unrecorded.append((what, text))
            return
        write = self.connection.commands.dispatcher.record
        while self._unrecorded:
            write(*self._unrecorded.popleft())
        write(what, text)

    def note_painted(self, outcomes: Iterable[str]) -> None:
        """Note that these outcomes stand on the screen."""
        if self._session is not None:
            for name in outcomes:
                self._session.shown(name)

    def check(self) -> None:
        """Note which outcomes were read, and report other desks that came or went."""
        if self._session is not None:
            self._session.key_pressed(self._last_key_at())
            for level, text in self._session.changed():
                self._store.notify(Notice(level, safe(text), time_ns(), asks=level == "warn"))

    def revalue(self, store: Store, now: float) -> None:
        """Update what depends on prices before it is drawn."""
        if self.connection is not None:
            self.connection.revalue(store, now)


class AccountStart:
    """Opens the account and keeps it open.

    Args:
        app: Runs the workers.
        source: Finds the account, or starts the practice broker.
        account: The account to open.
        tell: Shows one line to the trader.
        on_open: Called with the open account.
        on_failure: Called with the reason when the account cannot be opened.
        draw_now: Draws a frame at once.
    """

    def __init__(
        self,
        app: App[int],
        source: AccountSource,
        account: DeskAccount,
        *,
        tell: Callable[[NoticeLevel, str], None],
        on_open: Callable[[Connection], None],
        on_failure: Callable[[str], None],
        draw_now: Callable[[], object],
    ) -> None:
        self._app, self._source, self._account = app, source, account
        self._tell, self._on_open, self._on_failure = tell, on_open, on_failure
        self._draw_now = draw_now

    async def run(self, on_address: Callable[[AccountAddress], None]) -> None:
        """Find the account, call `on_address`, open it, and run its feeds until cancelled."""
        load_all()  # the practice broker is starting meanwhile
        try:
            target = await self._target()
        except CannotOpen as error:
            self._on_failure(str(error))
            return
        on_address(target)
        keeping = self._source.supervise(partial(self._tell, "bad"))
        self._app.run_worker(keeping, "broker", group="feeds")
        await self._account.run(target, self._account_opened)

    async def _target(self) -> AccountAddress:
        text = "The broker is still starting: a large ledger takes a while to read"
        waiting = self._app.set_timer(LONG_START, partial(self._tell, "info", text))
        try:
            return await self._source.target()
        finally:
            waiting.stop()

    def _account_opened(self, connection: Connection) -> None:
        self._on_open(connection)
        first = self._draw_first_prices(connection.feed.priced)
        self._app.run_worker(first, "first prices", group="feeds")

    async def _draw_first_prices(self, priced: asyncio.Event) -> None:
        """Draw the first prices when they come, not with the next beat.

        The forms that trade are loaded before: keys that are typed at the sight of prices must not wait for that.
        """
        forms.load()
        with suppress(TimeoutError):
            async with asyncio.timeout(LONG_START):
                await priced.wait()
            self._draw_now()
        self._app.call_after_refresh(settle)


class AccountRequests:
    """Runs what forms ask of the account: orders and a price, each in a worker.

    Args:
        app: Runs the workers.
        account: Is asked, once it is open.
        tell: Shows one line to the trader.
    """

    def __init__(
        self, app: App[int], account: DeskAccount, tell: Callable[[NoticeLevel, str], None]
    ) -> None:
        self._app, self._account, self._tell = app, account, tell

    def facts_for_form(self, context: FormContext) -> FormContext:
        """Return the context of a form with what the open account knows of orders."""
        if self._account.connection is None:
            return context
        commands = self._account.connection.commands
        return replace(
            context,
            no_orders=commands.no_orders,
            sent_like_this=commands.sent_like_this,
            take_refused=commands.refused.take,
            quote_trouble=lambda instrument: commands.quote_trouble.get(instrument, ""),
        )

    def execute(self, instruction: Instruction | None) -> None:
        """Start a command in its own worker."""
        if instruction is None:
            return
        if self._account.connection is None:
            self._tell("bad", "NOT SENT: the account is not open yet")
            return
        self._app.run_worker(
            self._account.connection.execute(instruction),
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
