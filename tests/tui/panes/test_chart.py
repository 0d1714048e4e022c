"""The chart pane: own prices, movement, zoom and styles, and what it shows without candles."""

import dataclasses
import re
from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from keydesk.calc.market.indicator_specs import parse_indicators
from keydesk.chart.price_axis import PriceLine
from keydesk.panes.chart import Chart
from keydesk.panes.chart_marks import own_lines
from keydesk.store.state import CandleSeries, PastCandles, Topic
from keydesk_client.account.records import Unread
from keydesk_client.account.values import FIRST_NS
from support.data.desk_data import MINUTE_NS, NOW, candles, desk_store, frame_of
from support.fakes.pane_app import heard, shown, text_of
from support.walks import crossed

WIDEST_FIRST = ("wide", "narrow", "double", "line", "line")


async def test_own_entry_stop_and_target_are_on_the_chart() -> None:
    pane = Chart()
    async with shown(pane, desk_store(), size=(60, 24)):
        picture = "\n".join(text_of(pane))
    for text in ("target ", "1.08650", "long ", "1.08380", " stop ", "buy limit ", "1.08435"):
        assert text in picture


async def test_own_prices_keep_their_labels_while_prices_and_account_are_not_known() -> None:
    full, lacking = desk_store(), desk_store()
    lacking.quotes, lacking.account, lacking.unread = {}, None, Unread(("EUR_USD 1000",))
    pictures = []
    for store in (full, lacking):
        pane = Chart()
        async with shown(pane, store, size=(60, 14)):
            pictures.append([re.sub(r"[↑↓] \d+p", "far", row) for row in text_of(pane)])
    assert pictures[0][1:] == pictures[1][1:]
    assert "day −0.40%" in pictures[0][0]
    assert pictures[1][0].rstrip().endswith("day –")


def test_lines_of_trades_and_orders_say_their_side_and_have_its_colour() -> None:
    store = desk_store()
    limit = store.orders["6415"]
    store.orders = {
        "1": dataclasses.replace(limit, units=Decimal(-5), type="STOP"),
        "2": dataclasses.replace(limit, type="MARKET_IF_TOUCHED"),
    }
    short = dataclasses.replace(store.trades["6398"], instrument="EUR_USD")
    store.trades = {"1": store.trades["6411"], "2": short}
    lines = own_lines(store, "EUR_USD")
    texts = [line.text for line in lines]
    assert texts == ["long", "stop", "target", "short", "sell stop", "buy if touched"]
    assert [line.role for line in lines[-2:]] == ["sell", "buy"]
    assert [line.units for line in lines if line.role == "entry"] == [
        abs(trade.units) for trade in store.trades.values()
    ]


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


@pytest.mark.parametrize("place", [1, 2])
async def test_dots_hold_for_every_chart(place: int) -> None:
    pane, store = Chart(place=place), desk_store()
    store.set_dots(True)
    async with shown(pane, store, size=(80, 24)):
        pane.granularity = store.granularity
        pane.on_frame(frame_of(store, everything=True))
        assert pane.scene is not None
        assert pane.scene.braille


async def test_a_chart_asks_for_the_candles_it_turns_to() -> None:
    pane, store = Chart(place=2), desk_store()
    async with shown(pane, store) as pilot:
        store.set_granularity("H1")
        pane.on_frame(frame_of(store))
        await pilot.pause()
        wanted = heard(pilot, Chart.SeriesWanted)
    asked = [(message.instrument, message.granularity) for message in wanted]
    assert asked == [("", "H1"), ("", "D")]


@pytest.mark.parametrize(
    ("series", "text"),
    [
        (None, "Loading candles"),
        (CandleSeries("EUR_USD", "M5", loading=True), "Loading candles"),
        (CandleSeries("EUR_USD", "M5", loading=False), "No candles for this time"),
        (CandleSeries("EUR_USD", "M5", loading=False, error="unreachable"), "unreachable"),
    ],
)
async def test_a_chart_without_candles_says_why(series: CandleSeries | None, text: str) -> None:
    pane, store = Chart(), desk_store()
    store.series.clear()
    if series is not None:
        store.series["EUR_USD", "M5"] = series
    async with shown(pane, store):
        assert text in text_of(pane)[0]


async def test_old_candles_stay_when_loading_failed() -> None:
    pane, store = Chart(), desk_store()
    store.series["EUR_USD", "M5"].error = "no answer"
    async with shown(pane, store):
        lines = text_of(pane)
    assert "Old candles: no answer" in lines[0]
    assert any("▏" in line for line in lines)


async def test_why_history_is_missing_is_said_in_the_past_and_not_beside_the_newest_candles() -> (
    None
):
    pane, store = Chart(), desk_store()
    series = store.series["EUR_USD", "M5"]
    series.history_error = "no answer"
    async with shown(pane, store):
        assert "no answer" not in text_of(pane)[0]
        pane.scroll_candles(5)
        assert "No further candles: no answer" in text_of(pane)[0]
        pane.go_to_date(datetime(2015, 1, 15))  # noqa: DTZ001 - of the trader's zone
        assert "Loading" in text_of(pane)[0], "of the date before it is not said of this one"
        pane.action_newest()
        assert "no answer" not in text_of(pane)[0]


async def test_keys_ask_for_wider_and_narrower_candles_up_to_the_last_step() -> None:
    pane, store = Chart(), desk_store()
    in_sight = {}
    async with shown(pane, store, size=(90, 24)) as pilot:
        for key, zooms in (("plus", ["wide", "widest", "widest"]), ("underscore", [*WIDEST_FIRST])):
            for zoom in zooms:
                await pilot.press(key)
                assert heard(pilot, Chart.ZoomWanted)[-1].zoom == zoom
                store.set_chart_zoom(heard(pilot, Chart.ZoomWanted)[-1].zoom)
                pane.on_frame(frame_of(store, now=NOW + 1))
                in_sight[zoom] = pane.in_sight
    assert in_sight["double"] == 2 * in_sight["narrow"]
    assert in_sight["line"] > in_sight["double"] > in_sight["wide"] > in_sight["widest"]


async def test_the_head_has_the_last_candle_and_the_time_left_to_it() -> None:
    pane, store = Chart(), desk_store()
    async with shown(pane, store, size=(52, 9)):
        newest = store.series["EUR_USD", "M5"].candles[-1]
        store.clock_ns = newest.time_ns + 1_000_000_000
        pane.on_frame(frame_of(store, now=NOW + 2, everything=True))
        head = text_of(pane)[0].split()
        prices = (newest.open, newest.high, newest.low, newest.close)
        assert head[:4] == [
            f"{name}{price:.5f}" for name, price in zip("OHLC", prices, strict=True)
        ]
        assert head[5] == "4:59"
        store.clock_ns += 2_000_000_000
        pane.on_frame(frame_of(store, now=NOW + 4))
        assert "4:57" in text_of(pane)[0]


async def test_day_high_low_and_previous_close_are_lines() -> None:
    pane, store = Chart(), desk_store()
    store.trades.clear()
    store.orders.clear()
    last = store.series["EUR_USD", "M5"].candles[-1].close
    day = replace(
        store.days["EUR_USD"],
        high=Decimal(f"{last + 0.0003:.5f}"),
        low=Decimal(f"{last - 0.0003:.5f}"),
        previous_close=Decimal(f"{last + 0.0001:.5f}"),
    )
    store.days["EUR_USD"] = day
    async with shown(pane, store, size=(90, 24)):
        lines = text_of(pane)
    for words, price in (
        ("day high", day.high),
        ("day low", day.low),
        ("prev close", day.previous_close),
    ):
        assert any(f"{words} {price}" in line for line in lines)


async def test_keys_change_style_and_prices() -> None:
    pane, store = Chart(), desk_store()
    async with shown(pane, store, size=(90, 24)) as pilot:
        for name in ("bars", "line", "Heikin-Ashi", ""):
            await pilot.press("v")
            assert str(pane.heading().tabs[0].text) == f"EUR/USD M5 {name}".strip()
        await pilot.press("a")
        assert [each.prices for each in heard(pilot, Chart.PricesWanted)] == ["B"]
        store.set_candle_prices("B")
        pane.on_frame(frame_of(store, now=NOW + 1))
        assert "bid" in str(pane.heading().tabs[0].text)
        roles = {role for row in pane._rows for _, role in row}
        assert roles <= {"", "faint", "~line", "faint@line"}, (
            "mid candles until those of the bid came"
        )


async def test_candles_of_a_size_are_named_by_it_and_turn_back_to_mid() -> None:
    pane, store = Chart(), desk_store()
    async with shown(pane, store, size=(90, 24)) as pilot:
        store.set_candle_prices("A")
        await pilot.press("a")
        store.set_candle_prices("SB", Decimal(2_000_000))
        assert str(pane.heading().tabs[0].text) == "EUR/USD M5 bid for 2,000,000"
        await pilot.press("a")
        store.set_candle_prices("SA", Decimal(2_000_000))
        await pilot.press("a")
        assert [each.prices for each in heard(pilot, Chart.PricesWanted)] == ["SB", "SA", "M"]
    store.set_candle_prices("SA", None)
    assert store.candle_prices == "M", "a preset that counts in risk has no size"


async def test_the_alignment_of_long_candles_is_named() -> None:
    pane, store = Chart(), desk_store()
    store.granularity = "D"
    async with shown(pane, store, size=(90, 24)):
        assert str(pane.heading().tabs[0].text) == "EUR/USD D from 17:00 New York"


async def test_indicators_of_the_instrument_are_drawn_with_their_names() -> None:
    pane, store = Chart(), desk_store()
    async with shown(pane, store, size=(90, 30)):
        store.set_indicators("EUR_USD", parse_indicators(("ema 20", "bb 20 2", "rsi 14", "macd")))
        pane.on_frame(frame_of(store, now=NOW + 1))
        lines = text_of(pane)
    assert "EMA 20  Bollinger 20 2" in "".join(lines[:2])
    assert any(line.startswith(" ─ RSI 14 ─") for line in lines)
    assert any(line.startswith(" ─ MACD 12 26 9 ─") for line in lines)


async def test_another_instrument_shows_the_old_picture_dimmed_until_its_candles_are_there() -> (
    None
):
    pane, store = Chart(), desk_store()
    async with shown(pane, store, size=(60, 20)):
        store.set_focus("USD_JPY")
        pane.on_frame(frame_of(store, now=NOW + 1))
        lines = text_of(pane)
        assert lines[0].strip() == "Loading USD/JPY M5 …"
        assert "▏" in "".join(lines)
        assert "high" not in "".join(lines)
        assert not any(word in "".join(lines) for word in ("long", "stop", "target"))
        series = store.series["USD_JPY", "M5"] = CandleSeries("USD_JPY", "M5", loading=False)
        series.candles = candles(151.3, 200, 5)
        store.mark(Topic.CANDLES, ("USD_JPY", "M5"))
        pane.on_frame(frame_of(store, now=NOW + 2))
        assert "Loading" not in text_of(pane)[0]
        assert any("151.300" in line for line in text_of(pane))


async def test_candles_that_a_market_of_another_time_took_away_are_not_drawn_again() -> None:
    pane, store = Chart(), desk_store()
    async with shown(pane, store, size=(60, 20)):
        series = store.series.pop(("EUR_USD", "M5"))
        series.candles.pop()  # as a price of an earlier time does
        pane.on_frame(frame_of(store, now=NOW + 1, everything=True))
        assert text_of(pane)[0].strip() == "Loading candles …"


async def test_older_candles_do_not_move_the_part_of_the_past_in_sight() -> None:
    pane, store = Chart(), desk_store()
    async with shown(pane, store, size=(60, 20)) as pilot:
        await pilot.press("h", "h")
        before = text_of(pane)
        series = store.series["EUR_USD", "M5"]
        older = candles(series.candles[0].open, 100, 9)
        first = series.candles[0].time_ns
        series.candles[:0] = [
            replace(each, time_ns=first - (100 - i) * MINUTE_NS * 5) for i, each in enumerate(older)
        ]
        store.mark(Topic.CANDLES)
        pane.on_frame(frame_of(store, now=NOW + 1))
        assert text_of(pane) == before


async def test_a_date_is_asked_for_and_the_picture_stays_until_it_comes() -> None:
    pane, store = Chart(), desk_store()
    async with shown(pane, store, size=(60, 20)) as pilot:
        pane.go_to_date(datetime(2015, 1, 15))  # noqa: DTZ001 - of the trader's zone
        await pilot.pause()
        [wanted] = heard(pilot, Chart.DateWanted)
        assert wanted.date_ns == 1_421_280_000_000_000_000
        assert text_of(pane)[0].strip() == "Loading 15 Jan 2015 …"
        past = store.series["EUR_USD", "M5"].past = PastCandles(is_loaded=True)
        past.candles = [
            replace(each, time_ns=wanted.date_ns + (i - 100) * 5 * MINUTE_NS)
            for i, each in enumerate(candles(1.17, 200, 5))
        ]
        store.mark(Topic.CANDLES)
        pane.on_frame(frame_of(store, now=NOW + 1))
        assert "Thu 15 Jan 2015" in text_of(pane)[-1]


async def test_a_second_date_waits_for_its_own_candles_and_the_chart_comes_back_to_the_present() -> (
    None
):
    pane, store = Chart(), desk_store()
    async with shown(pane, store, size=(60, 20)) as pilot:
        newest = text_of(pane)
        series = store.series["EUR_USD", "M5"]
        series.past = PastCandles(is_loaded=True)
        series.past.candles = [
            replace(each, time_ns=FIRST_NS + i * 5 * MINUTE_NS)
            for i, each in enumerate(candles(1.17, 200, 5))
        ]
        pane.position.until = FIRST_NS + 100 * 5 * MINUTE_NS
        pane.go_to_date(datetime(2015, 1, 15))  # noqa: DTZ001 - of the trader's zone
        await pilot.pause()
        assert text_of(pane)[0].strip() == "Loading 15 Jan 2015 …"
        assert "1 Jan 1990" in text_of(pane)[-1]
        assert heard(pilot, Chart.HistoryWanted) == []
        pane.action_newest()
        assert text_of(pane) == newest


@pytest.mark.parametrize(
    ("date", "zone"),
    crossed(
        [datetime.min, datetime.max, datetime(1969, 12, 31)],  # noqa: DTZ001, DTZ901
        ["Asia/Tokyo", "America/New_York", "UTC"],
    ),
)
async def test_an_absurd_date_is_the_first_or_the_last_that_a_broker_takes(
    date: datetime, zone: str
) -> None:
    pane, store = Chart(), desk_store()
    store.zone = ZoneInfo(zone)
    async with shown(pane, store, size=(60, 20)) as pilot:
        pane.go_to_date(date)
        await pilot.pause()
        [wanted] = heard(pilot, Chart.DateWanted)
        frame = pane.frame
        assert frame is not None
        newest = max(frame.time_ns, store.clock_ns)
        assert wanted.date_ns == (newest if date.year > 2000 else FIRST_NS)
        assert text_of(pane)[0].strip().startswith("Loading ")


async def test_times_of_the_chart_are_in_the_zone_of_the_trader_which_is_named() -> None:
    pane, store = Chart(), desk_store()
    async with shown(pane, store, size=(90, 20)):
        utc = text_of(pane)[-1]
        store.zone = ZoneInfo("Europe/Berlin")
        store.mark(Topic.CANDLES)
        pane.picture.forget_scale()
        pane.on_frame(frame_of(store, now=NOW + 1))
        berlin = text_of(pane)[-1]
    assert utc.rstrip().endswith("UTC")
    assert berlin.rstrip().endswith("CET")
    hours = [int(each[:2]) for each in utc.split() if ":" in each]
    later = [int(each[:2]) for each in berlin.split() if ":" in each]
    assert {(hour + 1) % 24 for hour in hours} & set(later)


@pytest.mark.parametrize(
    ("rows", "drawn", "named"),
    [
        (30, ["RSI 14", "MACD 12 26 9"], []),
        (17, ["RSI 14"], ["MACD 12 26 9"]),
        (13, [], ["RSI 14", "MACD 12 26 9"]),
    ],
)
async def test_sub_panes_are_drawn_as_far_as_there_is_room_and_the_others_named(
    rows: int, drawn: list[str], named: list[str]
) -> None:
    pane, store = Chart(), desk_store()
    store.indicators["EUR_USD"] = parse_indicators(("rsi 14", "macd"))
    async with shown(pane, store, size=(90, rows)):
        lines, told = text_of(pane), pane.heading().right
    for title in drawn:
        assert any(line.strip().startswith(f"─ {title} ─") for line in lines)
    assert told == (f"{', '.join(named)}: no room, z zooms" if named else "")


async def test_planned_prices_of_a_form_are_drawn() -> None:
    pane = Chart()
    async with shown(pane, desk_store(), size=(90, 30)):
        pane.plan([PriceLine(1.0845, "plan: limit", "pending")])
        assert any("plan: limit" in line for line in text_of(pane))
        assert any("1.08450" in line for line in text_of(pane))
        pane.plan([])
        assert not any("plan" in line for line in text_of(pane))
