"""What forms ask the desk for in messages; a form returns its decision and sends nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from textual.message import Message

from keydesk.chart.price_axis import PriceLine

if TYPE_CHECKING:
    from keydesk.calc.alerts.alert import Alert
    from keydesk.settings.values import Channel, EventKind

AlertVerb = Literal["pause", "delete", "edit", "new", "clear", "mute"]


@dataclass
class PriceWanted(Message):
    """A price became old: it is to be read again."""

    instrument: str


@dataclass
class PlanChanged(Message):
    """The prices of an open form are to be drawn on the charts of its instrument."""

    instrument: str
    lines: Sequence[PriceLine]


@dataclass
class ThemePreview(Message):
    """A theme is to be shown while it is being chosen; "": the chosen one again."""

    name: str


@dataclass
class LabelsWanted(Message):
    """Tag and comment of an open trade are to be sent to the broker: these, if the trader confirms them."""

    trade_id: str
    tag: str
    comment: str


@dataclass
class CopyWanted(Message):
    """The text of a page is to go to the clipboard."""

    name: str
    lines: Sequence[str]


@dataclass
class SettingChosen(Message):
    """A setting of how the desk looks is to have another value."""

    name: str
    value: str


@dataclass
class ChannelSwitched(Message):
    """A kind of event is to be delivered by a channel, or no longer."""

    kind: EventKind
    channel: Channel


@dataclass
class SettingOpened(Message):
    """The values of a setting are to be chosen from a list of their own."""

    name: str


class ConfigureWanted(Message):
    """Name and margin rate of the account are to be changed."""


@dataclass
class AlertAction(Message):
    """What is to be done with an alert, or with all of them."""

    verb: AlertVerb
    alert: Alert | None = None
