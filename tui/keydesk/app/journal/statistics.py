"""Statistics of the open account on the desk: what the pages read, each in a worker, and the pages of days and weeks."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING, Any

from textual.app import App

from keydesk.app.account_connection import DeskAccount
from keydesk.keys.guarded_app import NoticeLevel
from keydesk.store.store import Store
from keydesk.text.sanitize import clean, safe

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from keydesk.calc.trade_journal.trades import JournalTrade
    from keydesk.forms.statistics.page import StatisticsPage
    from keydesk.trade_journal.snapshot import JournalSnapshot
    from keydesk_client.client import Client

NOT_OPEN = "Statistics are computed once the account is open"
SAY_EVERY = 20  # trades


class JournalStatistics:
    """Reads for the pages of statistics, days and weeks; an answer goes to the page that asked.

    Args:
        app: Runs the workers and shows the pages.
        account: Has client and files, once it is open.
        store: Has the trader's zone, the currency, the size of a pip.
        tell: Shows one line to the trader.
    """

    def __init__(
        self,
        app: App[int],
        account: DeskAccount,
        store: Store,
        tell: Callable[[NoticeLevel, str], None],
    ) -> None:
        self._app, self._account, self._store, self._tell = app, account, store, tell

    def show(self, view: int = 1) -> None:
        """Show the page of statistics at a view."""
        from keydesk.forms.statistics.page import StatisticsPage  # noqa: PLC0415 - with the first

        if self._is_open():
            self._app.push_screen(StatisticsPage(self, view))

    def show_day(self, *, week: bool = False) -> None:
        """Show the last day or week with trades."""
        if self._is_open():
            self._run(self._show_day(week=week), "day")

    def open_day(self, snapshot: JournalSnapshot, day: date | None, *, week: bool) -> None:
        """Show a day, or its week."""
        from keydesk.forms.statistics.day import DayPage  # noqa: PLC0415 - with the first

        self._app.push_screen(DayPage(snapshot, day, week=week))

    async def _show_day(self, *, week: bool) -> None:
        from keydesk_client.errors import KeydeskClientError  # noqa: PLC0415

        try:
            snapshot = await self._snapshot(lambda _read, _newest: None)
        except KeydeskClientError as error:
            self._tell("warn", f"The journal cannot be read: {clean(str(error))}")
        else:
            self.open_day(snapshot, None, week=week)

    def _is_open(self) -> bool:
        if self._account.connection is None or self._account.audit is None:
            self._tell("info", NOT_OPEN)
            return False
        return True

    # What the page of statistics asks for.

    def read(self, page: StatisticsPage) -> None:
        """Read the journal up to the newest transaction."""
        self._run(self._guarded(page, self._read(page)), "journal")

    def read_open_profits(self, page: StatisticsPage) -> None:
        """Read the closing prices of days, for the daily net asset values."""
        self._run(self._guarded(page, self._read_open_profits(page)), "open profits")

    def read_excursions(self, page: StatisticsPage, trades: Sequence[JournalTrade]) -> None:
        """Read MAE and MFE of trades."""
        self._run(self._guarded(page, self._read_excursions(page, trades)), "excursions")

    def read_paths(self, page: StatisticsPage, trades: Sequence[JournalTrade]) -> None:
        """Read the way of the price during trades."""
        self._run(self._guarded(page, self._read_paths(page, trades)), "paths")

    async def _guarded(self, page: StatisticsPage, work: Coroutine[Any, Any, None]) -> None:
        """Carry out the work; a refusal or a lost connection is shown on the page."""
        from keydesk_client.errors import KeydeskClientError  # noqa: PLC0415

        try:
            await work
        except KeydeskClientError as error:
            page.take_trouble(
                safe(f"Not everything could be read: {clean(str(error))}. r reads again")
            )

    async def _read(self, page: StatisticsPage) -> None:
        def say(read: int, newest: int) -> None:
            page.take_progress(safe(f"{read:,} of {newest:,} transactions are read …"))

        page.take(await self._snapshot(say))

    async def _snapshot(self, progress: Callable[[int, int], None]) -> JournalSnapshot:
        from keydesk.trade_journal.limit_hits import read_limit_hits  # noqa: PLC0415
        from keydesk.trade_journal.loading import load_journal  # noqa: PLC0415
        from keydesk.trade_journal.notes_file import read_notes  # noqa: PLC0415
        from keydesk.trade_journal.rows import RowContext  # noqa: PLC0415
        from keydesk.trade_journal.snapshot import JournalSnapshot  # noqa: PLC0415

        client, store = self._client, self._store
        journal = await load_journal(client, self._file("events"), progress)
        notes = await asyncio.to_thread(read_notes, self._file("notes.jsonl"))
        limits = await asyncio.to_thread(read_limit_hits, self._audit)
        pips = {name: each.pip for name, each in store.instruments.items()}
        account = store.account
        return JournalSnapshot(
            journal,
            RowContext(notes.by_trade, pips, store.zone),
            limits,
            f"{store.health.environment} {client.account_id}",
            "" if account is None else account.currency,
        )

    async def _read_open_profits(self, page: StatisticsPage) -> None:
        from keydesk.calc.trade_journal.net_asset_values import (  # noqa: PLC0415
            held_over_a_day_end,
            open_profits,
        )
        from keydesk.trade_journal.candles import read_day_closes  # noqa: PLC0415

        snapshot = page.snapshot
        if snapshot is None:
            return
        trades, now = snapshot.journal.trades, self._store.clock_ns or time_ns()
        spans = await asyncio.to_thread(held_over_a_day_end, trades, now)
        closes = await read_day_closes(self._client, spans)
        found: Mapping[int, Decimal] = await asyncio.to_thread(open_profits, trades, closes, now)
        page.take_open_profits(found)

    async def _read_excursions(self, page: StatisticsPage, trades: Sequence[JournalTrade]) -> None:
        from keydesk.trade_journal.candles import read_excursions  # noqa: PLC0415

        def say(read: int, of: int) -> None:
            if not read % SAY_EVERY:
                page.take_progress(safe(f"candles of {read:,} of {of:,} trades are read …"))

        found = await read_excursions(self._client, self._file("excursions"), trades, say)
        page.take_progress("")
        page.take_excursions(found)

    async def _read_paths(self, page: StatisticsPage, trades: Sequence[JournalTrade]) -> None:
        from keydesk.trade_journal.paths import read_paths  # noqa: PLC0415

        def say(read: int, of: int) -> None:
            if not read % SAY_EVERY:
                page.take_progress(safe(f"candles of {read:,} of {of:,} trades are read …"))

        found = await read_paths(self._client, self._file("paths"), trades, say)
        page.take_progress("")
        page.take_paths(found)

    # The account.

    @property
    def _client(self) -> Client:
        connection = self._account.connection
        assert connection is not None  # noqa: S101 - pages open with an open account only
        return connection.commands.client

    @property
    def _audit(self) -> Path:
        audit = self._account.audit
        assert audit is not None  # noqa: S101 - see above
        return audit

    def _file(self, kind: str) -> Path:
        """Return a file of the account's journal, the same for desk and command line."""
        audit = self._audit
        return audit.parent.parent / "journal" / f"{audit.stem}.{kind}"

    def _run(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._app.run_worker(work, name, group=f"statistics {name}", exit_on_error=False)
