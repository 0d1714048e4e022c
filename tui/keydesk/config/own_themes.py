"""The user's own themes: the files in `themes` in the config folder."""

import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from keydesk.config.folders import FILE
from keydesk.settings import theme_data
from keydesk.settings.theme_data import ThemeData
from keydesk.settings.toml_text import BadSettings, text_in
from keydesk.text.sanitize import clean_name

FOLDER = "themes"
NAME = re.compile("[a-z0-9][a-z0-9-]{0,19}")
MAX_THEMES = 50
MAX_LENGTH = (
    64_000  # characters of a file: all roles fit many times, and it is read within a moment
)


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
    """Return the files of themes."""
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
    from keydesk.settings.theme_file import read_theme  # noqa: PLC0415 - for a file only

    text = text_in(path)
    if len(text) > MAX_LENGTH:
        raise BadSettings(f"{path} has more than {MAX_LENGTH // 1000} kB; fix or remove it")
    return read_theme(path, text)
