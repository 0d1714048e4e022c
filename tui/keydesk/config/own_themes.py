"""The user's own themes: the files in `themes` in the config folder, declared and read.

base = "dark"

[colours]
profit = "#7fdd9c"
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct, field
from msgspec.structs import replace

from keydesk.config.folders import FILE
from keydesk.settings import theme_data
from keydesk.settings.about import About, Must, Wrong, unknown
from keydesk.settings.theme_data import LEAST_CONTRAST, ROLES, USUAL_BASE, ThemeData, too_faint
from keydesk.settings.toml_text import BadSettings, text_in
from keydesk.text.sanitize import clean, clean_name

FOLDER = "themes"
NAME = re.compile("[a-z0-9][a-z0-9-]{0,19}")
MAX_THEMES = 50
MAX_LENGTH = (
    64_000  # characters of a file: all roles fit many times, and it is read within a moment
)


HEX = re.compile("#[0-9a-fA-F]{6}")
EIGHT = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
NAMED = frozenset(("ansi_default", *(f"ansi_{b}{each}" for each in EIGHT for b in ("", "bright_"))))
WEIGHTS = frozenset(("none", "bold", "dim", "italic", "underline", "reverse"))
BASES = ("dark", "light", "colour-blind")
IN_HEX = Must("a colour in quotes", '{key} = "#7fdd9c"')
IN_NAMES = Must("a colour of the terminal in quotes", '{key} = "ansi_bright_green"')
IN_WORDS = Must("one or more of bold, dim, italic, underline, reverse, or none, in quotes")


def _base(value: object) -> str:
    if value not in BASES:
        raise Wrong
    return str(value)


def _are_weights(text: str) -> bool:
    return bool(text.split()) and WEIGHTS.issuperset(text.split())


def _by_role(
    about: str, is_valid: Callable[[str], object], must: Must, schema: Mapping[str, Any]
) -> About:
    """Return the declaration of a table of texts by role."""

    def read(table: object) -> Mapping[str, str]:
        if not isinstance(table, dict):
            raise Wrong
        for role, text in table.items():
            if role not in ROLES:
                raise ValueError(f".{clean(role)} {unknown(role, ROLES)}")
            if not isinstance(text, str) or not is_valid(text):
                raise ValueError(f".{role} {must.sentence(role)}")
        return table

    roles = dict.fromkeys(ROLES, schema)
    whole = {"type": "object", "properties": roles, "additionalProperties": False}
    return About(about, Must("a table, [{key}]"), read=read, schema=whole)


def _hex(about: str, key: str = "") -> About:
    schema = {"type": "string", "pattern": f"^{HEX.pattern}$"}
    return replace(_by_role(about, HEX.fullmatch, IN_HEX, schema), key=key)


class ThemeFile(Struct, frozen=True):
    """The content of a file in `themes`: what it changes of a theme that comes with the program; every key may be left out."""

    base: Annotated[
        str,
        About(
            "The theme that it changes.",
            Must("dark, light or colour-blind in quotes", 'base = "light"'),
            read=_base,
            schema={"enum": list(BASES)},
        ),
    ] = USUAL_BASE

    colours: Annotated[Mapping[str, str], _hex("Colours by role, as #rrggbb.")] = field(
        default_factory=dict
    )

    colours_256: Annotated[
        Mapping[str, str], _hex("Others for terminals of 256 colours.", "colours-256")
    ] = field(default_factory=dict)

    colours_16: Annotated[
        Mapping[str, str],
        replace(
            _by_role(
                "The terminal's own, where it has 16.",
                NAMED.__contains__,
                IN_NAMES,
                {"enum": sorted(NAMED)},
            ),
            key="colours-16",
        ),
    ] = field(default_factory=dict)

    weights: Annotated[
        Mapping[str, str],
        _by_role(
            "How roles are written: bold, dim, underline ...",
            _are_weights,
            IN_WORDS,
            {"type": "string"},
        ),
    ] = field(default_factory=dict)


class OwnThemes(Struct, frozen=True):
    """The themes that can be used, and why others cannot, by name."""

    themes: Mapping[str, ThemeData] = field(default_factory=dict)
    troubles: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Every theme that can be chosen."""
        return tuple(sorted({*theme_data.names(), *self.themes}))

    def trouble_with(self, name: str, folder: Path) -> str:
        """Return why a theme that the settings name cannot be used, with the remedy; "" if it can."""
        if name in self.names:  # also one of Keydesk's own that a file has the name of
            return ""
        if name in self.troubles:
            return self.troubles[name]
        from keydesk.settings.declared import line_of  # noqa: PLC0415 - for a file only

        path = folder / FILE
        line = line_of(text_in(path), ("theme",))
        return f'{path}:{line}: theme "{name}" is not known; there are: {", ".join(self.names)}'


def load_own_themes(folder: Path) -> OwnThemes:
    """Read the themes in a config folder; one that cannot be used is in the troubles, and the others count."""
    themes: dict[str, ThemeData] = {}
    troubles: dict[str, str] = {}
    files = own_theme_files(folder)
    for path in files[MAX_THEMES:]:
        troubles[path.stem] = (
            f"{path}: only the first {MAX_THEMES} themes are read; move others away"
        )
    for path in files[:MAX_THEMES]:
        try:
            themes[path.stem] = _load(path)
        except BadSettings as error:
            troubles[path.stem] = str(error)
    return OwnThemes(themes, troubles)


def own_theme_files(folder: Path) -> list[Path]:
    """Return the TOML files of the folder of own themes, sorted, one more than are allowed at most."""
    try:
        return sorted((folder / FOLDER).glob("*.toml"))[: MAX_THEMES + 1]
    except OSError:
        return []


def _load(path: Path) -> ThemeData:
    if path.stem in theme_data.names():
        raise BadSettings(f"{path}: {path.stem} comes with Keydesk; give the file another name")
    if not NAME.fullmatch(path.stem):
        name = clean_name(path.stem)
        raise BadSettings(
            f"{path.parent}: {name}.toml: a theme's name has small letters, digits and -, at most 20"
        )
    text = text_in(path)
    if len(text) > MAX_LENGTH:
        raise BadSettings(f"{path} has more than {MAX_LENGTH // 1000} kB; fix or remove it")
    return read_theme(path, text)


def read_theme(path: Path, text: str) -> ThemeData:
    """Return the theme of a file; raise BadSettings for a key that cannot be used, or text that is hard to read."""
    from keydesk.settings.declared import line_of, read_record  # noqa: PLC0415 - for a file only

    own = read_record(path, text, ThemeFile)
    set_by_table = {"colours": own.colours, "colours-256": own.colours_256}
    tables = own.colours, own.colours_256, own.colours_16, own.weights
    data = theme_data.read(own.base).changed(path.stem, *tables)
    for table, colours in (
        ("colours", data.colours),
        ("colours-256", {**data.colours, **data.colours_256}),
    ):
        for role, backdrop, ratio in too_faint(colours):
            places = [(each, part) for part in (role, backdrop) for each in (table, "colours")]
            where = next((each for each in places if each[1] in set_by_table[each[0]]), places[0])
            line = line_of(text, where)
            shown = f"{table}.{role} {colours[role]} on {backdrop} {colours[backdrop]}"
            raise BadSettings(
                f"{path}:{line}: {shown} has a contrast of {ratio:.2f}, text needs {LEAST_CONTRAST}: "
                "make one of them lighter or darker"
            )
    return data
