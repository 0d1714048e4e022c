"""Indicators as a chart draws them: overlays, sub-panes and marked levels, with their colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from keydesk.calc.market.indicator_specs import IndicatorSpec
from keydesk.calc.market.indicators import Indicators, IndicatorSeries, PreviousDay, warm_up
from keydesk.chart.canvas import Run
from keydesk.chart.price_axis import PriceMark
from keydesk.chart.scene import Overlay, SubPane
from keydesk.store.state import Candle

COLOURS = ("overlay-1", "overlay-2", "overlay-3")  # of averages, in turn
BAND = "band"


@dataclass(slots=True)
class ChartIndicators:
    """The indicators of one chart."""

    specs: tuple[IndicatorSpec, ...] = ()
    warm_up: int = 0  # candles before the first one in sight
    overlays: tuple[Overlay, ...] = ()
    sub_panes: tuple[SubPane, ...] = ()
    marks: tuple[PriceMark, ...] = ()
    legend: tuple[tuple[Run, ...], ...] = ()
    _day: PreviousDay | None = None
    _indicators: Indicators = field(default_factory=lambda: Indicators(()))

    def choose(self, specs: tuple[IndicatorSpec, ...]) -> None:
        """Compute other indicators from now on."""
        if specs == self.specs:
            return
        self.specs, self.warm_up = specs, warm_up(specs)
        self._indicators = Indicators(specs)
        computed = self._indicators.refresh([], None)  # their lists of values stay the same ones
        over = [each for each in computed if not each.spec.in_sub_pane]
        lines = [line for number, each in enumerate(over) for line in _lines(each, number)]
        self.overlays = tuple(lines)
        self.sub_panes = tuple(_sub_pane(each) for each in computed if each.spec.in_sub_pane)
        self.legend = tuple(((each.name, each.role),) for each in lines if each.name)
        self.marks, self._day = (), None

    def refresh(self, candles: Sequence[Candle], day: PreviousDay | None) -> None:
        """Compute the values of the candles; of a series as before, only those that changed."""
        if not self.specs:
            return
        computed = self._indicators.refresh(candles, day)
        if day != self._day:
            self._day = day
            self.marks = tuple(
                PriceMark(level.price, level.name, across=True)
                for each in computed
                for level in each.levels
            )


def _lines(series: IndicatorSeries, number: int) -> list[Overlay]:
    """Return the lines of an indicator over the candles; the first one carries its name."""
    colour = COLOURS[number % len(COLOURS)] if series.spec.kind in ("ema", "sma") else BAND
    return [
        Overlay(series.spec.name if i == 0 else "", colour, line.values)
        for i, line in enumerate(series.lines)
    ]


def _sub_pane(series: IndicatorSeries) -> SubPane:
    lines = [
        ("band" if line.role == "signal" else COLOURS[0], line.values)
        for line in series.lines
        if line.role != "histogram"
    ]
    bars = next((line.values for line in series.lines if line.role == "histogram"), ())
    return SubPane(series.spec.name, lines, bars, series.guides, series.bounds)
