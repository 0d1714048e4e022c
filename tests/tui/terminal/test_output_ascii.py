"""The desk in ASCII: every sign that it draws has a replacement; a form's frame is told from the candles beside it."""

import ast
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from rich.cells import cell_len

import keydesk
from keydesk.forms.account.live_page import bar
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.screens.desk import DeskScreen
from keydesk.terminal.output import in_ascii
from keydesk.widgets.terminal_app import TerminalApp
from support.fakes.form_app import example_context


class AsciiApp(TerminalApp[None]):
    """A ticket on a terminal with nothing but ASCII."""

    CSS_PATH = DeskScreen.CSS_PATH

    def on_mount(self) -> None:
        self.apply_theme("dark", "truecolor", ascii_only=True)
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


NEVER_DRAWN = {
    "text/sanitize.py",  # which characters of others are removed or replaced
    "terminal/input.py",  # bytes that are not UTF-8
    "terminal/check.py",  # asks whether the terminal knows UTF-8
    "cli/csv_output.py",  # what a spreadsheet takes for a formula
}
BRAILLE = [chr(0x2800 + dots) for dots in range(1, 256)]
QUADRANTS = "▖▗▘▙▚▛▜▝▞▟"  # plotext draws candles with them


def drawn_signs() -> Iterator[str]:
    """Each sign beyond ASCII in the desk's strings that are no docstrings; of a file whose signs all have their likes, all."""
    root = Path(keydesk.__file__).parent
    for path in root.rglob("*.py"):
        if str(path.relative_to(root)) in NEVER_DRAWN:
            continue
        source = path.read_text(encoding="utf-8")
        signs = {sign for sign in source if not sign.isascii()}
        if all(_is_like(sign, in_ascii(sign)) for sign in signs):
            yield from signs  # whether it is in a string or not
            continue
        nodes = list(ast.walk(ast.parse(source)))
        docstrings = {each.value for each in nodes if isinstance(each, ast.Expr)}
        for node in nodes:
            text = node.value if isinstance(node, ast.Constant) else ""
            if isinstance(text, str) and node not in docstrings:
                yield from (sign for sign in text if not sign.isascii() and sign != "\u00a0")


def test_every_sign_that_the_desk_draws_has_its_like_in_ascii() -> None:
    # No table of parameters: each worker would read all modules of the desk to collect it.
    plain = {sign: in_ascii(sign) for sign in {*drawn_signs(), *BRAILLE, *QUADRANTS}}
    assert len(plain) > len(BRAILLE) + len(QUADRANTS)
    assert not {sign: like for sign, like in plain.items() if not _is_like(sign, like)}


def _is_like(sign: str, plain: str) -> bool:
    return plain.isascii() and len(plain) == cell_len(sign) and "?" not in plain


def test_what_means_unknown_is_only_drawn_for_the_text_of_others() -> None:
    assert in_ascii("±1 pip, profit factor ∞") == "+1 pip, profit factor *"
    assert in_ascii("é") == "?"


def test_a_bar_that_is_filled_in_part_shows_how_far_without_colours() -> None:
    assert in_ascii(bar(Decimal("0.3"), 10)) == "###......."


def test_the_corners_of_a_frame_are_alike_on_both_sides() -> None:
    assert [in_ascii(edge) for edge in ("╭──╮", "╰──╯", "┌──┐", "└──┘")] == [
        "/--\\",
        "\\--/",
        "+--+",
        "+--+",
    ]
