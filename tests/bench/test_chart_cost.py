"""What charts cost: a whole redraw, and a price on two charts with three indicators each, in CPU and in bytes."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from statistics import quantiles
from time import process_time

import pytest
from msgspec.structs import replace
from rich.color import ColorSystem

from keydesk.calc.market.indicator_specs import IndicatorSpec, parse_indicators
from keydesk.panes.chart import Chart
from keydesk.store.state import CandleSeries, Topic
from keydesk.store.store import Store
from keydesk.widgets.terminal_diff import TerminalContents
from support.data.desk_data import NOW, candles, desk_store, frame_of
from support.fakes.pane_app import heard, shown

pytestmark = pytest.mark.bench
SIZE = (152, 45)  # one blank column at each side of the chart
ROUNDS = 40
UPDATES = 300
WHOLE, A_PRICE = 7.0, 0.7  # times the reference
OTHER_PICTURES = (
    "plus",
    "underscore",
    "underscore",
    "plus",
    "h",
    "pageup",
    "end",
    "v",
    "v",
    "v",
    "v",
)
MAX_BYTES_WRITTEN_OUT = 14_700  # on a terminal that is not known to erase in colour
MAX_BYTES_OF_A_TURN = 13_000  # from one whole picture to another: zoomed, panned, in another style
EVERY = 0.25  # seconds: the service sends four prices a second at most
CHANCE = random.Random(7)
THREE = parse_indicators(("ema 20", "ema 50", "bb 20 2"))
FIVE = (*THREE, *parse_indicators(("rsi 14", "macd")))


def took(work: Callable[[], object]) -> float:
    """Return the processor time of a piece of work, in milliseconds."""
    began = process_time()
    work()
    return (process_time() - began) * 1000


def reference() -> None:
    """Do a fixed piece of work of the same kind, 1 ms on the machine that the budgets were set on.

    Budgets of time are multiples of it, measured in turns with it: other machines and their load change both.
    """
    cells = [f"{number:05}" for number in range(3300)]
    roles = {text: len(text) for text in cells}
    sum(roles[text] for text in sorted(cells, reverse=True))


class RecordingChart(Chart):
    """A chart that notes which lines are to be drawn again, and draws those, as the screen would."""

    def __init__(self, *, place: int = 1) -> None:
        super().__init__(place=place)
        self.lines_to_draw: set[int] = set()

    def redraw_line(self, y: int) -> None:
        """Note the line."""
        self.lines_to_draw.add(y)
        super().redraw_line(y)

    def redraw(self) -> None:
        """Note all lines."""
        self.lines_to_draw.update(range(self.outer_size.height))
        super().redraw()

    def draw(self) -> None:
        """Draw what is to be drawn."""
        for y in self.lines_to_draw:
            self.render_line(y)
        self.lines_to_draw.clear()


def drawn(pane: Chart, terminal: TerminalContents) -> str:
    """Return the bytes that bring a terminal up to date."""
    lines = [(y, 0, pane.render_line(y)) for y in range(pane.outer_size.height)]
    return terminal.update(lines, ColorSystem.TRUECOLOR)


def move_price(store: Store) -> None:
    """Move the newest candle as a quiet market does."""
    for series in store.series.values():
        last = series.candles[-1]
        close = last.close + CHANCE.choice((-2, -1, 1, 2)) * 0.00001
        series.candles[-1] = replace(
            last, close=close, high=max(last.high, close), low=min(last.low, close)
        )
        store.mark(Topic.CANDLES, (series.instrument, series.granularity))


@pytest.mark.parametrize(("specs", "most_bytes"), [((), 11_000), (THREE, 13_000), (FIVE, 13_000)])
async def test_a_whole_redraw_fits_the_budget(
    specs: tuple[IndicatorSpec, ...], most_bytes: int
) -> None:
    pane, store = Chart(), desk_store()
    store.set_dots(
        False
    )  # strokes on wider candles; the look it opens with has a budget of its own
    store.set_chart_zoom("wide")
    store.indicators["EUR_USD"] = specs
    async with shown(pane, store, size=SIZE) as pilot:

        def whole() -> None:
            pane.redraw()
            pane.picture.forget_scale()
            for y in range(SIZE[1]):
                pane.render_line(y)

        times = [(took(reference), took(whole)) for _ in range(ROUNDS)]
        unit, milliseconds = (min(each) for each in zip(*times, strict=True))
        written_out = len(drawn(pane, TerminalContents()).encode())
        terminal = TerminalContents(erases_in_colour=True)
        size = len(drawn(pane, terminal).encode())
        turns = []
        for key in OTHER_PICTURES:
            await pilot.press(key)
            for message in heard(pilot, Chart.ZoomWanted)[-1:]:
                store.set_chart_zoom(message.zoom)
                pane.on_frame(frame_of(store, everything=True))
            turns.append(len(drawn(pane, terminal).encode()))
    sys.stdout.write(
        f"whole, {len(specs)} indicators: {milliseconds:.2f} ms, {milliseconds / unit:.1f} of the reference,"
        f" {size} bytes ({written_out} where nothing is erased), in place of another picture {max(turns)} at most\n"
    )
    assert written_out <= MAX_BYTES_WRITTEN_OUT
    assert size <= most_bytes
    assert max(turns) <= MAX_BYTES_OF_A_TURN
    assert milliseconds <= WHOLE * unit


@pytest.mark.parametrize(("specs", "most_bytes"), [((), 11_000), (THREE, 20_000)])
async def test_a_redraw_of_narrow_candles_with_dots_fits_the_budget(
    specs: tuple[IndicatorSpec, ...], most_bytes: int
) -> None:
    pane, store = Chart(), desk_store()
    store.indicators["EUR_USD"] = specs
    async with shown(pane, store, size=SIZE):
        size = len(drawn(pane, TerminalContents(erases_in_colour=True)).encode())
    sys.stdout.write(f"narrow candles, {len(specs)} indicators in dots: {size} bytes\n")
    assert size <= most_bytes


@pytest.mark.parametrize(("specs", "most_bytes"), [((), 72), (THREE, 72)])
async def test_a_price_on_two_charts_fits_the_budget(
    specs: tuple[IndicatorSpec, ...], most_bytes: int
) -> None:
    store = desk_store()
    store.indicators["EUR_USD"] = specs
    series = store.series["EUR_USD", "H1"] = CandleSeries("EUR_USD", "H1", loading=False)
    series.candles = candles(1.08435, 400, 4, minutes=60)
    first, second = RecordingChart(), RecordingChart(place=2)
    async with shown(first, store, size=SIZE), shown(second, store, size=SIZE):
        for each in store.series.values():  # in the middle of a falling body, not where it turns
            last = each.candles[-1]
            each.candles[-1] = replace(last, open=1.0850, high=1.0852)
        terminals = [(pane, TerminalContents()) for pane in (first, second)]
        for pane, terminal in terminals:
            drawn(pane, terminal)
        times, units, sizes = [], [], []
        for number in range(UPDATES):
            move_price(store)
            frame = frame_of(store, now=NOW + 1 + number * EVERY)
            units.append(took(reference))
            began = process_time()
            for pane, _ in terminals:
                pane.on_frame(frame)
                pane.draw()
            times.append((process_time() - began) * 1000)
            sizes += [len(drawn(pane, terminal).encode()) for pane, terminal in terminals]
    unit, milliseconds = (quantiles(each, n=4)[0] for each in (units, times))
    size = sum(sizes) / len(sizes)
    sys.stdout.write(
        f"a price, two charts, {len(specs)} indicators: {milliseconds:.3f} ms"
        f" in the lower quartile (best {min(times):.3f}), {milliseconds / unit:.2f} of the reference, {size:.0f} bytes a chart\n"
    )
    assert size <= most_bytes
    assert milliseconds <= A_PRICE * unit
