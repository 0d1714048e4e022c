"""The settings file `config.toml`, without what only the desk reads of it (`ConfigFile`)."""

from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, PlainValidator, WithJsonSchema

from keydesk.config.declared import WRONG, Must, Table, read_file
from keydesk.config.folders import FILE, PRACTICE_MARKET
from keydesk.config.time_zone import SystemZone, UnknownZone, time_zone
from keydesk.config.toml_text import BadSettings
from keydesk.text.sanitize import clean
from keydesk_client.auth.profiles import ENVIRONMENTS, TOKEN_PLACES, Profile, read_profile
from keydesk_client.errors import InvalidSettings

TEXT = Must("text in quotes", '{key} = "..."')


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """When UNCONFIRMED commands are compared with the account's changes."""

    check_after: int = 5  # seconds since it was sent
    check_every: int = 10  # seconds
    look_back: int = 60  # minutes; older requests are watched for, not looked up


class ReconciliationTable(Table):
    """When UNCONFIRMED commands are compared with the account's changes: the table `[reconciliation]`."""

    check_after: Annotated[
        int,
        Field(ge=0, le=600),
        Must("a whole number of seconds from 0 to 600", "check_after = 5"),
    ] = 5
    """Seconds since it was sent."""

    check_every: Annotated[
        int,
        Field(ge=1, le=3600),
        Must("a whole number of seconds from 1 to 3600", "check_every = 10"),
    ] = 10
    """Seconds between two comparisons."""

    look_back: Annotated[
        int,
        Field(ge=1, le=10_080),
        Must("a whole number of minutes from 1 to 10080", "look_back = 60"),
    ] = 60
    """Minutes; older requests are watched for, not looked up."""


def _zone(name: object) -> tzinfo:
    if not isinstance(name, str):
        raise WRONG
    try:
        return time_zone(name)
    except UnknownZone as error:
        raise ValueError(
            f'"{clean(str(error))}" is not known; name one such as'
            ' timezone = "Europe/Berlin", or remove the line for the system\'s own'
        ) from error


def _profiles(tables: object) -> dict[str, Profile]:
    if not isinstance(tables, dict):
        raise WRONG
    try:
        return {name: read_profile(name, table) for name, table in tables.items()}
    except InvalidSettings as error:
        raise ValueError(f".{error}") from None


PROFILE_SCHEMA = {
    "type": "object",
    "properties": {
        "environment": {"enum": list(ENVIRONMENTS)},
        "account": {"type": "string"},
        "rest_url": {"type": "string"},
        "stream_url": {"type": "string"},
        "token_store": {"enum": list(TOKEN_PLACES)},
        "proxy": {"type": "string"},
    },
    "required": ["environment", "account", "token_store"],
}


class Settings(Table):
    """The content of `config.toml`; every key has a default. Keys that it does not declare are left to `ConfigFile`."""

    model_config = ConfigDict(extra="ignore")

    last_profile: Annotated[str, TEXT] = PRACTICE_MARKET
    """The profile that `keydesk` opens; written by the desk."""

    theme: Annotated[str, TEXT] = "dark"
    """The colours: dark, light, colour-blind, mono."""

    frames_per_second: Annotated[
        int | None,
        Field(alias="fps", ge=1, le=30),
        Must("a whole number from 1 to 30", "fps = 10"),
    ] = None
    """How often the screen may change in a second; left out: ten, fewer on a slow link."""

    profiles: Annotated[
        dict[str, Profile],
        PlainValidator(_profiles),
        WithJsonSchema({"type": "object", "additionalProperties": PROFILE_SCHEMA}),
        Must("tables like [profiles.name]"),
    ] = Field(default_factory=dict[str, Profile])
    """The accounts, as `keydesk login` wrote them."""

    checks: Annotated[ReconciliationTable, Field(alias="reconciliation")] = ReconciliationTable()

    zone: Annotated[
        tzinfo,
        Field(alias="timezone"),
        PlainValidator(_zone),
        WithJsonSchema({"type": "string"}),
        TEXT,
    ] = Field(default_factory=SystemZone)
    """The time zone in which times are shown, such as Europe/Berlin; left out: the system's."""

    @property
    def reconciliation(self) -> Reconciliation:
        """When unconfirmed commands are compared."""
        checks = self.checks
        return Reconciliation(checks.check_after, checks.check_every, checks.look_back)


def load_settings(folder: Path) -> Settings:
    """Read `config.toml` in the folder; a missing file means the defaults.

    Raises:
        BadSettings: the file is not TOML, or a field has the wrong type or value.
    """
    return read_file(folder / FILE, Settings)


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
