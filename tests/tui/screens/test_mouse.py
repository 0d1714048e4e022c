"""A mouse does no harm, on the desk and on an open form."""

from pathlib import Path

import pytest
from textual.screen import ModalScreen

from keydesk.trading.desk_session import DeskLock
from support.fakes.working_desk import WorkingDesk


def desk(folder: Path) -> WorkingDesk:
    return WorkingDesk(DeskLock.of(folder, "practice"))


@pytest.mark.parametrize("keys", [(), ("B",), ("?",), (":",), ("g", "t", "M")])
async def test_clicks_and_drags_leave_what_is_open_as_it_is(
    keys: tuple[str, ...], tmp_path: Path
) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await pilot.press(*keys)
        await pilot.pause()
        opened = app.screen
        for x, y in ((5, 12), (40, 17), (100, 5), (30, 34), (0, 0), (119, 34)):
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
