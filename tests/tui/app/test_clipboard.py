"""What is copied: the row, the id, all of a pane, a page; as text that a spreadsheet takes."""

import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from keydesk.app.clipboard import Clipboard, copied_text
from keydesk.app.window import DeskWindow
from keydesk.forms.details_form import DetailsForm
from keydesk.forms.requests import CopyWanted
from keydesk.keys.keymap import KEYMAP, PAGES
from keydesk.tables.trades import Trades
from keydesk.text.sanitize import safe
from support.data.desk_data import desk_store
from support.fakes.desk_app import DeskApp
from support.fakes.form_app import FormApp


class Copying:
    """A clipboard over the main screen, and what went to the terminal."""

    def __init__(self, app: DeskApp, environment: Mapping[str, str] | None = None) -> None:
        self.app, self.sent = app, list[str]()
        window = DeskWindow(app, app.store, KEYMAP)
        self.clipboard = Clipboard(window, self.sent.append, environment or {})

    async def text(self) -> str:
        """What the terminal would have on its clipboard."""
        await self.app.workers.wait_for_complete()
        match = re.fullmatch("\x1b]52;c;(.*)\x07", self.sent[-1])
        assert match is not None
        return b64decode(match[1]).decode()

    @property
    def said(self) -> str:
        return self.app.store.notices[-1].text


async def test_the_row_its_id_and_all_rows_are_copied_with_tabs_between_cells() -> None:
    async with DeskApp(desk_store()).run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        assert isinstance(pilot.app, DeskApp)
        copying, screen = Copying(pilot.app), pilot.app.screen
        screen.set_focus(screen.query_one("#trades"))
        trades = screen.query_one("#trades", Trades)
        copying.clipboard.copy_part("row")
        row = (await copying.text()).split("\t")
        assert row[0] == trades.selected
        assert not any("−" in cell for cell in row), "a minus that a spreadsheet reads"
        assert copying.said.startswith("Copied the row: ")
        copying.clipboard.copy_part("id")
        assert await copying.text() == trades.selected
        copying.clipboard.copy_part("pane")
        lines = (await copying.text()).split("\n")
        assert len(lines) == 1 + len(pilot.app.store.trades)
        assert len({line.count("\t") for line in lines}) == 1, "titles and rows have the same cells"


async def test_the_chart_and_an_empty_list_say_what_they_have() -> None:
    store = desk_store()
    store.orders = {}
    async with DeskApp(store).run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        assert isinstance(pilot.app, DeskApp)
        copying, screen = Copying(pilot.app), pilot.app.screen
        screen.set_focus(screen.query_one("#chart"))
        copying.clipboard.copy_part("id")
        assert await copying.text() == store.focus
        copying.clipboard.copy_part("row")
        assert len((await copying.text()).split("\n")) > 3
        screen.set_focus(screen.query_one("#orders"))
        copying.clipboard.copy_part("row")
        assert copying.said == (
            "Nothing to copy: no row here. Tab goes to a table, j and k to a row; p a copies the pane"
        )


async def test_a_hostile_cell_has_no_control_character_on_the_clipboard() -> None:
    async with DeskApp(desk_store()).run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        assert isinstance(pilot.app, DeskApp)
        copying = Copying(pilot.app)
        copying.clipboard.copy("the row", [["a\x1b]2;owned\x07\nrm -rf ~\r", "\u202eb"]])
        assert [each for each in await copying.text() if not each.isprintable()] == ["\t"]


async def test_tmux_that_keeps_it_is_said_with_the_remedy(tmp_path: Path) -> None:
    program = tmp_path / "tmux"
    program.write_text("#!/bin/sh\necho 'external|0'\n")
    program.chmod(0o755)
    inside = {"TMUX": "server,1,0", "TMUX_PANE": "%1", "PATH": f"{tmp_path}:/bin:/usr/bin"}
    async with DeskApp(desk_store()).run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        assert isinstance(pilot.app, DeskApp)
        copying = Copying(pilot.app, inside)
        copying.clipboard.copy("the row", [["1"]])
        await pilot.app.workers.wait_for_complete()
        assert copying.sent == []
        assert "tmux set -s set-clipboard on" in copying.said


@pytest.mark.parametrize(
    ("whole", "text", "said"),
    [
        ("12\tEUR", "12\tEUR", "Copied the row: 12 EUR, where"),
        ("a\nb", "a\nb", "Copied the row: a b (2 lines), where"),
        ("a\nb\nc", "a\nb", "(2 lines of 3, the rest is too long)"),
    ],
)
def test_the_message_says_how_much_was_copied(whole: str, text: str, said: str) -> None:
    assert said in copied_text("the row", whole, text)


class PageApp(FormApp):
    """Keeps what the page asks to be copied."""

    def __init__(self, page: DetailsForm) -> None:
        super().__init__(lambda: page)
        self.copied: list[Sequence[str]] = []

    def on_copy_wanted(self, message: CopyWanted) -> None:
        self.copied.append(message.lines)


async def test_a_page_is_copied_whole_also_where_it_scrolls() -> None:
    rows = [(safe(f"name {each}"), f"value {each}") for each in range(90)]
    app = PageApp(DetailsForm("Trade #5", rows))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        page = app.screen
        assert isinstance(page, DetailsForm)
        page.action_copy_page()
        await pilot.pause()
        [lines] = app.copied
        assert lines[0] == "Trade #5"
        assert [lines[1].split(), lines[-1].split()] == [
            ["name", "0", "value", "0"],
            ["name", "89", "value", "89"],
        ]


@pytest.mark.parametrize("context", sorted(PAGES))
def test_every_page_has_the_chord(context: str) -> None:
    assert KEYMAP.chord(context, "p", "p") == "copy_page"
