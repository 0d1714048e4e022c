"""Made-up candles and scenes of a chart: markets of every size, gaps, weekends, jumps."""

import random

from keydesk.chart.glyphs import CandleStyle
from keydesk.chart.price_axis import PriceLine, PriceMark
from keydesk.chart.scene import Overlay, Scene, SubPane
from keydesk.store.state import Candle
from support.data.desk_data import WALL_NS

SECOND = 1_000_000_000
WEEKEND = 49 * 3600 * SECOND
MARKETS = {  # price, decimals, pip
    "EUR_USD": (1.08431, 5, 0.0001),
    "USD_JPY": (151.322, 3, 0.01),
    "USD_TRY": (38.21345, 5, 0.0001),
    "XAU_USD": (2314.55, 3, 0.01),
    "NINE_DIGITS": (123_456_789.1, 1, 1.0),
    "TINY": (0.00012345, 8, 0.000001),
    "WHOLE": (7.0, 0, 1.0),
}
WORDS = ("entry", "stop", "target", "limit", "stop entry", "trail", "alert")
ROLES = ("entry", "stop", "target", "pending", "pending", "stop", "alert")


def path(
    price: float,
    count: int,
    *,
    seconds: int = 300,
    pace: float = 0.00025,
    seed: int = 1,
    gaps: bool = False,
    jump: float = 0.0,
) -> list[Candle]:
    """Candles that end at a price; with gaps, time is left out here and there; with a jump, one falls by that share."""
    rng = random.Random(seed)
    time = WALL_NS - WALL_NS % (seconds * SECOND)
    made: list[Candle] = []
    for i in range(count):
        opened = price * (1 + rng.gauss(0, pace))
        if jump and i == count // 3:
            opened = price / (1 - jump)
        high = max(opened, price) * (1 + abs(rng.gauss(0, pace / 2)))
        low = min(opened, price) * (1 - abs(rng.gauss(0, pace / 2)))
        made.append(Candle(time, opened, high, low, price, complete=i > 0))
        time -= seconds * SECOND + (WEEKEND if gaps and rng.random() < 0.05 else 0)
        price = opened
    return made[::-1]


def own_lines(
    last: float, count: int, *, spread: float = 0.002, seed: int = 1
) -> tuple[PriceLine, ...]:
    """Own prices around the last one."""
    rng = random.Random(seed)
    return tuple(
        PriceLine(last * (1 + rng.gauss(0, spread)), WORDS[i % 7], ROLES[i % 7])
        for i in range(count)
    )


def scene_of(
    candles: list[Candle],
    *,
    market: str = "EUR_USD",
    width: int = 90,
    height: int = 28,
    seconds: int = 300,
    look: CandleStyle | None = None,
    lines: tuple[PriceLine, ...] = (),
    with_indicators: bool = False,
) -> Scene:
    """The newest candles of a market."""
    _, decimals, pip = MARKETS[market]
    last = candles[-1].close
    closes = [each.close for each in candles]
    rsi = [30.0 + i % 40 for i in range(len(candles))]
    overlays = (Overlay("EMA 20", "overlay-1", closes),) if with_indicators else ()
    panes = (SubPane("RSI 14", (("overlay-1", rsi),), (), (30.0, 70.0), (0.0, 100.0)),)
    return Scene(
        candles=candles,
        end=len(candles),
        width=width,
        height=height,
        seconds=seconds,
        last=last,
        decimals=decimals,
        pip=pip,
        look=look or CandleStyle(),
        this_year=2026,
        lines=lines,
        marks=(PriceMark(last * 1.001, "high"), PriceMark(last * 0.999, "low")),
        overlays=overlays,
        sub_panes=panes if with_indicators else (),
        legend=((("EMA 20", "overlay-1"),),),
    )
