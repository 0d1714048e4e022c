"""The values that files of settings hold, as the desk uses them; every member has a default, and its meaning beside it."""

import re
from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import Annotated, Literal, TypeVar, get_args

from msgspec import Struct, field

from keydesk.calc.market.indicator_specs import IndicatorSpec
from keydesk.calc.orders.ticket_settings import Limits, Template, TemplateSet
from keydesk.settings.about import About, Must, Row, Wrong, unknown
from keydesk.settings.time_zone import SystemZone, UnknownZone, time_zone
from keydesk.terminal.notification import OSC_KINDS, OscKind
from keydesk.text.sanitize import clean
from keydesk_client.auth.profiles import ENVIRONMENTS, TOKEN_PLACES, Profile, read_profile
from keydesk_client.errors import InvalidSettings

INSTRUMENT = re.compile("[A-Z0-9_]{1,24}")  # the name of an instrument
WORKSPACE_NAME = re.compile("[a-z0-9][a-z0-9-]{0,19}")
WHOLE_LIMITS = frozenset(("cool_off_losses", "hard_open_trades"))  # counts, without decimals
PRACTICE_MARKET = "practice-market"  # the desk's own broker; no account, no token
CandleLook = Literal["candles", "bars", "line", "heikin-ashi"]
EventKind = Literal["alert", "fill", "stop", "reject", "margin", "disconnect", "limit"]
Channel = Literal["flash", "bell", "desktop", "command"]
KINDS: tuple[EventKind, ...] = get_args(EventKind)
CHANNELS: tuple[Channel, ...] = get_args(Channel)
USUAL: Mapping[EventKind, tuple[Channel, ...]] = {
    "alert": ("flash", "bell", "desktop", "command"),
    "fill": ("bell", "command"),
    "stop": ("flash", "bell", "desktop", "command"),
    "reject": ("bell", "command"),
    "margin": ("flash", "bell", "desktop", "command"),
    "disconnect": ("bell", "command"),
    "limit": ("flash", "bell", "command"),
}


MAX_ARGUMENTS = 32
MAX_ARGUMENT_LENGTH = 1000
Word = TypeVar("Word", bound=str)


def _zone(name: object) -> tzinfo:
    if not isinstance(name, str):
        raise Wrong
    try:
        return time_zone(name)
    except UnknownZone as error:
        raise ValueError(
            f'"{clean(str(error))}" is not known; name one such as'
            ' timezone = "Europe/Berlin", or remove the line for the system\'s own'
        ) from error


def _profiles(tables: object) -> dict[str, Profile]:
    if not isinstance(tables, dict):
        raise Wrong
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
        raise Wrong
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
        raise Wrong
    if words and not words[0]:
        raise ValueError("names no program")
    return tuple(words)


def _is_argument(word: object) -> bool:
    return isinstance(word, str) and len(word) <= MAX_ARGUMENT_LENGTH and "\0" not in word


def _desktop(value: object) -> tuple[OscKind, ...]:
    if not isinstance(value, list) or any(each not in OSC_KINDS for each in value):
        raise Wrong
    return _ordered(OSC_KINDS, value)


KINDS_SCHEMA = {
    "type": "object",
    "properties": {kind: {"type": "array", "items": {"enum": list(CHANNELS)}} for kind in KINDS},
    "additionalProperties": False,
}


TEXT = Must("text in quotes", '{key} = "..."')
SWITCH = Must("true or false")


class AlertSettings(Struct, frozen=True):
    """The table `[alerts]`: the channels of each kind of event, and the trader's command."""

    kinds: Annotated[
        Mapping[EventKind, tuple[Channel, ...]],
        About(
            "The channels of each kind of event; a line on the screen is always written.",
            Must("a table, [alerts.kinds]"),
            read=_kinds,
            schema=KINDS_SCHEMA,
        ),
    ] = field(default_factory=lambda: USUAL)

    notify: Annotated[
        tuple[str, ...],
        About(
            "A program and its arguments; `{title}` and `{text}` stand for the message. Never a shell line.",
            Must(
                "a program and its arguments as a list of texts",
                'notify = ["notify-send", "{title}", "{text}"]; a shell line is not run',
            ),
            read=_notify,
            schema={"type": "array", "items": {"type": "string"}},
        ),
    ] = ()

    notify_timeout: Annotated[
        int,
        About(
            "Seconds after which the program is ended.",
            Must("whole seconds from 1 to 60"),
            within=range(1, 61),
        ),
    ] = 10

    desktop: Annotated[
        tuple[OscKind, ...],
        About(
            "The notifications of the terminal; left out: what it knows.",
            Must('a list of "777", "9", "99", or left out'),
            read=_desktop,
            schema={"type": "array", "items": {"enum": list(OSC_KINDS)}},
        ),
    ] = ()

    def has(self, kind: EventKind, channel: Channel) -> bool:
        """Return whether a kind of event is delivered by a channel."""
        return channel in self.kinds.get(kind, ())


class Reconciliation(Struct, frozen=True):
    """When UNCONFIRMED commands are compared with the account's changes: the table `[reconciliation]`."""

    check_after: Annotated[
        int,
        About(
            "Seconds since it was sent.",
            Must("a whole number of seconds from 0 to 600", "check_after = 5"),
            within=range(601),
        ),
    ] = 5

    check_every: Annotated[
        int,
        About(
            "Seconds between two comparisons.",
            Must("a whole number of seconds from 1 to 3600", "check_every = 10"),
            within=range(1, 3601),
        ),
    ] = 10

    look_back: Annotated[
        int,
        About(
            "Minutes; older requests are watched for, not looked up.",
            Must("a whole number of minutes from 1 to 10080", "look_back = 60"),
            within=range(1, 10_081),
        ),
    ] = 60


class Settings(Struct, frozen=True):
    """What exits need of `config.toml`; every key has a default. `ConfigFile` has the other keys: exits work with those wrong.

    The page of settings has the rows in this order.
    """

    last_profile: Annotated[
        str, About("The profile that `keydesk` opens; written by the desk.", TEXT)
    ] = PRACTICE_MARKET

    theme: Annotated[
        str,
        About(
            "The colours: dark, light, colour-blind, mono, or a theme of your own in the folder themes.",
            TEXT,
            row=Row(
                label="colours",
                hint="shown as you turn; your own themes lie in themes/ beside config.toml",
                example="theme light",
                words="Colours; shown as you choose",
            ),
        ),
    ] = "dark"

    zone: Annotated[
        tzinfo,
        About(
            "The time zone in which times are shown, such as Europe/Berlin; left out: the system's.",
            TEXT,
            key="timezone",
            read=_zone,
            schema={"type": "string"},
            row=Row(
                "zone",
                "time zone",
                "in which times are shown",
                example="zone Europe/Berlin",
                words="Time zone of what is shown",
            ),
        ),
    ] = field(default_factory=SystemZone)

    candles: Annotated[
        CandleLook,
        About(
            "How the charts draw prices when the desk opens.",
            Must("candles, bars, line or heikin-ashi in quotes", 'candles = "bars"'),
            row=Row(
                label="chart",
                hint="how charts draw prices; v turns one chart",
                words="How charts draw prices",
            ),
        ),
    ] = "candles"

    key_hints: Annotated[
        bool,
        About(
            "Whether the last line names the keys of the pane.",
            SWITCH,
            row=Row(
                "hints",
                hint="the keys of the pane in the last line; ? lists them always",
                words="Key hints in the last line",
            ),
        ),
    ] = True

    frames_per_second: Annotated[
        int | None,
        About(
            "How often the screen may change in a second; left out: ten, fewer on a slow link.",
            Must("a whole number from 1 to 30", "fps = 10"),
            key="fps",
            within=range(1, 31),
            row=Row(
                label="frames a second",
                hint="auto: ten, fewer on a slow line",
                example="fps 5",
                words="Frames a second, or auto",
            ),
        ),
    ] = None

    ascii: Annotated[
        bool,
        About(
            "Whether the desk is drawn with ASCII alone.",
            SWITCH,
            row=Row(
                label="ASCII alone",
                hint="for terminals and fonts without lines and blocks",
                words="ASCII alone, on or off",
            ),
        ),
    ] = False

    mouse: Annotated[
        bool,
        About(
            "Whether clicks and the wheel are taken; the terminal then selects text with Shift.",
            SWITCH,
            row=Row(
                hint="clicks choose and never send; the terminal then selects with Shift",
                words="Clicks and the wheel, on or off",
            ),
        ),
    ] = False

    profiles: Annotated[
        dict[str, Profile],
        About(
            "The accounts, as `keydesk login` wrote them.",
            Must("tables like [profiles.name]"),
            read=_profiles,
            schema={"type": "object", "additionalProperties": PROFILE_SCHEMA},
        ),
    ] = field(default_factory=dict)

    reconciliation: Annotated[Reconciliation, About()] = Reconciliation()


class ConfigFile(Settings, frozen=True):
    """All of `config.toml`."""

    alerts: Annotated[AlertSettings, About()] = field(default_factory=AlertSettings)


class OwnTemplates(Struct, frozen=True):
    """The content of `templates.toml`."""

    standard: Template = field(default_factory=Template)
    limits: Limits = field(default_factory=Limits)
    indicators: Mapping[str, tuple[IndicatorSpec, ...]] = field(default_factory=dict)
    named: TemplateSet = field(default_factory=TemplateSet)
