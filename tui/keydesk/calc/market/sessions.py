"""Trading sessions, the rollover and the market's week, each open or closed and until when.

Sessions are those of the currency market: banking hours of the city, Monday to Friday on its own clock. The week is from
Sunday 17:05 to Friday 16:59 New York, with a break from 16:59 to 17:05 on the other days.
"""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

from msgspec import Struct

from keydesk.calc.market.trading_day import DAY_ENDS, NEW_YORK
from keydesk.text.format import duration
from keydesk_client.arithmetic.constants import SECOND

FRIDAY, SATURDAY, SUNDAY = 4, 5, 6
CLOSES, OPENS = time(16, 59), time(17, 5)  # New York
BEFORE_THE_WEEK_END = timedelta(hours=3)


class Session(NamedTuple):
    """A session: its name, the same in at most three letters, its zone, and local times."""

    name: str
    short: str
    zone: ZoneInfo
    opens: time
    closes: time


SESSIONS = (
    Session("Sydney", "SYD", ZoneInfo("Australia/Sydney"), time(7), time(16)),
    Session("Tokyo", "TYO", ZoneInfo("Asia/Tokyo"), time(9), time(18)),
    Session("London", "LDN", ZoneInfo("Europe/London"), time(8), time(17)),
    Session("New York", "NY", NEW_YORK, time(8), DAY_ENDS),
)


class Hours(Struct, frozen=True):
    """Whether something is open, and when that changes."""

    name: str
    is_open: bool
    changes_ns: int

    def text(self, now_ns: int) -> str:
        """Return the state and the countdown: open, closes in 3h12."""
        left = duration((self.changes_ns - now_ns) / SECOND)
        return f"open, closes in {left}" if self.is_open else f"closed, opens in {left}"

    def at(self, zone: tzinfo) -> str:
        """Return when that changes, in a zone: Mon 09:00."""
        return f"{datetime.fromtimestamp(self.changes_ns // SECOND, zone):%a %H:%M}"


def sessions_at(now_ns: int) -> tuple[Hours, ...]:
    """Return the sessions at an instant."""
    return tuple(_session_at(session, now_ns) for session in SESSIONS)


def overlap(sessions: tuple[Hours, ...]) -> str:
    """Return the names of the sessions that are open together, "" unless there are several."""
    names = [each.name for each in sessions if each.is_open]
    return " and ".join(names) if len(names) > 1 else ""


def _session_at(session: Session, now_ns: int) -> Hours:
    for day in _days(now_ns, session.zone):
        if day.weekday() >= SATURDAY:
            continue
        opens, closes = (_ns(day, at, session.zone) for at in (session.opens, session.closes))
        if now_ns < opens:
            return Hours(session.name, is_open=False, changes_ns=opens)
        if now_ns < closes:
            return Hours(session.name, is_open=True, changes_ns=closes)
    raise AssertionError  # a week has a working day


def week_at(now_ns: int) -> Hours:
    """Return whether the market's week is open, daily breaks left out, and when it ends or begins."""
    for day in _days(now_ns, NEW_YORK):
        if day.weekday() == FRIDAY and now_ns < (closes := _ns(day, CLOSES, NEW_YORK)):
            return Hours("the week", is_open=True, changes_ns=closes)
        if day.weekday() == SUNDAY and now_ns < (opens := _ns(day, OPENS, NEW_YORK)):
            return Hours("the week", is_open=False, changes_ns=opens)
    raise AssertionError  # a week has a Friday and a Sunday


def week_text(now_ns: int, zone: tzinfo) -> str:
    """Return the market's hours in a zone: Sun 23:05 to Fri 22:59, daily break 22:59 to 23:05."""
    day = datetime.fromtimestamp(now_ns // SECOND, NEW_YORK).date()
    friday = day + timedelta(days=(FRIDAY - day.weekday()) % 7)
    sunday = friday - timedelta(days=5)
    opens, closes = (
        datetime.fromtimestamp(_ns(on, at, NEW_YORK) // SECOND, zone)
        for on, at in ((sunday, OPENS), (friday, CLOSES))
    )
    breaks = (
        datetime.fromtimestamp(_ns(friday, at, NEW_YORK) // SECOND, zone) for at in (CLOSES, OPENS)
    )
    pause = " to ".join(f"{each:%H:%M}" for each in breaks)
    return f"{opens:%a %H:%M} to {closes:%a %H:%M %Z}, daily break {pause}"


def closed_text(now_ns: int) -> str:
    """Return until when an instrument that cannot be traded now stays closed, as far as that is known."""
    week = week_at(now_ns)
    if not week.is_open:
        left = duration((week.changes_ns - now_ns) / SECOND)
        return f"the market is closed and opens in {left}, Sunday 17:05 New York"
    day = datetime.fromtimestamp(now_ns // SECOND, NEW_YORK).date()
    closes, opens = (_ns(day, at, NEW_YORK) for at in (CLOSES, OPENS))
    if closes <= now_ns < opens:
        left = duration((opens - now_ns) / SECOND)
        return f"the market is closed for the rollover and opens in {left}, 17:05 New York"
    return "the market is closed for this instrument, the broker does not say until when"


def is_friday_evening(now_ns: int) -> bool:
    """Return whether the market's week ends within three hours."""
    week = week_at(now_ns)
    left = timedelta(seconds=(week.changes_ns - now_ns) // SECOND)
    return week.is_open and left <= BEFORE_THE_WEEK_END


def _days(now_ns: int, zone: ZoneInfo) -> Iterator[date]:
    """Yield the day of an instant in a zone, and those after it for more than a week."""
    first = datetime.fromtimestamp(now_ns // SECOND, zone).date()
    yield from (first + timedelta(days=number) for number in range(9))


def _ns(day: date, at: time, zone: ZoneInfo) -> int:
    return int(datetime.combine(day, at, zone).timestamp()) * SECOND
