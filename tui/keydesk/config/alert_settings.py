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

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from keydesk.config.settings import FILE, BadSettings, part_of, table_in
from keydesk.terminal.notification import OSC_KINDS, OscKind
from keydesk.text.sanitize import clean

EventKind = Literal["alert", "fill", "stop", "reject", "margin", "disconnect", "limit"]
Channel = Literal["flash", "bell", "desktop", "command"]
KINDS: tuple[EventKind, ...] = get_args(EventKind)
CHANNELS: tuple[Channel, ...] = get_args(Channel)
MAX_ARGUMENTS = 32
MAX_ARGUMENT_LENGTH = 1000
TIMEOUTS = range(1, 61)
_KIND_OF: Mapping[str, EventKind] = {each: each for each in KINDS}
USUAL: Mapping[EventKind, tuple[Channel, ...]] = {
    "alert": ("flash", "bell", "desktop", "command"),
    "fill": ("bell", "command"),
    "stop": ("flash", "bell", "desktop", "command"),
    "reject": ("bell", "command"),
    "margin": ("flash", "bell", "desktop", "command"),
    "disconnect": ("bell", "command"),
    "limit": ("flash", "bell", "command"),
}


@dataclass(frozen=True, slots=True)
class AlertSettings:
    """The channels of each kind, and the trader's command."""

    kinds: Mapping[EventKind, tuple[Channel, ...]] = field(default_factory=lambda: USUAL)
    notify: tuple[str, ...] = ()  # program and arguments; empty: none
    notify_timeout: int = 10  # seconds
    desktop: tuple[OscKind, ...] = ()  # empty: what the terminal knows

    def has(self, kind: EventKind, channel: Channel) -> bool:
        """Return whether a kind of event is delivered by a channel."""
        return channel in self.kinds.get(kind, ())


def load_alert_settings(folder: Path) -> AlertSettings:
    """Read the table in the folder's `config.toml`; a missing one means the defaults.

    Raises:
        BadSettings: a member is not known, or has a wrong value.
    """
    path = folder / FILE
    table = part_of(table_in(path), "alerts", path)
    known = ("notify", "notify_timeout", "desktop", "kinds")
    for name in table:
        if name not in known:
            raise BadSettings(
                f"{path}: alerts.{clean(name)} is not known; there are: {', '.join(known)}"
            )
    return AlertSettings(
        kinds={**USUAL, **_kinds(table.get("kinds", {}), path)},
        notify=_notify(table.get("notify", []), path),
        notify_timeout=_timeout(table.get("notify_timeout", AlertSettings().notify_timeout), path),
        desktop=_desktop(table.get("desktop", []), path),
    )


def _kinds(table: object, path: Path) -> Mapping[EventKind, tuple[Channel, ...]]:
    if not isinstance(table, dict):
        raise BadSettings(f"{path}: alerts.kinds must be a table, [alerts.kinds]")
    kinds: dict[EventKind, tuple[Channel, ...]] = {}
    for name, channels in table.items():
        kind = _KIND_OF.get(str(name))
        if kind is None:
            there = ", ".join(KINDS)
            raise BadSettings(
                f"{path}: alerts.kinds.{clean(name)} is not known; there are: {there}"
            )
        if not isinstance(channels, list) or any(each not in CHANNELS for each in channels):
            there = ", ".join(f'"{each}"' for each in CHANNELS)
            raise BadSettings(f"{path}: alerts.kinds.{kind} must be a list of {there}, or []")
        kinds[kind] = tuple(each for each in CHANNELS if each in channels)
    return kinds


def _notify(value: Any, path: Path) -> tuple[str, ...]:  # noqa: ANN401 - of the file
    words = value if isinstance(value, list) else None
    if words is None or len(words) > MAX_ARGUMENTS or not all(map(_is_argument, words)):
        raise BadSettings(
            f"{path}: alerts.notify must be a program and its arguments as a list of texts, such as "
            'notify = ["notify-send", "{title}", "{text}"]; a shell line is not run'
        )
    if words and not words[0]:
        raise BadSettings(f"{path}: alerts.notify names no program")
    return tuple(words)


def _is_argument(word: object) -> bool:
    return isinstance(word, str) and len(word) <= MAX_ARGUMENT_LENGTH and "\0" not in word


def _timeout(value: object, path: Path) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value not in TIMEOUTS:
        raise BadSettings(f"{path}: alerts.notify_timeout must be whole seconds from 1 to 60")
    return value


def _desktop(value: object, path: Path) -> tuple[OscKind, ...]:
    if not isinstance(value, list) or any(each not in OSC_KINDS for each in value):
        raise BadSettings(f'{path}: alerts.desktop must be a list of "777", "9", "99", or left out')
    return tuple(each for each in OSC_KINDS if each in value)
