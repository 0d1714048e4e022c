"""Charts and books over what a broker may send or leave out: every row stays as wide as its pane, and says what is wrong."""

import json
from collections.abc import Iterator
from copy import deepcopy
from datetime import datetime
from itertools import islice
from typing import Any

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from keydesk.calc.market.indicator_specs import parse_indicators
from keydesk.feeds.candles import load_candles
from keydesk.feeds.client_books import NextReads, load_book
from keydesk.panes.books import Books
from keydesk.panes.chart import Chart
from keydesk.store.candles import want_history
from keydesk.store.state import CandleSeries, Topic
from keydesk.store.store import Store
from support.data.desk_data import MINUTE_NS, NOW, WALL_NS, desk_store, frame_of
from support.fakes.pane_app import heard, shown, text_of
from support.fakes.scripted_broker import Clock, ScriptedBroker, link_to
from support.walks import sampled

COUNT = 40
TIME = "2026-03-02T{:02}:{:02}:00.000000000Z"
ODD: tuple[object, ...] = (
    None,
    "",
    "x",
    "NaN",
    "Infinity",
    "-1",
    "1e400",
    "9" * 60,
    {},
    [],
    7,
    True,
)
LEFT_OUT = object()
WIDTHS = (20, 33, 60, 118, 250)
EVERY = [3, pytest.param(1, marks=pytest.mark.soak)]
EVERY_LOOK = ("v", "v", "v", "plus", "underscore", "underscore", "i", "h", "full_stop", "i")


def wire_candles() -> dict[str, Any]:
    """Candles as the broker sends them: five minutes each, the last one not complete."""
    made: list[dict[str, Any]] = []
    for i in range(COUNT):
        price = 1.08431 + (i % 7 - 3) * 0.0002
        sides = {
            member: {
                name: f"{price + shift:.5f}"
                for name, shift in zip("ohlc", (0, 3e-4, -3e-4, 1e-4), strict=True)
            }
            for member in ("mid",)
        }
        time = TIME.format(10 + i * 5 // 60, i * 5 % 60)
        made.append({"time": time, "volume": 5, "complete": i < COUNT - 1, **sides})
    return {"instrument": "EUR_USD", "granularity": "M5", "candles": made}


def wire_book() -> dict[str, Any]:
    buckets = [
        {
            "price": f"{1.0800 + n * 0.0005:.5f}",
            "longCountPercent": "3.1" if n == 12 else "0.2",
            "shortCountPercent": "2.9" if n == 5 else "0.1",
        }
        for n in range(30)
    ]
    return {
        "instrument": "EUR_USD",
        "time": TIME.format(13, 40),
        "price": "1.08431",
        "bucketWidth": "0.00050",
        "buckets": buckets,
    }


def paths(value: object, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every member of a body; of a list the first, a middle and the last entry."""
    if at:
        yield at
    if isinstance(value, dict):
        for name, each in value.items():
            yield from paths(each, (*at, name))
    elif isinstance(value, list):
        for index in sorted({0, len(value) // 2, len(value) - 1}):
            yield from paths(value[index], (*at, index))


def wrong(body: dict[str, Any], at: tuple[str | int, ...], instead: object) -> dict[str, Any]:
    """A copy of a body with one member wrong or left out."""
    changed = deepcopy(body)
    place: Any = changed
    for step in at[:-1]:
        place = place[step]
    if instead is LEFT_OUT:
        del place[at[-1]]
    else:
        place[at[-1]] = instead
    return changed


def variants(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Bodies with one wrong member each: every member is left out once and has one odd value."""
    for number, at in enumerate(paths(body)):
        yield wrong(body, at, LEFT_OUT)
        yield wrong(body, at, ODD[number % len(ODD)])


async def with_candles(body: dict[str, Any]) -> Store:
    """A desk whose chart has loaded this answer."""
    feed = link_to(ScriptedBroker(answers={"/candles": json.loads(json.dumps(body))}))
    store = desk_store()
    store.series.clear()
    feed.store = store
    await load_candles(feed, None, "EUR_USD", "M5")
    store.set_indicators("EUR_USD", parse_indicators(("ema 5", "bb 5 2", "rsi 3", "macd")))
    return store


async def with_books(body: dict[str, Any]) -> Store:
    """A desk that has loaded this answer as both books."""
    answers: dict[str, object] = {
        "orderBook": {"orderBook": body},
        "positionBook": {"positionBook": body},
    }
    clock = Clock()
    feed = link_to(ScriptedBroker(answers=answers), clock=clock)
    feed.store = desk_store()
    feed.store.clock_ns = WALL_NS
    due = NextReads()
    for _ in range(12):
        await load_book(feed, due)
        await clock.pause(0.2)
    return feed.store


def assert_exact(pane: Chart | Books) -> None:
    width = pane.outer_size.width
    for y in range(pane.outer_size.height):
        line = pane.render_line(y)
        assert line.cell_length == width
        assert not any(character < " " for character in line.text)


async def show_everything(
    pilot: Pilot[None], pane: Chart | Books, store: Store, keys: tuple[str, ...]
) -> None:
    pane.on_frame(frame_of(store, everything=True))
    assert_exact(pane)
    for key in keys:
        await pilot.press(key)
        assert_exact(pane)


@pytest.mark.parametrize("every", EVERY)
async def test_no_member_of_a_candle_that_is_missing_or_odd_breaks_a_chart(every: int) -> None:
    drawn = 0
    pane = Chart()
    async with shown(pane, desk_store(), size=(90, 30)) as pilot:
        for number, body in enumerate(islice(variants(wire_candles()), 0, None, every)):
            store = await with_candles(body)
            keys = EVERY_LOOK if number % 9 == 0 else EVERY_LOOK[number % 9 : number % 9 + 1]
            await show_everything(pilot, pane, store, keys)
            drawn += "candles" not in text_of(pane)[0]
    assert drawn > number * 3 // 4, "one wrong candle takes the others with it"


@pytest.mark.parametrize("every", EVERY)
async def test_no_member_of_a_book_that_is_missing_or_odd_breaks_chart_or_pane(every: int) -> None:
    for pane in (Chart(), Books()):
        async with shown(pane, desk_store(), size=(140, 30)) as pilot:
            for body in islice(variants(wire_book()), 0, None, every):
                store = await with_books(body)
                if isinstance(pane, Chart):
                    pane.book.next_choice()
                await show_everything(pilot, pane, store, ("v",))


@pytest.mark.parametrize("width", sampled(WIDTHS, 2))
async def test_a_halted_instrument_keeps_its_chart_at_every_width(width: int) -> None:
    pane, store = Chart(), desk_store()
    store.quotes["EUR_USD"] = replace(store.quotes["EUR_USD"], tradeable=False)
    async with shown(pane, store, size=(width, 24)) as pilot:
        await show_everything(pilot, pane, store, EVERY_LOOK)


async def test_a_clock_that_is_behind_leaves_candles_and_book_in_sight() -> None:
    store = await with_books(wire_book())
    store.clock_ns = WALL_NS - 90 * MINUTE_NS
    pane = Chart()
    async with shown(pane, store, size=(140, 30)) as pilot:
        pane.action_book()
        await show_everything(pilot, pane, store, EVERY_LOOK)
        text = "\n".join(text_of(pane))
    assert "sell│buy" in text
    assert "-" not in text.replace("−", "")
    foot = text.splitlines()[-1]
    assert "old" in foot


async def test_while_the_host_is_silent_the_past_that_is_there_is_gone_through_and_asked_for_once() -> (
    None
):
    pane, store = Chart(), desk_store()
    series = store.series["EUR_USD", "M5"]
    async with shown(pane, store, size=(60, 20)) as pilot:
        for turn in range(40):
            await pilot.press("backspace")
            for message in heard(pilot, Chart.HistoryWanted):
                shown_one = message.instrument, message.granularity
                want_history(store, *shown_one, message.direction, of_series=message.of_series)
            series.loading_history = series.loading_history or series.wants_older
            pane.on_frame(frame_of(store, now=NOW + turn))
            assert_exact(pane)
        assert len(heard(pilot, Chart.HistoryWanted)) == 1
        oldest = text_of(pane)
        assert series.candles[0].time_ns < (pane.position.until or 0)
        series.loading_history = False
        first = series.candles[0]
        older = [
            replace(first, time_ns=first.time_ns - n * 5 * MINUTE_NS) for n in range(300, 0, -1)
        ]
        series.candles[:0] = older
        store.mark(Topic.CANDLES)
        pane.on_frame(frame_of(store, now=NOW + 50))
        assert text_of(pane) == oldest, "candles that arrive move nothing"
        await pilot.press("backspace")
        assert text_of(pane) != oldest
        await pilot.press("end")
        assert pane.heading().right == ""


async def test_while_the_host_is_silent_a_date_that_was_asked_for_can_be_left_again() -> None:
    pane, store = Chart(), desk_store()
    async with shown(pane, store, size=(60, 20)) as pilot:
        before = text_of(pane)
        pane.go_to_date(datetime(2015, 1, 15))  # noqa: DTZ001 - of the trader's zone
        for turn in range(5):
            await pilot.press("h")
            pane.on_frame(frame_of(store, now=NOW + turn, everything=True))
            assert text_of(pane)[0].strip() == "Loading 15 Jan 2015 …"
            assert_exact(pane)
        await pilot.press("end")
        assert text_of(pane) == before


@pytest.mark.parametrize("width", sampled(WIDTHS, 2))
async def test_one_candle_and_none_are_drawn_in_every_look(width: int) -> None:
    for count in (1, 0, 2):
        pane, store = Chart(), desk_store()
        series = store.series["EUR_USD", "M5"] = CandleSeries("EUR_USD", "M5", loading=False)
        series.candles = desk_store().series["EUR_USD", "M5"].candles[-count:] if count else []
        store.set_indicators(
            "EUR_USD", parse_indicators(("ema 20", "donchian 20", "rsi 14", "atr"))
        )
        async with shown(pane, store, size=(width, 18)) as pilot:
            await show_everything(pilot, pane, store, EVERY_LOOK)
