"""A form that stands in the right column: what reaches under it ends where the form begins, and comes back whole."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from keydesk.app.desk_session import DeskLock
from keydesk.forms.form import Form
from keydesk.panes.strips import InstrumentLine
from keydesk.store.state import Notice
from keydesk.text.sanitize import safe
from keydesk.widgets.lines import LinePane
from keydesk.widgets.table import TablePane, needed
from support.data.desk_data import WALL_NS
from support.fakes.pane_app import text_of
from support.fakes.working_desk import WorkingDesk

SIZES = ((120, 35), (132, 38), (140, 45), (180, 44), (200, 50), (250, 70))


@pytest.fixture
def app(tmp_path: Path) -> WorkingDesk:
    return WorkingDesk(DeskLock.of(tmp_path, "practice"))


async def drawn(app: WorkingDesk, pilot: Pilot[int]) -> list[str]:
    """The lines of the screen after a frame."""
    app.draw()
    await pilot.pause()
    app.draw()
    await pilot.pause()
    return [line.text for line in app.screen._compositor.render_strips()]


def beneath(app: WorkingDesk) -> list[LinePane]:
    """The panes of the desk that reach under the form."""
    form = app.screen
    assert isinstance(form, Form)
    assert form.sheet is not None
    at = form.sheet.region
    shown = [pane for pane in app.actions.screen.query(LinePane) if pane.display]
    return [pane for pane in shown if pane.region.x < at.x and pane.region.overlaps(at)]


@pytest.mark.parametrize("size", SIZES)
async def test_what_reaches_under_the_form_ends_beside_it_whole(
    app: WorkingDesk, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await drawn(app, pilot)
        before = {pane: text_of(pane) for pane in app.actions.screen.query(LinePane)}
        await pilot.press("B")
        lines = await drawn(app, pilot)
        form = app.screen
        assert isinstance(form, Form)
        assert form.sheet is not None
        panes = beneath(app)
        assert panes or size[1] > 35, (
            "the sheet ends above the other panes where there are rows enough"
        )
        for pane in panes:
            edge = form.sheet.region.x - pane.region.x
            for y in range(pane.outer_size.height):
                assert not pane.render_line(y).text[edge - 1 :].strip(), (pane.id, y)
            if isinstance(pane, TablePane) and pane.keys:
                assert needed(pane.fitted, pane.gap) <= edge
        for y in form.sheet.region.line_range:
            assert lines[y][form.sheet.region.x] in "┏┃┗"
        await pilot.press("escape")
        await drawn(app, pilot)
        assert {pane: text_of(pane) for pane in panes} == {pane: before[pane] for pane in panes}


async def test_a_message_beside_the_form_is_told_whole_or_with_an_ellipsis(
    app: WorkingDesk,
) -> None:
    words = "Not filled: the price moved past the bound 1.08449 while the order was on its way; send again: B"
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        app.store.notify(Notice("warn", safe(words), WALL_NS))
        await drawn(app, pilot)
        await pilot.press("B")
        lines = await drawn(app, pilot)
        form = app.screen
        assert isinstance(form, Form)
        told = " ".join(line[: form.docked_region.x] for line in lines[-4:])
        assert "Not filled: the price moved past the bound" in told
        assert "send again: B" in " ".join(told.split()) or "…" in told


async def test_the_instrument_line_names_no_figure_that_the_form_hides(app: WorkingDesk) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await pilot.press("B")
        lines = await drawn(app, pilot)
        strip = app.actions.screen.query_one(InstrumentLine)
        form = app.screen
        assert isinstance(form, Form)
        line = lines[strip.region.y][: form.docked_region.x].rstrip()
    assert "largest order" not in line
    assert line.endswith("%")
