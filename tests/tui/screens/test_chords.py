"""What the main screen shows between the two keys of a chord."""

from pathlib import Path

import pytest
from textual.widget import Widget

from keydesk.panes.strips.chord_list import ChordList
from keydesk.panes.strips.keys import KeyFooter
from keydesk.trading.desk_session import DeskLock
from support.fakes.scripted_broker import until
from support.fakes.working_desk import WorkingDesk
from support.resizing import laid_out
from support.walks import sampled


def desk(folder: Path) -> WorkingDesk:
    return WorkingDesk(DeskLock.of(folder, "practice"))


def words(app: WorkingDesk, widget: type[Widget]) -> str:
    region = app.window.screen.query_one(widget).region
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text for strip in strips[region.y : region.bottom])


async def test_the_footer_shows_at_once_what_may_follow_and_then_the_keys_of_the_pane(
    tmp_path: Path,
) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        before = words(app, KeyFooter)
        await pilot.press("g")
        shown = words(app, KeyFooter)
        assert shown.split()[:2] == ["g", "…"]
        assert "w watchlist" in shown
        await pilot.press("c")
        assert app.focused is app.window.screen.chart
        assert "watchlist" not in words(app, KeyFooter)
        await pilot.press("g", "w", "apostrophe", "escape")
        assert words(app, KeyFooter) == before


@pytest.mark.parametrize("size", sampled([(60, 16), (80, 24), (200, 50)], 1))
async def test_the_list_of_what_may_follow_stands_above_the_notices_at_every_size(
    size: tuple[int, int], tmp_path: Path
) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await pilot.press("g")
        screen = app.window.screen
        screen.list_chord()
        await pilot.resize_terminal(*size)
        await laid_out(pilot, *size)
        chords, panes = screen.query_one(ChordList), screen.query_one("#panes")
        assert chords.display
        # Textual lays out once more when the notices have got their rows.
        await until(lambda: chords.region.bottom == panes.region.bottom)
        assert chords.region.y >= panes.region.y
        if size != (60, 16):  # exits only, and no room for all
            assert "Statistics of your trades" in words(app, ChordList)
        await pilot.press("t")
        assert not chords.display


async def test_the_list_takes_no_key_and_a_form_takes_it_away(tmp_path: Path) -> None:
    app = desk(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await pilot.press("g")
        screen = app.window.screen
        focused = app.focused
        screen.list_chord()
        await pilot.pause()
        assert app.focused is focused
        screen.show_chord("")
        await pilot.pause()
        assert not screen.query_one(ChordList).display
