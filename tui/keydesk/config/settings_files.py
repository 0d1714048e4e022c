"""All files of settings in one table: each with its declaration and its check, its JSON schema, its keys in words."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from msgspec import Struct

from keydesk.config import price_levels, watchlists, workspaces
from keydesk.config.folders import FILE, TEMPLATES_FILE
from keydesk.config.own_themes import load_own_themes
from keydesk.config.settings import load_alert_settings, load_settings
from keydesk.config.templates import load_templates
from keydesk.config.user_files import KEYS_FILE, load_keymap
from keydesk.settings.declared import Table, table_of, tables_in
from keydesk.settings.keymap_file import keymap_declaration
from keydesk.settings.templates_file import TemplatesFile
from keydesk.settings.toml_text import BadSettings
from keydesk.settings.values import ConfigFile


class SettingsFile(Struct, frozen=True):
    """One TOML file of the user: what declares it, and what reads it."""

    name: str
    about: str
    declaration: Callable[[], type[Table]]
    load: Callable[[Path], object]  # reads it in a folder; raises BadSettings

    def trouble(self, folder: Path) -> str:
        """Return why the file cannot be used, with the remedy; "" if it can, or is not there."""
        try:
            self.load(folder)
        except BadSettings as error:
            return str(error)
        return ""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the file, which editors complete and check by."""
        schema = self.declaration().model_json_schema(by_alias=True)
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


FILES: Mapping[str, SettingsFile] = {
    each.name: each
    for each in (
        SettingsFile(
            FILE,
            "profiles, colours, time zone, alerts",
            lambda: table_of(ConfigFile),
            load_alert_settings,
        ),
        SettingsFile(
            TEMPLATES_FILE,
            "sizes, bracket, limits, indicators, named templates",
            lambda: TemplatesFile,
            load_templates,
        ),
        SettingsFile(KEYS_FILE, "keys of the main screen", keymap_declaration, load_keymap),
        SettingsFile(
            watchlists.FILE,
            "watchlists; the desk writes it",
            lambda: table_of(watchlists.WatchlistsFile),
            watchlists.load_watchlists,
        ),
        SettingsFile(
            workspaces.FILE,
            "layouts and bookmarks; the desk writes it",
            lambda: table_of(workspaces.WorkspacesFile),
            workspaces.load_workspaces,
        ),
        SettingsFile(
            price_levels.FILE,
            "price levels of the charts; the desk writes it",
            lambda: table_of(price_levels.LevelsFile),
            price_levels.load_levels,
        ),
    )
}


def other_troubles(error: BadSettings, folder: Path) -> Sequence[str]:
    """Return why further files than the one that an error names cannot be used, a line for each."""
    text = str(error)
    names = [name for name in FILES if str(folder / name) not in text]
    troubles = [FILES[name].trouble(folder) for name in names]
    if FILE in names and not FILES[FILE].trouble(folder):
        own, chosen = load_own_themes(folder), load_settings(folder).theme
        troubles.append(own.trouble_with(chosen, folder))
    return [each for each in troubles if each and each != text]


class Setting(Struct, frozen=True):
    """A key of a file, as documents and `keydesk config show` name it."""

    name: str  # with the tables around it: alerts.notify
    default: str  # as TOML; "" where it has none
    about: str
    must: str


def settings_of(table: type[Table], prefix: str = "") -> Iterator[Setting]:
    """Yield the keys of a table and of the tables in it, in their order."""
    for key, field in table.keys().items():
        inner = next(tables_in(field.annotation), None)
        name = f"{prefix}{key}"
        if inner is not None:
            is_table = isinstance(field.annotation, type)
            yield from settings_of(inner, f"{name}." if is_table else f"{name}.NAME.")
            continue
        must = next((each.words for each in field.metadata if hasattr(each, "words")), "")
        default = (
            "" if field.is_required() else toml_of(field.get_default(call_default_factory=True))
        )
        about = " ".join((field.description or "").split())
        yield Setting(name, default, about, must.replace("{key}", key))


def toml_of(value: object) -> str:
    """Return a default as TOML writes it, "" for what has none there."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value.lower()}"' if value else ""
    if isinstance(value, int | Decimal):
        return f"{Decimal(value).normalize():f}"
    return ""
