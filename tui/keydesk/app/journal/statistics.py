"""Statistics of the open account on the desk: what the pages read, each in a worker, and the pages of days and weeks."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from textual.app import App
from textual.screen import Screen
from textual.worker import Worker

from keydesk.app.desk_account import DeskAccount
from keydesk.app.journal.account_journal import NOT_OPEN, AccountJournal
from keydesk.screens.desk import DeskScreen
from keydesk.store.store import Store
from keydesk.text.format import account_tail, counted
from keydesk.text.sanitize import SafeText, clean, clean_name, safe

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from keydesk.calc.trade_journal.trades import JournalTrade
    from keydesk.forms.statistics.day import DayPage
    from keydesk.forms.statistics.page import StatisticsPage
    from keydesk.trade_journal.live import LiveJournal
    from keydesk.trade_journal.snapshot import JournalSnapshot

    Reading = Callable[[StatisticsPage], Coroutine[Any, Any, None]]

SAY_EVERY = 5  # trades
TOGETHER = 40  # trades whose excursions are read, then shown
DAY_READS = "The journal is being read; the day is shown once it is"
OLDER_READ = 1.0  # seconds between looks while older transactions are read
ANOTHER_READS = 0.1  # seconds between looks while another page reads the journal


class JournalStatistics:
    """Reads for the pages of statistics, days and weeks; an answer goes to the page that asked.

    Args:
        app: Runs the workers and shows the pages.
        account: Has the audit log, once it is open.
        store: Has the broker's time, the trader's zone, the currency.
        journal: Has the trades.
    """

    def __init__(
        self,
        app: App[int],
        account: DeskAccount,
        store: Store,
        journal: AccountJournal,
    ) -> None:
        self._app, self._account, self._store = app, account, store
        self._journal, self._tell = journal, store.notify
        self._awaits_day = False

    def show(self, view: int = 1) -> None:
        """Show the page of statistics at a view."""
        from keydesk.forms.statistics.page import StatisticsPage  # noqa: PLC0415 - with the first

        if self._is_open():
            self._app.push_screen(StatisticsPage(self, view))

    def show_day(self, *, week: bool = False) -> None:
        """Show the last day or week with trades."""
        if not self._is_open():
            return
        is_silent = self._store.health.unanswered_since is not None
        if not self._live.is_read or self._awaits_day or is_silent:
            self._tell("info", DAY_READS)
        if not self._awaits_day:
            self._awaits_day = True
            self._run(partial(self._show_day, self._app.screen, week=week), "day")

    def open_day(self, snapshot: JournalSnapshot, day: date | None, *, week: bool) -> DayPage:
        """Show a day, or its week."""
        from keydesk.forms.statistics.day import DayPage  # noqa: PLC0415 - with the first

        page = DayPage(snapshot, day, week=week)
        self._app.push_screen(page)
        return page

    async def _complete_day(self, page: DayPage) -> None:
        """Give the page all trades once the older transactions are read."""
        while page.is_attached and self._live.part:  # noqa: ASYNC110 - minutes of a large account
            await asyncio.sleep(OLDER_READ)
        if page.is_attached:
            page.show_journal(await self._snapshot())

    async def _show_day(self, over: Screen[Any], *, week: bool) -> None:
        """Show the day, but not over a form that was opened meanwhile, and never of a journal that is not read."""
        try:
            snapshot = await self._snapshot()
        finally:
            self._awaits_day = False
            self._store.take_back(DAY_READS)
        trouble = self._live.trouble
        if trouble:
            self._tell("warn", trouble)
        if not self._live.is_read:
            return
        screen = self._app.screen
        if screen is over or isinstance(screen, DeskScreen):
            page = self.open_day(replace(snapshot, trouble=trouble), None, week=week)
            if snapshot.part:
                self._run(partial(self._complete_day, page), "older days")
        else:
            self._tell("info", "The journal is read: :day shows the day")

    def _is_open(self) -> bool:
        if self._journal.live is None:
            self._tell("info", NOT_OPEN)
        return self._journal.live is not None

    # What the page of statistics asks for.

    @property
    def progress(self) -> SafeText:
        """The progress of reading the journal, in words."""
        return self._live.progress

    @property
    def stamp(self) -> object:
        """A value that changes whenever the journal changes."""
        return self._live.stamp

    def read(self, page: StatisticsPage) -> None:
        """Read the journal up to the newest transaction."""
        self._run(partial(self._read, page), "journal")

    def read_open_profits(self, page: StatisticsPage) -> None:
        """Read the closing prices of days, for the daily net asset values."""
        self._run(partial(self._guarded, page, self._read_open_profits), "open profits")

    def read_excursions(self, page: StatisticsPage, trades: Sequence[JournalTrade]) -> None:
        """Read MAE and MFE of trades."""
        self._run(partial(self._read_excursions, page, trades), "excursions")

    def read_paths(self, page: StatisticsPage, trades: Sequence[JournalTrade]) -> None:
        """Read the price paths of trades."""
        reading = partial(self._read_paths, trades=trades)
        self._run(partial(self._guarded, page, reading), "paths")

    async def _guarded(self, page: StatisticsPage, work: Reading) -> None:
        """Carry out the work; a refusal or a lost connection is shown on the page."""
        from keydesk_client.errors import KeydeskClientError  # noqa: PLC0415

        try:
            await work(page)
        except KeydeskClientError as error:
            text = f"Not everything could be read: {clean(str(error))}. r reads again"
            page.show_error(safe(text))

    async def _read(self, page: StatisticsPage) -> None:
        snapshot = await self._snapshot()
        page.show_journal(snapshot, self.stamp)
        if self._live.trouble:
            page.show_error(safe(f"{self._live.trouble}. r reads again"))

    async def _snapshot(self) -> JournalSnapshot:
        """Return the journal up to the newest transaction, or as far as it can be read."""
        from keydesk.trade_journal.csv_rows import RowContext  # noqa: PLC0415
        from keydesk.trade_journal.snapshot import JournalSnapshot, read_limit_hits  # noqa: PLC0415

        live, store = self._live, self._store
        await self._journal.read_now(whole=True)
        while live.is_reading:  # noqa: ASYNC110 - another page reads; it ends in a moment
            await asyncio.sleep(ANOTHER_READS)
        await live.reread_notes()
        audit, account = self._account.audit, store.account
        limits = () if audit is None else await asyncio.to_thread(read_limit_hits, audit)
        return JournalSnapshot(
            await live.whole(),
            RowContext(live.notes.by_trade, live.pips, store.zone),
            limits,
            f"{store.health.environment} …{clean_name(account_tail(live.client.account_id or ''))}",
            "" if account is None else account.currency,
            part=live.part,
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
        trades, now = snapshot.journal.trades, self._store.clock_ns
        spans = await asyncio.to_thread(held_over_a_day_end, trades, now)
        closes = await read_day_closes(self._live.client, spans)
        profits: Mapping[int, Decimal] = await asyncio.to_thread(open_profits, trades, closes, now)
        page.show_open_profits(profits)

    async def _read_excursions(self, page: StatisticsPage, trades: Sequence[JournalTrade]) -> None:
        live = self._live
        known = await asyncio.to_thread(live.known_excursions, trades)
        missing = [each for each in trades if each.id not in known]
        trouble = live.excursions_trouble
        for start in range(0, len(missing), TOGETHER):
            page.show_excursions(dict(known))
            page.show_progress(_candles_text(start, len(missing)))
            part = missing[start : start + TOGETHER]
            await live.read_excursions(part)
            known |= live.known_excursions(part)
            trouble = live.excursions_trouble or trouble
            if live.pauses:
                break
        page.show_progress("")
        page.show_excursions(known)
        if trouble:
            page.show_error(safe(f"{trouble}. r reads again"))

    async def _read_paths(self, page: StatisticsPage, trades: Sequence[JournalTrade]) -> None:
        from keydesk.trade_journal.paths import read_paths  # noqa: PLC0415

        def show_progress(read: int, of: int) -> None:
            if not read % SAY_EVERY:
                page.show_progress(_candles_text(read, of))

        live = self._live
        page.show_progress(_candles_text(0, len(trades)))
        database = live.excursions.database or live.records.database
        paths = await read_paths(live.client, database, trades, show_progress, page.show_paths)
        page.show_progress("")
        page.show_paths(paths)

    @property
    def _live(self) -> LiveJournal:
        live = self._journal.live
        assert live is not None  # noqa: S101 - pages open with an open account only
        return live

    def _run(self, work: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        group = f"statistics {name}"
        _: Worker[None] = self._app.run_worker(
            work,
            name,
            group=group,
            description=name,  # else the repr of all its arguments: every trade
            exit_on_error=False,
        )


def _candles_text(read: int, of: int) -> SafeText:
    return safe(f"candles of {read:,} of {counted(of, 'trade')} are read …")
