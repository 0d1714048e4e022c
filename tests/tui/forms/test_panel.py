"""The lines of a form are drawn by its own widget: in the theme's styles, within the frame, only those that changed."""

from collections.abc import Sequence
from typing import ClassVar

import pytest
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip

from keydesk.forms.modal_form import ModalForm, TextLine
from keydesk.forms.panel import Panel
from keydesk.text.sanitize import safe
from keydesk.widgets import theme
from keydesk.widgets.theme import ColourRole, palette_of
from support.fakes.form_app import FormApp

SIZE = (80, 24)
TWENTY = [f"line {number}" for number in range(20)]


class PlainForm(ModalForm[None]):
    """Shows the words that it is given, in a frame."""

    WIDTH: ClassVar[int] = 24
    DEFAULT_CSS = "PlainForm > Panel { border: round $focus; padding: 0 1; }"

    def __init__(self, words: Sequence[str], role: ColourRole = "plain") -> None:
        super().__init__()
        self.words, self.role = list(words), role

    def lines(self) -> Sequence[TextLine]:
        return [((safe(text), self.role),) for text in self.words]

    def say(self, *words: str) -> None:
        self.words = list(words)
        self.redraw()


class CountedPanel(Panel):
    """Counts the lines that Textual asks it to draw anew."""

    refreshed = 0  # lines
    whole = 0
    layouts = 0

    def refresh(
        self,
        *regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> "CountedPanel":
        self.refreshed += sum(region.height for region in regions)
        self.whole += repaint and not regions
        self.layouts += layout
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)


class CountingForm(PlainForm):
    """Has a panel that counts."""

    DEFAULT_CSS = "CountingForm > Panel { border: round $focus; padding: 0 1; }"

    def new_panel(self) -> Panel:
        self.panel = CountedPanel(self.lines(), self.panel_width)
        return self.panel


def lines_of(panel: Panel) -> list[Strip]:
    return panel.render_lines(Region(0, 0, *panel.outer_size))


def style_of(line: Strip, words: str) -> Style | None:
    return next(style for text, style, _ in line if text.startswith(words))


async def test_the_lines_stand_in_the_frame() -> None:
    form = PlainForm(["one", "two"])
    async with FormApp(lambda: form).run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert form.panel is not None
        shown = [line.text for line in lines_of(form.panel)]
    assert shown == [
        "╭" + "─" * 22 + "╮",
        f"│ {'one':<20} │",
        f"│ {'two':<20} │",
        "╰" + "─" * 22 + "╯",
    ]


async def test_a_line_that_is_too_long_is_cut_with_an_ellipsis() -> None:
    form = PlainForm(["a" * 40, "字" * 15, "fits in here just so"])
    async with FormApp(lambda: form).run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert form.panel is not None
        lines = lines_of(form.panel)
    assert lines[1].text == f"│ {'a' * 19}… │"
    assert lines[2].text.startswith("│ " + "字" * 9)
    assert lines[3].text == "│ fits in here just so │"
    assert {line.cell_length for line in lines} == {24}


async def test_one_changed_line_is_one_line_to_draw_and_no_layout() -> None:
    form = CountingForm(TWENTY)
    async with FormApp(lambda: form).run_test(size=SIZE) as pilot:
        await pilot.pause()
        panel = form.panel
        assert isinstance(panel, CountedPanel)
        before = lines_of(panel)
        panel.refreshed = panel.layouts = 0
        form.say(*TWENTY[:7], "seven", *TWENTY[8:])
        assert (panel.refreshed, panel.layouts) == (1, 0)
        after = lines_of(panel)
        assert [y for y, line in enumerate(after) if line is not before[y]] == [8]
        assert "seven" in after[8].text
        form.redraw()  # nothing changed
        assert (panel.refreshed, panel.layouts) == (1, 0)


@pytest.mark.parametrize("count", [1, 3, 15])
async def test_more_and_fewer_lines_move_the_frame(count: int) -> None:
    form = PlainForm(["one", "two"])
    app = FormApp(lambda: form)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert form.panel is not None
        form.say(*TWENTY[:count])
        await pilot.pause()
        shown = [line.strip() for line in app.words.split("\n") if line.strip()]
        assert form.panel.outer_size.height == count + 2
    assert shown[1:-1] == [f"│ {text:<20} │" for text in TWENTY[:count]]


async def test_a_theme_chosen_while_a_form_is_open_colours_every_line() -> None:
    form = PlainForm(["one", "two"], role="warn")
    app = FormApp(lambda: form)
    app.register_theme(theme.load("light", "truecolor").textual())
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert form.panel is not None
        dark = style_of(lines_of(form.panel)[1], "one")
        assert dark == palette_of(form.app)["warn"]
        app.theme = "light"
        await pilot.pause()
        light = style_of(lines_of(form.panel)[1], "one")
        assert light == palette_of(form.app)["warn"]
        assert light != dark


async def test_the_same_title_again_draws_nothing_and_another_one_the_frame() -> None:
    form = CountingForm(["one"])
    async with FormApp(lambda: form).run_test(size=SIZE) as pilot:
        await pilot.pause()
        panel = form.panel
        assert isinstance(panel, CountedPanel)
        panel.entitle(safe("first"), safe("Esc closes"))
        panel.whole = 0
        panel.entitle(safe("first"), safe("Esc closes"))
        assert panel.whole == 0
        panel.entitle(safe("second"))
        assert panel.whole
        top, *_, bottom = lines_of(panel)
    assert "second" in top.text
    assert "Esc" not in bottom.text


@pytest.mark.parametrize(
    ("hints", "keys"),
    [
        ("a new  Esc closes", ["a", "Esc"]),
        ("← →  d other  Esc", ["← →", "d", "Esc"]),
        ("letters  Esc", ["Esc"]),
    ],
)
async def test_the_keys_in_the_lower_edge_have_the_colour_of_the_key_bar(
    hints: str, keys: list[str]
) -> None:
    form = PlainForm(["one"])
    async with FormApp(lambda: form).run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert form.panel is not None
        form.panel.entitle(safe("title"), safe(hints))
        *_, bottom = lines_of(form.panel)
        plain = palette_of(form.app)["plain"].color
        words = [each for each in bottom if each.style is not None and "─" not in each.text]
        bright = [each.text.strip() for each in words if each.style and each.style.color == plain]
    assert bright == keys


async def test_the_words_of_the_sheet_are_those_on_the_screen() -> None:
    form = PlainForm(["one", "two"])
    async with FormApp(lambda: form).run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert form.panel is not None
        assert form.panel.text == "one\ntwo"


async def test_without_colours_the_spaces_beside_a_loss_are_not_underlined() -> None:
    form = PlainForm(["   −6.60 R  ", "     "], role="loss")
    app = FormApp(lambda: form)
    app.register_theme(theme.load("mono", "mono").textual())
    async with app.run_test(size=SIZE) as pilot:
        app.theme = "mono"
        await pilot.pause()
        assert form.panel is not None
        underlined = [
            segment.text
            for strip in lines_of(form.panel)
            for segment in strip
            if segment.style is not None and segment.style.underline
        ]
        assert underlined == ["−6.60 R"]
