"""The lengths of candles: their names, seconds, order, and where days, weeks and months begin."""

from collections.abc import Mapping
from typing import Final

from keydesk.calc.market.trading_day import DAY_END_TEXT

SECONDS: Final[Mapping[str, int]] = {
    "S5": 5, "S10": 10, "S15": 15, "S30": 30,
    "M1": 60, "M2": 120, "M4": 240, "M5": 300, "M10": 600, "M15": 900, "M30": 1800,
    "H1": 3600, "H2": 7200, "H3": 10_800, "H4": 14_400, "H6": 21_600, "H8": 28_800, "H12": 43_200,
    "D": 86_400, "W": 604_800, "M": 2_592_000,
}  # fmt: skip
"""Every length that the service knows, shortest first; of a month, 30 days."""
COMMON: Final = ("M1", "M5", "M15", "H1", "H4", "D", "W")
"""Those that one key goes through."""
LONGER: Final[Mapping[str, str]] = {"S5": "M1", "M1": "M15", "M5": "H1", "M15": "H4", "H1": "D"}
LAST_PLACE: Final = 4
SHORTEST: Final = "M1"  # that the last of four charts shows
ALIGNMENT: Final[Mapping[str, str]] = {
    "D": f"from {DAY_END_TEXT}",
    "W": f"from Fri {DAY_END_TEXT}",
    "M": f"from the 1st {DAY_END_TEXT}",
}


def next_common(granularity: str) -> str:
    """Return the next longer common length; after the longest, the shortest."""
    now = SECONDS.get(granularity, 0)
    return next((each for each in COMMON if SECONDS[each] > now), COMMON[0])


def longer(granularity: str) -> str:
    """Return the length that a second chart shows beside this one."""
    seconds = SECONDS.get(granularity, 0)
    wider_ones = [wider for name, wider in LONGER.items() if SECONDS[name] >= seconds]
    return wider_ones[0] if wider_ones else ("W" if seconds >= SECONDS["D"] else "D")


def at_place(place: int, own: str) -> str:
    """Return what a chart shows by itself beside the desk's own: the next longer ones; the last of four, the shortest."""
    if place == LAST_PLACE and SECONDS.get(own, 0) > SECONDS[SHORTEST]:
        return SHORTEST
    for _ in range(min(place, LAST_PLACE) - 1):
        own = longer(own)
    return own


def find_granularity(typed: str) -> str | None:
    """Return the length of what was typed: h4, 4h, M15, 15m, d, 1d; `m` alone is a month, 1m a minute."""
    name = typed.strip().upper()
    if name in SECONDS:
        return name
    swapped = name[-1:] + name[:-1] if name[:1].isdigit() else name
    if swapped in ("D1", "W1"):
        swapped = swapped[0]
    return swapped if swapped in SECONDS else None
