"""The state that the desk shows: feeds write it and mark topics, the frame clock takes the marks.

A price costs one write and one set insertion: no message and no reactive attribute, so that thousands of prices a
second leave the event loop free for keys. Feeds that need a change wait for it with `Store.wait_for`.

Records of the broker that cannot be used are counted and left out: a member may be missing (the client raises when it
is read), or a number or time may be so large that it would break the arithmetic.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from datetime import UTC, tzinfo
from decimal import Decimal
from time import monotonic
from time import time_ns as wall_clock_ns
from typing import TYPE_CHECKING

from msgspec.structs import replace

from keydesk.calc.daily_loss import LossLock
from keydesk.calc.market.indicator_specs import EVERY_INSTRUMENT, IndicatorSpec
from keydesk.calc.market.indicators import PreviousDay
from keydesk.calc.market.market_state import ControlledMarket
from keydesk.calc.market.price_levels import PriceLevels
from keydesk.calc.market.watchlists import ALL, Watchlists
from keydesk.calc.orders.plans.exit_plans import ExitPlan
from keydesk.calc.risk.sizing import TypicalSpreads
from keydesk.store.sent_orders import SentOrders
from keydesk.store.state import (
    USUAL_ZOOM,
    Arming,
    AuditTrail,
    AverageRange,
    BookKind,
    CandlePrices,
    CandleSeries,
    ClientBook,
    Health,
    Notice,
    NoticeLevel,
    Topic,
    Zoom,
)
from keydesk.text.sanitize import clean, safe
from keydesk.values import (
    AccountState,
    ClosedTrade,
    Command,
    Day,
    DayLine,
    OpeningCosts,
    OrderRow,
    PositionRow,
    Quote,
    Today,
    TradeRow,
    is_unprotected,
)
from keydesk.words.log_line import LogLine
from keydesk_client.account.records import AccountFigures, Part, Unread
from keydesk_client.arithmetic.constants import DAY

if TYPE_CHECKING:
    from keydesk.calc.alerts.alert import Alert, FiringRecord
    from keydesk.store.past_log import PastLog
    from keydesk_client.models import HomeConversions, Instrument


LOG_LIMIT = 10_000
NOTICE_LIMIT = 200
MAX_TROUBLES = 50  # kinds of unreadable records that are logged
MAX_TROUBLE_LENGTH = 200
OTHER_DAY_NS = DAY
CLOCK_LAG_NS = 60_000_000_000  # answers and streams differ by less
FIGURES = tuple(each.name for each in fields(AccountFigures))
TOPICS = {part: Topic(part.value) for part in Part}


class Store:
    """The state of account and market, and which parts of it changed since the last frame.

    In `pop_dirty()` and `Frame.dirty` a topic is present when it changed. Its set holds the keys that
    changed; the key None says that the topic changed as a whole (rows came or went, or it has no keys).
    """

    def __init__(self) -> None:  # noqa: PLR0915 - a line for each part of the state
        self.instruments: dict[str, Instrument] = {}
        self.conversions: dict[str, HomeConversions] = {}  # by currency
        self.lists = Watchlists()
        self.list_name = ALL
        self.watchlist: list[str] = []  # the known instruments of the active list
        self.quotes: dict[str, Quote] = {}
        self.days: dict[str, Day] = {}
        self.day_lines: dict[str, DayLine] = {}
        self.day_lines_wanted: tuple[str, ...] = ()  # in sight, with a column that needs them
        self.averages_wanted: tuple[str, ...] = ()
        self.daily_ranges: dict[str, float | None] = {}  # ATR(14) of D; None: too few candles
        self.spreads = TypicalSpreads()
        self.focus: str = ""
        self.granularity: str = "M5"
        self.candle_prices: CandlePrices = "M"  # that the charts show
        self.candle_units: Decimal | None = None  # the size of which they are, of SB and SA
        self.has_dots = True  # the charts draw indicators as braille dots
        self.chart_zoom: Zoom = USUAL_ZOOM
        # Place of a further chart -> its instrument, "" for the desk's, and its candle length.
        self.side_charts: dict[int, tuple[str, str]] = {}
        self.account: AccountState | None = None
        self.today: Today | None = None
        self.loss_lock = LossLock()
        self.muted = False  # bell and desktop notifications
        self.closed: list[ClosedTrade] = []  # oldest first, since the start of the day at least
        self.opened: dict[str, tuple[str, Decimal]] = {}  # instrument and units, by trade
        self.opening_costs: dict[str, OpeningCosts] = {}  # by trade
        self.closed_parts: dict[str, Decimal] = {}  # what parts of open trades realized, by trade
        self.zone: tzinfo = UTC  # the trader's, in which times are shown
        self.wall_ns: Callable[[], int] = wall_clock_ns  # of this machine
        self.clock_ns = 0  # the broker's time, as last read from its streams
        self.clock_reads = 0  # times read from the streams
        self.event_ns = 0  # when the newest transaction happened that was applied
        # Monotonic seconds at which the account was asked for that the day was counted from.
        self.day_asked_at = float("-inf")
        self.trades: dict[str, TradeRow] = {}
        self.positions: dict[str, PositionRow] = {}
        self.orders: dict[str, OrderRow] = {}
        self.unread = Unread()  # what trades, positions and orders lack
        self.log: list[LogLine] = []  # newest last, without a gap
        self.past_log: PastLog | None = None  # older lines, while they are read
        self._own_lines = 0
        self.series: dict[tuple[str, str], CandleSeries] = {}
        self.charted: dict[str, tuple[CandleSeries, ...]] = {}  # whose last candle ticks move
        self.books: dict[tuple[str, BookKind], ClientBook] = {}  # by instrument and kind
        self.book_time_ns = 0  # of the snapshots that are looked at; 0: the newest
        self.indicators: dict[str, tuple[IndicatorSpec, ...]] = {}  # by instrument
        self.average_ranges: dict[str, AverageRange] = {}  # by instrument
        self.health = Health()
        self.market: ControlledMarket | None = None  # of practice, where the desk may control it
        self.notices: list[Notice] = []  # newest last
        self.unkept_notices: list[Notice] = []  # not written to the account's file yet
        self.tour = safe("")  # the step of the tour that comes next
        self.kept_notices: Sequence[Notice] = ()  # of earlier desks, newest last
        self.arming = Arming()
        self.audit = AuditTrail()
        self.sent = SentOrders()
        self.flash_until = 0.0  # monotonic seconds until which the newest message is shown reversed
        self.filled_levels: dict[str, Decimal] = {}  # prices of orders that were filled last, by id
        self.in_flight: dict[str, Command] = {}  # by intent id, until settled
        self.exit_plans: dict[str, ExitPlan] = {}  # by trade
        self.exit_plan_states: dict[str, str] = {}  # by trade, in words; "": it simply runs
        self.alerts: dict[str, Alert] = {}  # by id
        self.alert_history: list[FiringRecord] = []  # newest last
        self.alert_levels: dict[str, tuple[tuple[Decimal, str], ...]] = {}  # and the side watched
        self.levels: PriceLevels = {}  # the trader's own, by instrument
        self.alert_instruments: tuple[str, ...] = ()  # whose prices alerts need
        self.price_watch: dict[str, Callable[[Quote], None]] = {}  # by instrument, for each price
        self._dirty: dict[Topic, set[object]] = {}
        self._subscribers: dict[Topic, list[asyncio.Event]] = {}
        self._troubles: set[str] = set()

    def mark(self, topic: Topic, key: object = None) -> None:
        """Mark a topic as changed: one key of it, or all of it (None)."""
        keys = self._dirty.get(topic)
        if keys is None:
            self._dirty[topic] = {key}
        else:
            keys.add(key)
        if key is None:
            for event in self._subscribers.get(topic, ()):
                event.set()

    def set_figures(self, figures: AccountFigures) -> None:
        """Replace the account's totals; the day's figures, which only the desk knows, are carried over."""
        before, state = self.account, AccountState(*map(figures.__getattribute__, FIGURES))
        if before is not None:
            state.day_pl, state.day_start_nav = before.day_pl, before.day_start_nav
            state.day_transfers = before.day_transfers
        self.account = state

    def forget_day(self) -> None:
        """Forget the trading day of the account until it is counted again."""
        self.today = None
        if self.account is not None:
            self.account.day_pl = self.account.day_start_nav = None
            self.account.day_transfers = Decimal(0)
        self.mark(Topic.ACCOUNT)

    def changed(self, part: Part, key: str | None = None) -> None:
        """Mark a part of the account as changed."""
        self.mark(TOPICS[part], key)

    def printable(self, text: str) -> str:
        """Return server text that may be drawn."""
        return clean(text)

    @contextmanager
    def subscribed(self, *topics: Topic) -> Iterator[asyncio.Event]:
        """Yield an event that is set when a topic changes as a whole (key None), not when one of its keys does.

        A price marks a key and so wakes no subscriber.
        """
        event = asyncio.Event()
        for topic in topics:
            self._subscribers.setdefault(topic, []).append(event)
        try:
            yield event
        finally:
            for topic in topics:
                self._subscribers[topic].remove(event)

    async def wait_for(
        self, condition: Callable[[], bool], *topics: Topic, timeout_s: float | None = None
    ) -> bool:
        """Wait until `condition()` is true; it is evaluated again whenever one of the topics changes as a whole.

        Return False if it is still false after `timeout_s` seconds.
        """
        with self.subscribed(*topics) as changed:
            try:
                async with asyncio.timeout(timeout_s):
                    while not condition():
                        changed.clear()
                        await changed.wait()
            except TimeoutError:
                return condition()
        return True

    def dirty_keys(self, topic: Topic) -> frozenset[object]:
        """Return the changed keys of a topic and leave them marked."""
        return frozenset(self._dirty.get(topic, ()))

    def pop_dirty(self) -> Mapping[Topic, frozenset[object]]:
        """Return the changed keys by topic and clear the marks."""
        dirty, self._dirty = self._dirty, {}
        return {topic: frozenset(keys) for topic, keys in dirty.items()}

    def set_focus(self, instrument: str) -> None:
        """Show another instrument in chart, ticket and books."""
        if instrument != self.focus:
            self.focus = instrument
            self.book_time_ns = 0
            self.mark(Topic.FOCUS)

    def set_granularity(self, granularity: str) -> None:
        """Select the candle length of the chart."""
        if granularity != self.granularity:
            self.granularity = granularity
            self.mark(Topic.FOCUS)

    def set_candle_prices(self, prices: CandlePrices, size: Decimal | None = None) -> None:
        """Select mid, bid or ask candles, or those of a size; without one, mid candles come in their place."""
        sized = prices in {"SB", "SA"}
        self.candle_units = size if sized else None
        if sized and size is None:
            prices = "M"
        if prices != self.candle_prices:
            self.candle_prices = prices
            self.mark(Topic.FOCUS)

    def set_levels(self, levels: PriceLevels) -> None:
        """Draw these price levels on the charts."""
        if levels != self.levels:
            self.levels = levels
            self.mark(Topic.LEVELS)

    def set_dots(self, on: bool) -> None:
        """Draw indicators as braille dots, or as strokes."""
        if on != self.has_dots:
            self.has_dots = on
            self.mark(Topic.INDICATORS)

    def set_chart_zoom(self, zoom: Zoom) -> None:
        """Draw the candles of every chart this wide."""
        if zoom != self.chart_zoom:
            self.chart_zoom = zoom
            self.mark(Topic.INDICATORS)

    def set_side_chart(self, place: int, instrument: str, granularity: str) -> None:
        """Select instrument ("" for the desk's) and candle length of a further chart; without a length it is removed."""
        chosen = (instrument, granularity) if granularity else None
        if chosen == self.side_charts.get(place):
            return
        if chosen is None:
            del self.side_charts[place]
        else:
            self.side_charts[place] = chosen
        self.mark(Topic.FOCUS)

    def chart_at(self, place: int) -> tuple[str, str]:
        """Return instrument and candle length of a chart; place 1 is the desk's own. No length: no chart."""
        if place == 1:
            return self.focus, self.granularity
        instrument, granularity = self.side_charts.get(place, ("", ""))
        return instrument or self.focus, granularity

    def indicators_of(self, instrument: str) -> tuple[IndicatorSpec, ...]:
        """Return the indicators on charts of an instrument: its own, else those of every instrument."""
        return self.indicators.get(instrument, self.indicators.get(EVERY_INSTRUMENT, ()))

    def previous_day(self, instrument: str) -> PreviousDay | None:
        """Return high, low and close of the last complete trading day, None while they are unknown."""
        day = self.days.get(instrument)
        if day is None or day.previous_high is None or day.previous_low is None:
            return None
        high, low = float(day.previous_high), float(day.previous_low)
        return PreviousDay(high, low, float(day.previous_close))

    def set_indicators(
        self, instrument: str, specs: tuple[IndicatorSpec, ...], *, everywhere: bool = False
    ) -> None:
        """Choose the indicators of an instrument; or of every instrument, and take away its own ones."""
        if everywhere:
            self.indicators.pop(instrument, None)
            self.indicators[EVERY_INSTRUMENT] = specs
            self.mark(Topic.INDICATORS)
        else:
            self.indicators[instrument] = specs
            self.mark(Topic.INDICATORS, instrument)

    def write_log(self, line: LogLine) -> None:
        """Append a line to the transaction log; drop the oldest lines when it is full."""
        if not line.id:
            self._own_lines += 1
            line = replace(line, own=self._own_lines)
        self.log.append(line)
        if len(self.log) > LOG_LIMIT:
            self.trim_log(LOG_LIMIT // 10)
        self.mark(Topic.LOG)

    def trim_log(self, count: int) -> None:
        """Drop the oldest lines of the log; a reader of older ones keeps them."""
        oldest, was_joined = self.log[:count], self.past_is_joined
        if self.past_log is not None:
            self.past_log.note_fills(self.log)
        del self.log[:count]
        if self.past_log is not None and was_joined and self.log_start is not None:
            self.past_log.append(oldest, self.log_start - 1)

    @property
    def home_currency(self) -> str:
        """The currency of the account, "" until it is read."""
        return self.account.currency if self.account is not None else ""

    @property
    def log_start(self) -> int | None:
        """The lowest transaction id of the log, None while it has none."""
        return next((int(line.id) for line in self.log if line.id), None)

    @property
    def past_is_joined(self) -> bool:
        """Whether the older lines that are read reach up to the log."""
        start = self.log_start
        return self.past_log is not None and start is not None and self.past_log.newest + 1 >= start

    @property
    def unreadable(self) -> int:
        """How many records could not be read."""
        return self.health.unreadable

    def note_unreadable(self, words: str, count: int = 1) -> None:
        """Count unreadable records; log each distinct reason once."""
        self.health.unreadable += count
        self.mark(Topic.HEALTH)
        words = clean(words)[:MAX_TROUBLE_LENGTH]
        if words not in self._troubles and len(self._troubles) < MAX_TROUBLES:
            self._troubles.add(words)
            text = f"A record could not be read and was left out: {words}"
            self.write_log(LogLine("", self.clock_ns, "LINK", "", safe(text)))

    def set_market(self, market: ControlledMarket) -> None:
        """Replace what is known of the practice market's clock, replay, shocks and faults."""
        if market != self.market:
            self.market = market
            self.mark(Topic.MARKET)

    def see_clock(self, time_ns: int) -> None:
        """Advance the broker's clock; a time much earlier replaces a wrong clock."""
        self.clock_reads += 1
        if time_ns > self.clock_ns or time_ns < self.clock_ns - CLOCK_LAG_NS:
            is_jump = self.clock_ns and time_ns - self.clock_ns > CLOCK_LAG_NS
            self.clock_ns = time_ns
            if is_jump:
                self.mark(Topic.CLOCK)

    @property
    def now_ns(self) -> int:
        """The broker's time, that of this machine until it is known."""
        return self.clock_ns or self.wall_ns()

    def notify(self, level: NoticeLevel, text: str) -> None:
        """Show one line to the trader."""
        self.add_notice(Notice(level, safe(text), self.wall_ns()))

    def take_back(self, text: str) -> None:
        """Show a message no longer: what it announced has come."""
        self.notices = [
            replace(each, seen=True) if each.text == text else each for each in self.notices
        ]
        self.mark(Topic.NOTICES)

    def add_notice(self, notice: Notice) -> None:
        """Show a notice to the trader; one that sums up takes the place of an earlier one about the same."""
        if notice.ledger is None:
            notice = replace(notice, ledger=self.ledger)
        if notice.sums_up:
            self.notices = [
                replace(each, seen=True) if each.sums_up == notice.sums_up else each
                for each in self.notices
            ]
        self.notices.append(notice)
        if len(self.notices) > NOTICE_LIMIT:
            del self.notices[: NOTICE_LIMIT // 10]
        self.mark(Topic.NOTICES)

    def time_ns(self, now: float, wall_ns: int) -> int:
        """Return the market's time: of a practice market its own, else the wall clock's.

        A market whose clock this desk does not control, and that is in another day, has the time that its streams told last.
        """
        if self.market is not None:
            shown = self.market.state.now_ns(now)  # a stream may have told a step before
            return self.clock_ns if 0 < self.clock_ns - shown < OTHER_DAY_NS else shown
        is_elsewhere = self.clock_ns and abs(wall_ns - self.clock_ns) > OTHER_DAY_NS
        return self.clock_ns if is_elsewhere else wall_ns

    def own_time_ns(self, wall_ns: int) -> int | None:
        """Return the time of a market that has its own, such as a replay; None where it is the wall clock's."""
        market_ns = self.time_ns(monotonic(), wall_ns)
        return market_ns if abs(market_ns - wall_ns) > CLOCK_LAG_NS else None

    def date_notices(self, now: float) -> None:
        """Give new notices the market's time, and note when they came: their age is counted from there."""
        fresh: list[Notice] = []
        for place in range(len(self.notices) - 1, -1, -1):
            notice = self.notices[place]
            if notice.came is not None:
                break
            time_ns = self.time_ns(now, notice.time_ns)
            self.notices[place] = replace(notice, came=now, time_ns=time_ns)
            fresh.append(self.notices[place])
        if fresh:
            self.unkept_notices = [*self.unkept_notices, *reversed(fresh)][-NOTICE_LIMIT:]

    def pop_unkept_notices(self) -> Sequence[Notice]:
        """Return the messages that got their time since the last call, newest last."""
        found, self.unkept_notices = self.unkept_notices, []
        return found

    @property
    def ledger(self) -> int:
        """When the open account was created, 0 before it is read: it tells the accounts of one id apart."""
        return 0 if self.account is None else self.account.created_time_ns

    def is_of_this_ledger(self, notice: Notice) -> bool:
        """Return whether a notice is about the open account, or about none."""
        return not notice.ledger or self.ledger in {0, notice.ledger}

    def note_painted(self, notices: Collection[Notice], now: float) -> list[str]:
        """Note that these notices stand on the screen; return the intent ids of the outcomes among them that are new there."""
        drawn = {id(notice) for notice in notices if notice.painted is None}
        new = [notice for notice in self.notices if id(notice) in drawn] if drawn else []
        if new:
            self.notices = [
                replace(notice, painted=now) if id(notice) in drawn else notice
                for notice in self.notices
            ]
        return [notice.outcome for notice in new if notice.outcome]

    def see_notices(self, until: float) -> bool:
        """Mark the notices that were painted up to a time, in monotonic seconds, as seen; return False if none of them waited for that."""
        painted = [
            notice.painted is not None and notice.painted <= until for notice in self.notices
        ]
        waited = any(each.waits for each, is_on in zip(self.notices, painted, strict=True) if is_on)
        if waited:
            self.notices = [
                replace(notice, seen=notice.seen or is_on)
                for notice, is_on in zip(self.notices, painted, strict=True)
            ]
            self.mark(Topic.NOTICES)
        return waited

    def see_protected(self) -> None:
        """Mark what says of a trade that it has no stop as seen, once it has one or is closed."""
        for place, notice in enumerate(self.notices):
            if notice.unprotected and not notice.seen:
                trade = self.trades.get(notice.unprotected)
                if trade is None or not is_unprotected(trade):
                    self.notices[place] = replace(notice, seen=True)
                    self.mark(Topic.NOTICES)

    def set_in_flight(self, record: Command) -> None:
        """Add a command without a known outcome, or update its state."""
        self.in_flight[record.id] = record
        self.mark(Topic.ORDERS)

    def in_flight_of(self, instrument: str) -> tuple[Command, ...]:
        """Return the commands in flight that may change the position in an instrument."""
        return tuple(each for each in self.in_flight.values() if each.concerns(instrument))

    def openings_in_flight(self) -> tuple[Command, ...]:
        """Return the commands in flight that may open a trade or leave an entry order."""
        return tuple(each for each in self.in_flight.values() if each.kind in ("open", "replace"))

    def settle(self, intent_id: str) -> None:
        """Remove a command whose outcome is known."""
        if self.in_flight.pop(intent_id, None) is not None:
            self.mark(Topic.ORDERS)
