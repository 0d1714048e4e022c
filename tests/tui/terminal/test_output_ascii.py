"""A form in ASCII: its frame is told from the bodies of the candles beside it."""

from keydesk.forms.ticket.form import TicketForm
from keydesk.screens.desk import DeskScreen
from keydesk.terminal.output import in_ascii
from keydesk.widgets.terminal_app import TerminalApp
from support.fakes.form_app import example_context


class AsciiApp(TerminalApp[None]):
    """A ticket on a terminal with nothing but ASCII."""

    CSS_PATH = DeskScreen.CSS_PATH

    def on_mount(self) -> None:
        self.dress("dark", "truecolor", ascii_only=True)
        self.push_screen(TicketForm(example_context(), "BUY", "EUR_USD"))


async def test_the_frame_of_a_form_is_no_row_of_candles() -> None:
    app = AsciiApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        strips = app.screen._compositor.render_strips()
        lines = [in_ascii(strip.text)[:60] for strip in strips if strip.text.strip()]
    assert len(lines) > 10
    assert {line[0] for line in lines} <= {"|", "+"}
    assert "#" not in "".join(lines)
