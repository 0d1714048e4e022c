"""How the desk was left is found again; a file that is none changes nothing."""

import json
import os
from pathlib import Path

import pytest

from keydesk.config.last_workspace import SAVE_EVERY, Workspace, WorkspaceFile, read
from keydesk.screens.desk import DeskScreen
from keydesk.store.store import Store
from keydesk.widgets.terminal_app import TerminalApp
from support.data.desk_data import desk_store, frame_of

LEFT = Workspace(
    *("GBP_USD", "H1", {"trades": "orders"}, "orders", "spread up live", "All", "own /gj"),
    dots=False,
    zoom="double",
)


def test_what_is_saved_is_read_again(tmp_path: Path) -> None:
    WorkspaceFile.of(tmp_path / "desk", "main").save(LEFT)
    assert WorkspaceFile.of(tmp_path / "desk", "main").saved == LEFT
    assert WorkspaceFile.of(tmp_path / "desk", "other").saved == Workspace()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no json",
        "[]",
        "[" * 5000,
        '{"instrument": 5, "granularity": "M7", "fronts": [1], "focused": null}',
        '{"fronts": {"trades": 5}, "instrument": "\\u001b[2J"}',
    ],
)
def test_a_file_that_makes_no_sense_leaves_the_defaults(tmp_path: Path, text: str) -> None:
    path = tmp_path / "main.json"
    path.write_text(text, encoding="utf-8")
    assert read(path) == Workspace()


def test_a_disk_that_takes_nothing_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "desk").write_text("a file where the folder should be")
    WorkspaceFile.of(tmp_path / "desk", "main").save(LEFT)


def test_only_a_change_is_written(tmp_path: Path) -> None:
    file = WorkspaceFile.of(tmp_path / "desk", "main")
    file.autosave(lambda: LEFT, 0.0)
    before = file.path.stat().st_mtime_ns
    os.utime(file.path, ns=(0, 0))
    file.autosave(lambda: LEFT, SAVE_EVERY)
    assert file.path.stat().st_mtime_ns == 0
    file.autosave(Workspace, 2 * SAVE_EVERY - 0.1)
    assert json.loads(file.path.read_text())["instrument"] == "GBP_USD", "too soon to look"
    file.autosave(Workspace, 2 * SAVE_EVERY)
    assert file.path.stat().st_mtime_ns >= before


class LeftApp(TerminalApp[None]):
    """The desk as it was left."""

    def __init__(self, left_as: Workspace) -> None:
        super().__init__()
        self.left_as = left_as
        self.apply_theme("dark", "truecolor")

    def on_mount(self) -> None:
        self.push_screen(DeskScreen(left_as=self.left_as))


async def stands(left_as: Workspace, store: Store) -> tuple[set[str | None], Workspace, str]:
    app = LeftApp(left_as)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, DeskScreen)
        screen.on_frame(frame_of(store, everything=True))
        await pilot.pause()
        focused = screen.focused.id if screen.focused else ""
        return {pane.id for pane in screen._panes.panes}, screen.workspace(), focused or ""


async def test_the_desk_stands_as_it_was_left() -> None:
    store = desk_store()
    store.focus, store.granularity = LEFT.instrument, LEFT.granularity
    store.has_dots, store.chart_zoom = LEFT.dots, LEFT.zoom
    shown, now, focused = await stands(LEFT, store)
    assert now == LEFT
    assert focused == "orders"
    assert shown == {"watchlist", "chart", "orders"}


async def test_a_pane_that_is_not_there_any_more_is_forgotten() -> None:
    gone = Workspace("EUR_USD", "M5", {"trades": "news"}, "news", "fame")
    shown, now, focused = await stands(gone, desk_store())
    assert focused == "watchlist"
    assert shown == {"watchlist", "chart", "trades"}
    assert now.sorting == ""
