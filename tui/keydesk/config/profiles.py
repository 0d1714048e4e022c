"""Writing profiles into `config.toml`: what else stands in the file, comments included, stays as its owner wrote it.

Import this module late: the library that keeps comments is of no use to a desk that only reads.
"""

from collections.abc import Callable
from pathlib import Path

import tomlkit
from tomlkit.exceptions import TOMLKitError

from keydesk.config.config import FILE, PRACTICE_MARKET, BadSettings, Profile
from keydesk_client.auth.private_files import locked, replace_file


def save_profile(folder: Path, profile: Profile) -> None:
    """Write a profile, in the place of one with its name."""

    def change(document: tomlkit.TOMLDocument) -> None:
        profiles = document.setdefault("profiles", tomlkit.table(is_super_table=True))
        profiles[profile.name] = _table(profile)

    _change(folder, change)


def delete_profile(folder: Path, name: str) -> None:
    """Take a profile out; the practice market is the last one then, if this was."""

    def change(document: tomlkit.TOMLDocument) -> None:
        document.get("profiles", {}).pop(name, None)
        if document.get("last_profile") == name:
            document["last_profile"] = PRACTICE_MARKET

    _change(folder, change)


def save_last_profile(folder: Path, name: str) -> None:
    """Note which profile the bare command opens next time."""

    def change(document: tomlkit.TOMLDocument) -> None:
        document["last_profile"] = name

    _change(folder, change)


def _table(profile: Profile) -> tomlkit.items.Table:
    table = tomlkit.table()
    table["environment"] = profile.environment
    table["account"] = profile.account_id
    if profile.environment == "custom":
        table["rest_url"] = profile.rest_url
        table["stream_url"] = profile.stream_url
    table["token_store"] = profile.kept_in
    return table


def _change(folder: Path, change: Callable[[tomlkit.TOMLDocument], None]) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    named = folder / FILE
    path = named.resolve()  # a link stays a link: some keep their settings elsewhere
    beside = path if path.is_file() or not path.exists() else named  # no lock file beside a device
    with locked(beside):
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        try:
            document = tomlkit.parse(text)
        except TOMLKitError as error:
            raise BadSettings(
                f"{path} is not valid TOML: {error}; mend it, then try again"
            ) from error
        change(document)
        replace_file(path, tomlkit.dumps(document).encode())
