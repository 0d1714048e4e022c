"""A year of 20 trades a day: opening the journal takes under a second, statistics over it under 200 ms, and the desk goes on meanwhile.

A million transactions: the list opens from the newest part of the cache.
"""

import random
import sys
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from time import process_time
from typing import TypeVar
from zoneinfo import ZoneInfo

import pytest

from keydesk.calc.trade_journal.charts import equity_curve, hours_of_week, r_histogram, trading_days
from keydesk.calc.trade_journal.excursions import CELL
from keydesk.calc.trade_journal.groups import GROUPINGS, GroupContext, grouped
from keydesk.calc.trade_journal.price_paths import PricePath, PriceStep, path_of
from keydesk.calc.trade_journal.rebuild import Journal, rebuild
from keydesk.calc.trade_journal.returns import days_of
from keydesk.calc.trade_journal.statistics import daily_statistics_of, statistics_of
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.calc.trade_journal.what_if import WhatIf, what_if
from keydesk.forms.journal.trades import JournalForm
from keydesk.trade_journal.cache import CachedEvents, append_cache, read_cache
from keydesk.trade_journal.cache_tail import read_tail, with_openings
from keydesk.trade_journal.live import NEWEST
from keydesk.trade_journal.notes_file import Notes
from keydesk.trade_journal.report import page, week_of
from keydesk.trade_journal.rows import RowContext
from support.data.desk_data import frame_of
from support.fakes.journal_app import JournalApp, settle
from support.loop_turns import LoopTurns
from support.practised_account import ID
from support.year_of_trades import LAST_DAY, events_of_days, notes_of_days

pytestmark = pytest.mark.bench

ACCOUNT, CREATED = "101-001-1000001-001", 7
UNREAD = CachedEvents(
    ACCOUNT, CREATED
)  # where no cache is yet: what is appended becomes the whole file
BERLIN = ZoneInfo("Europe/Berlin")
Result = TypeVar("Result")


def timed(what: str, work: Callable[[], Result]) -> tuple[Result, float]:
    """Return the result, and the least CPU milliseconds of five runs."""
    least = float("inf")
    for _ in range(5):
        began = process_time()
        result = work()
        least = min(least, (process_time() - began) * 1000)
    sys.stdout.write(f"{what}: {least:.0f} ms\n")
    return result, least


def test_opening_a_year_from_its_cache(tmp_path: Path) -> None:
    path, events = tmp_path / "journal" / "main.events", tuple(events_of_days())
    whole = CachedEvents(ACCOUNT, CREATED, 99, events)
    append_cache(path, UNREAD, whole)
    journal, cost = timed(
        f"opening {len(events)} events", lambda: rebuild(read_cache(path, ACCOUNT, CREATED).events)
    )
    assert len(journal.closed) == 5200
    assert cost < 1000
    timed("writing all of them", lambda: append_cache(path, UNREAD, whole))
    states = iter(
        [CachedEvents(ACCOUNT, CREATED, 99 + n, (*events, *events[:n])) for n in range(1, 6)]
    )
    state = whole

    def append() -> None:
        nonlocal state
        before, state = state, next(states)
        append_cache(path, before, state)

    _, cost = timed("appending one", append)
    assert cost < 50


def steps_of(trade: JournalTrade, rng: random.Random) -> PricePath:
    """A random walk of 5 seconds around the entry."""
    gain, steps, start = 0, [], trade.opened_ns // CELL * CELL
    for number in range(600):
        gain += rng.randint(-9, 9)
        at = start + number * CELL
        high, low = Decimal(gain + 4).scaleb(-5), Decimal(gain - 4).scaleb(-5)
        steps.append(PriceStep(at, at + CELL, high, -low))
    return path_of(trade, steps, Decimal(gain).scaleb(-5))


def test_statistics_over_a_year() -> None:
    journal, notes = rebuild(events_of_days()), notes_of_days()
    trades = journal.closed

    def figures() -> None:
        statistics_of(trades, Decimal(10_000))
        daily_statistics_of(days_of(journal.balances, journal.start_balance))

    costs = {"figures": timed("all figures", figures)[1]}
    for name in GROUPINGS:
        costs[name] = timed(f"figures by {name}", partial(by_group, journal, name))[1]
    costs["hours"] = timed("hours by weekday", lambda: hours_of_week(trades, BERLIN))[1]
    costs["days"] = timed("calendar", lambda: trading_days(trades))[1]
    costs["curve"] = timed("equity curve", lambda: equity_curve(trades))[1]
    rs = [each.r for each in trades if each.r is not None]
    costs["histogram"] = timed("histogram of R", lambda: r_histogram(rs))[1]
    week, context = week_of(LAST_DAY.date()), RowContext(notes)
    costs["week"] = timed("page of a week", lambda: page(journal, week, context, ""))[1]
    assert max(costs.values()) < 200, costs


def by_group(journal: Journal, name: str) -> None:
    context = GroupContext(journal.trades, notes_of_days(1, 1))
    for own in grouped(journal.closed, name, context).values():
        statistics_of(own)


def test_what_if_over_a_year() -> None:
    rng = random.Random(3)
    trades = rebuild(events_of_days()).closed
    paths = {each.id: steps_of(each, rng) for each in trades}
    kept = sum(len(each.steps) for each in paths.values()) / len(paths)
    sys.stdout.write(f"{kept:.0f} steps kept of 600 a trade\n")
    rule = WhatIf(Decimal("0.5"), Decimal(3), Decimal(1))
    timed("what-if", lambda: what_if(trades, paths, rule))


MAX_TURN_MS = 20.0
KEYS = ("l", "l", "end", "home", "v", "v", "v", "g", "g")


def desk_of_a_year(folder: Path) -> JournalApp:
    """A desk whose journal is in its cache, up to the newest transaction of the broker."""
    app = JournalApp(folder)
    last = int(app.service.history[-1].id)
    cached = CachedEvents(ID, app.service.created_ns, last, tuple(events_of_days()))
    (folder / "journal").mkdir(mode=0o700, parents=True)
    append_cache(folder / "journal" / "main.events", CachedEvents(ID, cached.created_ns), cached)
    return app


async def test_the_desk_goes_on_while_a_year_is_read_and_reckoned(tmp_path: Path) -> None:
    longest: dict[str, float] = {}
    for number in range(3):
        app = desk_of_a_year(tmp_path / f"run {number}")
        found = await turns_of(app)
        for what, turn in found.items():
            longest[what] = min(turn, longest.get(what, turn))
    for what, turn in longest.items():
        sys.stdout.write(f"longest turn of the event loop, {what}: {turn:.1f} ms\n")
    assert max(longest.values()) < MAX_TURN_MS, longest


async def turns_of(app: JournalApp) -> dict[str, float]:
    """Return the longest turn of each thing that is done, in CPU milliseconds of the event loop's thread."""
    found = {}
    async with app.run_test(size=(200, 50)) as pilot:
        app.open()
        live = app.journal.live
        assert live is not None
        with LoopTurns() as turns:
            app.journal.show()
            await settle(app, pilot)
        found["opening the list"] = turns.longest_ms
        live.notes = Notes(notes_of_days())
        form = app.screen
        assert isinstance(form, JournalForm)
        with LoopTurns() as turns:
            form.on_frame(frame_of(app.store))
            for key in KEYS:
                await pilot.press(key)
            for letters in ("eurusd loss", ""):
                form.show_only(letters)
                await pilot.pause()
        found["sorting, filtering, positions"] = turns.longest_ms
        assert len(form.keys) == 5200
        await pilot.press("escape")
        with LoopTurns() as turns:
            app.statistics.show()
            for key in "12346781":
                await settle(app, pilot)
                await pilot.press(key)
            await settle(app, pilot)
        found["statistics"] = turns.longest_ms
        with LoopTurns() as turns:
            app.statistics.show_day(week=True)
            await settle(app, pilot)
        found["page of a week"] = turns.longest_ms
    return found


def test_a_million_transactions_open_from_the_newest_part_of_the_cache(tmp_path: Path) -> None:
    path = tmp_path / "journal" / "main.events"
    events = tuple(events_of_days(2600, 77))
    append_cache(path, UNREAD, CachedEvents(ACCOUNT, CREATED, 9_999_999, events))
    lines, size = len(events), path.stat().st_size
    del events

    def opened() -> CachedEvents:
        return with_openings(path, read_tail(path, ACCOUNT, CREATED, NEWEST), ())

    found, cost = timed(f"opening the newest part of {lines:,} events, {size / 1e6:.0f} MB", opened)
    assert len(found.events) < 3 * NEWEST
    assert len(rebuild(found.events).closed) > NEWEST // 4
    assert cost < 2000
