"""The price paths of closed trades, from the broker's candles, and the file in which known ones are stored.

The file may be deleted at any time. It is appended to: one JSON array for each trade, of id, opening, closing, end, last gain, and
the steps, each as its start, length, gain and loss. Of two lines for a trade the later counts; a torn last line is left out.
"""

import asyncio
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from keydesk.calc.trade_journal.excursions import CandleRange, are_over, length_of
from keydesk.calc.trade_journal.price_paths import (
    PricePath,
    PriceStep,
    path_of,
    path_plan,
    step_of,
)
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.trade_journal.candles import AT_ONCE, closing_candles
from keydesk_client.auth.private_files import locked, private_folder, read_private
from keydesk_client.client import Client
from keydesk_client.errors import Refused, UnsafeFile

KEPT_TOGETHER = 40  # trades that are written at once
NOT_OFFERED = (400, 404)  # the answer about an instrument that the account has no more
MAX_BYTES = 500_000_000  # bytes
LOCK_TIMEOUT = 2.0  # seconds
UNREADABLE = (ValueError, TypeError, IndexError, ArithmeticError, RecursionError)
APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class _StoredPath:
    """A path, and the trade that it is of: after a reset another trade may have its id."""

    opened_ns: int
    closed_ns: int
    path: PricePath


def with_r(trades: Sequence[JournalTrade]) -> list[JournalTrade]:
    """Return the closed trades with a first stop, whose paths are of use."""
    return [each for each in trades if each.is_closed and each.initial_stop is not None]


async def read_paths(
    client: Client,
    path: Path,
    trades: Sequence[JournalTrade],
    progress: Progress | None = None,
    partly: Callable[[Mapping[str, PricePath]], None] | None = None,
) -> dict[str, PricePath]:
    """Return the paths of closed trades with a first stop, from the file or from candles; others are left out.

    Args:
        client: Reads the candles.
        path: The file.
        trades: Trades, not rolled up.
        progress: Called with the number of trades read, and of those to read.
        partly: Called with the paths known so far, after the file and then after each part.
    """
    known, missing = await asyncio.to_thread(_known_and_missing, path, trades)
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
    for start in range(0, len(missing), KEPT_TOGETHER):
        if partly is not None:
            partly(dict(known))
        part = missing[start : start + KEPT_TOGETHER]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(fetch(each)) for each in part]
        except (
            ExceptionGroup
        ) as errors:  # not `except*`: before 3.11.4 it groups what is raised in it, too
            raise errors.exceptions[0] from None
        answers = [task.result() for task in tasks]
        known |= {trade.id: fetched for trade, fetched, _ in answers if fetched is not None}
        final = [(trade, fetched) for trade, fetched, is_final in answers if fetched and is_final]
        await asyncio.to_thread(_append, path, final)
    return known


def _known_and_missing(
    path: Path, trades: Sequence[JournalTrade]
) -> tuple[dict[str, PricePath], list[JournalTrade]]:
    wanted, known = with_r(trades), _read(path)
    found = {each.id: kept.path for each in wanted if (kept := _of(known, each)) is not None}
    return found, [each for each in wanted if each.id not in found]


def _of(known: dict[str, _StoredPath], trade: JournalTrade) -> _StoredPath | None:
    entry = known.get(trade.id)
    is_same = entry is not None and (entry.opened_ns, entry.closed_ns) == (
        trade.opened_ns,
        trade.closed_ns,
    )
    return entry if is_same else None


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


def _read(path: Path) -> dict[str, _StoredPath]:
    known: dict[str, _StoredPath] = {}
    with suppress(OSError, UnsafeFile):
        for line in read_private(path, MAX_BYTES).decode(errors="replace").splitlines():
            with suppress(*UNREADABLE):
                id_, opened, closed, end, last, *steps = json.loads(line)
                price_path = PricePath(tuple(map(_step, steps)), int(end), Decimal(last))
                if price_path.steps:
                    known[str(id_)] = _StoredPath(int(opened), int(closed), price_path)
    return known


def _step(fields: Sequence[object]) -> PriceStep:
    start, length, gain, loss = fields
    begin = int(str(start))
    return PriceStep(begin, begin + int(str(length)), Decimal(str(gain)), Decimal(str(loss)))


def _append(path: Path, paths: Sequence[tuple[JournalTrade, PricePath]]) -> None:
    """Append paths; where that fails, they are fetched again."""
    if not paths:
        return
    text = "".join(_line(*each) for each in paths).encode()
    with suppress(OSError, UnsafeFile):
        private_folder(path.parent)
        with locked(path, patience_s=LOCK_TIMEOUT):
            handle = os.open(path, APPEND, 0o600)
            try:
                if not _ends_whole(path):
                    os.write(handle, b"\n")  # a line torn by a crash stays alone
                os.write(handle, text)
            finally:
                os.close(handle)


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if not size:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _line(trade: JournalTrade, path: PricePath) -> str:
    steps = [
        [each.start_ns, each.end_ns - each.start_ns, str(each.gain), str(each.loss)]
        for each in path.steps
    ]
    head = [trade.id, trade.opened_ns, trade.closed_ns, path.end_ns, str(path.last_gain)]
    return json.dumps([*head, *steps], separators=(",", ":")) + "\n"
