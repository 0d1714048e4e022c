"""All of `config.toml`."""

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import ConfigDict, Field, PlainValidator, WithJsonSchema

from keydesk.settings.declared import WRONG, Must, Table, checked, unknown
from keydesk.settings.time_zone import SystemZone, UnknownZone, time_zone
from keydesk.settings.toml_text import parsed
from keydesk.settings.values import (
    CHANNELS,
    KINDS,
    PRACTICE_MARKET,
    USUAL,
    AlertSettings,
    CandleLook,
    Channel,
    EventKind,
    Reconciliation,
    Settings,
)
from keydesk.terminal.notification import OSC_KINDS, OscKind
from keydesk.text.sanitize import clean
from keydesk_client.auth.profiles import ENVIRONMENTS, TOKEN_PLACES, Profile, read_profile
from keydesk_client.errors import InvalidSettings

MAX_ARGUMENTS = 32
MAX_ARGUMENT_LENGTH = 1000
Word = TypeVar("Word", bound=str)
TEXT = Must("text in quotes", '{key} = "..."')


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
        "practice_money": {"type": "boolean"},
    },
    "required": ["environment", "account", "token_store"],
}


class SettingsTable(Table):
    """The content of `config.toml`; every key has a default. Keys that it does not declare are left to `ConfigFile`."""

    model_config = ConfigDict(extra="ignore")

    last_profile: Annotated[str, TEXT] = PRACTICE_MARKET
    """The profile that `keydesk` opens; written by the desk."""

    theme: Annotated[str, TEXT] = "dark"
    """The colours: dark, light, colour-blind, mono, or a theme of your own in the folder themes."""

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

    reconciliation: ReconciliationTable = ReconciliationTable()

    zone: Annotated[
        tzinfo,
        Field(alias="timezone"),
        PlainValidator(_zone),
        WithJsonSchema({"type": "string"}),
        TEXT,
    ] = Field(default_factory=SystemZone)
    """The time zone in which times are shown, such as Europe/Berlin; left out: the system's."""

    ascii: Annotated[bool, Must("true or false")] = False
    """Whether the desk is drawn with ASCII alone."""

    mouse: Annotated[bool, Must("true or false")] = False
    """Whether clicks and the wheel are taken; the terminal then selects text with Shift."""

    key_hints: Annotated[bool, Must("true or false")] = True
    """Whether the last line names the keys of the pane."""

    candles: Annotated[
        CandleLook, Must("candles, bars, line or heikin-ashi in quotes", 'candles = "bars"')
    ] = "candles"
    """How the charts draw prices when the desk opens."""

    def settings(self) -> Settings:
        """Return the content as the desk uses it."""
        checks = self.reconciliation
        return Settings(
            last_profile=self.last_profile,
            theme=self.theme,
            frames_per_second=self.frames_per_second,
            profiles=self.profiles,
            reconciliation=Reconciliation(checks.check_after, checks.check_every, checks.look_back),
            zone=self.zone,
            ascii=self.ascii,
            mouse=self.mouse,
            key_hints=self.key_hints,
            candles=self.candles,
        )


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
    return {kind: _ordered(CHANNELS, listed) for kind, listed in own.items()}


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


class AlertsTable(Table):
    """The table `[alerts]`: the channels of each kind of event, and the trader's command."""

    kinds: Annotated[
        Mapping[EventKind, tuple[Channel, ...]],
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
        Must("a table, [alerts.kinds]"),
    ] = Field(default_factory=lambda: USUAL)
    """The channels of each kind of event; a line on the screen is always written."""

    notify: Annotated[
        tuple[str, ...],
        PlainValidator(_notify),
        WithJsonSchema({"type": "array", "items": {"type": "string"}}),
        Must(
            "a program and its arguments as a list of texts",
            'notify = ["notify-send", "{title}", "{text}"]; a shell line is not run',
        ),
    ] = ()
    """A program and its arguments; `{title}` and `{text}` stand for the message. Never a shell line."""

    notify_timeout: Annotated[int, Field(ge=1, le=60), Must("whole seconds from 1 to 60")] = 10
    """Seconds after which the program is ended."""

    desktop: Annotated[
        tuple[OscKind, ...],
        PlainValidator(_desktop),
        WithJsonSchema({"type": "array", "items": {"enum": list(OSC_KINDS)}}),
        Must('a list of "777", "9", "99", or left out'),
    ] = ()
    """The notifications of the terminal; left out: what it knows."""

    def settings(self) -> AlertSettings:
        """Return the content as the desk uses it; kinds that the file leaves out are as usual."""
        kinds: dict[EventKind, tuple[Channel, ...]] = {**USUAL, **self.kinds}
        return AlertSettings(kinds, self.notify, self.notify_timeout, self.desktop)


class ConfigFile(SettingsTable):
    """All of `config.toml`. `SettingsTable` is the part that exits need, too: they work with any other key wrong."""

    model_config = ConfigDict(extra="forbid")

    alerts: AlertsTable = Field(default_factory=AlertsTable)


def read_settings(path: Path, text: str) -> Settings:
    """Return what exits need of the file; raise BadSettings if that cannot be used."""
    return checked(parsed(text, path), SettingsTable, path, text).settings()


def read_alert_settings(path: Path, text: str) -> AlertSettings:
    """Return the alerts of the file; raise BadSettings if anything in it cannot be used."""
    return checked(parsed(text, path), ConfigFile, path, text).alerts.settings()
