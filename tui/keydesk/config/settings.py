"""The settings file `config.toml`: read, and written with its comments kept.

Exits need no more than `Settings` of it: they work with any other key wrong. tomlkit, which keeps the comments, is imported by
what writes: the desk reads only.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from keydesk.config.file_edit import change_file
from keydesk.config.folders import FILE
from keydesk.settings.toml_text import BadSettings, text_in
from keydesk.settings.values import (
    PRACTICE_MARKET,
    AlertSettings,
    Channel,
    ConfigFile,
    EventKind,
    Settings,
)
from keydesk_client.auth.profiles import Profile

if TYPE_CHECKING:
    import tomlkit


def load_settings(folder: Path) -> Settings:
    """Read `config.toml` in the folder, without what only the desk reads of it; a missing file means the defaults.

    Raises:
        BadSettings: the file is not TOML, or a field has the wrong type or value.
    """
    path = folder / FILE
    text = text_in(path)
    if not text:
        return Settings()
    from keydesk.settings.declared import PartOfFile, read_record  # noqa: PLC0415 - for a file only

    return read_record(path, text, Settings, PartOfFile)


def load_alert_settings(folder: Path) -> AlertSettings:
    """Read the alerts in the folder's `config.toml`; a missing file means the defaults.

    Raises:
        BadSettings: a member of the file is not known, or has a wrong value.
    """
    path = folder / FILE
    text = text_in(path)
    if not text:
        return AlertSettings()
    from keydesk.settings.declared import read_record  # noqa: PLC0415 - for a file only

    return read_record(path, text, ConfigFile).alerts


def profile_named(name: str, settings: Settings) -> Profile:
    """Return the profile of this name.

    Raises:
        BadSettings: there is none.
    """
    if name not in settings.profiles:
        known = ", ".join(sorted(settings.profiles)) or "none yet"
        raise BadSettings(
            f"there is no profile {name!r} (known: {known}); sign in with keydesk login, "
            "or use the practice market with --practice"
        )
    return settings.profiles[name]


def profile_to_open(name: str | None, settings: Settings, *, practice: bool) -> Profile | None:
    """Return the named profile, else the last one used; None is the practice market."""
    if name is not None and not name.strip():
        raise BadSettings("--profile is empty: name a profile, or leave it out for the last one")
    name = name or settings.last_profile
    if practice or name == PRACTICE_MARKET:
        return None
    return profile_named(name, settings)


def save_profile(folder: Path, profile: Profile) -> None:
    """Write a profile; replace one of the same name."""
    import tomlkit  # noqa: PLC0415 - needed for writing only

    def change(document: "tomlkit.TOMLDocument") -> None:
        profiles = document.setdefault("profiles", tomlkit.table(is_super_table=True))
        profiles[profile.name] = _table(profile)

    change_file(folder, FILE, change)


def delete_profile(folder: Path, name: str) -> None:
    """Remove a profile; if it was the last one used, the practice market becomes that."""

    def change(document: "tomlkit.TOMLDocument") -> None:
        document.get("profiles", {}).pop(name, None)
        if document.get("last_profile") == name:
            document["last_profile"] = PRACTICE_MARKET

    change_file(folder, FILE, change)


def save_last_profile(folder: Path, name: str) -> None:
    """Set the profile that the bare command opens next time."""

    def change(document: "tomlkit.TOMLDocument") -> None:
        document["last_profile"] = name

    change_file(folder, FILE, change)


def save_value(folder: Path, key: str, value: str | int | None) -> None:
    """Set one value of the settings; None removes it, so that the usual one counts."""

    def change(document: "tomlkit.TOMLDocument") -> None:
        if value is None:
            document.pop(key, None)
        else:
            document[key] = value

    change_file(folder, FILE, change)


def _table(profile: Profile) -> "tomlkit.items.Table":
    import tomlkit  # noqa: PLC0415 - needed for writing only

    table = tomlkit.table()
    table["environment"] = profile.environment
    table["account"] = profile.account_id
    if profile.environment == "custom":
        table["rest_url"] = profile.rest_url
        table["stream_url"] = profile.stream_url
        if profile.practice_money:
            table["practice_money"] = True
    table["token_store"] = profile.kept_in
    if profile.proxy is not None:
        table["proxy"] = profile.proxy
    return table


def save_channels(folder: Path, kind: EventKind, channels: Sequence[Channel]) -> None:
    """Write the channels of a kind of event; everything else in the file stays as it is, comments too.

    Raises:
        BadSettings: the file is not TOML, or `alerts` is not a table in it; nothing is written then.
        OSError: the file cannot be written.
    """
    import tomlkit  # noqa: PLC0415 - needed for writing only

    def change(document: "tomlkit.TOMLDocument") -> None:
        alerts = document.setdefault("alerts", tomlkit.table())
        kinds = alerts.setdefault("kinds", tomlkit.table()) if isinstance(alerts, dict) else None
        if not isinstance(kinds, dict):
            raise BadSettings(
                f"{folder / FILE}: alerts must be a table, [alerts.kinds]; fix it first"
            )
        kinds[kind] = list(channels)

    change_file(folder, FILE, change)
