"""How orders were executed: slippage and time to acknowledge of each, kept per account and summed by instrument.

The file outlives the desk; several desks append to it. An order whose answer was lost counts as lost: when it was
acknowledged is not known. An order that rested and filled later counts by the slippage from its own price, once.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from keydesk.calc.risk.sizing import median
from keydesk.trading.line_file import LineFile, newest_text

MAX_BYTES = 500_000  # bytes; about 5,000 orders
OLD_FILES = 1
MAX_NAME_LENGTH = 40
TRIGGERED = "triggered"  # the kind of a resting order that filled: it was no request
MAX_MS = 1_000_000.0
MAX_PIPS = Decimal(1_000_000)


class Execution(Struct, frozen=True):
    """What became of one request."""

    time_ns: int
    instrument: str
    kind: str  # "open", "close trade" ...
    result: str  # "filled", "resting", "cancelled", "applied", "rejected"
    milliseconds: float | None = None  # from sending to the answer; None: the answer was lost
    slippage: Decimal | None = None  # pips, as the trade journal counts it; positive is worse
    fill_id: str = ""  # transaction of an order that rested; several desks may write it


class ExecutionLog(Struct, frozen=True):
    """The file of executions of an account."""

    path: Path

    def add(self, execution: Execution) -> None:
        """Append an execution; a file that cannot be written is left as it is."""
        slippage = None if execution.slippage is None else f"{execution.slippage:f}"
        line = json.dumps({**asdict(execution), "slippage": slippage}).encode() + b"\n"
        with suppress(OSError):
            LineFile(self.path, MAX_BYTES, OLD_FILES).append(line)


def read_executions(path: Path) -> list[Execution]:
    """Return the executions in the file, oldest first; unreadable lines are left out, a missing file counts as empty."""
    try:
        text = newest_text(path, 2 * MAX_BYTES)
    except OSError:
        return []
    return list(_executions(text))


def _executions(text: bytes) -> Iterator[Execution]:
    for line in text.splitlines():
        with suppress(ValueError, KeyError, TypeError, AttributeError, InvalidOperation):
            yield _execution(json.loads(line))


def _execution(members: dict[str, object]) -> Execution:
    took, slippage = members.get("milliseconds"), members.get("slippage")
    milliseconds = float(took) if isinstance(took, int | float) else None
    pips = Decimal(slippage) if isinstance(slippage, str) else None
    if not isinstance(members["time_ns"], int):
        raise TypeError
    if milliseconds is not None and not 0 <= milliseconds <= MAX_MS:
        raise ValueError
    if pips is not None and not (pips.is_finite() and abs(pips) <= MAX_PIPS):
        raise ValueError
    instrument, kind, result = (
        str(members[name])[:MAX_NAME_LENGTH] for name in ("instrument", "kind", "result")
    )
    fill_id = str(members.get("fill_id", ""))[:MAX_NAME_LENGTH]
    return Execution(members["time_ns"], instrument, kind, result, milliseconds, pips, fill_id)


class ExecutionFigures(Struct, frozen=True):
    """The executions in one instrument."""

    instrument: str
    orders: int
    lost: int  # answers
    rejected: int
    median_ms: float | None
    slowest_ms: float | None
    fills: int  # with a price seen before
    mean_slippage: Decimal | None  # pips
    worst_slippage: Decimal | None


def figures_of(executions: Sequence[Execution]) -> list[ExecutionFigures]:
    """Return the figures by instrument, most orders first."""
    by_instrument: dict[str, list[Execution]] = {}
    for each in executions:
        by_instrument.setdefault(each.instrument, []).append(each)
    figures = [_figures(name, those) for name, those in by_instrument.items()]
    return sorted(figures, key=lambda each: (-each.orders, each.instrument))


def _figures(instrument: str, executions: Sequence[Execution]) -> ExecutionFigures:
    requests = [each for each in executions if each.kind != TRIGGERED]
    triggered = {each.fill_id: each for each in executions if each.kind == TRIGGERED}
    times = [each.milliseconds for each in requests if each.milliseconds is not None]
    measured = (*requests, *triggered.values())
    slips = [each.slippage for each in measured if each.slippage is not None]
    return ExecutionFigures(
        instrument=instrument,
        orders=len(requests),
        lost=len(requests) - len(times),
        rejected=sum(each.result == "rejected" for each in requests),
        median_ms=median(times) if times else None,
        slowest_ms=max(times, default=None),
        fills=len(slips),
        mean_slippage=sum(slips, Decimal(0)) / len(slips) if slips else None,
        worst_slippage=max(slips, default=None),
    )
