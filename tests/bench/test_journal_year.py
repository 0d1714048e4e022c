"""A year of 20 trades a day: opening the journal takes under a second, statistics over it under 200 ms, and the desk goes on meanwhile.

A million transactions: the list opens with the newest trades. Five thousand trades: what that costs a desk.
"""

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import partial
from itertools import islice
from pathlib import Path
from time import process_time
from typing import TypeVar
from zoneinfo import ZoneInfo

import pytest

from keydesk.calc.trade_journal.charts import equity_curve, hours_of_week, r_histogram, trading_days
from keydesk.calc.trade_journal.events import Event
from keydesk.calc.trade_journal.excursions import CELL
from keydesk.calc.trade_journal.groups import GROUPINGS, GroupContext, grouped
from keydesk.calc.trade_journal.price_paths import PricePath, PriceStep, path_of
from keydesk.calc.trade_journal.rebuild import Journal, rebuild
from keydesk.calc.trade_journal.returns import days_of
from keydesk.calc.trade_journal.statistics import daily_statistics_of, statistics_of
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.calc.trade_journal.what_if import WhatIf, what_if
from keydesk.forms.journal.table import ListedRow
from keydesk.forms.journal.trades import JournalForm
from keydesk.records.journal import JournalRecords
from keydesk.records.trades import columns_of
from keydesk.trade_journal.csv_rows import RowContext
from keydesk.trade_journal.live import NEWEST
from keydesk.trade_journal.notes_file import Notes
from keydesk.trade_journal.report import page, week_of
from support.data.desk_data import frame_of
from support.fakes.journal_app import JournalApp, settle
from support.large_history import write_history
from support.loop_turns import LoopTurns
from support.practised_account import ID
from support.year_of_trades import LAST_DAY, events_of_days, notes_of_days

pytestmark = pytest.mark.bench

ACCOUNT, CREATED = ID, 7
AT_ONCE = 5000  # events
BERLIN = ZoneInfo("Europe/Berlin")
Result = TypeVar("Result")


def timed(what: str, work: Callable[[], Result], times: int = 5) -> tuple[Result, float]:
    """Return the result, and the least CPU milliseconds of some runs."""
    least = float("inf")
    for _ in range(times):
        began = process_time()
        result = work()
        least = min(least, (process_time() - began) * 1000)
    sys.stdout.write(f"{what}: {least:.0f} ms\n")
    return result, least


def records_of(path: Path | None, events: Iterable[Event], last_id: int = 99) -> JournalRecords:
    """Return records that have taken events, some thousands at a time."""
    records, taken = JournalRecords(path), iter(events)
    records.begin(ACCOUNT, CREATED)
    while part := list(islice(taken, AT_ONCE)):
        kept = records.kept()
        records.add(kept, kept.last_id + 1, part)
    records.add(records.kept(), last_id, ())
    return records


def test_reading_a_year_from_its_records(tmp_path: Path) -> None:
    events = list(events_of_days())
    path = tmp_path / "records" / "main.sqlite"
    records, cost = timed(f"taking {len(events)} events", lambda: records_of(path, events), times=1)
    assert cost < 4000
    journal, cost = timed("reading all of them", JournalRecords(path).journal)
    assert len(journal.closed) == 5200
    assert cost < 1000
    newer = iter(range(100, 200))

    def append() -> None:
        records.add_now(records.kept(), next(newer), events[1:2])

    _, cost = timed("taking one", append)
    assert cost < 5


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
    records = records_of(folder / "records" / "main.sqlite", events_of_days(), last)
    records.database.close()
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
                await settle(app, pilot)
            for filter_text in ("eurusd loss", ""):
                form.show_only(filter_text)
                await settle(app, pilot)
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


def test_the_list_of_a_million_transactions_opens_with_the_newest_trades(tmp_path: Path) -> None:
    path = tmp_path / "records" / "main.sqlite"
    records_of(path, events_of_days(2600, 77)).database.close()

    def opened() -> int:
        records = JournalRecords(path)
        columns = columns_of(records.connection, ListedRow._fields[1:], most=NEWEST)
        return len([ListedRow(*each) for each in columns])

    found, cost = timed(f"the newest of {path.stat().st_size / 1e6:.0f} MB of records", opened)
    assert found == NEWEST
    assert cost < 200


def test_five_thousand_trades_cost_two_seconds_and_forty_megabytes_more_than_none(
    tmp_path: Path,
) -> None:
    costs = {}
    for trades in (1, 5000):
        history, folder = tmp_path / f"{trades}.jsonl", tmp_path / f"home {trades}"
        write_history(history, trades)
        for reading in ("first", "again"):
            costs[trades, reading] = opening_in_a_process(history, folder)
            sys.stdout.write(f"{trades} trades, {reading}: {costs[trades, reading]}\n")
    many, one = costs[5000, "again"], costs[1, "again"]
    assert many["sorted_s"] < 2
    assert many["sorted_mb"] - one["sorted_mb"] < 20
    assert many["statistics_mb"] - one["statistics_mb"] < 40


def opening_in_a_process(history: Path, folder: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "support.large_history", str(history), str(folder)]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[1], check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found
