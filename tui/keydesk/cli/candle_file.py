"""A CSV file of candles that is written as they come, and goes on where a killed run stopped.

Until it is complete the file is FILE.part, beside it what was asked for, FILE.part.json. A line that a kill cut off is
dropped, and the next candle is asked for from the last whole line on. Times must grow from line to line, so that none
is there twice.
"""

import csv
import io
import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct, field

from keydesk.calc.market.granularity import SECONDS
from keydesk.calc.market.sessions import week_at
from keydesk.cli.script_output import Refusal
from keydesk_client.arithmetic.constants import DAY, SECOND
from keydesk_client.auth.private_files import sync_folder
from keydesk_client.models import DateTime, decimal_text
from keydesk_client.models.pricing import Candlestick

Order = Mapping[str, str | None]


class Missing(Struct):
    """Candles that a series lacks, by why: of days and longer none is counted."""

    closed: int = 0  # the market was closed when they began
    no_ticks: int = 0  # it was open and no price came

    def count(self, before_ns: int, next_ns: int, granularity: str) -> None:
        """Count those between two that follow one another."""
        step = SECONDS[granularity] * SECOND
        if step >= DAY:
            return
        start = before_ns + step
        while start < next_ns:
            week = week_at(start)
            count = -(
                -(min(next_ns, week.changes_ns) - start) // step
            )  # those that begin before it
            if week.is_open:
                self.no_ticks += count
            else:
                self.closed += count
            start += count * step

    @property
    def text(self) -> str:
        """Why candles are missing, in words; "" if none is."""
        counts = ((self.closed, "while the market was closed"), (self.no_ticks, "without ticks"))
        return ", ".join(f"{count:,} {why}" for count, why in counts if count)


class CandleWriter(Struct):
    """Writes candles as lines of CSV to an open file, and counts what is missing between them.

    Args:
        file: Where to.
        granularity: Of the candles.
    """

    file: BinaryIO
    granularity: str
    columns: Sequence[str] = ()
    count: int = 0
    first_ns: int | None = None
    last_ns: int | None = None
    missing: Missing = field(default_factory=Missing)

    def add(self, candle: Candlestick) -> None:
        """Write a candle; raise Refusal if it does not come after the last one."""
        row = {name: value for name, value in candle.row().items() if name != "complete"}
        if not self.columns:
            self.columns = list(row)
            self.file.write(_line(self.columns))
        self.note(candle.time.ns)
        self.file.write(_line([_text_of(row.get(name)) for name in self.columns]))

    def note(self, time_ns: int) -> None:
        """Count a candle that stands in the file."""
        if self.last_ns is not None:
            if time_ns <= self.last_ns:
                raise Refusal(
                    f"the broker sent the candle of {DateTime.from_ns(time_ns)} after a later one; nothing of it was kept",
                    "network",
                )
            self.missing.count(self.last_ns, time_ns, self.granularity)
        self.first_ns = time_ns if self.first_ns is None else self.first_ns
        self.last_ns = time_ns
        self.count += 1


class PartialFile:
    """FILE.part and what was asked for; `writer` has counted the candles that are there already.

    Args:
        path: The file as it is named when it is complete.
        order: What is asked for, by which another run knows that it may go on.
    """

    def __init__(self, path: Path, order: Order) -> None:
        self.path = Path(os.path.realpath(path))
        self._part = self.path.with_name(f"{self.path.name}.part")
        self._order_path = self.path.with_name(f"{self.path.name}.part.json")
        self.order = self._order(order)
        handle = os.open(self._part, os.O_RDWR | os.O_CREAT, 0o600)
        self._file = os.fdopen(handle, "r+b")
        self.writer = CandleWriter(self._file, str(order["granularity"]))
        self._read()

    @property
    def resumes(self) -> bool:
        """Whether an earlier run left candles."""
        return self._found > 0

    def complete(self) -> None:
        """Give the file its name."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._part.replace(self.path)
        self._order_path.unlink(missing_ok=True)
        sync_folder(self.path.parent)

    def close(self) -> None:
        """Keep what is there for the next run; without candles, nothing."""
        self._file.close()
        if not self.writer.count:
            self._part.unlink(missing_ok=True)
            self._order_path.unlink(missing_ok=True)

    def _order(self, order: Order) -> Order:
        """Return what the part was asked for, else keep this; an end that was not named is the first run's."""
        try:
            kept = json.loads(self._order_path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            kept = None
        if kept is None or not self._part.exists():
            self._part.unlink(missing_ok=True)
            self._order_path.write_text(json.dumps(order), encoding="utf-8")
            return order
        names = [name for name in order if order[name] is not None]
        if any(kept.get(name) != order[name] for name in names if name != "now"):
            raise Refusal(
                f"{self._part} is of another period, instrument or account: remove it, or name another file",
                "invalid",
            )
        return {**order, **kept}

    def _read(self) -> None:
        """Count the whole lines that are there, and cut off the rest."""
        end = 0
        for line in self._file:
            if not line.endswith(b"\n"):
                break
            cells = line.decode().rstrip("\n").split(",")
            if end:
                self.writer.note(DateTime(cells[0]).ns)
            else:
                self.writer.columns = cells
            end += len(line)
        self._found = self.writer.count
        self._file.truncate(end)
        self._file.seek(end)


def _line(cells: Sequence[str]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode()


def _text_of(value: object) -> str:
    match value:
        case None:
            return ""
        case Decimal():
            return decimal_text(value)
        case _:
            return str(value)


def day_of(time_ns: int) -> str:
    """Return the day of an instant, for progress."""
    return f"{datetime.fromtimestamp(time_ns // SECOND, UTC):%Y-%m-%d}"
