"""A form stands on the desk: what it does not cover is the desk as it is, in every depth of colour."""

from pathlib import Path
from typing import Any

import pytest
from textual.geometry import Region
from textual.screen import Screen

from keydesk.app.desk_session import DeskLock
from keydesk.forms.sheet import Sheet
from keydesk.widgets.theme import Depth
from support.fakes.working_desk import WorkingDesk

SIZES = ((80, 24), (120, 35), (200, 50))


def desk(folder: Path, depth: Depth = "truecolor", *, ascii_only: bool = False) -> WorkingDesk:
    return WorkingDesk(DeskLock.of(folder, "practice"), depth, ascii_only=ascii_only)


def cells(screen: Screen[Any]) -> list[list[tuple[str, object]]]:
    """Every cell with its style."""
    lines = screen._compositor.render_strips()
    return [[(sign, part.style) for part in line for sign in part.text] for line in lines]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("depth", ["truecolor", "256", "16", "mono"])
async def test_around_a_form_the_desk_is_drawn_as_it_is(
    depth: Depth, size: tuple[int, int], tmp_path: Path
) -> None:
    app = desk(tmp_path, depth)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press("B")
        await pilot.pause()
        sheet = app.screen.query_one(Sheet).region
        shown, beneath = cells(app.screen), cells(app.actions.screen)
    assert sheet.area
    for y, line in enumerate(shown):
        for x, cell in enumerate(line):
            assert cell == beneath[y][x] or sheet.contains(x, y)


@pytest.mark.parametrize(
    ("depth", "ascii_only"), [("truecolor", False), ("16", False), ("mono", False), ("16", True)]
)
async def test_prices_positions_and_profit_stay_visible_around_a_form(
    depth: Depth, ascii_only: bool, tmp_path: Path
) -> None:
    app = desk(tmp_path, depth, ascii_only=ascii_only)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await pilot.press("g", "t", "B")
        await pilot.pause()
        words = "\n".join(line.text for line in app.screen._compositor.render_strips())
        sheet: Region = app.screen.query_one(Sheet).region
    assert "uPL" in words
    assert "NAV" in words
    assert "EUR/USD M5" in words  # the chart's heading
    assert "6411" in words  # a trade
    assert sheet.bottom < 35


async def test_a_form_that_closed_holds_no_lines_of_the_desk(tmp_path: Path) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await pilot.press("B")
        await pilot.pause()
        form = app.screen
        await pilot.press("escape")
        await pilot.pause()
    assert not getattr(form, "_beneath", None)
