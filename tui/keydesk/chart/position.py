"""Which part of the candles a chart shows: the newest ones, or a part of the past that is held by its time.

Positions are times rather than indexes: candles that are loaded in front of others, or dropped, move nothing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from keydesk.store.state import Candle, CandleSeries, PastCandles

AHEAD = 0.75  # of the candles in sight follow the date that the chart went to


class Position(Struct):
    """The part in sight of a series, and of its window of the past."""

    until: int | None = None  # time of the newest candle in sight; None: the newest there is
    goal: int | None = None  # date to go to, until its candles have come
    _left: PastCandles | None = None  # the window when the date was asked for, which is not its own

    def reset(self) -> None:
        """Show the newest candles."""
        self.until = self.goal = self._left = None

    def go_to(self, date_ns: int, series: CandleSeries) -> None:
        """Go to a date once a window of the past has come that was asked for from now on."""
        self.goal, self._left = date_ns, series.past

    def candles(self, series: CandleSeries, needed: int) -> Sequence[Candle]:
        """Return the candles to draw from: the series' own, or a window of the past where those do not reach.

        Args:
            series: The series of the chart.
            needed: Candles in sight and before them, for indicators.
        """
        past = series.past
        if self.until is None or past is None or not past.candles:
            return series.candles
        if _index_behind(series.candles, self.until) >= 2 * needed:  # the next page, too
            return series.candles
        first, last = past.candles[0].time_ns, past.candles[-1].time_ns
        return past.candles if first <= self.until <= last else series.candles

    def end(self, candles: Sequence[Candle]) -> int:
        """Return the index behind the newest candle in sight."""
        return len(candles) if self.until is None else max(1, _index_behind(candles, self.until))

    def move(self, series: CandleSeries, candles: Sequence[Candle], count: int, shown: int) -> None:
        """Go back by a number of candles, or forth, as far as `candles` reach."""
        size = len(candles)
        end = max(min(shown, size), min(size, self.end(candles) - count))
        is_newest = candles is series.candles and end == size
        self.until = None if is_newest else candles[end - 1].time_ns

    def missing_side(
        self, series: CandleSeries, candles: Sequence[Candle], shown: int, warm_up: int
    ) -> Literal["", "older", "newer"]:
        """Return at which end candles are lacking, or will be with the next page."""
        end, past = self.end(candles), series.past
        is_past = past is not None and candles is past.candles
        begins, ahead = series.reaches_start, end - shown
        # A page back from the newest candle must stay in the series.
        resumes = series.goes_on_in_past and len(candles) >= 2 * shown
        if past is not None and (is_past or resumes):
            begins = begins or past.reaches_start
            if not is_past:
                ahead += bisect_left(
                    past.candles, candles[0].time_ns, key=lambda each: each.time_ns
                )
        if not begins and ahead < warm_up + shown:
            return "older"
        if not is_past or len(candles) - end >= shown:
            return ""
        return "newer" if candles[-1].time_ns < series.candles[-1].time_ns else ""

    def arrive(self, series: CandleSeries, shown: int) -> bool:
        """Go to the date that was asked for once its candles are there; return whether the request is over."""
        past = series.past
        if self.goal is None or past is None or past is self._left or not past.is_loaded:
            return False
        goal, self.goal, self._left = self.goal, None, None
        if past.candles and not past.is_of_last_date:
            at = bisect_left(past.candles, goal, key=lambda each: each.time_ns)
            newest = min(len(past.candles) - 1, max(shown - 1, at + int(shown * AHEAD)))
            self.until = past.candles[newest].time_ns
        return True


def _index_behind(candles: Sequence[Candle], time_ns: int) -> int:
    return bisect_right(candles, time_ns, key=lambda each: each.time_ns)
