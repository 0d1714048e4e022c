"""Colours by role, read from themes/*.toml and turned into styles once per theme.

A theme defines roles (`profit`, `muted`, `focus`). Each role exists at four colour depths: truecolor, 256, 16 (the
terminal's own colours) and none, where weight and underline replace colour. Forms use `$profit` in CSS, line-drawn panes
`palette_of(app)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import cast

from msgspec import Struct
from rich.style import Style
from textual.app import App
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from keydesk.settings import theme_data
from keydesk.settings.theme_data import (
    ROLES,
    ChartRole,
    ColourRole,
    ThemeData,
    ThemeError,
    contrast,
    folder,
)
from keydesk.terminal.query import Depth, colour_depth
from keydesk.text.format import MINUS

__all__ = [
    "ROLES",
    "ChartRole",
    "ColourRole",
    "Depth",
    "DeskTheme",
    "Palette",
    "ThemeError",
    "colour_depth",
    "folder",
    "load",
    "names",
    "palette_of",
    "role_of_sign",
    "signed_role",
]

# Bold marks what keys act on and money at risk; [weights] of a theme overrides it.
WEIGHTS = {
    **dict.fromkeys(("bright", "tick-up", "tick-down", "danger", "live-text"), "bold"),
    **dict.fromkeys(("entry", "stop", "target", "pending", "last"), "bold"),
}
MONO = "mono"
SIGNS: Mapping[str, ColourRole] = {"+": "profit", MINUS: "loss"}
TINTS = 0.3, 0.55, 0.75, 1.0  # shares of a colour in the background of a cell
ON_TINT = (
    "plain",
    "bright",
    "background",
)  # its text: the first that has such a contrast, else the best
EASY_CONTRAST = 5.0  # what is left of it where a terminal has 256 colours can be read, too
BOLD = Style(bold=True)
REVERSE = Style(reverse=True)


class DeskTheme(Struct, frozen=True):
    """One theme at one depth of colour: the colour and weight of each role."""

    name: str
    dark: bool
    named_colours: bool  # the terminal's own, for 16 and for none
    colours: Mapping[str, str]
    weights: Mapping[str, str]

    def textual(self) -> Theme:
        """Return the theme for Textual, with every role as a CSS variable."""
        colour = self.colours.__getitem__
        beneath = BUILTIN_THEMES["ansi-dark" if self.dark else "ansi-light"].variables
        own = dict(self.colours) | {f"{role}-weight": v for role, v in self.weights.items()}
        return Theme(
            self.name,
            primary=colour("focus"),
            secondary=colour("muted"),
            warning=colour("warn"),
            error=colour("danger"),
            success=colour("good"),
            accent=colour("focus"),
            foreground=colour("plain"),
            background=colour("background"),
            surface=colour("background"),
            panel=colour("selection"),
            dark=self.dark,
            ansi=self.named_colours,
            variables=(beneath | own) if self.named_colours else own,
        )


def signed_role(value: Decimal | int | None, *, zero: ColourRole = "plain") -> ColourRole:
    """Return the role of an amount by its sign; `zero` is that of nothing and of an unknown amount."""
    if not value:
        return zero
    return "profit" if value > 0 else "loss"


def role_of_sign(text: str) -> ColourRole:
    """Return the role of a number as it is written: what rounds to nothing is neither gain nor loss."""
    return SIGNS.get(text[:1], "plain")


class Palette:
    """The prebuilt styles of a theme; built once, used by every line on the screen."""

    def __init__(self, colours: Mapping[str, str], weights: Mapping[str, str]) -> None:
        self._colours = colours
        self._weights = weights
        self._styles: dict[tuple[str, str], Style] = {}
        self._plain: dict[str, Style] = {}
        self._chart: dict[str, Style] = {}

    def __getitem__(self, role: ColourRole) -> Style:
        """Return the style of a role on the screen's background."""
        style = self._plain.get(role)
        if style is None:
            style = self._plain[role] = self.on(role, "background")
        return style

    def on(self, role: ColourRole, backdrop: ColourRole) -> Style:
        """Return the style of a role on another role's colour."""
        style = self._styles.get((role, backdrop))
        if style is None:
            style = self._styles[role, backdrop] = self._build(role, backdrop)
        return style

    def chart_style(self, role: str) -> Style:
        """Return the style of a role of a chart: `rise`, `~rise` filled with it, `rise%2` on its second tint, `entry@rise` on a filled cell, `focus@rise%2` on a tint."""
        style = self._chart.get(role)
        if style is None:
            style = self._chart[role] = self._chart_style(role)
        return style

    def _chart_style(self, role: str) -> Style:
        above, _, tint = role.rpartition("@")
        named, _, step = tint.partition("%")
        if step:
            tinted = self._tinted(cast("ColourRole", named), int(step))
            return tinted + Style(color=self[cast("ColourRole", above)].color if above else None)
        named, _, behind = role.lstrip("~").partition("@")
        if not named:
            return self["plain"]
        front = cast("ColourRole", named)
        if behind:
            back = cast("ColourRole", behind)
            crossing = self.on(front, back)
            return crossing + REVERSE if self._colours[front] == self._colours[back] else crossing
        if not role.startswith("~"):
            return self[front]
        if not self.has_tints:  # a background has eight colours only
            return self[front] + REVERSE
        return self.on("background", front) + Style.parse(self._weights.get(front, "none"))

    @property
    def has_tints(self) -> bool:
        """Whether colours can be mixed: not the terminal's own."""
        return not self._colours["background"].startswith("ansi")

    def _tinted(self, role: ColourRole, step: int) -> Style:
        """Return readable text on the background with a share of a role's colour; the stronger half reversed without tints."""
        if not self.has_tints:
            return self[role] + REVERSE if step * 2 > len(TINTS) else self[role]
        ground = Color.parse(self._colours["background"])
        tint = ground.blend(Color.parse(self._colours[role]), TINTS[step - 1])
        ratios = {name: contrast(self._colours[name], tint.hex) for name in ON_TINT}
        text = next(
            (n for n, r in ratios.items() if r >= EASY_CONTRAST),
            max(ratios, key=ratios.__getitem__),
        )
        return Style.from_color(Color.parse(self._colours[text]).rich_color, tint.rich_color)

    @property
    def at_stake(self) -> Style:
        """Return the style added to money at risk."""
        return BOLD

    def _build(self, role: str, backdrop: str) -> Style:
        colour = Color.parse(self._colours[role]).rich_color
        behind = Color.parse(self._colours[backdrop]).rich_color
        weight = self._weights.get(role, "none")
        return Style.parse(weight) + Style.from_color(colour, behind)

    @property
    def selected(self) -> Style:
        """Return the style added to the selected row: its background, or reverse without colours."""
        if "reverse" in self._weights.get("selection", ""):
            return Style(reverse=True)
        return Style.from_color(None, Color.parse(self._colours["selection"]).rich_color)


def palette_of(app: App[object]) -> Palette:
    """Return the styles of the app's theme; of `dark` for a theme of Textual."""
    known = app.theme_variables
    if not all(role in known for role in ROLES):
        return _palette_of_file("dark", "truecolor")
    colours = tuple((role, known[role]) for role in ROLES)
    weights = tuple((role, known.get(f"{role}-weight", "none")) for role in ROLES)
    return _palette(colours, weights)


@lru_cache(maxsize=16)
def _palette(colours: tuple[tuple[str, str], ...], weights: tuple[tuple[str, str], ...]) -> Palette:
    return Palette(dict(colours), dict(weights))


@lru_cache(maxsize=4)
def _palette_of_file(name: str, depth: Depth) -> Palette:
    theme = load(name, depth)
    return Palette(theme.colours, theme.weights)


def names(own: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names of the themes, with the user's own."""
    return tuple(sorted({*theme_data.names(), *own}))


def load(name: str, depth: Depth, own: Mapping[str, ThemeData] | None = None) -> DeskTheme:
    """Return a theme at a colour depth; raise `ThemeError` when it is missing or incomplete."""
    name = MONO if depth == MONO else name
    data = (own or {}).get(name) or theme_data.read(name)
    only = data.one_colour
    colours = dict(data.colours)
    if depth == "256":
        colours |= data.colours_256
    elif depth == "16":
        colours |= data.colours_16
    if lacking := [role for role in ROLES if role not in colours]:
        raise ThemeError(f"theme {name!r} lacks {', '.join(lacking)}")
    weights = dict.fromkeys(ROLES, "none") | ({} if only else WEIGHTS) | dict(data.weights)
    return DeskTheme(name, data.dark, bool(only) or depth == "16", colours, weights)
