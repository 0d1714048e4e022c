"""The values that files of settings hold, as the desk uses them; every member has a default."""

import re
from collections.abc import Mapping
from datetime import tzinfo
from typing import Literal, get_args

from msgspec import Struct, field

from keydesk.calc.market.indicator_specs import IndicatorSpec
from keydesk.calc.orders.ticket_settings import Limits, Template, TemplateSet
from keydesk.settings.time_zone import SystemZone
from keydesk.terminal.notification import OscKind
from keydesk_client.auth.profiles import Profile

INSTRUMENT = re.compile("[A-Z0-9_]{1,24}")  # the name of an instrument
WORKSPACE_NAME = re.compile("[a-z0-9][a-z0-9-]{0,19}")
WHOLE_LIMITS = frozenset(("cool_off_losses", "hard_open_trades"))  # counts, without decimals
PRACTICE_MARKET = "practice-market"  # the desk's own broker; no account, no token
CandleLook = Literal["candles", "bars", "line", "heikin-ashi"]
CANDLE_LOOKS: tuple[CandleLook, ...] = get_args(CandleLook)
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


class AlertSettings(Struct, frozen=True):
    """The channels of each kind, and the trader's command."""

    kinds: Mapping[EventKind, tuple[Channel, ...]] = field(default_factory=lambda: USUAL)
    notify: tuple[str, ...] = ()  # program and arguments; empty: none
    notify_timeout: int = 10  # seconds
    desktop: tuple[OscKind, ...] = ()  # empty: what the terminal knows

    def has(self, kind: EventKind, channel: Channel) -> bool:
        """Return whether a kind of event is delivered by a channel."""
        return channel in self.kinds.get(kind, ())


class Reconciliation(Struct, frozen=True):
    """When UNCONFIRMED commands are compared with the account's changes."""

    check_after: int = 5  # seconds since it was sent
    check_every: int = 10  # seconds
    look_back: int = 60  # minutes; older requests are watched for, not looked up


class Settings(Struct, frozen=True):
    """The content of `config.toml`; every member has a default."""

    last_profile: str = PRACTICE_MARKET
    theme: str = "dark"
    frames_per_second: int | None = None  # None: ten, fewer on a slow link
    profiles: dict[str, Profile] = field(default_factory=dict)
    reconciliation: Reconciliation = Reconciliation()
    zone: tzinfo = field(default_factory=SystemZone)  # `timezone`, in which times are shown
    ascii: bool = False  # draw with ASCII alone
    mouse: bool = False  # take clicks and the wheel
    key_hints: bool = True  # in the last line
    candles: CandleLook = "candles"  # how charts draw prices at the start


class OwnTemplates(Struct, frozen=True):
    """The content of `templates.toml`."""

    standard: Template = field(default_factory=Template)
    limits: Limits = field(default_factory=Limits)
    indicators: Mapping[str, tuple[IndicatorSpec, ...]] = field(default_factory=dict)
    named: TemplateSet = field(default_factory=TemplateSet)
