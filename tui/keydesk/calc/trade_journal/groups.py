"""Closed trades in groups: by instrument, side, session, time, notes, hold time, size, order in the day, last result.

Times are those of the opening, in the zone of the trader; the day of a trade is the trading day, 17:00 New York.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from functools import lru_cache

from keydesk.calc.market.sessions import sessions_at
from keydesk.calc.market.trading_day import booking_day_start
from keydesk.calc.trade_journal.notes import NO_NOTE, TradeNote
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk_client.arithmetic.constants import HOUR, MINUTE, SECOND

NONE = "none"
HOLD_TIMES = (
    (5 * MINUTE, "under 5 min"),
    (30 * MINUTE, "5 to 30 min"),
    (120 * MINUTE, "30 min to 2 h"),
    (480 * MINUTE, "2 to 8 h"),
    (1440 * MINUTE, "8 to 24 h"),
)
SIZES = (
    (Decimal(1_000), "under 1k"),
    (Decimal(10_000), "1k to 10k"),
    (Decimal(100_000), "10k to 100k"),
    (Decimal(1_000_000), "100k to 1M"),
)
OVER_A_DAY, MILLION_AND_MORE = "over 24 h", "1M and more"
ORDINALS = ("1st of the day", "2nd of the day", "3rd of the day")
LATER = "4th and later"
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(slots=True)
class GroupContext:
    """What a grouping needs beside the trade: the trader's notes, the zone, and the other trades."""

    trades: Sequence[JournalTrade]
    notes: Mapping[str, TradeNote] = field(default_factory=dict)
    zone: tzinfo = UTC
    _ordinals: dict[str, int] = field(init=False)
    _closings: list[int] = field(init=False)
    _results: list[Decimal] = field(init=False)

    def __post_init__(self) -> None:
        """Number the trades of each day, and put the closed ones in order of their closing."""
        counts: dict[int, int] = {}
        self._ordinals = {}
        for each in sorted(self.trades, key=lambda trade: trade.opened_ns):
            day = booking_day_start(each.opened_ns)
            counts[day] = counts.get(day, 0) + 1
            self._ordinals[each.id] = counts[day]
        closed = sorted((each.closed_ns, each.result) for each in self.trades if each.closed_ns)
        self._closings = [time for time, _ in closed if time is not None]
        self._results = [result for _, result in closed]

    def note(self, trade: JournalTrade) -> TradeNote:
        """Return the trader's note on a trade, empty if there is none."""
        return self.notes.get(trade.id, NO_NOTE)

    def ordinal(self, trade: JournalTrade) -> int:
        """Return the number of the trade in its day, from 1."""
        return self._ordinals.get(trade.id, 1)

    def last_result(self, trade: JournalTrade) -> Decimal | None:
        """Return the result of the trade that was closed last before this one was opened."""
        before = bisect_right(self._closings, trade.opened_ns)
        return self._results[before - 1] if before else None


def by_instrument(trade: JournalTrade, _: GroupContext) -> Iterable[str]:
    """The instrument."""
    return (trade.instrument,)


def by_side(trade: JournalTrade, _: GroupContext) -> Iterable[str]:
    """Long or short."""
    return ("long" if trade.is_long else "short",)


def by_session(trade: JournalTrade, _: GroupContext) -> Iterable[str]:
    """The sessions open at the entry."""
    return (session_of(trade.opened_ns),)


def session_of(time_ns: int) -> str:
    """Return the sessions that are open at an instant: London and New York; none."""
    return _session_of_hour(time_ns // HOUR)


@lru_cache(maxsize=20_000)
def _session_of_hour(hour: int) -> str:
    """Return the sessions of an hour: each opens and closes at a whole one, in UTC, too."""
    return " and ".join(each.name for each in sessions_at(hour * HOUR) if each.is_open) or NONE


def by_hour(trade: JournalTrade, context: GroupContext) -> Iterable[str]:
    """The hour of the entry."""
    return (f"{_opened(trade, context):%H}:00",)


def by_weekday(trade: JournalTrade, context: GroupContext) -> Iterable[str]:
    """The weekday of the entry."""
    return (WEEKDAYS[_opened(trade, context).weekday()],)


def by_weekday_and_hour(trade: JournalTrade, context: GroupContext) -> Iterable[str]:
    """The weekday and hour of the entry: Mon 14:00."""
    opened = _opened(trade, context)
    return (f"{WEEKDAYS[opened.weekday()]} {opened:%H}:00",)


def _opened(trade: JournalTrade, context: GroupContext) -> datetime:
    return datetime.fromtimestamp(trade.opened_ns // SECOND, context.zone)


def by_tag(trade: JournalTrade, context: GroupContext) -> Iterable[str]:
    """Each of the trader's tags, else the broker's; a trade with several is in several groups."""
    own = context.note(trade).tags
    return own or ((trade.tag,) if trade.tag else (NONE,))


def by_setup(trade: JournalTrade, context: GroupContext) -> Iterable[str]:
    """The setup of the note."""
    return (context.note(trade).setup or NONE,)


def by_rating(trade: JournalTrade, context: GroupContext) -> Iterable[str]:
    """The rating of the note."""
    rating = context.note(trade).rating
    return (NONE if rating is None else str(rating),)


def by_mistake(trade: JournalTrade, context: GroupContext) -> Iterable[str]:
    """The mistake of the note."""
    return (context.note(trade).mistake or NONE,)


def by_hold_time(trade: JournalTrade, _: GroupContext) -> Iterable[str]:
    """How long it was held."""
    held = trade.hold_ns or 0
    return (next((name for limit, name in HOLD_TIMES if held < limit), OVER_A_DAY),)


def by_size(trade: JournalTrade, _: GroupContext) -> Iterable[str]:
    """The units."""
    size = abs(trade.units)
    return (next((name for limit, name in SIZES if size < limit), MILLION_AND_MORE),)


def by_order_of_day(trade: JournalTrade, context: GroupContext) -> Iterable[str]:
    """Whether it was the first, second or a later trade of its day."""
    number = context.ordinal(trade)
    return (ORDINALS[number - 1] if number <= len(ORDINALS) else LATER,)


def by_last_result(trade: JournalTrade, context: GroupContext) -> Iterable[str]:
    """Whether the trade closed last before it was a loss."""
    last = context.last_result(trade)
    if last is None:
        return ("no trade before",)
    if not last:
        return ("after break-even",)
    return ("after a loss" if last < 0 else "after a win",)


Key = Callable[[JournalTrade, GroupContext], Iterable[str]]
GROUPINGS: Mapping[str, Key] = {
    "instrument": by_instrument,
    "side": by_side,
    "session": by_session,
    "hour": by_hour,
    "weekday": by_weekday,
    "weekday-hour": by_weekday_and_hour,
    "tag": by_tag,
    "setup": by_setup,
    "rating": by_rating,
    "mistake": by_mistake,
    "hold": by_hold_time,
    "size": by_size,
    "order": by_order_of_day,
    "after": by_last_result,
}
_ORDER = {
    name: number
    for names in (
        WEEKDAYS,
        [name for _, name in HOLD_TIMES] + [OVER_A_DAY],
        [name for _, name in SIZES] + [MILLION_AND_MORE],
        [*ORDINALS, LATER],
    )
    for number, name in enumerate(names)
}


def grouped(
    trades: Iterable[JournalTrade], grouping: str, context: GroupContext
) -> dict[str, list[JournalTrade]]:
    """Return closed trades by a grouping of GROUPINGS, groups in their natural order."""
    key = GROUPINGS[grouping]
    groups: dict[str, list[JournalTrade]] = {}
    for each in trades:
        if each.is_closed:
            for name in key(each, context):
                groups.setdefault(name, []).append(each)
    return {name: groups[name] for name in sorted(groups, key=_place)}


def _place(name: str) -> tuple[bool, int, str]:
    """Return the sorting key of a group: `none` last, weekdays and ranges in their order."""
    day, _, rest = name.partition(" ")
    if name in _ORDER:
        return False, _ORDER[name], ""
    return name == NONE, _ORDER.get(day, 0) if rest else 0, name
