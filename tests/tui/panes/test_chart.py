"""The chart draws candles half a cell precise, with the trader's own prices across it."""

from dataclasses import replace
from datetime import UTC

import pytest

from keydesk.panes.chart import Chart
from keydesk.store.state import Candle, CandleSeries, Topic
from keydesk.widgets.candles import PriceLine, Scale, View, draw, scale_of, ticks
from support.data.desk_data import MINUTE_NS, NOW, WALL_NS, desk_store, frame_of
from support.fakes.pane_app import heard, shown, text_of


def candle(opened: float, high: float, low: float, close: float, *, minutes: int = 0) -> Candle:
    return Candle(WALL_NS + minutes * MINUTE_NS, opened, high, low, close, complete=True)


def view(*candles: Candle, lines: tuple[PriceLine, ...] = (), height: int = 6) -> View:
    return View(
        candles=candles,
        lines=lines,
        width=20,
        height=height,
        step=1,
        axis=12,
        pip_location=0,
        precision=1,
        granularity="M5",
        zone=UTC,
        hollow=False,
    )


def column(rows: list[list[tuple[str, str]]], x: int) -> str:
    return "".join("".join(text for text, _ in row)[x] for row in rows[:-1])


@pytest.mark.parametrize(
    ("prices", "glyphs"),
    [
        ((0, 10, 0, 10), "┃┃┃┃┃"),
        ((5, 10, 0, 5), "││╿││"),
        ((3, 8, 1, 6), "╷╽┃╿╵"),
        ((0, 0.5, 0, 0.5), "    ╻"),
        ((9.5, 10, 9.5, 10), "╹    "),
    ],
)
def test_a_candle_is_half_a_cell_precise(
    prices: tuple[float, float, float, float], glyphs: str
) -> None:
    rows = draw(view(candle(*prices)), Scale(0, 10))
    assert column(rows, 0) == glyphs


def test_rising_and_falling_candles_have_their_own_roles() -> None:
    rows = draw(view(candle(1, 9, 1, 9), candle(9, 9, 1, 1)), Scale(0, 10))
    assert [run for run in rows[2] if run[0] == "┃"] == [("┃", "rise"), ("┃", "fall")]


def test_without_colours_a_rising_body_is_hollow() -> None:
    rows = draw(replace(view(candle(0, 10, 0, 10)), hollow=True), Scale(0, 10))
    assert column(rows, 0) == "║║║║║"


def test_an_own_line_crosses_the_chart_behind_the_candles_and_is_labelled() -> None:
    stop = PriceLine(5.0, "5.0", "SL", "stop", 2)
    rows = draw(view(candle(1, 9, 1, 9), lines=(stop,)), Scale(0, 10))
    text = "".join(part for part, _ in rows[2])
    assert text == "┃╌╌╌╌╌╌╌ 5.0 SL     "
    assert rows[2][-1][1] == "stop"


def test_a_line_beyond_the_scale_is_named_at_its_edge_with_an_arrow() -> None:
    target = PriceLine(30.0, "30.0", "TP", "target", 4)
    rows = draw(view(candle(1, 9, 1, 9), lines=(target,)), Scale(0, 10))
    assert "".join(part for part, _ in rows[0]).rstrip().endswith("30.0 ↑TP")


def test_lines_that_meet_keep_all_their_names() -> None:
    lines = (PriceLine(5.1, "5.1", "◂", "bright", 0), PriceLine(5.0, "5.0", "SL", "stop", 2))
    rows = draw(view(candle(1, 9, 1, 9), lines=lines), Scale(0, 10))
    assert "".join(part for part, _ in rows[2]).rstrip().endswith("5.1 ◂ SL")


def test_round_prices_stand_on_whole_pips() -> None:
    fine = replace(view(candle(1, 1, 1, 1), height=24), pip_location=-4)
    found = ticks(fine, Scale(1.0801, 1.0849))
    assert found
    assert all(abs(price * 10_000 - round(price * 10_000)) < 1e-6 for price in found)
    assert {round(price * 10_000) % 10 for price in found} == {0}


def test_the_scale_is_kept_while_it_fits_so_that_the_picture_stands_still() -> None:
    first = scale_of(view(candle(1, 9, 1, 9)), None)
    assert scale_of(view(candle(1, 9, 1.5, 8)), first) is first
    assert scale_of(view(candle(1, 19, 1, 9)), first) is not first


async def test_own_entry_stop_and_target_are_on_the_chart() -> None:
    pane = Chart()
    async with shown(pane, desk_store(), size=(60, 24)):
        picture = "\n".join(text_of(pane))
    for words in ("1.08650 TP", "1.08380 ▲", "1.08200 SL LMT", "◂"):
        assert words in picture


async def test_the_forming_candle_moves_only_the_rows_it_touches() -> None:
    pane, store = Chart(), desk_store()
    async with shown(pane, store, size=(60, 24)):
        before = {y: pane.render_line(y) for y in range(24)}
        series = store.series["EUR_USD", "M5"]
        series.candles[-1] = replace(series.candles[-1], close=1.08447)
        store.mark(Topic.CANDLES, ("EUR_USD", "M5"))
        pane.on_frame(frame_of(store, now=NOW + 1))
        drawn = [y for y in range(24) if pane.render_line(y) is not before[y]]
    assert 0 < len(drawn) < 6


async def test_the_past_is_scrolled_to_and_more_of_it_asked_for() -> None:
    pane, store = Chart(), desk_store()
    async with shown(pane, store, size=(60, 12)) as pilot:
        await pilot.press("h")
        assert pane.heading().right == "10 back"
        await pilot.press("end")
        assert pane.heading().right == ""
        pane.scroll_candles(10_000)
        pane.scroll_candles(10)
        await pilot.pause()
        assert len(heard(pilot, Chart.HistoryWanted)) >= 1


async def test_a_chart_asks_for_the_candles_it_turns_to() -> None:
    pane, store = Chart(linked=True), desk_store()
    async with shown(pane, store) as pilot:
        store.set_granularity("H1")
        pane.on_frame(frame_of(store))
        await pilot.pause()
        wanted = heard(pilot, Chart.SeriesWanted)
    asked = [(message.instrument, message.granularity) for message in wanted]
    assert asked == [("EUR_USD", "H1"), ("EUR_USD", "D")]


@pytest.mark.parametrize(
    ("series", "words"),
    [
        (None, "Loading candles"),
        (CandleSeries("EUR_USD", "M5", loading=True), "Loading candles"),
        (CandleSeries("EUR_USD", "M5", loading=False), "No candles for this time"),
        (CandleSeries("EUR_USD", "M5", loading=False, error="unreachable"), "unreachable"),
    ],
)
async def test_a_chart_without_candles_says_why(series: CandleSeries | None, words: str) -> None:
    pane, store = Chart(), desk_store()
    store.series.clear()
    if series is not None:
        store.series["EUR_USD", "M5"] = series
    async with shown(pane, store):
        assert words in text_of(pane)[0]


async def test_old_candles_stay_when_loading_failed() -> None:
    pane, store = Chart(), desk_store()
    store.series["EUR_USD", "M5"].error = "no answer"
    async with shown(pane, store):
        lines = text_of(pane)
    assert "Old candles: no answer" in lines[0]
    assert any("┃" in line for line in lines)


async def test_more_names_than_room_are_told_by_a_plus() -> None:
    pane, store = Chart(), desk_store()
    store.orders["6415"].price = store.trades["6411"].price
    async with shown(pane, store, size=(30, 24)):
        assert any("1.08380 ▲+" in line for line in text_of(pane))
