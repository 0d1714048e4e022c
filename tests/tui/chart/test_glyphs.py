"""Candles as cells: filled bodies that touch their wicks, outlines without colour, letters in ASCII, bars."""

import pytest
from msgspec.structs import replace

from keydesk.chart.glyphs import CandleStyle, candle_cells, heikin_ashi
from keydesk.chart.scale import Scale
from keydesk.store.state import Candle
from keydesk.terminal.output import UNSEEN, in_ascii

TEN = Scale(0, 10, 5)  # a row is two wide


def candle(opened: float, high: float, low: float, close: float) -> Candle:
    return Candle(0, opened, high, low, close, complete=True)


def column(one: Candle, look: CandleStyle) -> str:
    """Return the glyphs from the top; a filled cell is shown as a block."""
    middle = look.body // 2
    cells = {row: glyph for at, row, glyph, _ in candle_cells(one, TEN, look) if at == middle}
    return "".join(
        {" ": "█"}.get(cells[y], cells[y]) if y in cells else " " for y in range(TEN.rows)
    )


@pytest.mark.parametrize(
    ("prices", "glyphs"),
    [
        ((0, 10, 0, 10), "█████"),
        ((2, 10, 0, 8), "│███│"),
        ((3, 7, 3, 7), " ▄█▀ "),
        ((5, 9, 1, 5), "││┼│╵"),
        ((4, 4, 4, 4), "  ─  "),
    ],
)
def test_a_body_is_filled_and_touches_its_wicks(
    prices: tuple[float, float, float, float], glyphs: str
) -> None:
    assert column(candle(*prices), CandleStyle()) == glyphs


def test_rising_and_falling_bodies_have_their_own_roles() -> None:
    roles = [
        {role for _, _, _, role in candle_cells(candle(*prices), TEN, CandleStyle())}
        for prices in ((1, 9, 1, 9), (9, 9, 1, 1))
    ]
    assert roles == [{"~rise", "rise"}, {"~fall", "fall"}]


def test_without_colours_a_rising_body_is_an_outline() -> None:
    rising = candle(2, 10, 0, 8)
    assert column(rising, CandleStyle(hollow=True)) == "│║║║│"
    wide = candle_cells(rising, TEN, CandleStyle(body=3, hollow=True))
    rows = ["".join(glyph for _, row, glyph, _ in wide if row == y) for y in range(5)]
    assert rows == ["│", "┌┴┐", "│ │", "└┬┘", "│"]


def test_in_ascii_letters_tell_rising_from_falling() -> None:
    look = CandleStyle(ascii_only=True)
    assert column(candle(2, 10, 0, 8), look) == "│OOO│"
    assert column(candle(8, 10, 0, 2), look) == "│###│"
    assert column(candle(2, 10, 0, 8), replace(look, gap=0)) == "▏OOO▏"


def test_a_bar_has_its_open_at_the_left_and_its_close_at_the_right() -> None:
    bar = candle_cells(candle(2, 10, 0, 8), TEN, CandleStyle("bars", body=3))
    rows = [
        "".join(glyph for _, _, glyph, _ in sorted(cell for cell in bar if cell[1] == y))
        for y in range(5)
    ]
    assert rows == ["├─", "│", "│", "─┤", "│"]


def test_heikin_ashi_candles_close_at_the_mean_and_open_in_the_middle_of_the_last_body() -> None:
    first, second = heikin_ashi([candle(1, 4, 0, 3), candle(3, 6, 2, 5)])
    assert (first.open, first.close) == (2.0, 2.0)
    assert (second.open, second.high, second.low, second.close) == (2.0, 6, 2, 4.0)
    [again] = heikin_ashi([candle(3, 6, 2, 5)], first)
    assert again == second


def test_every_glyph_of_a_candle_has_a_sign_in_ascii() -> None:
    shapes = [(2, 10, 0, 8), (8, 10, 0, 2), (5, 10, 0, 5), (5, 5, 5, 5), (4, 6, 4, 5)]
    looks = [CandleStyle(body=body, gap=gap, ascii_only=True) for body in (1, 3) for gap in (0, 1)]
    glyphs = {
        glyph
        for shape in shapes
        for look in (*looks, CandleStyle("bars", body=3))
        for _, _, glyph, _ in candle_cells(candle(*shape), TEN, look)
    }
    assert "╴" in glyphs
    assert not [each for each in glyphs if UNSEEN in in_ascii(each)]
