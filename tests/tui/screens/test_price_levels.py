"""Price levels by key: named at the crosshair, drawn, moved, renamed, removed; their price in alerts and orders."""

from decimal import Decimal
from pathlib import Path

import pytest
from textual.pilot import Pilot

from keydesk.calc.market.price_levels import MAX_LEVELS, PriceLevel
from keydesk.config.price_levels import FILE, load_levels, save_level
from keydesk.forms.market.new_alert import NewAlertForm, TakeAlert
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.panes.chart import Chart
from keydesk.trading.desk_session import DeskLock
from support.fakes.pane_app import text_of
from support.fakes.working_desk import WorkingDesk

D = Decimal


@pytest.fixture
def app(tmp_path: Path) -> WorkingDesk:
    return WorkingDesk(DeskLock.of(tmp_path, "practice"))


def chart_of(app: WorkingDesk) -> Chart:
    return app.window.screen.chart


def price_of(app: WorkingDesk) -> Decimal:
    price = chart_of(app).crosshair_price
    assert price is not None
    return price


async def point(pilot: Pilot[int], app: WorkingDesk) -> Decimal:
    """Turn the crosshair on; return its price."""
    await pilot.pause()
    app.draw()
    app.window.screen.action_go("chart")
    await pilot.press("i")
    return price_of(app)


async def name(pilot: Pilot[int], app: WorkingDesk, second: str, text: str = "") -> None:
    """Press n and a key, and type a name in place of the proposed one; "" takes that."""
    await pilot.press("n", second)
    await pilot.pause()
    await pilot.press(*["backspace"] * 20 * bool(text), *text, "enter")
    await pilot.pause()
    app.draw()


def drawn(app: WorkingDesk, word: str) -> str:
    return next((row for row in text_of(chart_of(app)) if word in row), "")


async def test_a_line_is_named_drawn_moved_renamed_and_removed_by_key(
    app: WorkingDesk, tmp_path: Path
) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await point(pilot, app)
        await pilot.press("full_stop")
        price = price_of(app)
        await name(pilot, app, "n", "High")
        assert load_levels(tmp_path) == {"EUR_USD": [PriceLevel("high", price)]}
        await pilot.press("full_stop")
        app.draw()
        row = drawn(app, "high")
        assert "╌╌╌╌" in row
        assert f"{price}" in row

        there = price_of(app)
        await pilot.press("n", "m")
        await name(pilot, app, "e", "top")
        assert load_levels(tmp_path) == {"EUR_USD": [PriceLevel("top", there)]}
        assert not drawn(app, "high ")
        await pilot.press("n", "x")
        assert load_levels(tmp_path) == {}
        await pilot.press("n", "x")
        assert app.store.notices[-1].text == "EUR/USD has no level: nn sets one at the crosshair"


async def test_a_ray_is_drawn_from_the_candle_of_the_crosshair_on(
    app: WorkingDesk, tmp_path: Path
) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await point(pilot, app)
        await pilot.press("full_stop", "backspace", "backspace")
        await name(pilot, app, "r")
        (ray,) = load_levels(tmp_path)["EUR_USD"]
        scene, layout = chart_of(app).scene, chart_of(app).picture.layout
        assert ray.name == "level1"
        assert scene is not None
        assert layout is not None
        assert scene.cursor is not None
        assert scene.candles[scene.cursor.index].time_ns == ray.since_ns
        start = layout.columns[scene.cursor.index - layout.first]
        await pilot.press("i")
        app.draw()
        row = drawn(app, "level1").removeprefix(" ")
        assert "╌" not in row[:start]
        assert row[start : start + 3] == "╌╌╌"


async def test_the_crosshair_stops_at_a_level_and_gives_its_exact_price_to_alert_and_order(
    app: WorkingDesk, tmp_path: Path
) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        start = await point(pilot, app)
        level = start - D("0.00023")
        save_level(tmp_path, "EUR_USD", PriceLevel("low", level))
        app.levels.load()
        app.draw()
        await pilot.press("comma")
        assert price_of(app) == level
        await pilot.press("k")
        assert price_of(app) == start - D("0.0002")
        await pilot.press("j")
        assert price_of(app) == level
        await pilot.press("N")
        assert isinstance(app.screen, NewAlertForm)
        await pilot.press("enter")
        (choice,) = app.alert_choices
        assert isinstance(choice, TakeAlert)
        assert f"{level}" in choice.line.text

        await pilot.press("colon", *"b", "space", "at", *"low", "enter")
        await pilot.pause()
        assert isinstance(app.screen, TicketForm)
        assert app.screen.draft.price.text == f"{level}"


async def test_a_bad_file_is_named_and_a_full_one_takes_no_further_level(
    app: WorkingDesk, tmp_path: Path
) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await point(pilot, app)
        (tmp_path / FILE).write_text("[[levels]]\nname = 5\n", encoding="utf-8")
        await pilot.press("n", "n")
        assert f"Price levels cannot be used: {tmp_path / FILE}:1: levels[1].instrument" in (
            app.store.notices[-1].text
        )
        table = '[[levels]]\ninstrument = "EUR_USD"\nname = "l{}"\nprice = "1.1"\n'
        text = "".join(table.format(at) for at in range(MAX_LEVELS))
        (tmp_path / FILE).write_text(text, encoding="utf-8")
        await pilot.press("n", "n")
        assert app.store.notices[-1].text == "EUR/USD has 50 levels: remove one first"
