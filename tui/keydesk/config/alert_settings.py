"""How alerts reach the trader: the table `[alerts]` of `config.toml`.

    [alerts]
    notify = ["notify-send", "{title}", "{text}"]  # a program and its arguments, never a shell line
    notify_timeout = 10
    desktop = ["777"]                              # or "9", "99"; left out: what the terminal knows

    [alerts.kinds]
    alert = ["flash", "bell", "desktop", "command"]
    fill = ["bell"]
    disconnect = []

A line on the screen is always written.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeVar, get_args

from pydantic import ConfigDict, Field, PlainValidator, WithJsonSchema

from keydesk.config.declared import WRONG, Must, Table, read_file, unknown
from keydesk.config.folders import FILE
from keydesk.config.settings import Settings
from keydesk.terminal.notification import OSC_KINDS, OscKind
from keydesk.text.sanitize import clean

EventKind = Literal["alert", "fill", "stop", "reject", "margin", "disconnect", "limit"]
Channel = Literal["flash", "bell", "desktop", "command"]
KINDS: tuple[EventKind, ...] = get_args(EventKind)
CHANNELS: tuple[Channel, ...] = get_args(Channel)
MAX_ARGUMENTS = 32
MAX_ARGUMENT_LENGTH = 1000
Word = TypeVar("Word", bound=str)
USUAL: Mapping[EventKind, tuple[Channel, ...]] = {
    "alert": ("flash", "bell", "desktop", "command"),
    "fill": ("bell", "command"),
    "stop": ("flash", "bell", "desktop", "command"),
    "reject": ("bell", "command"),
    "margin": ("flash", "bell", "desktop", "command"),
    "disconnect": ("bell", "command"),
    "limit": ("flash", "bell", "command"),
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
    own = {kind: table[kind] for kind in KINDS if kind in table}
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


class AlertSettings(Table):
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

    def has(self, kind: EventKind, channel: Channel) -> bool:
        """Return whether a kind of event is delivered by a channel."""
        return channel in self.kinds.get(kind, ())


class ConfigFile(Settings):
    """All of `config.toml`. `Settings` is the part that exits need, too: they work with any other key wrong."""

    model_config = ConfigDict(extra="forbid")

    alerts: AlertSettings = Field(default_factory=AlertSettings)


def load_alert_settings(folder: Path) -> AlertSettings:
    """Read the table in the folder's `config.toml`; a missing one means the defaults.

    Raises:
        BadSettings: a member is not known, or has a wrong value.
    """
    alerts = read_file(folder / FILE, ConfigFile).alerts
    return alerts.model_copy(update={"kinds": {**USUAL, **alerts.kinds}})
