"""The settings file `config.toml`, without what only the desk reads of it: exits work with any other key wrong."""

from pathlib import Path

from keydesk.config.folders import FILE
from keydesk.settings.toml_text import BadSettings, text_in
from keydesk.settings.values import PRACTICE_MARKET, Settings
from keydesk_client.auth.profiles import Profile


def load_settings(folder: Path) -> Settings:
    """Read `config.toml` in the folder; a missing file means the defaults.

    Raises:
        BadSettings: the file is not TOML, or a field has the wrong type or value.
    """
    path = folder / FILE
    text = text_in(path)
    if not text:
        return Settings()
    from keydesk.settings.config_file import read_settings  # noqa: PLC0415 - for a file only

    return read_settings(path, text)


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
