"""All of `config.toml`: how the records that `values.py` declares are read."""

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import ConfigDict, Field, PlainValidator, WithJsonSchema

from keydesk.settings.declared import WRONG, Table, checked, declare, table_of, unknown, value_of
from keydesk.settings.time_zone import UnknownZone, time_zone
from keydesk.settings.toml_text import parsed
from keydesk.settings.values import (
    CHANNELS,
    KINDS,
    USUAL,
    AlertSettings,
    Channel,
    EventKind,
    Settings,
)
from keydesk.terminal.notification import OSC_KINDS, OscKind
from keydesk.text.sanitize import clean
from keydesk_client.auth.profiles import ENVIRONMENTS, TOKEN_PLACES, Profile, read_profile
from keydesk_client.errors import InvalidSettings

MAX_ARGUMENTS = 32
MAX_ARGUMENT_LENGTH = 1000
Word = TypeVar("Word", bound=str)


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
        "practice_money": {"type": "boolean"},
    },
    "required": ["environment", "account", "token_store"],
}


def _kinds(table: object) -> dict[EventKind, tuple[Channel, ...]]:
    if not isinstance(table, dict):
        raise WRONG
    for name, channels in table.items():
        if name not in KINDS:
            raise ValueError(f".{clean(str(name))} {unknown(str(name), KINDS)}")
        if not isinstance(channels, list | tuple) or any(each not in CHANNELS for each in channels):
            there = ", ".join(f'"{each}"' for each in CHANNELS)
            raise ValueError(f".{name} must be a list of {there}, or []")
    own: dict[EventKind, list[object]] = {kind: table[kind] for kind in KINDS if kind in table}
    return {**USUAL, **{kind: _ordered(CHANNELS, listed) for kind, listed in own.items()}}


def _ordered(known: Sequence[Word], listed: Sequence[object]) -> tuple[Word, ...]:
    return tuple(each for each in known if each in listed)


def _notify(words: object) -> tuple[str, ...]:
    if (
        not isinstance(words, list | tuple)
        or len(words) > MAX_ARGUMENTS
        or not all(map(_is_argument, words))
    ):
        raise WRONG
    if words and not words[0]:
        raise ValueError("names no program")
    return tuple(words)


def _is_argument(word: object) -> bool:
    return isinstance(word, str) and len(word) <= MAX_ARGUMENT_LENGTH and "\0" not in word


def _desktop(value: object) -> tuple[OscKind, ...]:
    if not isinstance(value, list) or any(each not in OSC_KINDS for each in value):
        raise WRONG
    return _ordered(OSC_KINDS, value)


READERS: Mapping[Any, tuple[Any, ...]] = {
    tzinfo: (PlainValidator(_zone), WithJsonSchema({"type": "string"})),
    dict[str, Profile]: (
        PlainValidator(_profiles),
        WithJsonSchema({"type": "object", "additionalProperties": PROFILE_SCHEMA}),
    ),
    Mapping[EventKind, tuple[Channel, ...]]: (
        PlainValidator(_kinds),
        WithJsonSchema(
            {
                "type": "object",
                "properties": {
                    kind: {"type": "array", "items": {"enum": list(CHANNELS)}} for kind in KINDS
                },
                "additionalProperties": False,
            }
        ),
    ),
    tuple[str, ...]: (
        PlainValidator(_notify),
        WithJsonSchema({"type": "array", "items": {"type": "string"}}),
    ),
    tuple[OscKind, ...]: (
        PlainValidator(_desktop),
        WithJsonSchema({"type": "array", "items": {"enum": list(OSC_KINDS)}}),
    ),
}
"""How members are read whose type does not say it."""


class _PartOfFile(Table):
    """A table that leaves keys which it does not declare to `ConfigFile`."""

    model_config = ConfigDict(extra="ignore")


class _WholeFile(Table):
    """A table that refuses them."""

    model_config = ConfigDict(extra="forbid")


SettingsTable = table_of(Settings, READERS, _PartOfFile)
"""What exits need: they work with any other key wrong."""
AlertsTable = table_of(AlertSettings, READERS)
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
