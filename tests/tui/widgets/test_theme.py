"""Every theme has every role at every depth of colour, and no role is told by hue alone."""

from decimal import Decimal
from itertools import combinations, pairwise
from typing import get_args

import pytest
from rich.cells import cell_len
from textual.color import Color

from keydesk.terminal.output import in_ascii
from keydesk.text.format import MINUS
from keydesk.widgets import theme
from keydesk.widgets.theme import ROLES, Depth, Palette, role_of_sign, signed_role

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


def test_the_environments_bands_are_read_on_any_of_them() -> None:
    for name in COLOURED:
        colours = theme.load(name, "truecolor").colours
        for band in ("live", "practice", "readonly"):
            assert contrast(colours[f"{band}-text"], colours[band]) >= 4.5


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
    for one, other in combinations(("bright", "plain", "danger", "loss"), 2):
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
