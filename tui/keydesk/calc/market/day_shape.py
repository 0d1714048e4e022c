"""The shape of a trading day: the line of its prices, for drawing and so of floats, and the open sessions."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache

from keydesk.calc.market.sessions import SESSIONS, Session
from keydesk_client.arithmetic.constants import SECOND

CELLS = 7  # of the line of a day, as many as its column is wide
LEVELS = "▁▂▃▄▅▆▇"  # none as high as the line, so that rows stay apart
FLAT = "▄"
HOMES = {
    **dict.fromkeys(("AUD", "NZD"), "SYD"),
    **dict.fromkeys(("JPY", "CNH", "HKD", "SGD", "THB", "INR", "KRW", "TWD"), "TYO"),
    **dict.fromkeys(
        ("EUR", "GBP", "CHF", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "RON", "TRY", "ZAR", "ILS"),
        "LDN",
    ),
    **dict.fromkeys(("USD", "CAD", "MXN", "BRL"), "NY"),
}
"""The centre in whose hours a currency is mostly dealt."""
SATURDAY = 5


def path_of(closes: Iterable[tuple[int, float]], start_ns: int) -> tuple[float, ...]:
    """Return prices of the day that began at `start_ns`, evenly spread over it, from candles in order of time.

    They leave one cell of the line to the current price, which represents the last candle.
    """
    day = [close for time_ns, close in closes if time_ns >= start_ns][:-1]
    points = CELLS - 1
    if len(day) <= points:
        return tuple(day)
    return tuple(day[round(point * (len(day) - 1) / (points - 1))] for point in range(points))


def sparkline(path: Sequence[float]) -> str:
    """Return the path as blocks of seven heights."""
    low, high = min(path, default=0.0), max(path, default=0.0)
    if high <= low:
        return FLAT * len(path)
    scale = (len(LEVELS) - 1) / (high - low)
    return "".join([LEVELS[round((each - low) * scale)] for each in path])


def sessions_of(instrument: str, now_ns: int) -> str:
    """Return the centres of an instrument's currencies that are open, such as "LDN NY"; "" if none is."""
    homes = {HOMES.get(part) for part in instrument.split("_")}
    return " ".join(name for name in open_sessions(now_ns) if name in homes)


def open_sessions(now_ns: int) -> tuple[str, ...]:
    """Return the centres that are open at an instant, from east to west."""
    return _open_in_minute(now_ns // (60 * SECOND))


@lru_cache(maxsize=4)
def _open_in_minute(minute: int) -> tuple[str, ...]:
    moment = datetime.fromtimestamp(minute * 60, UTC)
    return tuple(session.short for session in SESSIONS if _is_open(moment, session))


def _is_open(moment: datetime, session: Session) -> bool:
    local = moment.astimezone(session.zone)
    return local.weekday() < SATURDAY and session.opens <= local.time() < session.closes
