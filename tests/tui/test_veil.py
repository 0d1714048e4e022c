"""Behind a dialog the desk shows dimmed, as Textual itself would draw it, and in less than half the time."""

import pytest
from textual._context import visible_screen_stack
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from keydesk.forms.help import HelpForm
from keydesk.keys.keymap import KEYMAP
from keydesk.theme import Depth
from keydesk.widgets.veil import Veil
from support.desk_app import DeskApp
from support.desk_data import desk_store

SIZE = (160, 46)
WHOLE = Region(0, 0, *SIZE)


def cells(strips: list[Strip]) -> list[list[tuple[str, object, object, object]]]:
    """Every cell with its colours and its weight."""
    return [
        [
            (character, segment.style.color, segment.style.bgcolor, segment.style.bold)
            for segment in strip
            if segment.style is not None
            for character in segment.text
        ]
        for strip in strips
    ]


def with_screens(app: DeskApp, form: Screen[None]) -> None:
    visible_screen_stack.set(list(app.screen_stack[: app.screen_stack.index(form)]))


@pytest.mark.parametrize("depth", ["truecolor", "256", "16", "mono"])
async def test_the_desk_behind_a_dialog_is_what_textual_draws(depth: Depth) -> None:
    app = DeskApp(desk_store(20), depth=depth)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await app.push_screen(form := HelpForm(KEYMAP))
        await pilot.pause()
        with_screens(app, form)
        form.refresh()
        ours = form.render_lines(WHOLE)
        with_screens(app, form)
        textual_s = Widget.render_lines(form, WHOLE)
    assert cells(ours) == cells(textual_s)
    assert len({len(line) for line in cells(ours)}) == 1


async def test_a_line_behind_a_dialog_is_dimmed_again_only_when_it_changed() -> None:
    app = DeskApp(desk_store(20))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await app.push_screen(form := HelpForm(KEYMAP))
        await pilot.pause()
        before = form.render_lines(WHOLE)
        with_screens(app, form)
        form.refresh()
        after = form.render_lines(WHOLE)
    assert all(old is new for old, new in zip(before, after, strict=True))
    assert isinstance(form, Veil)
