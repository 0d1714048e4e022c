"""Themes as data: colours by role, for each depth of colour; those that come with the program, and what a user's own file changes.

Light to import: the desk reads it before its first picture.
"""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, NewType, get_args

from msgspec import Struct, field

ColourRole = Literal[
    "background",
    "bright",
    "plain",
    "muted",
    "faint",
    "line",
    "focus",
    "selection",
    "bid",
    "ask",
    "buy",
    "sell",
    "profit",
    "loss",
    "rise",
    "fall",
    "tick-up",
    "tick-down",
    "warn",
    "danger",
    "good",
    "live",
    "live-text",
    "practice",
    "practice-text",
    "readonly",
    "readonly-text",
    "entry",
    "stop",
    "target",
    "pending",
    "alert",
    "last",
    "cursor",
    "grid",
    "overlay-1",
    "overlay-2",
    "overlay-3",
    "band",
]
ROLES: tuple[ColourRole, ...] = get_args(ColourRole)
ChartRole = NewType("ChartRole", str)
"""A role in a chart: also `~rise`, filled with it, `profit%2`, on its second tint, and `entry@rise`, on a cell that is filled with another."""
# What is read as text, on which other role. Lines, candles and the hints in `faint` may be dimmer.
TEXT_ON_BACKGROUND = (
    *("bright", "plain", "muted", "focus", "bid", "ask", "buy", "sell", "profit", "loss"),
    *("tick-up", "tick-down", "warn", "danger", "good", "entry", "stop", "target", "pending"),
    *("alert", "last", "cursor"),
)
TEXT_ON: tuple[tuple[str, str], ...] = (
    *((role, "background") for role in TEXT_ON_BACKGROUND),
    *(("bright", "selection"), ("plain", "selection")),
    *((f"{band}-text", band) for band in ("live", "practice", "readonly")),
)
LEAST_CONTRAST = 4.5  # of text on its background: WCAG 2, level AA
LINEAR = 0.03928  # up to this share of a channel, light grows in proportion to it (WCAG 2)
USUAL_BASE = "dark"


class ThemeError(Exception):
    """A theme file is missing or lacks a role."""


class ThemeData(Struct, frozen=True):
    """The colours and weights of a theme; those of fewer colours stand over the others."""

    name: str
    dark: bool
    colours: Mapping[str, str]
    colours_256: Mapping[str, str] = field(default_factory=dict)
    colours_16: Mapping[str, str] = field(default_factory=dict)
    weights: Mapping[str, str] = field(default_factory=dict)
    one_colour: str = ""  # of every role; weights tell them apart

    def changed(
        self,
        name: str,
        colours: Mapping[str, str],
        colours_256: Mapping[str, str],
        colours_16: Mapping[str, str],
        weights: Mapping[str, str],
    ) -> "ThemeData":
        """Return a theme that differs from this one; its colours count at 256, too, unless it has others there."""
        return ThemeData(
            name,
            self.dark,
            {**self.colours, **colours},
            {**self.colours_256, **colours, **colours_256},
            {**self.colours_16, **colours_16},
            {**self.weights, **weights},
        )


def folder() -> Path:
    """Return the folder of themes: in the package of a wheel, at the top of a checkout."""
    here = Path(__file__).parents[1]
    for place in (here / "themes", here.parents[1] / "themes"):
        if (place / "dark.toml").is_file():
            return place
    raise ThemeError(f"no dark.toml in {here / 'themes'}: install keydesk again")


@cache
def names() -> tuple[str, ...]:
    """Return the names of the themes that come with the program."""
    return tuple(sorted(path.stem for path in folder().glob("*.toml")))


@cache
def read(name: str) -> ThemeData:
    """Return a theme that comes with the program; raise `ThemeError` if there is none of this name."""
    path = folder() / f"{name}.toml"
    if not path.is_file():
        raise ThemeError(f"there is no theme {name!r} (known: {', '.join(names())})")
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    only: str = data.get("one-colour", "")
    colours: Mapping[str, str] = dict.fromkeys(ROLES, only) if only else data["colours"]
    return ThemeData(
        name,
        data["dark"],
        colours,
        data.get("colours-256", {}),
        data.get("colours-16", {}),
        data.get("weights", {}),
        only,
    )


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour such as #0c0f14, 0 to 1 (WCAG 2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= LINEAR else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the ratio of contrast of two colours, 1 to 21 (WCAG 2)."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def too_faint(colours: Mapping[str, str]) -> Iterator[tuple[str, str, float]]:
    """Yield the roles of text that cannot be read well, on which role, and with what ratio of contrast."""
    for role, backdrop in TEXT_ON:
        ratio = contrast(colours[role], colours[backdrop])
        if ratio < LEAST_CONTRAST:
            yield role, backdrop, ratio
