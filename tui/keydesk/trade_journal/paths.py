"""The price paths of closed trades, from the records or from the broker's candles."""

import asyncio
import time
from collections.abc import Callable, Sequence
from decimal import Decimal

from keydesk.calc.trade_journal.excursions import CandleRange, are_over, length_of
from keydesk.calc.trade_journal.price_paths import (
    PricePath,
    PriceStep,
    path_of,
    path_plan,
    step_of,
)
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.records.database import Database
from keydesk.records.errors import NOT_KEPT, DamagedRecords
from keydesk.records.price_paths import KeptPaths
from keydesk.trade_journal.candles import AT_ONCE, closing_candles
from keydesk_client.client import Client
from keydesk_client.errors import Refused

KEPT_TOGETHER = 40  # trades that are written at once
NOT_OFFERED = (400, 404)  # the answer about an instrument that the account has no more
Progress = Callable[[int, int], None]


def with_r(trades: Sequence[JournalTrade]) -> list[JournalTrade]:
    """Return the closed trades with a first stop, whose paths are of use."""
    return [each for each in trades if each.is_closed and each.initial_stop is not None]


async def read_paths(
    client: Client,
    database: Database,
    trades: Sequence[JournalTrade],
    progress: Progress | None = None,
    partly: Callable[[KeptPaths], None] | None = None,
) -> KeptPaths:
    """Return the paths of closed trades with a first stop, from the records or from candles; others are left out.

    Args:
        client: Reads the candles.
        database: Has those that are kept.
        trades: Trades, not rolled up.
        progress: Called with the number of trades read, and of those to read.
        partly: Called with the paths known so far, after the records, then each time they have doubled:
            whoever shows them computes them all.
    """
    wanted = with_r(trades)
    known = await asyncio.to_thread(KeptPaths.of, database, wanted)
    missing = [each for each in wanted if each.id not in known]
    done = 0

    async def fetch(trade: JournalTrade) -> tuple[JournalTrade, PricePath | None, bool]:
        nonlocal done
        async with slots:
            fetched, is_final = await _fetch(client, trade)
        done += 1
        if progress is not None:
            progress(done, len(missing))
        return trade, fetched, is_final

    slots = asyncio.Semaphore(AT_ONCE)
    shown = {0, *(KEPT_TOGETHER << n for n in range(len(missing).bit_length()))}
    for start in range(0, len(missing), KEPT_TOGETHER):
        if partly is not None and start in shown:
            partly(known.as_known_now())
        part = missing[start : start + KEPT_TOGETHER]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(fetch(each)) for each in part]
        except (
            ExceptionGroup
        ) as errors:  # not `except*`: before 3.11.4 it groups what is raised in it, too
            raise errors.exceptions[0] from None
        await asyncio.to_thread(_take, known, [task.result() for task in tasks])
    return known


def _take(known: KeptPaths, answers: Sequence[tuple[JournalTrade, PricePath | None, bool]]) -> None:
    """Keep final paths; hold the others, and those that cannot be written."""
    final = [(trade, path) for trade, path, is_final in answers if path and is_final]
    held = [(trade, path) for trade, path, is_final in answers if path and not is_final]
    try:
        known.keep(final)
    except (*NOT_KEPT, DamagedRecords):
        held += final
    for trade, path in held:
        known.hold(trade.id, path)


async def _fetch(client: Client, trade: JournalTrade) -> tuple[PricePath | None, bool]:
    """Return the path of a trade, and whether its candles are complete: what forms yet is not kept."""
    steps: list[PriceStep] = []
    last: Decimal | None = None
    complete, plan, asked_ns = True, path_plan(trade), time.time_ns()
    try:
        for part in plan:
            last_of_part, is_whole = await _fetch_part(client, trade, part, steps)
            last = last_of_part if last_of_part is not None else last
            complete = complete and is_whole
    except Refused as error:
        if error.status not in NOT_OFFERED:
            raise
        return None, False
    if last is None:
        return None, False
    gain = last - trade.entry_price if trade.is_long else trade.entry_price - last
    starts = [each.start_ns for each in steps]
    return path_of(trade, steps, gain), are_over(plan, starts, complete=complete, now_ns=asked_ns)


async def _fetch_part(
    client: Client, trade: JournalTrade, part: CandleRange, steps: list[PriceStep]
) -> tuple[Decimal | None, bool]:
    """Append the steps of a part; return its last price, and whether its time is over."""
    last, is_final = None, True
    async for each in closing_candles(client, trade, part):
        side = each.bid if trade.is_long else each.ask
        is_final = is_final and each.complete
        if side is not None:
            length = length_of(part.granularity)
            steps.append(step_of(trade, each.time.ns, length, (side.h, side.l)))
            last = side.c
    return last, is_final
