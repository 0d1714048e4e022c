"""The account that the desk shows: what its feeds share, and how the store takes what the client's `Follower` brings.

The follower keeps the account current; this listens to it, and reports its failures.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import InitVar, dataclass, field
from functools import partial
from typing import Literal, TypeVar

from keydesk.alerts.watch import AlertWatch
from keydesk.feeds.round_trips import RoundTrips
from keydesk.store.candles import invalidate_candles
from keydesk.store.prices import (
    apply_conversion_factors,
    apply_heartbeat,
    apply_known_price,
    forget_ages,
)
from keydesk.store.state import CONNECTION, CURRENT, Notice, Topic
from keydesk.store.store import Store
from keydesk.store.transactions.fold import apply, forget_account, forget_after
from keydesk.store.watchlists import listed_instruments
from keydesk.text.sanitize import clean, safe
from keydesk.words.log_line import LogLine
from keydesk.words.outages import Broker, Outage, outage_of, silence
from keydesk_client.account.synchronizer import Comparison, Continuity
from keydesk_client.account.values import READ_ERRORS, checked_time_ns, try_to
from keydesk_client.client import Client
from keydesk_client.errors import (
    ConnectionLost,
    HttpStatusError,
    TimedOut,
    Unreachable,
    UnreadableAnswer,
    message_of,
)
from keydesk_client.following.events import Source
from keydesk_client.following.feeds import backoff
from keydesk_client.following.follower import Follower
from keydesk_client.http.retry import Retries
from keydesk_client.http.timing import REAL_TIMING, Timing
from keydesk_client.models import ClientPrice, PricingHeartbeat, Transaction, TransactionHeartbeat
from keydesk_client.streams.prices import PriceItem
from keydesk_client.streams.settings import Reconnected, StreamHealth
from keydesk_client.streams.transactions import TransactionItem

T = TypeVar("T")
UNANSWERED = (ConnectionLost, TimedOut, Unreachable)
NO_RETRIES = Retries(max_retries=0)
MAX_REASON_LENGTH = 200
CHECK_EVERY_S = 5.0  # from one comparison with the account's changes to the next
MAX_BACKOFF_S = 30.0  # before a request is repeated, or a stream that ended is opened again
READ_INTERVAL_S = 0.095  # about one read of the prices a frame


@dataclass(slots=True, kw_only=True)
class AccountFeed:
    """What the feeds of one account share while the desk shows it."""

    client: Client
    store: Store
    check_every_s: InitVar[float] = CHECK_EVERY_S
    timing: Timing = REAL_TIMING
    round_trips: RoundTrips = field(default_factory=RoundTrips)
    history_wanted: asyncio.Event = field(default_factory=asyncio.Event)
    instruments_known: asyncio.Event = field(default_factory=asyncio.Event)  # instruments are known
    priced: asyncio.Event = field(default_factory=asyncio.Event)  # the first price came
    lines_unreadable: dict[str, tuple[StreamHealth, int]] = field(default_factory=dict)
    broker: Broker = field(default_factory=Broker)  # as outages name it
    failures_in_row: int = 0  # of the account's requests
    asked_at: float = float("-inf")  # when the account was asked for last, monotonic seconds
    account_asked_at: float = float("-inf")  # when the one was asked for that the store has
    unreadable_noted: int = 0  # records that could not be read, when health was last assessed
    reconcile: Callable[["AccountFeed"], Awaitable[None]] | None = None  # what is UNCONFIRMED
    alerts: AlertWatch | None = None  # called when prices were missed
    follower: Follower = field(init=False)  # keeps the store current; this listens to it

    def __post_init__(self, check_every_s: float) -> None:
        self.follower = Follower(
            client=self.client,
            rest=self.client.with_retries(NO_RETRIES),  # the feeds show why, and ask again
            book=self.store,
            apply=partial(apply, self.store),
            listener=self,
            timing=self.timing,
            check_every_s=check_every_s,
            max_backoff_s=MAX_BACKOFF_S,
            read_interval_s=READ_INTERVAL_S,
        )
        self.follower.gate.listen(self._note_event)

    def _note_event(self, transaction: Transaction) -> None:
        self.store.event_ns = checked_time_ns(transaction.time)

    def now(self) -> float:
        """Return the monotonic time in seconds."""
        return self.timing.clock()

    def wall_ns(self) -> int:
        """Return this machine's time in nanoseconds."""
        return self.timing.wall_ns()

    async def pause(self, seconds: float) -> None:
        """Wait."""
        await self.timing.sleep(seconds)

    async def request(self, call: Awaitable[T]) -> T:
        """Return the answer of a REST call and record its round trip."""
        began, trips = self.now(), self.round_trips
        under_way = trips.ask(began)
        try:
            answer = await call
        except UNANSWERED:
            trips.give_up(under_way)
            raise
        except (HttpStatusError, UnreadableAnswer):
            trips.answer(under_way, self.now())
            raise
        finally:
            trips.forget(under_way)
        trips.answer(under_way, self.now())
        trips.took(self.now() - began, self.now())
        return answer

    def snapshot_requested(self, text: str) -> None:
        """Log why the account may be wrong, and show a warning."""
        if self.store.health.warning != clean(text):
            self.write(f"{text}; the account is read again")
        self.store.health.warning = clean(text)
        self.store.mark(Topic.HEALTH)

    def clear_warning(self) -> None:
        """Remove the warning: account and broker agree."""
        if self.store.health.warning:
            self.store.health.warning = ""
            self.store.mark(Topic.HEALTH)

    def note_failure(self, error: Exception) -> None:
        """Show why the account cannot be read: the present reason, but of a known account no single failure."""
        self.count_unreadable(error)
        self.failures_in_row += 1
        if self.failures_in_row > 1 or self.store.account is None:
            self._show(outage_of(error, self.broker))

    def note_silence(self, after_s: float) -> None:
        """Show that the broker does not answer, once a request has waited for so many seconds."""
        if self.round_trips.oldest_wait(self.now()) >= after_s:
            self._show(silence(self.broker, after_s))

    def note_success(self) -> None:
        """Take back why the account could not be read."""
        self.failures_in_row = 0
        if self.store.health.outage is not None:
            self.store.health.outage = None
            self._tell("good", "Connected: the broker answers again")

    def _show(self, outage: Outage) -> None:
        known = self.store.health.outage
        if known is None or known.short != outage.short:
            self.store.health.outage = outage
            self.write(outage.text)
            self._tell("warn", outage.text)

    def _tell(self, level: Literal["good", "warn"], text: str) -> None:
        """Show a notice, which takes the place of the one before about the connection."""
        self.store.add_notice(
            Notice(level, safe(text), self.wall_ns(), sums_up=CONNECTION, ledger=0)
        )
        self.store.mark(Topic.HEALTH)

    # What the follower asks, and reports.

    async def prepare(self) -> None:
        """Note when the account is asked for; the instruments are read by a feed of their own."""
        self.asked_at = self.now()

    def interrupted(self, source: Source, error: Exception, what: str = "") -> None:
        """Report that a source does not answer."""
        match source:
            case "prices":
                self._prices_down(reason(error))
            case "transactions":
                self._transactions_down(reason(error))
            case "account":
                self.note_failure(error)
                if what.startswith("transactions"):
                    self.write(f"{what.capitalize()} could not be read: {reason(error)}")

    def restored(self, source: Source) -> None:
        """Take back why the account could not be read; streams are judged by what they bring."""
        if source == "account":
            self.note_success()

    def snapshot_taken(self, continuity: Continuity) -> None:
        """Forget what is not of this history any more, and have earlier transactions read."""
        self.account_asked_at = self.asked_at
        match continuity:
            case Continuity.ANOTHER_ACCOUNT:
                forget_account(self.store)
                self.write("The broker has a new account under this id: its history starts again")
            case Continuity.WENT_BACK:
                last = self.follower.gate.applied or 0
                forget_after(self.store, last)
                self.write(
                    f"The history of the broker now ends at transaction {last}; later transactions were dropped"
                )
            case Continuity.SAME:
                pass
        self.history_wanted.set()

    async def compared(self, result: Comparison) -> None:
        """Take back the warning when account and broker agree; look for what is UNCONFIRMED."""
        if result is Comparison.EQUAL:
            self.clear_warning()
            if not self.follower.snapshot_wanted.is_set():
                self.store.health.unchecked = False
        today = self.store.today
        if today is not None and today.wants_count:
            today.wants_count = False
            self.history_wanted.set()
        if self.reconcile is not None:
            await self.reconcile(self)

    def wanted(self) -> tuple[str, ...]:
        """Return the instruments whose prices are needed, once they are listed: of watchlists, positions, charts, alerts."""
        store = self.store
        if not self.instruments_known.is_set():
            return ()
        charted = (store.focus, *(instrument for instrument, _ in store.side_charts.values()))
        needed = (*store.positions, *charted, *store.alert_instruments)
        known = (name for name in needed if name in store.instruments)
        return tuple(dict.fromkeys((*listed_instruments(store), *known)))

    def take_price(self, item: PriceItem) -> None:
        """Take one item of the price stream; the hot path, thousands a second."""
        now, store = self.now(), self.store
        store.health.prices_at = now
        if isinstance(item, ClientPrice):
            try:
                apply_known_price(store, item, now)
                if item.home_conversions:
                    apply_conversion_factors(store, item.home_conversions)
            except READ_ERRORS as error:
                store.note_unreadable(str(error))
            else:
                if store.health.prices not in CURRENT:
                    self._prices_up()
        elif isinstance(item, PricingHeartbeat):
            try_to(store, partial(apply_heartbeat, store, item, self.wall_ns()))
        else:  # the stream was broken and is back: perhaps with another broker's clock
            if self.alerts is not None:
                self.alerts.note_interruption()
            forget_ages(store)
            invalidate_candles(store)
            store.health.unchecked = True
            self.follower.check_wanted.set()
            self.write("The price stream was interrupted and is back")

    def on_item(self, item: TransactionItem) -> None:
        """Note an item of the transaction stream."""
        health = self.store.health
        known_lost, health.events = health.events == "DOWN", "OK"
        health.events_at = self.now()
        self.store.mark(Topic.HEALTH)
        if isinstance(item, TransactionHeartbeat):
            try_to(self.store, lambda: self.store.see_clock(checked_time_ns(item.time)))
        elif isinstance(item, Reconnected):
            self.write("The transaction stream was interrupted and is back")
            health.event_losses += not known_lost

    def _prices_up(self) -> None:
        self.store.health.prices = "OK"
        self.store.mark(Topic.HEALTH)
        self.priced.set()
        if self.store.health.unchecked:
            self.follower.check_wanted.set()

    def _prices_down(self, text: str) -> None:
        if self.alerts is not None:
            self.alerts.note_interruption()
        if self.store.health.prices != "DOWN":
            self.store.health.prices = "DOWN"
            self.store.health.unchecked = True
            self.write(f"The price stream is down: {text}")
            self.store.mark(Topic.HEALTH)

    def _transactions_down(self, text: str) -> None:
        if self.store.health.events != "DOWN":
            self.store.health.events = "DOWN"
            self.store.health.event_losses += 1
            self.write(f"The transaction stream is down: {text}")
            self.store.mark(Topic.HEALTH)
        self.follower.check_wanted.set()

    def write(self, text: str) -> None:
        """Write a line of the desk's own to the log."""
        moment = self.store.clock_ns or self.wall_ns()
        self.store.write_log(LogLine("", moment, "LINK", "", clean(text)))

    def count_unreadable(self, error: Exception) -> None:
        """Count an answer that could not be read; a missing answer is not counted."""
        if isinstance(error, READ_ERRORS):
            self.store.note_unreadable(reason(error))

    def failed(self, name: str, error: Exception) -> None:
        """Log that a feed failed and is restarted."""
        why = f"{type(error).__name__}: {reason(error)}"[:MAX_REASON_LENGTH]
        self.write(f"The feed of the {name} failed and is started again ({why})")
        self.store.health.restarted[name] = self.now()
        self.store.mark(Topic.HEALTH)

    async def wait(self, event: asyncio.Event, timeout_s: float | None = None) -> None:
        """Wait until the event is set, or for `timeout_s` seconds, and clear it."""
        if timeout_s is None:
            await event.wait()
        else:
            waits = (
                asyncio.ensure_future(event.wait()),
                asyncio.ensure_future(self.pause(timeout_s)),
            )
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in waits:
                    each.cancel()
        event.clear()

    async def backoff(self, tries: int) -> None:
        """Wait before the next attempt: full jitter under a ceiling that doubles."""
        await backoff(self.follower, tries)


def reason(error: Exception) -> str:
    """Return the message of an error as printable text."""
    return clean(message_of(error))
