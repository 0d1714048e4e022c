"""What the application does beside Textual's own: it lets go of what was closed."""

import gc

from rich.cells import cached_cell_len
from textual.geometry import Region
from textual.pilot import Pilot
from textual.strip import Strip

from keydesk.forms.info_form import HelpForm
from keydesk.keys.keymap import KEYMAP
from keydesk.widgets.terminal_diff import has_certain_width
from support.data.desk_data import desk_store
from support.fakes.desk_app import DeskApp


async def open_and_close(app: DeskApp, pilot: Pilot[None], times: int) -> int:
    """How many lines are held once the forms were closed and cleared away."""
    for _ in range(times):
        await app.push_screen(form := HelpForm(KEYMAP))
        await pilot.pause()
        form.dismiss(None)
        await pilot.pause()
    app.free_closed_forms()
    return sum(isinstance(each, Strip) for each in gc.get_objects())


async def test_forms_that_were_closed_leave_nothing_behind() -> None:
    app = DeskApp(desk_store(20))
    async with app.run_test(size=(160, 46)) as pilot:
        await pilot.pause()
        few = await open_and_close(app, pilot, 2)
        many = await open_and_close(app, pilot, 6)
    assert many <= few + 10


async def test_what_was_computed_for_earlier_sizes_of_the_terminal_is_let_go() -> None:
    app = DeskApp(desk_store(20))
    async with app.run_test(size=(160, 46)) as pilot:
        for width in range(80, 200, 40):
            await pilot.resize_terminal(width, 40)
        held = Region.intersection.cache_info().currsize
        app.free_closed_forms()
        assert Region.intersection.cache_info().currsize < held // 2


def test_nothing_is_drawn_late_on_a_desk_without_a_screen() -> None:
    app = DeskApp(desk_store(20))
    app._forget()
    app.catch_up()


async def test_the_widths_of_texts_that_were_drawn_are_let_go_with_a_form() -> None:
    app = DeskApp(desk_store(20))
    async with app.run_test(size=(160, 46)) as pilot:
        await pilot.pause()
        for price in range(3000):
            cached_cell_len(f"1.{price:05}")
            has_certain_width(f"1.{price:05}")
        app.free_closed_forms()
        assert cached_cell_len.cache_info().currsize < 1000
        assert has_certain_width.cache_info().currsize < 1000
