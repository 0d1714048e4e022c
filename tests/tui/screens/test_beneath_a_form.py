"""What changes on the main screen while a form is open is drawn around the form."""

from rich.console import RenderableType

from keydesk.forms.command_line import FindForm
from keydesk.screens.desk import DeskScreen
from keydesk.terminal._textual_private import pieces_of
from support.data.desk_data import desk_store
from support.fakes.desk_app import DeskApp


class Recorded(DeskApp):
    """Keeps the rows of the terminal that were drawn."""

    rows: set[int] = set()  # noqa: RUF012 - replaced, never changed

    def screen_update(self, update: RenderableType | None) -> RenderableType | None:
        self.rows = self.rows | {y for y, _, _ in pieces_of(update) or ()}
        return super().screen_update(update)


async def test_one_change_beneath_a_form_after_the_other_is_drawn() -> None:
    app = Recorded(desk_store())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, DeskScreen)
        app.push_screen(FindForm(app.store))
        await pilot.pause()
        watchlist, health = screen.watchlist, screen.query_one("#health")
        for _ in range(3):
            app.rows = set()
            watchlist.redraw_line(1)
            await pilot.pause(0.1)
            assert watchlist.region.y + 1 in app.rows
            app.rows = set()
            health.refresh()
            await pilot.pause(0.1)
            assert health.region.y in app.rows
