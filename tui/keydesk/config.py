"""The settings file `config.toml`: which profile was last, how the desk looks. Never a token."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal


class BadSettings(Exception):
    """A settings file that cannot be used; the text names file, field and remedy."""


Environment = Literal["practice", "live", "custom"]
FRAMES = range(1, 31)  # a second
PRACTICE_MARKET = "practice-market"  # the desk's own broker; no account, no token


@dataclass(frozen=True, slots=True)
class Profile:
    """One account at one broker, as `keydesk login` filed it."""

    name: str
    environment: Environment
    rest_url: str
    stream_url: str
    account_id: str


@dataclass(frozen=True, slots=True)
class Settings:
    """What `config.toml` says; everything has a default."""

    last_profile: str = PRACTICE_MARKET
    theme: str = "dark"
    frames_per_second: int | None = None  # None: ten, fewer on a slow link
    profiles: dict[str, Profile] = field(default_factory=dict)


def load(folder: Path) -> Settings:
    """Read `config.toml` in the folder; a missing file means the defaults.

    Raises:
        BadSettings: the file is not TOML, or a field has the wrong type or value.
    """
    path = folder / "config.toml"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettings(f"{path} cannot be read: {error}") from error
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadSettings(f"{path} is not valid TOML: {error}; mend or remove it") from error
    return _settings(data, path)


def _settings(data: dict[str, Any], path: Path) -> Settings:
    profiles = data.get("profiles", {})
    if not isinstance(profiles, dict):
        raise BadSettings(f"{path}: profiles must be tables like [profiles.name]")
    return Settings(
        last_profile=_text(data, "last_profile", path, PRACTICE_MARKET),
        theme=_text(data, "theme", path, "dark"),
        frames_per_second=_frames(data.get("fps"), path),
        profiles={name: _profile(name, table, path) for name, table in profiles.items()},
    )


def _profile(name: str, table: object, path: Path) -> Profile:
    if not isinstance(table, dict):
        raise BadSettings(f"{path}: profiles.{name} must be a table")
    environment = table.get("environment")
    if environment not in ("practice", "live", "custom"):
        raise BadSettings(f"{path}: profiles.{name}.environment must be practice, live or custom")
    return Profile(
        name,
        environment,
        _text(table, "rest_url", path),
        _text(table, "stream_url", path),
        _text(table, "account", path, ""),
    )


def _text(table: dict[str, Any], key: str, path: Path, default: str | None = None) -> str:
    value = table.get(key, default)
    if not isinstance(value, str):
        raise BadSettings(f'{path}: {key} must be text in quotes, such as {key} = "..."')
    return value


def _frames(value: object, path: Path) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value not in FRAMES:
        raise BadSettings(f"{path}: fps must be a whole number from 1 to 30")
    return value
