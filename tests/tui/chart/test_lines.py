"""Lines over a plot: without colours each has a stroke of its own, the same in the legend; with colours all are whole."""

import pytest

from keydesk.chart.canvas import Canvas
from keydesk.chart.lines import STROKES, paint_line, sample_of, stroke_of
from keydesk.chart.scale import Scale

WIDTH = 24
LINES = ("overlay-1", *STROKES)


def drawn(role: str, *, colours: bool, braille: bool) -> str:
    """A level line over the plot."""
    canvas = Canvas(0, WIDTH, 1)
    values = [0.5] * WIDTH
    stroke = stroke_of(role, colours=colours)
    scale = Scale(0, 1, 1)
    paint_line(canvas, range(WIDTH), values, scale, role, braille=braille, stroke=stroke)
    return "".join(text for text, _ in canvas.runs(0))


@pytest.mark.parametrize("braille", [False, True])
def test_without_colours_no_two_lines_have_the_same_gaps(braille: bool) -> None:
    seen = [
        tuple(glyph == " " for glyph in drawn(role, colours=False, braille=braille))
        for role in LINES
    ]
    assert len(set(seen)) == len(LINES)
    assert all(line.count(False) >= WIDTH // 3 for line in seen)


@pytest.mark.parametrize("role", LINES)
def test_with_colours_a_line_is_whole(role: str) -> None:
    assert " " not in drawn(role, colours=True, braille=False)


@pytest.mark.parametrize("role", LINES)
def test_the_legend_shows_the_stroke_of_a_line(role: str) -> None:
    line = drawn(role, colours=False, braille=False)
    assert sample_of(role) in {line[at : at + len(sample_of(role))] for at in range(WIDTH)}
