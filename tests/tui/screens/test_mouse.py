"""A mouse chooses rows, tabs and panes and scrolls; it sends nothing, and does no harm on an open form."""

from pathlib import Path

import pytest
from textual.events import MouseScrollDown
from textual.screen import ModalScreen
from textual.widget import Widget

from keydesk.forms.panel import Panel
from keydesk.trading.desk_session import DeskLock
from support.fakes.working_desk import WorkingDesk
from support.walks import sampled


def scroll(widget: Widget) -> MouseScrollDown:
    return MouseScrollDown(
        widget, 1, 1, 0, 0, button=0, shift=False, meta=False, ctrl=False, screen_x=1, screen_y=1
    )


def focused(app: WorkingDesk) -> Widget | None:
    return app.focused


def desk(folder: Path) -> WorkingDesk:
    return WorkingDesk(DeskLock.of(folder, "practice"))


@pytest.mark.parametrize("keys", sampled([(), ("B",), ("?",), (":",), ("g", "t", "M")], 2))
async def test_clicks_and_drags_leave_what_is_open_as_it_is(
    keys: tuple[str, ...], tmp_path: Path
) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await pilot.press(*keys)
        await pilot.pause()
        opened = app.screen
        for x, y in ((5, 12), (40, 17), (100, 5), (119, 34)):
            await pilot.click(offset=(x, y), times=2)
            await pilot.mouse_down(offset=(x, y))
            await pilot.hover(offset=(119 - x, 34 - y))
            await pilot.mouse_up(offset=(119 - x, 34 - y))
        await pilot.pause()
        app.draw()
        await pilot.pause()
        assert app.screen is opened
        assert isinstance(opened, ModalScreen) is bool(keys)
        assert app.decided == []


async def test_a_click_chooses_a_row_a_tab_and_a_pane_and_the_wheel_scrolls(tmp_path: Path) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        app.draw()
        screen = app.window.screen
        watchlist = screen.watchlist
        await pilot.click(offset=(5, watchlist.region.y + watchlist.HEAD + 3))
        await pilot.pause()
        assert watchlist.selected == watchlist.keys[3]
        assert app.store.focus == watchlist.keys[3]
        await pilot.click(screen.chart)
        assert focused(app) is screen.chart
        heading = screen.pane("trades").region.y - 1
        line = screen._panes.render_line(heading - screen._panes.region.y).text
        await pilot.click(offset=(line.index("Orders") + 1, heading))
        await pilot.pause()
        assert focused(app) is screen.pane("orders")
        watchlist.post_message(scroll(watchlist))
        await pilot.pause()
        assert watchlist.cursor == 6
        assert focused(app) is watchlist
        await pilot.press("question_mark")
        first = app.screen.query_one("Panel")
        assert isinstance(first, Panel)
        before = first.text
        app.screen.post_message(scroll(first))
        await pilot.pause()
        assert first.text != before
    assert app.decided == []
