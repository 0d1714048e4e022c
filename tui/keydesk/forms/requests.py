"""What forms ask the desk for in messages; a form returns its decision and sends nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual.message import Message

from keydesk.chart.price_axis import PriceLine


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


class ConfigureWanted(Message):
    """Name and margin rate of the account are to be changed."""
