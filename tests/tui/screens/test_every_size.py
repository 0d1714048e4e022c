"""From 40x12 to 250x70 in steps: every pane is whole, no column is clipped, no third of the screen is left blank."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.geometry import Region

from keydesk.calc.market.market_state import ControlledMarket, MarketState
from keydesk.forms.details_form import DetailsForm
from keydesk.forms.panel import Panel
from keydesk.panes.chart import Chart
from keydesk.screens.desk import DeskScreen
from keydesk.screens.placement import LARGE, MEDIUM, MINI
from keydesk.store.frame import Frame
from keydesk.tables.column import needed
from keydesk.tables.table_pane import TablePane
from keydesk.text.sanitize import safe
from keydesk.trading.desk_session import DeskLock
from keydesk.widgets.lines import QUIET, LinePane
from keydesk.widgets.ruled_grid import RuledGrid
from support.data.desk_data import desk_store
from support.fakes.desk_app import DeskApp
from support.fakes.working_desk import WorkingDesk
from support.resizing import resize

WIDTHS = (40, 52, 64, 79, 80, 90, 100, 119, 120, 139, 140, 160, 179, 180, 200, 239, 240, 250)
HEIGHTS = (12, 18, 24, 30, 40, 44, 50, 60, 70)
LEAST_CHART = 36  # columns
FRAME = 6  # lines for rules and strips


def shown(screen: DeskScreen) -> list[LinePane]:
    return screen._panes.panes


@pytest.mark.parametrize("width", WIDTHS[::6])
async def test_every_pane_is_whole(width: int) -> None:
    """A sixth of the widths, each with a fifth of the heights; the soak has all."""
    await assert_panes_are_whole(width, HEIGHTS[WIDTHS.index(width) // 6 % 5 :: 5])


@pytest.mark.soak
@pytest.mark.parametrize("width", WIDTHS)
async def test_every_pane_is_whole_at_every_size(width: int) -> None:
    await assert_panes_are_whole(width, HEIGHTS)


async def assert_panes_are_whole(width: int, heights: Sequence[int]) -> None:
    app = DeskApp(desk_store(70))
    async with app.run_test(size=(width, heights[0])) as pilot:
        for height in heights:
            await resize(pilot, width, height)
            await pilot.pause()
            app.draw()
            await pilot.pause()
            screen = app.screen
            assert isinstance(screen, DeskScreen)
            grid = Region(0, 0, width, height)
            for pane in shown(screen):
                assert grid.contains_region(pane.region), (pane.id, height)
                assert pane.region.height >= 2, (pane.id, height)
                if isinstance(pane, TablePane) and pane.keys:
                    assert needed(pane.fitted, pane.gap) <= pane.inside, (pane.id, height)
                if isinstance(pane, Chart):
                    assert pane.inside >= LEAST_CHART, (pane.id, height)
            assert screen.page_region(app.size) == screen._panes.region
            covered = sum(pane.region.area for pane in shown(screen))
            assert covered >= (width - 4) * (height - FRAME - 7) * 2 // 3, height


async def test_medium_and_larger_show_trades_positions_and_orders_together() -> None:
    for tier in (MEDIUM, LARGE):
        places = [next(slot for slot in tier.slots if name in slot) for name in EXIT_LISTS]
        assert len(set(places)) == len(EXIT_LISTS)


EXIT_LISTS = ("trades", "positions", "orders")


async def test_the_mini_desk_shows_worth_profit_trades_and_exits_only() -> None:
    app = DeskApp(desk_store())
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        app.draw()
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, DeskScreen)
        assert [pane.id for pane in shown(screen)] == ["trades"]
        lines = [strip.text for strip in screen._compositor.render_strips()]
        for name in EXIT_LISTS[1:]:
            screen.action_go(name)
            assert [pane.id for pane in shown(screen)] == [name]
        screen.action_go("chart")
        assert [pane.id for pane in shown(screen)] == ["orders"]
        assert screen.placement.tier is MINI
    assert "…7-042" in lines[0]
    assert lines[1].split()[:4] == ["NAV", "10,214.55", "uPL", "+0.90"]
    assert "Trades 2 !" in lines[3]
    assert "none !" in lines[6]
    assert lines[-1].split() == ["C", "close", "X", "flatten", "E", "even", "?", "keys"]


async def test_a_hundred_columns_leave_two_thirds_to_the_chart() -> None:
    app = DeskApp(desk_store(70))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        assert isinstance(app.screen, DeskScreen)
        assert app.screen.pane("chart").inside >= 64
        assert not app.screen.pane("ticket").display


async def test_four_charts_have_timeframes_of_their_own_at_250x70() -> None:
    app = DeskApp(desk_store(70))
    async with app.run_test(size=(250, 70)) as pilot:
        await pilot.pause()
        app.draw()
        screen = app.screen
        assert isinstance(screen, DeskScreen)
        charts = [pane for pane in shown(screen) if isinstance(pane, Chart)]
    assert [chart.shown[1] for chart in charts] == ["M5", "H1", "D", "M1"]


async def test_a_chart_that_a_larger_window_shows_asks_for_its_candles(tmp_path: Path) -> None:
    app = WorkingDesk(DeskLock.of(tmp_path, "practice"))
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        app.draw()
        await pilot.pause()
        assert app.series_wanted == [(1, "M5")]
        for size in ((200, 50), (120, 35), (250, 70)):
            await resize(pilot, *size)
            await pilot.pause()
        asked = app.series_wanted[1:]
    assert asked[:2] == [(2, "H1"), (2, "")]
    assert sorted(asked[2:]) == [(2, "H1"), (3, "D"), (4, "M1")]


async def test_a_page_stands_where_the_panes_stand_also_after_a_resize_and_over_a_replay(
    tmp_path: Path,
) -> None:
    app = WorkingDesk(DeskLock.of(tmp_path, "practice"))
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.press("g", "s")
        page = app.screen.query_one(Panel)
        for width, height in ((120, 35), (80, 24), (60, 20), (200, 50)):
            await resize(pilot, width, height)
            await pilot.pause()
            panes_at = app.window.screen.query_one(RuledGrid).region
            assert page.region.bottom == panes_at.bottom, (width, height)
            assert page.region.column_span == panes_at.column_span
            assert page.region.y >= panes_at.y
        app.store.set_market(ControlledMarket(MarketState(running=False)))
        app.window.screen.on_frame(Frame(app.store, {}, 1e9, 0))
        for _ in range(20):  # the strip is laid out first, then the page
            await pilot.pause()
            if page.region.y == 3:
                break
        place = app.window.screen.page_region(app.size)
        assert place.y == 3  # below the strip of the replay
        assert page.region.y >= place.y
        assert page.region.bottom == place.bottom


async def test_a_page_covers_the_lists_or_is_as_high_as_what_it_says_and_never_shrinks(
    tmp_path: Path,
) -> None:
    app = WorkingDesk(DeskLock.of(tmp_path, "practice"))
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        page = DetailsForm(safe("Few"), [(safe("name"), "value")])
        app.push_screen(page)
        await pilot.pause()
        panel = page.query_one(Panel)
        lists = app.window.screen.pane("trades").region
        assert panel.region.y == lists.y - 1, "with their title"
        assert panel.region.bottom == app.window.screen.query_one(RuledGrid).region.bottom
        for count, height in ((8, 10), (2, 10), (20, 22), (21, 30), (200, 30)):
            page.rows = tuple((safe(f"name {number}"), "value") for number in range(count))
            page.redraw()
            await pilot.pause()
            assert panel.region.height == height
        assert panel.region == app.window.screen.query_one(RuledGrid).region


async def test_a_narrow_page_ends_with_the_pane_of_which_it_would_leave_a_few_columns(
    tmp_path: Path,
) -> None:
    app = WorkingDesk(DeskLock.of(tmp_path, "practice"))
    async with app.run_test(size=(200, 50)) as pilot:
        await pilot.pause()
        screen = app.window.screen
        end = screen.pane("trades").region.right + 1  # with the line between the panes
        assert [screen.columns_for_page(end - less) for less in (0, 1, 19)] == [end] * 3
        assert screen.columns_for_page(40) == 40


async def test_panes_above_a_page_are_dimmed_until_it_closes(tmp_path: Path) -> None:
    app = WorkingDesk(DeskLock.of(tmp_path, "practice"))
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        app.draw()
        screen = app.window.screen
        panes = [screen.pane(name) for name in ("watchlist", "chart", "ticket")]
        before = [pane.render_line(1) for pane in panes]
        app.push_screen(DetailsForm(safe("Few"), []))
        await pilot.pause()
        quiet = {panes[0].palette[role] for role in QUIET}
        assert all({each.style for each in pane.render_line(1)} <= quiet for pane in panes)
        await pilot.press("escape")
        assert [pane.render_line(1) for pane in panes] == before
        await pilot.press("B")
        assert not any(pane.is_dimmed for pane in panes), "a ticket goes by prices and chart"
        await pilot.press("?")
        app.draw()
        assert all(pane.is_dimmed for pane in panes)
        await pilot.press("escape")
        await pilot.pause()
        assert not any(pane.is_dimmed for pane in panes), "nor once the list of its keys has closed"


@pytest.mark.parametrize("size", [(40, 12), (80, 24)])
async def test_a_size_preset_that_no_pane_shows_is_told(
    size: tuple[int, int], tmp_path: Path
) -> None:
    app = WorkingDesk(DeskLock.of(tmp_path, "practice"))
    async with app.run_test(size=size) as pilot:
        app.store.notices.clear()
        await pilot.press("0")
        said = [str(each.text) for each in app.store.notices]
    assert said == (["Size preset 0: risk 1%"] if size == (40, 12) else [])
