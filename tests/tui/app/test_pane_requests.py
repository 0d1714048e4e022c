"""The letters of a table are typed on a form; nothing typed shows every row."""

from textual.app import App

from keydesk.app.pane_requests import MAX_FILTER_LENGTH, ask_filter_text
from keydesk.tables.trades import Trades
from keydesk.widgets import theme
from support.data.desk_data import desk_store
from support.fakes.pane_app import shown


def apply_theme(app: App[None]) -> None:
    app.register_theme(theme.load("dark", "truecolor").textual())
    app.theme = "dark"


async def test_typed_letters_leave_their_rows_and_the_field_holds_them_next_time() -> None:
    pane = Trades()
    async with shown(pane, desk_store(), size=(80, 24)) as pilot:
        apply_theme(pilot.app)
        await pilot.pause()
        ask_filter_text(pilot.app, pane)
        await pilot.pause()
        await pilot.press(*"short", "enter")
        await pilot.pause()
        assert (pane.filter_text, pane.keys) == ("short", ["6398"])
        ask_filter_text(pilot.app, pane)
        await pilot.pause()
        await pilot.press(*["backspace"] * MAX_FILTER_LENGTH, "enter")
        await pilot.pause()
        assert (pane.filter_text, pane.keys) == ("", ["6411", "6398"])


async def test_escape_leaves_the_letters_as_they_were() -> None:
    pane = Trades()
    async with shown(pane, desk_store(), size=(80, 24)) as pilot:
        apply_theme(pilot.app)
        await pilot.pause()
        pane.show_only("long")
        ask_filter_text(pilot.app, pane)
        await pilot.pause()
        await pilot.press("x", "escape")
        assert pane.filter_text == "long"
