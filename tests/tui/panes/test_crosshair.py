"""The crosshair of a chart: what moves it, where it ends, and what the legend says of candle and price."""

from decimal import Decimal

import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from textual.pilot import Pilot

from keydesk.keys.keymap import CHART, CROSSHAIR
from keydesk.panes.chart import Chart
from keydesk.panes.chart_marks import nearest_line
from keydesk.store.state import Candle, CandleSeries
from keydesk.store.store import Store
from support.data.desk_data import MINUTE_NS, NOW, desk_store, frame_of, instrument, quote
from support.data.hostile_text import FRAGMENTS
from support.fakes.pane_app import shown, text_of
from support.walks import sampled, sampled_rows

D = Decimal
HOSTILE = f"EUR_{''.join(FRAGMENTS)}"


def price_of(pane: Chart) -> Decimal:
    price = pane.crosshair_price
    assert price is not None
    return price


async def test_it_appears_on_the_newest_candle_at_a_round_price_by_the_last_and_leaves() -> None:
    pane, store = Chart(), desk_store()
    async with shown(pane, store, size=(60, 24)) as pilot:
        assert pane.crosshair_price is None
        assert pane.key_context == CHART
        await pilot.press("i")
        assert pane.key_context == CROSSHAIR
        assert abs(price_of(pane) - D("1.08435")) <= D("0.0001")
        assert price_of(pane) % D("0.0001") == 0
        await pilot.press("i")
        assert pane.crosshair_price is None


async def test_keys_move_it_by_candle_and_by_price_step() -> None:
    pane, store = Chart(), desk_store()
    async with shown(pane, store, size=(60, 24)) as pilot:
        await pilot.press("i")
        start = price_of(pane)
        await pilot.press("j", "down", "k")
        assert price_of(pane) == start - D("0.0001")
        await pilot.press("full_stop")
        assert price_of(pane) > start + D("0.0005")
        before = text_of(pane)[0]
        await pilot.press("h", "left")
        series = store.series["EUR_USD", "M5"].candles
        assert f"O{series[-3].open:.5f} H{series[-3].high:.5f}" in "\n".join(text_of(pane)[:2])
        await pilot.press("l", "right", "right")
        assert text_of(pane)[0].split("UTC")[0] == before.split("UTC")[0]


async def test_beyond_the_left_edge_the_chart_moves_and_back_again() -> None:
    pane, store = Chart(), desk_store()
    async with shown(pane, store, size=(60, 24)) as pilot:
        await pilot.press("i")
        for _ in range(9):
            await pilot.press("backspace")
        assert pane.heading().right.startswith("until ")
        candles = store.series["EUR_USD", "M5"].candles
        assert f"O{candles[-91].open:.5f}" in "\n".join(text_of(pane)[:2])
        await pilot.press("end")
        assert pane.heading().right == ""
        assert f"O{candles[-1].open:.5f}" in "\n".join(text_of(pane)[:2])


async def test_it_stays_on_its_candle_when_older_ones_are_loaded() -> None:
    pane, store = Chart(), desk_store()
    async with shown(pane, store, size=(60, 24)) as pilot:
        await pilot.press("i", "h", "h")
        before = text_of(pane)[:2]
        series = store.series["EUR_USD", "M5"]
        first = series.candles[0]
        older = [replace(first, time_ns=first.time_ns - n * 5 * MINUTE_NS) for n in (3, 2, 1)]
        series.candles = [*older, *series.candles]
        pane.on_frame(frame_of(store, now=NOW + 1, everything=True))
        assert text_of(pane)[:2] == before


async def test_the_legend_says_time_with_zone_prices_change_range_and_distance_in_money() -> None:
    pane, store = Chart(), desk_store()
    pane.preset_units = D(10_000)
    candles = store.series["EUR_USD", "M5"].candles
    candles[-2] = replace(candles[-2], open=1.0840, high=1.0846, low=1.0838, close=1.0844)
    candles[-1] = replace(candles[-1], close=1.0850)
    async with shown(pane, store, size=(130, 24)) as pilot:
        await pilot.press("i", "h", "j")
        text = "\n".join(text_of(pane)[:2])
    assert "O1.08400 H1.08460 L1.08380 C1.08440" in text
    assert "  +4.0p  " in text
    assert "range 8.0p" in text
    assert "−1.0p 1.00 USD from last" in text
    assert " UTC " in text


async def test_another_pane_that_gets_the_keys_turns_it_off() -> None:
    pane, store = Chart(), desk_store()
    async with shown(pane, store, size=(60, 24)) as pilot:
        await pilot.press("i")
        pilot.app.screen.set_focus(None)
        await pilot.pause()
        assert pane.crosshair_price is None


async def test_another_instrument_turns_it_off_and_another_candle_length_does_not() -> None:
    pane, store = Chart(), desk_store()
    async with shown(pane, store, size=(60, 24)) as pilot:
        await pilot.press("i")
        store.set_granularity("H1")
        pane.on_frame(frame_of(store, now=NOW + 1))
        assert pane.crosshair_price is not None
        store.set_focus("USD_JPY")
        pane.on_frame(frame_of(store, now=NOW + 2))
        assert pane.crosshair_price is None


def market(name: str, price: float, jump: float = 1.0) -> Store:
    """A desk with one candle, or with a jump between two."""
    store = desk_store()
    store.instruments[name] = instrument(name)
    store.quotes.setdefault(name, quote("EUR_USD"))
    store.set_focus(name)
    series = CandleSeries(name, "M5", loading=False)
    series.candles = [
        Candle(MINUTE_NS * 5 * n, at, at * 1.001, at * 0.999, at, complete=True)
        for n, at in enumerate((price, price * jump) if jump != 1.0 else (price,))
    ]
    store.series[name, "M5"] = series
    return store


@pytest.mark.parametrize("width", sampled([20, 33, 46, 250], 2))
@pytest.mark.parametrize(
    ("name", "price", "jump"),
    sampled_rows(
        [
            ("EUR_USD", 1.08431, 1.0),
            ("USD_JPY", 151.322, 1.4),
            ("XAU_TRY", 123456.789, 0.6),
            ("EUR_HUF", 0.003, 1.0),
            (HOSTILE, 1.1, 1.4),
        ],
        3,
    ),
    ids=("one candle", "yen", "gold", "small", "hostile"),
)
async def test_no_row_is_longer_than_the_pane_wherever_it_stands(
    width: int, name: str, price: float, jump: float
) -> None:
    pane, store = Chart(), market(name, price, jump)
    pane.preset_units = D(100_000_000)
    async with shown(pane, store, size=(width, 16)) as pilot:
        await pilot.press("i")
        await visit(pilot, pane, width)


async def visit(pilot: Pilot[None], pane: Chart, width: int) -> None:
    for keys in (("full_stop",) * 6, ("comma",) * 12, ("backspace", "h"), ("space",)):
        await pilot.press(*keys)
        assert price_of(pane) > 0
        for line in text_of(pane):
            assert cell_len(line) == width
            assert not any(ord(letter) < 32 for letter in line)
        price, text = f"{price_of(pane):f}", "".join(text_of(pane))
        assert price in text or width < 34


def test_the_nearest_own_line_is_an_entry_order_or_a_level_of_a_trade() -> None:
    store = desk_store()
    trade = next(each for each in store.trades.values() if each.instrument == "EUR_USD")
    assert trade.stop_loss is not None
    assert trade.stop_loss.price is not None
    line = nearest_line(store, "EUR_USD", trade.stop_loss.price)
    assert line is not None
    assert (line.name, line.trade_id) == ("stop", trade.id)
    order = next(
        each
        for each in store.orders.values()
        if each.instrument == "EUR_USD" and each.type == "LIMIT"
    )
    order.price = D("1.0700")
    line = nearest_line(store, "EUR_USD", D("1.0650"))
    assert line is not None
    assert (line.order_id, line.trade_id) == (order.id, None)
    assert nearest_line(store, "GBP_CHF", D(1)) is None
