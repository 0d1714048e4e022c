"""The terminal shows what the compositor drew, to the cell, though only differences are sent."""

import asyncio
import random
import unicodedata
from collections.abc import Sequence

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyte.screens import Char
from rich.color import ColorSystem
from rich.console import RenderableType
from rich.segment import Segment
from rich.style import Style
from textual.app import ComposeResult
from textual.events import Resize
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widgets import Label, OptionList

from keydesk.widgets.terminal_app import TerminalApp
from keydesk.widgets.terminal_diff import Difference, TerminalContents, has_certain_width
from keydesk.widgets.terminal_pen import change, look_of
from support.examples import examples
from support.walks import sampled

STYLES = (
    None,
    Style.parse("#ffffff on #000000"),
    Style.parse("bold #ffffff on #000000"),
    Style.parse("#7fdd9c on #000000"),
    Style.parse("underline #7fdd9c on #1d2836"),
    Style.parse("reverse"),
    Style.parse("red on default"),
)
WIDTH, HEIGHT = 40, 6


def look(cell: Char) -> tuple[object, ...]:
    """What is seen of a cell: a blank has no colour or weight of its letters."""
    if cell.data == " " and not cell.underscore and not cell.reverse:
        return cell.data, cell.bg
    return cell.data, cell.fg, cell.bg, cell.bold, cell.underscore, cell.reverse


def drawn_whole(lines: Sequence[Sequence[Segment]]) -> pyte.Screen:
    """The same lines sent whole to a fresh terminal."""
    screen = pyte.Screen(WIDTH, HEIGHT)
    sent = TerminalContents().update(
        [(y, 0, line) for y, line in enumerate(lines)], ColorSystem.TRUECOLOR
    )
    pyte.Stream(screen).feed(sent)
    return screen


def wrong_cells(left: pyte.Screen, right: pyte.Screen) -> int:
    return sum(
        look(left.buffer[y][x]) != look(right.buffer[y][x])
        for y in range(left.lines)
        for x in range(left.columns)
    )


def random_line(rng: random.Random) -> list[Segment]:
    segments, left = [], WIDTH
    while left:
        size = min(left, rng.randint(1, 9))
        text = "".join(rng.choice("01234 .−│╽a") for _ in range(size))
        segments.append(Segment(text, rng.choice(STYLES)))
        left -= size
    return segments


@given(st.integers(0, 2**32))
@settings(max_examples=examples(15, soak=60), deadline=None)
def test_after_many_changes_the_terminal_shows_the_last_lines(seed: int) -> None:
    rng = random.Random(seed)
    screen, front = pyte.Screen(WIDTH, HEIGHT), TerminalContents()
    stream = pyte.Stream(screen)
    lines = [random_line(rng) for _ in range(HEIGHT)]
    stream.feed(front.update([(y, 0, line) for y, line in enumerate(lines)], ColorSystem.TRUECOLOR))
    for _ in range(12):
        y = rng.randrange(HEIGHT)
        lines[y] = random_line(rng)
        stream.feed(front.update([(y, 0, lines[y])], ColorSystem.TRUECOLOR))
    assert wrong_cells(screen, drawn_whole(lines)) == 0


def test_what_is_shown_already_costs_nothing() -> None:
    line = [Segment("1.08", STYLES[1]), Segment("43", STYLES[2])]
    front = TerminalContents()
    front.update([(0, 0, line)], ColorSystem.TRUECOLOR)
    assert front.update([(0, 0, list(line))], ColorSystem.TRUECOLOR) == ""


def test_one_changed_digit_is_one_digit_on_the_wire() -> None:
    front = TerminalContents()
    front.update([(2, 0, [Segment("EUR/USD  1.08431", STYLES[1])])], ColorSystem.TRUECOLOR)
    sent = front.update([(2, 0, [Segment("EUR/USD  1.08432", STYLES[1])])], ColorSystem.TRUECOLOR)
    assert sent.startswith("\x1b[3;16H")
    assert sent.removesuffix("\x1b[0m").endswith("m2")


def test_an_empty_piece_covers_no_cell() -> None:
    front, style = TerminalContents(), Style.parse("red on default")
    sent = front.update(
        [(0, 0, [Segment("ab"), Segment("", style), Segment("c", style)])], ColorSystem.TRUECOLOR
    )
    assert "ab" in sent
    front.update([(0, 0, [Segment("", style), Segment("abc", style)])], ColorSystem.TRUECOLOR)
    front.update([(0, 3, [Segment("")])], ColorSystem.TRUECOLOR)


def test_after_forgetting_everything_is_sent_again() -> None:
    line = [Segment("price", STYLES[1])]
    front = TerminalContents()
    first = front.update([(0, 0, line)], ColorSystem.TRUECOLOR)
    front.forget()
    assert front.update([(0, 0, line)], ColorSystem.TRUECOLOR) == first


def test_a_terminal_that_became_narrower_shows_the_last_lines_to_its_edge() -> None:
    front, screen = TerminalContents(), pyte.Screen(WIDTH, HEIGHT)
    stream = pyte.Stream(screen)
    front.update([(0, 0, [Segment("-" * 2 * WIDTH)])], ColorSystem.TRUECOLOR)
    front.forget()
    for price in (
        "1.08",
        "1.17",
        "1.26",
    ):  # its last digits stand at the edge, where the cursor is held
        lines = [[Segment(price.rjust(WIDTH))] for _ in range(HEIGHT)]
        pieces = [(y, 0, line) for y, line in enumerate(lines)]
        stream.feed(front.update(pieces, ColorSystem.TRUECOLOR))
        assert wrong_cells(screen, drawn_whole(lines)) == 0


def test_the_column_is_not_trusted_behind_a_glyph_of_doubtful_width() -> None:
    front = TerminalContents()
    line = [Segment("▲", STYLES[1]), Segment("up", STYLES[1])]
    sent = front.update([(0, 0, line)], ColorSystem.TRUECOLOR)
    assert "\x1b[1;2H" in sent


def test_lines_and_minus_signs_are_of_sure_width_where_fonts_agree() -> None:
    assert has_certain_width("│╽─█")
    assert has_certain_width("1.08")
    assert not has_certain_width("値")


def test_a_change_of_colours_leaves_nothing_of_the_old_ones() -> None:
    for after in STYLES:
        for before in STYLES:
            first, second = (look_of(style, ColorSystem.TRUECOLOR) for style in (before, after))
            screen, fresh = pyte.Screen(2, 1), pyte.Screen(2, 1)
            nothing = look_of(None, ColorSystem.TRUECOLOR)
            pyte.Stream(screen).feed(change(nothing, first) + "a" + change(first, second) + "b")
            pyte.Stream(fresh).feed(change(nothing, second) + " b")
            assert look(screen.buffer[0][1]) == look(fresh.buffer[0][1])


class Words(ModalScreen[None]):
    def compose(self) -> ComposeResult:
        yield Label("BUY 34,046 EUR/USD at market\n値段 wide, e\u0301 accented")


class RecordedApp(TerminalApp[None]):
    """An app whose bytes go to a terminal emulator."""

    def __init__(self) -> None:
        super().__init__()
        self.terminal = pyte.Screen(80, 24)
        self._stream = pyte.Stream(self.terminal)

    def compose(self) -> ComposeResult:
        yield OptionList(*(f"{i:03} 値段 {'é' * (i % 7)} price {i * 37 % 101}" for i in range(200)))

    def screen_update(self, update: RenderableType | None) -> RenderableType | None:
        reduced = self.reduced(update)
        if isinstance(reduced, Difference) and not self._batch_count:
            self._stream.feed(reduced.render_segments(self.console))
        return None

    def wrong_lines(self) -> list[tuple[str, str]]:
        expected = [strip.text for strip in self.screen._compositor.render_strips()]
        shown = ["".join(self.terminal.buffer[y][x].data for x in range(80)) for y in range(24)]
        return [
            (want, have)
            for want, have in zip(expected, shown, strict=True)
            if unicodedata.normalize("NFC", want.rstrip()) != have.rstrip()
        ]


async def test_no_cell_is_wrong_after_scrolls_modals_and_wide_characters() -> None:
    app = RecordedApp()
    rng = random.Random(7)
    async with app.run_test(size=(80, 24)) as pilot:
        for step in range(8):
            app.query_one(OptionList).scroll_to(y=rng.randrange(150), animate=False)
            if step % 4 == 1:
                app.push_screen(Words())
            if step % 4 == 3:
                app.pop_screen()
            await pilot.pause()
            assert app.wrong_lines() == []


async def test_a_resized_terminal_is_drawn_whole() -> None:
    app = RecordedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.resize_terminal(60, 20)
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        app.terminal.reset()
        app.redraw()
        await pilot.pause()
        assert app.wrong_lines() == []


@pytest.mark.parametrize("between", sampled([(), ((60, 20),)], 1), ids=["unseen", "seen"])
async def test_a_terminal_whose_size_came_back_before_it_was_drawn_is_drawn_whole(
    between: tuple[tuple[int, int], ...],
) -> None:
    app = RecordedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.terminal.resize(20, 60)
        app.terminal.resize(24, 80)
        assert app.wrong_lines() != []
        for size in (*between, (80, 24)):
            app.post_message(Resize(Size(*size), Size(*size)))
        async with asyncio.timeout(60):
            while app.wrong_lines():
                await pilot.pause(0.01)


def spread_line(rng: random.Random) -> list[Segment]:
    """A line with long blanks, as a chart has."""
    segments, left = [], WIDTH
    while left:
        size = min(left, rng.randint(1, 25))
        text = rng.choice((" " * size, "─" * size, f"{'▔':<{size}}", f"{'│':>{size}}"))
        segments.append(Segment(text, rng.choice(STYLES)))
        left -= size
    return segments


@given(st.integers(0, 2**32))
@settings(max_examples=examples(15, soak=60), deadline=None)
def test_erased_blanks_show_what_written_ones_do(seed: int) -> None:
    rng = random.Random(seed)
    terminal, screen = TerminalContents(erases_in_colour=True), pyte.Screen(WIDTH, HEIGHT)
    stream = pyte.Stream(screen)
    for _ in range(5):
        lines = [spread_line(rng) for _ in range(HEIGHT)]
        pieces = [(y, 0, line) for y, line in enumerate(lines)]
        stream.feed(terminal.update(pieces, ColorSystem.TRUECOLOR))
        assert wrong_cells(screen, drawn_whole(lines)) == 0


def test_long_blanks_are_erased_only_where_the_terminal_keeps_their_background() -> None:
    line = [(0, 0, [Segment(f"a{' ' * 30}b{' ' * 8}", STYLES[1])])]
    written = TerminalContents().update(line, ColorSystem.TRUECOLOR)
    erased = TerminalContents(erases_in_colour=True).update(line, ColorSystem.TRUECOLOR)
    assert " " * 30 in written
    assert "a\x1b[30X\x1b[30Cb\x1b[8X" in erased


def test_underlined_blanks_are_written() -> None:
    line = [(0, 0, [Segment(" " * 40, STYLES[4])])]
    terminal = TerminalContents(erases_in_colour=True)
    assert " " * 40 in terminal.update(line, ColorSystem.TRUECOLOR)
