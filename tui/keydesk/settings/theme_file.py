"""A theme of the user's own: `themes/NAME.toml` in the config folder, what it changes of a theme that comes with the program.

base = "dark"

[colours]
profit = "#7fdd9c"
"""

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema

from keydesk.settings import theme_data
from keydesk.settings.about import Must, Wrong
from keydesk.settings.declared import Table, checked, declare, line_of
from keydesk.settings.theme_data import LEAST_CONTRAST, ROLES, USUAL_BASE, ThemeData, too_faint
from keydesk.settings.toml_text import BadSettings, parsed

HEX = re.compile("#[0-9a-fA-F]{6}")
EIGHT = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
NAMED = frozenset(("ansi_default", *(f"ansi_{b}{each}" for each in EIGHT for b in ("", "bright_"))))
WEIGHTS = frozenset(("none", "bold", "dim", "italic", "underline", "reverse"))
BASES = ("dark", "light", "colour-blind")
IN_HEX = Must("a colour in quotes", '{key} = "#7fdd9c"')
IN_NAMES = Must("a colour of the terminal in quotes", '{key} = "ansi_bright_green"')
IN_WORDS = Must("one or more of bold, dim, italic, underline, reverse, or none, in quotes")


def _text(value: object, *, is_valid: Any) -> str:  # noqa: ANN401 - a test of a text
    if not isinstance(value, str) or not is_valid(value):
        raise Wrong
    return value


def _by_role(
    name: str,
    is_valid: Any,  # noqa: ANN401 - same
    schema: dict[str, Any],
    must: Must,
) -> type[Table]:
    validator = PlainValidator(partial(_text, is_valid=is_valid))
    kind = Annotated[str | None, validator, WithJsonSchema(schema), must]
    return declare(
        name,
        Table,
        {
            role.replace("-", "_"): (Annotated[kind, Field(alias=role)], Field(default=None))
            for role in ROLES
        },
    )


def _are_weights(text: str) -> bool:
    return bool(text.split()) and WEIGHTS.issuperset(text.split())


Colours = _by_role(
    "Colours", HEX.fullmatch, {"type": "string", "pattern": f"^{HEX.pattern}$"}, IN_HEX
)
NamedColours = _by_role("NamedColours", NAMED.__contains__, {"enum": sorted(NAMED)}, IN_NAMES)
Weights = _by_role("Weights", _are_weights, {"type": "string"}, IN_WORDS)


TABLES = ("colours", "colours_256", "colours_16", "weights")
BASE = Annotated[
    str,
    PlainValidator(partial(_text, is_valid=BASES.__contains__)),
    WithJsonSchema({"enum": list(BASES)}),
    Must("dark, light or colour-blind in quotes", 'base = "light"'),
]


def _table(kind: type[Table], about: str, alias: str | None = None) -> tuple[type[Table], Any]:
    return kind, Field(default_factory=kind, description=about, alias=alias)


ThemeFile = declare(
    "ThemeFile",
    Table,
    {
        "base": (BASE, Field(default=USUAL_BASE, description="The theme that it changes.")),
        "colours": _table(Colours, "Colours by role, as #rrggbb."),
        "colours_256": _table(Colours, "Others for terminals of 256 colours.", "colours-256"),
        "colours_16": _table(NamedColours, "The terminal's own, where it has 16.", "colours-16"),
        "weights": _table(Weights, "How roles are written: bold, dim, underline ..."),
    },
)
"""The content of a file in `themes`; every key may be left out."""


def read_theme(path: Path, text: str) -> ThemeData:
    """Return the theme of a file; raise BadSettings for a key that cannot be used, or text that is hard to read."""
    values = checked(parsed(text, path), ThemeFile, path, text).own_values()
    set_here = [_set_in(values.get(name)) for name in TABLES]
    set_by_table = {"colours": set_here[0], "colours-256": set_here[1]}
    data = theme_data.read(values.get("base", USUAL_BASE)).changed(path.stem, *set_here)
    for table, colours in (
        ("colours", data.colours),
        ("colours-256", {**data.colours, **data.colours_256}),
    ):
        for role, backdrop, ratio in too_faint(colours):
            own = [(each, part) for part in (role, backdrop) for each in (table, "colours")]
            where = next((each for each in own if each[1] in set_by_table[each[0]]), own[0])
            line = line_of(text, where)
            shown = f"{table}.{role} {colours[role]} on {backdrop} {colours[backdrop]}"
            raise BadSettings(
                f"{path}:{line}: {shown} has a contrast of {ratio:.2f}, text needs {LEAST_CONTRAST}: "
                "make one of them lighter or darker"
            )
    return data


def _set_in(table: Table | None) -> Mapping[str, str]:
    """Return what a table sets, by role."""
    values = {} if table is None else table.own_values()
    return {name.replace("_", "-"): value for name, value in values.items()}
