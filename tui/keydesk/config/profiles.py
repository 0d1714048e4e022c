"""Write profiles to `config.toml` and keep its comments.

tomlkit, which keeps the comments, is imported by what writes: the desk reads only.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from keydesk.config.file_edit import change_file
from keydesk.config.folders import FILE
from keydesk.settings.values import PRACTICE_MARKET
from keydesk_client.auth.profiles import Profile

if TYPE_CHECKING:
    import tomlkit


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
