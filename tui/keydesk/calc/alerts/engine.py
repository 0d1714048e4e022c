"""The engine of alerts: it is given values and says which conditions were met.

An alert fires on a fresh crossing only: one for a level above fires when the value reaches the level after it was below
it. The first value that is read only says on which side the value is. A gap over the level is a crossing.

All alerts on one reading stand in one sorted list of levels. A value between the same two levels as the value before it
changes nothing, which two comparisons decide; else only the levels that were reached or passed are looked at.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from msgspec import Struct, field
from msgspec.structs import replace

from keydesk.calc.alerts.alert import Alert, Firing
from keydesk.calc.alerts.condition_base import Condition, Reading
from keydesk_client.arithmetic.constants import SECOND

NO_FIRINGS: tuple[Firing, ...] = ()


class WatchedAlert(Struct):
    """An alert and the side of its level on which the value was since it last fired: -1 below, 1 above, 0 neither."""

    alert: Alert
    level: Decimal
    side: int | None = None  # None: nothing was read yet

    def crosses(self, value: Decimal) -> bool:
        """Return whether the value makes a fresh crossing."""
        now = (value > self.level) - (value < self.level)
        before, direction = self.side, self.alert.condition.direction
        if direction == "touch":
            self.side = now
            return before not in (None, 0, now)
        waits = -1 if direction == "up" else 1  # the side from which it is crossed
        if now == waits:
            self.side = waits
            return False
        self.side = 0
        return before == waits


class Levels(Struct):
    """The alerts on one reading, and between which two levels its last value is."""

    condition: Condition  # one of them; all read the same
    armed: dict[Decimal, list[WatchedAlert]] = field(default_factory=dict)
    levels: list[Decimal] = field(default_factory=list)  # sorted
    last: Decimal | None = None
    last_ns: int = 0  # when it was read
    low: Decimal | None = None  # the next level below the last value; None: there is none
    high: Decimal | None = None
    quiet: bool = False  # the last value is on no level

    def add(self, entry: WatchedAlert) -> None:
        """Add an alert."""
        if entry.level not in self.armed:
            insort(self.levels, entry.level)
        self.armed.setdefault(entry.level, []).append(entry)
        if entry.side is None and self.last is not None:
            entry.crosses(self.last)
        self._note_nearest_levels()

    def remove(self, alert_id: str, level: Decimal) -> None:
        """Remove an alert."""
        left = [each for each in self.armed.get(level, ()) if each.alert.id != alert_id]
        if left:
            self.armed[level] = left
        elif level in self.armed:
            del self.armed[level]
            del self.levels[bisect_left(self.levels, level)]
        self._note_nearest_levels()

    def crossed(self, value: Decimal, time_ns: int) -> list[WatchedAlert]:
        """Return the alerts whose level the value crossed."""
        last, self.last_ns = self.last, time_ns
        low, high = self.low, self.high
        if self.quiet and (low is None or value > low) and (high is None or value < high):
            self.last = value
            return []
        self.last = value
        if last is None:
            reached = self.levels
        else:
            first, second = min(last, value), max(last, value)
            start, end = bisect_left(self.levels, first), bisect_right(self.levels, second)
            reached = self.levels[start:end]
        if last is not None and value < last:
            reached = reached[::-1]  # in the order in which the value passed them
        crossed = [
            entry for level in reached for entry in self.armed[level] if entry.crosses(value)
        ]
        self._note_nearest_levels()
        return crossed

    def _note_nearest_levels(self) -> None:
        """Note the levels next to the last value."""
        if self.last is None:
            self.quiet = False
            return
        at = bisect_left(self.levels, self.last)
        self.low = self.levels[at - 1] if at else None
        self.high = self.levels[at] if at < len(self.levels) else None
        self.quiet = self.high != self.last


class AlertEngine:
    """Watches alerts; `evaluate` is called with each value that is read."""

    def __init__(self, alerts: Iterable[Alert] = ()) -> None:
        self._armed: dict[str, WatchedAlert] = {}
        self._readings: dict[Reading, Levels] = {}
        self.replace(alerts)

    @property
    def readings(self) -> Mapping[Reading, Condition]:
        """Return what has to be read, each with a condition that reads it."""
        return {reading: levels.condition for reading, levels in self._readings.items()}

    def alert(self, alert_id: str) -> Alert | None:
        """Return an alert that is watched."""
        entry = self._armed.get(alert_id)
        return None if entry is None else entry.alert

    def replace(self, alerts: Iterable[Alert], new_since_ns: int | None = None) -> None:
        """Watch these alerts; those whose condition is as before stay on the side where they are.

        Those made since `new_since_ns` are on the side where the value was when they were made, where they have it: a jump that
        comes before the next value is read, or while they are written, is a crossing.
        """
        active = {each.id: each for each in alerts if each.state == "on"}
        for id_, entry in list(self._armed.items()):
            now = active.get(id_)
            if now is None or now.condition != entry.alert.condition:
                self._remove(entry)
            else:
                entry.alert = now
        for id_, alert in active.items():
            if id_ not in self._armed:
                is_new = new_since_ns is not None and alert.made_ns >= new_since_ns
                side = alert.condition.side_when_made if is_new and not alert.count else None
                self.add(alert, alert.condition.FIRST_SIDE if side is None else side)

    def add(self, alert: Alert, side: int | None = None) -> None:
        """Watch an alert; `side` is that of its level where the value was last, if that is known."""
        entry = WatchedAlert(alert, alert.condition.level, side)
        self._armed[alert.id] = entry
        levels = self._readings.setdefault(alert.condition.reading, Levels(alert.condition))
        levels.add(entry)
        if side is not None:
            levels.last, levels.quiet = None, False  # every level is looked at with the next value

    def _remove(self, entry: WatchedAlert) -> None:
        reading = entry.alert.condition.reading
        del self._armed[entry.alert.id]
        self._readings[reading].remove(entry.alert.id, entry.level)
        if not self._readings[reading].levels:
            del self._readings[reading]

    def evaluate(
        self, reading: Reading, value: Decimal, time_ns: int, every_ns: int = 0
    ) -> Iterable[Firing]:
        """Return the alerts that this value makes fire; one that fires once is watched no longer.

        Args:
            reading: What was read.
            value: Its value.
            time_ns: When.
            every_ns: How far apart two programs may read a value that does not come with a time of its own.
        """
        levels = self._readings.get(reading)
        if levels is None:
            return NO_FIRINGS
        since_ns = min(levels.last_ns, time_ns - every_ns)
        crossed = levels.crossed(value, time_ns)
        if not crossed:
            return NO_FIRINGS
        firings = [Firing(each.alert, time_ns, value, since_ns, time_ns) for each in crossed]
        return [each for each in firings if self._fire(each)]

    def _fire(self, firing: Firing) -> bool:
        """Note that an alert fired, unless it has expired or pauses; return whether it did."""
        alert, time_ns = firing.alert, firing.time_ns
        if has_expired(alert, time_ns) or is_pausing(alert, time_ns):
            return False
        self.note_firing(firing)
        return True

    def note_firing(self, firing: Firing) -> None:
        """Go on with an alert as it is after it fired; one that is done is watched no longer."""
        entry = self._armed[firing.alert.id]
        entry.alert = after_firing(firing.alert, firing.until_ns)
        if entry.alert.state != "on":
            self._remove(entry)

    def forget_sides(self, reading: Reading) -> None:
        """Begin anew on a reading: what comes next says on which side it is, and crosses nothing."""
        levels = self._readings.get(reading)
        if levels is not None:
            levels.last, levels.quiet = None, False
            for entries in levels.armed.values():
                for entry in entries:
                    entry.side = None

    def side_of(self, alert_id: str) -> int | None:
        """Return the side of an alert's level on which the value was since it fired; None: not known."""
        entry = self._armed.get(alert_id)
        return None if entry is None else entry.side

    def replace_side(self, alert_id: str, side: int | None, time_ns: int) -> None:
        """Set the side of an alert's level on which the value was at a time, worked out from what was not read."""
        entry = self._armed.get(alert_id)
        if entry is not None:
            entry.side = side
            levels = self._readings[entry.alert.condition.reading]
            levels.last, levels.quiet = None, False  # every level is looked at with the next value
            levels.last_ns = time_ns


def has_expired(alert: Alert, time_ns: int) -> bool:
    """Return whether the alert has expired at an instant."""
    return alert.expires_ns is not None and time_ns >= alert.expires_ns


def is_pausing(alert: Alert, time_ns: int) -> bool:
    """Return whether a repeated alert fired so shortly before that it does not fire again yet."""
    if not alert.fired_ns or not alert.repeat_s:
        return False
    return 0 <= time_ns - alert.fired_ns < alert.repeat_s * SECOND


def after_firing(alert: Alert, time_ns: int) -> Alert:
    """Return the alert after it fired."""
    state = "done" if alert.repeat_s is None else alert.state
    return replace(alert, state=state, fired_ns=time_ns, count=alert.count + 1)


# Crossings while nothing was watched, worked out from candles of the side that an alert watches. Hundreds of alerts look at the
# same thousands of candles: blocks of them whose prices are all on one side of a level are passed over.

IN_A_BLOCK = 64  # periods


class PriceRange(Struct, frozen=True):
    """The prices of one period."""

    time_ns: int  # its start
    end_ns: int
    open: Decimal
    high: Decimal
    low: Decimal
    close: Decimal


class PriceHistory(Struct, frozen=True):
    """Periods, oldest first, and the range of prices of each block of them."""

    blocks: Sequence[tuple[Decimal, Decimal, Sequence[PriceRange]]] = ()  # low, high, periods

    @classmethod
    def of(cls, periods: Sequence[PriceRange]) -> "PriceHistory":
        """Return the history of periods."""
        parts = [periods[at : at + IN_A_BLOCK] for at in range(0, len(periods), IN_A_BLOCK)]
        return cls(
            [
                (min(each.low for each in part), max(each.high for each in part), part)
                for part in parts
            ]
        )

    @property
    def last_ns(self) -> int:
        """The start of the last period, 0 without any."""
        return self.blocks[-1][2][-1].time_ns if self.blocks else 0

    def around(self, entry: WatchedAlert) -> Iterator[PriceRange]:
        """Yield the periods that may change the state of `entry`; the caller applies each one before it takes the next."""
        for low, high, part in self.blocks:
            if not _is_settled(entry, low, high):
                yield from (each for each in part if not _is_settled(entry, each.low, each.high))


def _is_settled(entry: WatchedAlert, low: Decimal, high: Decimal) -> bool:
    """Return whether prices of this range, all on one side of the level, leave the alert as it is."""
    if low > entry.level:
        return entry.side == (0 if entry.alert.condition.direction == "up" else 1)
    if high < entry.level:
        return entry.side == (0 if entry.alert.condition.direction == "down" else -1)
    return False


class MissedCrossing(Struct, frozen=True):
    """The first crossing that was missed, and the side of the level on which the value was in the end."""

    period: PriceRange | None  # of the first one; None: there was none
    side: int | None


def missed_crossing(
    alert: Alert, level: Decimal, history: PriceHistory, side: int | None = None
) -> MissedCrossing:
    """Return the first fresh crossing in the periods, oldest first.

    Which of high and low came first within a period is not known: an alert fires if either order crosses its level,
    because a crossing that is reported by mistake is seen on the chart, and one that is missed is not.

    Args:
        alert: Periods that began before it was made or last fired are left out.
        level: What is crossed.
        history: Of bid, ask or mid, as the alert watches.
        side: Of the level where the value was before, if that is known.
    """
    entry = WatchedAlert(alert, level, side)
    first: PriceRange | None = None
    for period in history.around(entry):
        if period.time_ns < max(alert.made_ns, alert.fired_ns):
            entry.crosses(period.close)
            continue
        crossed = _crosses(entry, period)
        is_blocked = has_expired(alert, period.time_ns) or is_pausing(alert, period.time_ns)
        if crossed and first is None and not is_blocked:
            first = period
    return MissedCrossing(first, entry.side)


def _crosses(entry: WatchedAlert, period: PriceRange) -> bool:
    other = WatchedAlert(entry.alert, entry.level, entry.side)
    low_first = (period.open, period.low, period.high, period.close)
    high_first = (period.open, period.high, period.low, period.close)
    crossed = [entry.crosses(price) for price in low_first]
    return any([*crossed, *(other.crosses(price) for price in high_first)])
