"""What a chart shows: candles, lines, indicators, cursor, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, tzinfo

from msgspec import Struct

from keydesk.chart.canvas import Run
from keydesk.chart.glyphs import CandleStyle
from keydesk.chart.price_axis import PriceLine, PriceMark
from keydesk.store.state import Candle

PLAIN = CandleStyle()


class Overlay(Struct, frozen=True):
    """A line over the candles: a value for each candle of the scene, NaN where there is none."""

    name: str  # in the legend; "" for a further line of the one before
    role: str
    values: Sequence[float]


class SubPane(Struct, frozen=True):
    """Lines and bars below the candles, on a scale of their own."""

    title: str
    lines: Sequence[tuple[str, Sequence[float]]]  # role, a value for each candle
    bars: Sequence[float] = ()
    guides: Sequence[float] = ()
    bounds: tuple[float, float] | None = None


class Cursor(Struct, frozen=True):
    """The crosshair: the index of a candle in the scene, and a price."""

    index: int
    price: float


class Scene(Struct, frozen=True):
    """Everything that a picture is drawn from."""

    candles: Sequence[Candle]  # all that are loaded, oldest first; at least one
    end: int  # index behind the newest candle in sight
    width: int
    height: int
    seconds: int  # length of a candle
    last: float  # the market's price now
    decimals: int
    pip: float
    look: CandleStyle = PLAIN
    zone: tzinfo = UTC
    this_year: int = 0
    is_live: bool = True  # the newest candle in sight is the newest of all
    lines: tuple[PriceLine, ...] = ()
    marks: tuple[PriceMark, ...] = ()
    overlays: tuple[Overlay, ...] = ()
    sub_panes: tuple[SubPane, ...] = ()
    cursor: Cursor | None = None
    legend: tuple[tuple[Run, ...], ...] = ()  # groups that are shown whole or not at all
    shows_everything: bool = (
        False  # the scale includes every own price, up to 4 times the candles' range
    )
    braille: bool = False  # overlays as braille dots
    sides: Mapping[str, float] = {}  # bid and ask now, where they are known
