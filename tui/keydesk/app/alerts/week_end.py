"""Before the market's week ends: name the trades that have no stop over the weekend, once a week."""

from collections.abc import Callable

from keydesk.calc.market.sessions import SECOND, is_friday_evening, week_at
from keydesk.keys.guarded_app import NoticeLevel
from keydesk.store.risk import naked_trades
from keydesk.store.store import Store
from keydesk.text.format import duration, pair

LOOK_EVERY = 10.0  # seconds
MOST_NAMED = 3


class WeekEndReminder:
    """Looks, some hours before the week ends, for trades without a stop.

    Args:
        store: The state of account and market; its clock is the broker's.
        tell: Shows a message until it is seen.
    """

    def __init__(self, store: Store, tell: Callable[[NoticeLevel, str], None]) -> None:
        self._store, self._tell = store, tell
        self._looked_at = float("-inf")
        self._announced_ns = 0  # the end of the week of the last reminder

    def look(self, now: float) -> None:
        """Name the trades without a stop, once a week."""
        now_ns = self._store.clock_ns
        if now - self._looked_at < LOOK_EVERY or not now_ns:
            return
        self._looked_at = now
        ends_ns = week_at(now_ns).changes_ns
        naked = naked_trades(self._store)
        if ends_ns == self._announced_ns or not naked or not is_friday_evening(now_ns):
            return
        self._announced_ns = ends_ns
        count = "1 trade has" if len(naked) == 1 else f"{len(naked)} trades have"
        named = ", ".join(f"{pair(each.instrument)} #{each.id}" for each in naked[:MOST_NAMED])
        more = ", …" if len(naked) > MOST_NAMED else ""
        left = duration((ends_ns - now_ns) / SECOND)
        words = f"The week ends in {left}: {count} no stop over the weekend: {named}{more}"
        self._tell("bad", words)
