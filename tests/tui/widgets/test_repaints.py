"""Whatever changes at once, in whatever order timers are due: the terminal shows what the screens draw."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text
from textual.screen import Screen

from keydesk.forms.info_form import HelpForm
from keydesk.forms.sheet import Sheet
from keydesk.keys.keymap import KEYMAP
from support.fakes.mirrored_desk import MirroredDesk


async def opened(desk: MirroredDesk) -> tuple[Screen[Any], Sheet]:
    """Open a form; return it with its sheet, all of it drawn."""
    await desk.push_screen(form := HelpForm(KEYMAP))
    await desk.settled()
    assert form.sheet is not None
    return form, form.sheet


async def until_told(*screens: Screen[Any]) -> None:
    """Wait until each of the screens knows of a widget that changed; their timers, which draw it, are due later."""
    while not all(each._dirty_widgets for each in screens):  # noqa: ASYNC110 - no call-backs
        await asyncio.sleep(0)


async def test_a_form_that_changes_in_the_moment_in_which_the_desk_beneath_is_drawn_is_drawn_too(
    tmp_path: Path,
) -> None:
    async with MirroredDesk(tmp_path).at_terminal(120, 35) as desk:
        form, sheet = await opened(desk)
        count = len(sheet.words.split("\n"))
        desk.actions.screen.watchlist.redraw_line(1)
        sheet.show(Text("\n".join(["after the change"] * count)))
        await until_told(desk.actions.screen, form)
        desk.actions.screen._on_timer_update()  # passes its region on to the form
        form._on_timer_update()
        await desk.settled()
        assert desk.wrong_rows() == []


async def until_shown(form: HelpForm) -> None:
    """Wait until a form that was opened has drawn its first picture."""
    while not form._is_shown:  # noqa: ASYNC110 - no call-backs
        await asyncio.sleep(0)


@pytest.mark.parametrize("size", [(40, 12), (80, 24)])
async def test_the_first_picture_of_a_form_as_large_as_the_terminal_is_the_form(
    size: tuple[int, int], tmp_path: Path
) -> None:
    async with MirroredDesk(tmp_path).at_terminal(*size) as desk:
        desk.push_screen(form := HelpForm(KEYMAP))
        await until_shown(form)
        assert form.sheet is not None
        assert form.sheet.region.size == size
        assert desk.wrong_rows() == []


async def test_a_form_that_opens_while_the_terminal_gets_another_size_stands_on_a_desk_drawn_for_it(
    tmp_path: Path,
) -> None:
    async with MirroredDesk(tmp_path).at_terminal(120, 35) as desk:
        desk.change_size(100, 30)  # the terminal has moved what it showed
        while desk.size != (100, 30):  # noqa: ASYNC110 - no call-backs
            await asyncio.sleep(0)
        assert desk.actions.screen.outer_size != desk.size  # it is laid out by a timer
        desk.push_screen(form := HelpForm(KEYMAP))
        desk.actions.screen._screen_resized(desk.size)
        await until_shown(form)
        assert form.outer_size == desk.size
        await desk.settled()
        assert desk.wrong_rows() == []
