"""The chart pane: own prices, movement, zoom and styles, and what it shows without candles."""

from dataclasses import replace

import pytest

from keydesk.panes.chart import Chart
from keydesk.store.state import CandleSeries, Topic
from support.data.desk_data import NOW, desk_store, frame_of
from support.fakes.pane_app import heard, shown, text_of


async def test_own_entry_stop_and_target_are_on_the_chart() -> None:
    pane = Chart()
    async with shown(pane, desk_store(), size=(60, 24)):
        picture = "\n".join(text_of(pane))
    for words in ("1.08650 target", "1.08380 entry", " stop", " limit", "1.08435"):
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
        assert pane.heading().right == "until 2 Mar 2026 12:50"
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
    assert any("│" in line for line in lines)
