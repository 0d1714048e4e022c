"""All of `config.toml`: how the records that `values.py` declares are read."""

from pathlib import Path
from typing import Any, cast

from pydantic import ConfigDict, Field

from keydesk.settings.declared import Table, checked, declare, table_of, value_of
from keydesk.settings.toml_text import parsed
from keydesk.settings.values import AlertSettings, Settings


class _PartOfFile(Table):
    """A table that leaves keys which it does not declare to `ConfigFile`."""

    model_config = ConfigDict(extra="ignore")


class _WholeFile(Table):
    """A table that refuses them."""

    model_config = ConfigDict(extra="forbid")


SettingsTable = table_of(Settings, _PartOfFile)
"""What exits need: they work with any other key wrong."""
AlertsTable = table_of(AlertSettings)
ConfigFile: type[Any] = declare(
    "ConfigFile",
    SettingsTable,
    {"alerts": (AlertsTable, Field(default_factory=AlertsTable))},
    about="All of `config.toml`. `SettingsTable` is the part that exits need, too: they work with any other key wrong.",
    rules=_WholeFile,
)


def read_settings(path: Path, text: str) -> Settings:
    """Return what exits need of the file; raise BadSettings if that cannot be used."""
    table = checked(parsed(text, path), SettingsTable, path, text)
    return cast("Settings", value_of(table))


def read_alert_settings(path: Path, text: str) -> AlertSettings:
    """Return the alerts of the file; raise BadSettings if anything in it cannot be used."""
    table = checked(parsed(text, path), ConfigFile, path, text)
    return cast("AlertSettings", value_of(table.alerts))
