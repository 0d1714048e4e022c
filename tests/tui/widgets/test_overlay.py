"""A form stands on the desk: what it does not cover is the desk as it is, in every depth of colour."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from rich.console import RenderableType
from textual.geometry import Region
from textual.pilot import Pilot
from textual.screen import Screen

from keydesk.forms.modal_form import ModalForm
from keydesk.forms.panel import Panel
from keydesk.store.state import Topic
from keydesk.terminal._textual_private import pieces_of, region_of_whole
from keydesk.trading.desk_session import DeskLock
from keydesk.widgets.ruled_grid import RuledGrid
from keydesk.widgets.theme import Depth
from support.fakes.working_desk import WorkingDesk
from support.resizing import resize
from support.walks import crossed, sampled, sampled_rows

PATIENCE = 30.0  # seconds
SIZES = ((80, 24), (120, 35), (200, 50))


def desk(folder: Path, depth: Depth = "truecolor", *, ascii_only: bool = False) -> WorkingDesk:
    return WorkingDesk(DeskLock.of(folder, "practice"), depth, ascii_only=ascii_only)


def cells(screen: Screen[Any]) -> list[list[tuple[str, object]]]:
    """Every cell with its style."""
    lines = screen._compositor.render_strips()
    return [[(sign, part.style) for part in line for sign in part.text] for line in lines]


@pytest.mark.parametrize(("depth", "size"), crossed(["truecolor", "256", "16", "mono"], SIZES))
async def test_around_a_form_the_desk_is_drawn_as_it_is(
    depth: Depth, size: tuple[int, int], tmp_path: Path
) -> None:
    app = desk(tmp_path, depth)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press("B")
        await pilot.pause()
        panel = app.screen.query_one(Panel).region
        shown, beneath = cells(app.screen), cells(app.window.screen)
    assert panel.area
    for y, line in enumerate(shown):
        for x, cell in enumerate(line):
            assert cell == beneath[y][x] or panel.contains(x, y)


@pytest.mark.parametrize(
    ("depth", "ascii_only"),
    sampled_rows([("truecolor", False), ("16", False), ("mono", False), ("16", True)], 2),
)
async def test_prices_chart_and_profit_stay_visible_around_a_form(
    depth: Depth, ascii_only: bool, tmp_path: Path
) -> None:
    app = desk(tmp_path, depth, ascii_only=ascii_only)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await pilot.press("g", "t", "B")
        await pilot.pause()
        text = "\n".join(line.text for line in app.screen._compositor.render_strips())
        panel: Region = app.screen.query_one(Panel).region
    assert "uPL" in text
    assert "NAV" in text
    assert "EUR/USD M5" in text  # the chart's heading
    assert panel.y > 10


class WatchedDesk(WorkingDesk):
    """Keeps what a terminal would show after all updates, and the updates that draw a form."""

    def __init__(self, folder: Path) -> None:
        super().__init__(DeskLock.of(folder, "practice"))
        self.shown: dict[tuple[int, int], tuple[str, object]] = {}
        self.of_form: list[object] = []

    def screen_update(self, update: RenderableType | None) -> RenderableType | None:
        pieces = pieces_of(update) or []
        if pieces and isinstance(self.screen, ModalForm):
            self.of_form.append(update)
        for y, left, segments in pieces:
            x = left
            for text, style, _ in segments:
                for sign in text:
                    self.shown[y, x] = sign, style
                    x += 1
        return None

    def move_a_price(self) -> None:
        self.store.quotes["GBP_USD"].bid += 1
        self.store.mark(Topic.PRICES, "GBP_USD")
        self.draw()

    def differing_cells(self) -> list[tuple[int, int]]:
        """Return where the terminal shows something else than the screens draw."""
        return [
            (x, y)
            for y, line in enumerate(cells(self.screen))
            for x, cell in enumerate(line)
            if self.shown.get((y, x)) != cell
        ]


async def until_drawn(app: WatchedDesk, pilot: Pilot[int]) -> None:
    """Wait until the terminal shows what the screens draw; an update that was left out never comes."""
    async with asyncio.timeout(PATIENCE):
        while app.differing_cells():
            await pilot.pause()


@pytest.mark.parametrize(("key", "size"), crossed(["B", "?"], SIZES[::2]))
async def test_the_terminal_shows_form_and_desk_as_they_are_drawn(
    key: str, size: tuple[int, int], tmp_path: Path
) -> None:
    app = WatchedDesk(tmp_path)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press(key)
        await pilot.pause()
        assert len(app.screen_stack) == 2
        await until_drawn(app, pilot)
        app.move_a_price()
        await pilot.pause()
        await until_drawn(app, pilot)
        await resize(pilot, size[0] + 20, size[1] + 5)
        await pilot.pause()
        await until_drawn(app, pilot)
        await pilot.press("escape")
        await pilot.pause()
        assert len(app.screen_stack) == 1
        await until_drawn(app, pilot)


@pytest.mark.parametrize("size", sampled(SIZES, 1))
async def test_the_keys_of_a_form_hide_it_until_they_close(
    size: tuple[int, int], tmp_path: Path
) -> None:
    app = WatchedDesk(tmp_path)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press("B", "?")
        await pilot.pause()
        await until_drawn(app, pilot)
        assert "┃" not in {sign for sign, _ in app.shown.values()}
        await pilot.press("escape")
        await pilot.pause()
        await until_drawn(app, pilot)
        assert "┃" in {sign for sign, _ in app.shown.values()}


@pytest.mark.parametrize("key", sampled(["B", "?"], 1))
async def test_a_form_opens_without_drawing_the_desk_around_it(key: str, tmp_path: Path) -> None:
    app = WatchedDesk(tmp_path)
    async with app.run_test(size=(200, 50)) as pilot:
        await pilot.pause()
        await pilot.press(key)
        await pilot.pause()
        assert app.of_form
        assert [region_of_whole(update) for update in app.of_form] == [None] * len(app.of_form)


@pytest.mark.parametrize(("key", "size"), crossed(["B", "?"], SIZES[::2]))
async def test_the_first_picture_of_a_form_is_the_form_alone(
    key: str, size: tuple[int, int], tmp_path: Path
) -> None:
    app = WatchedDesk(tmp_path)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        app.move_a_price()  # drawn later
        await pilot.press(key)
        await pilot.pause()
        panel = app.screen.query_one(Panel).region
        first = pieces_of(app.of_form[0]) or []
    assert {(x, y) for y, x, _ in first} == {(panel.x, y) for y in panel.line_range}


async def test_what_changes_beneath_before_a_form_is_shown_is_drawn_after_its_first_picture(
    tmp_path: Path,
) -> None:
    app = WatchedDesk(tmp_path)
    async with app.run_test(size=(200, 50)) as pilot:
        await pilot.pause()
        app.action_perform("find")
        app.screen.refresh(Region(0, 3, 10, 1))
        async with asyncio.timeout(PATIENCE):
            while not any(reaches(update, y=3, before=10) for update in app.of_form[1:]):
                await pilot.pause()
        assert not reaches(app.of_form[0], y=3, before=10)


def reaches(update: object, y: int, before: int) -> bool:
    """Return whether an update draws a line left of a column."""
    return any(line == y and x < before for line, x, _ in pieces_of(update) or [])


async def test_the_desk_shows_that_a_form_has_the_keys_once_the_form_is_drawn(
    tmp_path: Path,
) -> None:
    app = WatchedDesk(tmp_path)
    async with app.run_test(size=(200, 50)) as pilot:
        await pilot.pause()
        watchlist, grid = app.window.screen.watchlist, app.window.screen.query_one(RuledGrid)
        assert grid.has_keys(watchlist)
        await pilot.press("B")
        await pilot.pause()
        assert not grid.has_keys(watchlist)
        form = app.screen.query_one(Panel).region
        under = [pane for pane in grid.panes if pane.region.overlaps(form)]
        reaching = [pane for pane in under if pane.region.x < form.x]
        assert all(pane.region.right - pane.covered == form.x for pane in reaching)
        await until_drawn(app, pilot)
        footer = app.screen._compositor.render_strips()[-1].text
        assert "sends" in footer or "form" in footer, footer
