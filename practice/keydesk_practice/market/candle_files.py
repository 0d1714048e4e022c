"""Replay of a file of candles as the mid of an instrument, instead of the simulated path.

The file has a line per candle: time, open, high, low, close and optionally a volume, which is ignored; a heading is allowed.
Times are ISO 8601 (UTC unless they say otherwise) or seconds since 1970, and on the 5-second grid. The path passes the four
prices in order, a third of the candle apart: open, low, high, close for a candle that rose, open, high, low, close for one that
fell. Between the last price of a candle and the first of the next it steps. Where the file has no candle the market of the
instrument is closed.
"""

import csv
import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from math import floor, inf, log10
from pathlib import Path

import numpy as np
from msgspec import Struct

from keydesk_practice.errors import CandleFileError
from keydesk_practice.market.hours import (
    CELL,
    Mask,
    cells_in,
    first_cell,
    market_day_of,
    seconds_of,
)
from keydesk_practice.market.instruments import CURRENCIES, LISTINGS, Listing
from keydesk_practice.market.paths import Curve
from keydesk_practice.market.reference import Floats, Integers

_METALS = {"XAU": -2, "XAG": -4, "XPT": -2, "XPD": -2}  # pip locations
_MIN_CELLS = 3  # four prices in order need three steps
_FIELDS = 5
_UNLISTED_SPREAD = 0.0002  # of the price
_UNLISTED_MARGIN = "0.05"
_JUST_BEFORE = 1e-6  # of a cell: places the close before the next open
_FIRST_YEAR = 2000


class ReplayedInstrument(Struct, frozen=True):
    """An instrument replayed from a file of candles."""

    listing: Listing
    path: "ReplayedPath"
    first_price: float
    digest: str  # of the candles: the same for two files that give the same prices


class ReplayedPath:
    """The path through the candles of a file."""

    def __init__(self, starts: Integers, ends: Integers, logs: Floats) -> None:
        self._starts, self._ends = starts, ends
        self._closes = logs[:, 3]
        self._at, self._values = _knots(starts, ends, logs)
        self.first_day = market_day_of(int(starts[0]))

    def curve(self, day: int) -> Curve:
        """Return the log mid over a market day."""
        start, count = first_cell(day), cells_in(day)
        points = np.interp(start + np.arange(count + 1), self._at, self._values)
        first, last = np.searchsorted(self._ends, [start + 1, start + count + 1])
        ended = (self._ends[first:last] - start).tolist()
        closes = self._closes[first:last].tolist()
        return Curve(points, dict(zip(ended, closes, strict=True)))

    def open_cells(self, day: int) -> Mask:
        """Return which cells of a market day lie within a candle."""
        cells = first_cell(day) + np.arange(cells_in(day))
        return self.any_known(cells, cells + 1)

    def last_open(self, now: int) -> int:
        """Return `now` within a candle, else the last instant of the candle before it."""
        place = int(np.searchsorted(self._starts, now // CELL, side="right")) - 1
        if place < 0:  # before the first candle its open is the price
            return int(self._starts[0]) * CELL
        return min(now, int(self._ends[place]) * CELL - 1)

    def any_known(self, starts: Integers, ends: Integers) -> Mask:
        """Return which spans [start, end) of cells touch a candle."""
        after = np.searchsorted(self._ends, starts, side="right")
        following = np.append(self._starts, np.iinfo(np.int64).max)[after]
        return np.asarray(following < ends)


def read_candle_file(name: str, file: Path) -> ReplayedInstrument:
    """Read a file of candles of an instrument, listed or not.

    Raises:
        CandleFileError: the file cannot be replayed; the message names file and line.
    """
    rows = sorted(_rows(file))
    if not rows:
        raise CandleFileError(
            f"{file} has no candles: write one line for each, as time,open,high,low,close"
        )
    starts = np.array([start for start, _ in rows], dtype=np.int64)
    prices = np.array([prices for _, prices in rows])
    first_price = float(prices[0, 0])
    listing = _listing(name, first_price, file)
    path = ReplayedPath(starts, _ends(starts, file), np.log(prices))
    digest = hashlib.sha256(starts.tobytes() + prices.tobytes()).hexdigest()
    return ReplayedInstrument(listing, path, first_price, digest)


def _knots(starts: Integers, ends: Integers, logs: Floats) -> tuple[Floats, Floats]:
    """Return the places (in cells) and log prices of the four points of each candle."""
    third = (ends - starts) // 3
    at = np.stack([starts, starts + third, starts + 2 * third, ends - _JUST_BEFORE], axis=1)
    rose = logs[:, 3] >= logs[:, 0]
    first = np.where(rose, logs[:, 2], logs[:, 1])
    second = np.where(rose, logs[:, 1], logs[:, 2])
    values = np.stack([logs[:, 0], first, second, logs[:, 3]], axis=1)
    return at.ravel(), values.ravel()


def _ends(starts: Integers, file: Path) -> Integers:
    """Return the ends of the candles: each is as long as the shortest distance between two."""
    distances = np.diff(starts)
    length = int(distances.min()) if distances.size else _MIN_CELLS * 4
    if length < _MIN_CELLS:
        raise CandleFileError(
            f"{file}: candles are {length * 5} seconds apart: use candles of 15 seconds or longer, each once"
        )
    return np.asarray(starts + length)


def _rows(file: Path) -> Iterator[tuple[int, tuple[float, ...]]]:
    try:
        with file.open(newline="", encoding="utf-8-sig") as lines:
            for number, fields in enumerate(csv.reader(lines), start=1):
                if fields and not (number == 1 and _is_heading(fields)):
                    yield _row(fields, f"{file}, line {number}")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CandleFileError(f"{file}: {error}") from error


def _is_heading(fields: Sequence[str]) -> bool:
    return fields[0].strip().lower() in {"time", "date", "datetime", "timestamp"}


def _row(fields: Sequence[str], where: str) -> tuple[int, tuple[float, ...]]:
    if len(fields) < _FIELDS:
        raise CandleFileError(f"{where}: {len(fields)} fields: write time, open, high, low, close")
    try:
        seconds = _seconds(fields[0].strip())
        opened, high, low, closed = (float(field) for field in fields[1:_FIELDS])
    except ValueError as error:
        raise CandleFileError(f"{where}: {error}") from error
    if not (0 < low <= opened <= high < inf and low <= closed <= high):
        raise CandleFileError(
            f"{where}: open {opened:g}, high {high:g}, low {low:g}, close {closed:g}"
            " are not in order: low must be the lowest and high the highest, all above 0"
        )
    if seconds % 5 or seconds < seconds_of(datetime(_FIRST_YEAR, 1, 1, tzinfo=UTC)):
        raise CandleFileError(
            f"{where}: invalid time {fields[0]!r}: use a time from 2000 on, a multiple of five seconds"
        )
    return seconds // 5, (opened, high, low, closed)


def _seconds(text: str) -> int:
    if text.replace(".", "", 1).isdigit() and "-" not in text:
        return int(float(text))
    moment = datetime.fromisoformat(text)
    return seconds_of(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _listing(name: str, price: float, file: Path) -> Listing:
    for listing in LISTINGS:
        if listing.name == name:
            return listing
    base, _, quote = name.partition("_")
    if not base.isalnum() or quote not in {*CURRENCIES, "EUR"}:
        raise CandleFileError(
            f"{file}: invalid instrument {name}: use a quote currency with rates, as in XAU_USD"
        )
    place = _METALS.get(base, floor(log10(price)) - 4)
    return Listing(
        name=name,
        group="exotic",
        spread_pips=round(price * _UNLISTED_SPREAD / 10.0**place, 1),
        margin=_UNLISTED_MARGIN,
        type="METAL" if base in _METALS else "CFD",
        pip_location=place,
    )
