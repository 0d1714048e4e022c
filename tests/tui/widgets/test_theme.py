"""Every theme has every role at every depth of colour, and no role is told by hue alone."""

import math
from decimal import Decimal
from itertools import combinations, pairwise
from typing import get_args

import pytest
from rich.cells import cell_len
from rich.color import Color as RichColour
from textual.color import Color

from keydesk.terminal.output import in_ascii
from keydesk.text.format import MINUS
from keydesk.widgets import theme
from keydesk.widgets.theme import ROLES, ColourRole, Depth, Palette, role_of_sign, signed_role

COLOURED = ("colour-blind", "dark", "light")
DEEP: tuple[Depth, ...] = ("truecolor", "256")
DEPTHS: tuple[Depth, ...] = get_args(Depth)


def luminance(colour: str) -> float:
    parts = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
        for part in Color.parse(colour).normalized
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_themes_are_found() -> None:
    assert theme.names() == ("colour-blind", "dark", "light", "mono")


def test_every_role_has_a_style() -> None:
    for name in COLOURED:
        for depth in DEPTHS:
            drawn = theme.load(name, depth)
            palette = Palette(drawn.colours, drawn.weights)
            assert all(palette[role].color is not None for role in ROLES)
            assert drawn.textual().variables["profit"] == drawn.colours["profit"]


def test_what_must_be_read_stands_out_from_the_background() -> None:
    for role in ["bright", "plain", "profit", "loss", "warn", "danger", "buy", "sell", "focus"]:
        for name in COLOURED:
            for depth in DEEP:
                colours = theme.load(name, depth).colours
                assert contrast(colours[role], colours["background"]) >= 4.5


def test_the_tints_of_a_role_differ_and_their_text_can_be_read() -> None:
    for name in COLOURED:
        colours = theme.load(name, "truecolor")
        palette = Palette(colours.colours, colours.weights)
        for role in ("profit", "loss"):
            styles = [palette.chart_style(f"{role}%{step}") for step in (1, 2, 3, 4)]
            pairs = [(hex_of(each.color), hex_of(each.bgcolor)) for each in styles]
            assert all(contrast(*pair) >= 4.3 for pair in pairs), (name, role)
            assert len({back for _, back in pairs}) == 4
            assert pairs[3][1] == colours.colours[role]


def hex_of(colour: RichColour | None) -> str:
    assert colour is not None
    return colour.get_truecolor().hex


@pytest.mark.parametrize("depth", ["16", "mono"])
def test_the_stronger_tints_are_reversed_where_colours_cannot_be_mixed(depth: Depth) -> None:
    drawn = theme.load("dark", depth)
    palette = Palette(drawn.colours, drawn.weights)
    reversed_ = [palette.chart_style(f"loss%{step}").reverse for step in (1, 2, 3, 4)]
    assert [bool(each) for each in reversed_] == [False, False, True, True]
    assert not palette.has_tints


def test_the_three_weights_differ() -> None:
    for name in COLOURED:
        for depth in DEEP:
            colours = theme.load(name, depth).colours
            steps = [
                contrast(colours[role], colours["background"])
                for role in ("bright", "plain", "muted", "faint")
            ]
            assert steps == sorted(steps, reverse=True)
            assert all(higher / lower > 1.25 for higher, lower in pairwise(steps))


def test_profit_and_loss_differ_in_lightness_too() -> None:
    for name in COLOURED:
        for depth in DEEP:
            colours = theme.load(name, depth).colours
            assert contrast(colours["profit"], colours["loss"]) > 1.15


# How the commonest kinds of colour vision see linear RGB (Machado, Oliveira and Fernandes 2009, severity 1).
KINDS_OF_VISION = {
    "protanopia": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "deuteranopia": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "tritanopia": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}
CLEARLY, SEEN = 50, 20  # differences in CIE L*a*b*; 2.3 is the least that is seen side by side


def lab(colour: str, vision: str) -> tuple[float, float, float]:
    """A colour as seen, in CIE L*a*b*."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in Color.parse(colour).normalized
    )
    rgb = [
        min(1.0, max(0.0, r * red + g * green + b * blue)) for r, g, b in KINDS_OF_VISION[vision]
    ]
    xyz = (
        (0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.9505,
        0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2],
        (0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.0888,
    )
    x, y, z = (each ** (1 / 3) if each > 0.008856 else 7.787 * each + 16 / 116 for each in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(one: str, other: str, vision: str) -> float:
    pairs = zip(lab(one, vision), lab(other, vision), strict=True)
    return math.sqrt(sum((a - b) ** 2 for a, b in pairs))


@pytest.mark.parametrize("vision", KINDS_OF_VISION)
@pytest.mark.parametrize("depth", DEEP)
def test_short_loss_and_long_are_told_apart_by_every_common_kind_of_colour_vision(
    vision: str, depth: Depth
) -> None:
    colours = theme.load("colour-blind", depth).colours
    for one, other in (("sell", "loss"), ("profit", "loss"), ("buy", "loss")):
        assert difference(colours[one], colours[other], vision) >= CLEARLY, (one, other)
    assert difference(colours["buy"], colours["sell"], vision) >= SEEN


def test_the_environments_bands_are_read_on_any_of_them() -> None:
    for name in COLOURED:
        for depth in DEEP:
            colours = theme.load(name, depth).colours
            for band in ("live", "practice", "readonly"):
                assert contrast(colours[f"{band}-text"], colours[band]) >= 4.5


def test_the_frame_of_a_form_stands_out_in_the_colour_of_its_environment() -> None:
    for name in COLOURED:
        for depth in DEEP:
            colours = theme.load(name, depth).colours
            for band in ("live", "practice", "readonly", "focus"):
                assert contrast(colours[band], colours["background"]) > 2.6


def test_colours_of_256_are_of_the_terminals_own_table() -> None:
    for name in COLOURED:
        steps = {0x00, 0x5F, 0x87, 0xAF, 0xD7, 0xFF}
        for role, colour in theme.load(name, "256").colours.items():
            red, green, blue = Color.parse(colour).rgb
            grey = red == green == blue and (red - 8) % 10 == 0
            assert grey or {red, green, blue} <= steps, role


def test_without_colour_signs_and_weights_tell_roles_apart() -> None:
    drawn = theme.load("dark", "mono")
    palette = Palette(drawn.colours, drawn.weights)
    assert drawn.named_colours
    roles: tuple[ColourRole, ...] = ("bright", "plain", "danger", "loss")
    for one, other in combinations(roles, 2):
        assert palette[one] != palette[other]
    assert palette.selected.reverse


@pytest.mark.parametrize(
    ("environment", "depth"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, "truecolor"),
        ({"TERM": "xterm-256color"}, "256"),
        ({"TERM": "xterm"}, "16"),
        ({"TERM": "xterm-kitty"}, "truecolor"),
        ({"TERM": "alacritty"}, "truecolor"),
        ({"TERM": "foot"}, "truecolor"),
        ({"TERM": "foot-extra"}, "truecolor"),
        ({"TERM": "xterm-ghostty"}, "truecolor"),
        ({"TERM": "rxvt-unicode"}, "256"),
        ({"TERM": "rxvt-unicode-256color"}, "256"),
        ({"TERM": "footnote"}, "16"),
        ({"TERM": "xterm-kitty", "NO_COLOR": "1"}, "mono"),
        ({"TERM": "linux"}, "16"),
        ({"TERM": "vt100"}, "mono"),
        ({}, "mono"),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"}, "mono"),
    ],
)
def test_the_terminal_says_how_many_colours_it_has(environment: dict[str, str], depth: str) -> None:
    assert theme.colour_depth(environment) == depth


def test_an_unknown_theme_is_refused_with_the_known_ones() -> None:
    with pytest.raises(theme.ThemeError, match="known: colour-blind, dark, light, mono"):
        theme.load("pink", "truecolor")


@pytest.mark.parametrize("text", ["─ Watch ─┬─", "╷╵│╽╿┃╻╹", "−4.20 ▲ ▼ – …", "値段", "é"])
def test_ascii_keeps_the_width(text: str) -> None:
    shown = in_ascii(text)
    assert shown.isascii()
    assert len(shown) == cell_len(text)


def test_the_role_of_an_amount_is_that_of_its_sign_and_each_place_says_what_nothing_is() -> None:
    assert signed_role(Decimal("0.01")) == "profit"
    assert signed_role(Decimal("-0.01")) == "loss"
    assert [signed_role(each) for each in (Decimal("-0.00"), 0, None)] == ["plain"] * 3
    assert [signed_role(each, zero="loss") for each in (Decimal(0), None)] == ["loss"] * 2
    assert [signed_role(each, zero="muted") for each in (1, -1)] == ["profit", "loss"]


def test_a_written_number_that_rounds_to_nothing_is_neither_profit_nor_loss() -> None:
    assert [role_of_sign(each) for each in ("+0.1", f"{MINUS}0.1", "0.0", "")] == [
        "profit",
        "loss",
        "plain",
        "plain",
    ]
