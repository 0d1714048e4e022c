"""The opening of the trading sessions, as marks on charts of short candles."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from keydesk.calc.market.sessions import SESSIONS, Session
from keydesk.store.state import Candle
from keydesk.text import format as show

SECOND = 1_000_000_000
LONGEST_CANDLE = 3600  # seconds: on longer candles an opening is no moment any more
MOST_DAYS = 15
SATURDAY = 5


MARKED = [
    session for session in SESSIONS if session.name != "Sydney"
]  # which opens as the day begins


def session_opens(candles: Sequence[Candle], seconds: int) -> list[tuple[int, str]]:
    """Return the candles that hold the opening of a session, and its name, in the order of time."""
    if not candles or seconds >= LONGEST_CANDLE:
        return []
    first, last = candles[0].time_ns, candles[-1].time_ns + seconds * SECOND
    found: list[tuple[int, str]] = []
    for ordinal in range(_ordinal(first) - 1, min(_ordinal(last) + 2, _ordinal(first) + MOST_DAYS)):
        for session in MARKED:
            opening = _opening(session, ordinal)
            if opening is None or not first <= opening < last:
                continue
            index = bisect_left(candles, opening + 1, key=lambda each: each.time_ns) - 1
            if opening < candles[index].time_ns + seconds * SECOND:
                found.append((index, session.name))
    return sorted(found)


def _ordinal(time_ns: int) -> int:
    return show.at(time_ns).toordinal()


@lru_cache(maxsize=128)
def _opening(session: Session, ordinal: int) -> int | None:
    """Return the instant of an opening on a day; none at a weekend."""
    day = datetime.fromordinal(ordinal).date()
    if day.weekday() >= SATURDAY:
        return None
    return int(datetime.combine(day, session.opens, session.zone).timestamp()) * SECOND
