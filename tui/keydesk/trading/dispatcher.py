"""The way of a command out to the broker and back: shown while it is under way, told when it is settled.

Every transaction of an answer goes through the one door, so that the stream's copy of it changes nothing.

Records of commands whose outcome is not known: which instrument each one concerns.

The body of a cancel, a trade close or an edit of dependent orders names an order or a trade, not its instrument. The
desk writes the instrument into the intent before it sends; for an intent without it, the account's state is asked.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from time import monotonic, time_ns
from typing import Protocol

from keydesk.keys.keymap import KEYMAP, KeyMap
from keydesk.records import InFlight, InFlightKind, TradeRow
from keydesk.store.state import Notice
from keydesk.store.store import Store
from keydesk.text.sanitize import clean, safe
from keydesk.trading.journal import AuditLog
from keydesk.trading.notifications import (
    Asked,
    Level,
    Said,
    fill_of,
    intent_words,
    one_of_words,
    protection_words,
    said_of,
)
from keydesk_client.models import Transaction
from keydesk_client.orders.outcome import (
    Action,
    Ambiguous,
    Done,
    Intent,
    NotSent,
    Outcome,
    Progress,
    Rejected,
    Sending,
    Unconfirmed,
    Unknown,
)

KINDS: Mapping[Action, InFlightKind] = {
    Action.CREATE: "open",
    Action.REPLACE: "replace",
    Action.CANCEL: "cancel",
    Action.CLOSE_TRADE: "close trade",
    Action.CLOSE_POSITION: "close position",
    Action.SET_DEPENDENT_ORDERS: "protection",
}
ON_ORDERS = frozenset({Action.CANCEL, Action.REPLACE})
ON_TRADES = frozenset({Action.CLOSE_TRADE, Action.SET_DEPENDENT_ORDERS})


def record_of(intent: Intent, store: Store) -> InFlight:
    """Return the record of an intent that is being sent or looked up."""
    instrument = instrument_of(intent, store)
    known = replace(intent, instrument=instrument or "")
    return InFlight(
        id=intent.id,
        instrument=instrument,
        kind=KINDS[intent.action],
        state="sent",
        words=intent_words(known),
    )


def instrument_of(intent: Intent, store: Store) -> str | None:
    """Return the instrument that an intent concerns, None when neither the journal nor the account tells it."""
    named = intent.instrument or intent.body.get("instrument")
    if isinstance(named, str) and named:
        return named
    if intent.action is Action.CLOSE_POSITION:
        return intent.target
    return instrument_of_target(intent.action, intent.target, store) or None


def instrument_of_target(action: Action, target: str, store: Store) -> str:
    """Return the instrument of the order or trade that an action is about, empty when the account has it no more."""
    if action in ON_TRADES:
        trade = store.trades.get(target)
        return trade.instrument if trade is not None else ""
    if action not in ON_ORDERS:
        return ""
    order = store.orders.get(target)
    if order is None and target.startswith("@"):
        own = (each for each in store.orders.values() if each.client_id == target[1:])
        order = next(own, None)
    return order.instrument if order is not None else ""


SEEN_WITHIN = 1.0  # seconds to see the on-fill orders of a fill come through the door
LOOK = 0.02  # seconds between looks
LOOK_FIRST = "look first"  # in the place of a key to press again
# The record of the command that this task is sending: the sender tells the intent's id only afterwards.
SENDING_NOW: ContextVar[InFlight | None] = ContextVar("sending_now", default=None)


class Unread(Protocol):
    """Keeps outcomes until somebody has read them, over the end of the desk."""

    def keep(self, name: str, level: Level, words: str) -> None: ...
    def shown(self, name: str) -> None: ...


@dataclass(slots=True)
class Delivery:
    """Sends, shows, and tells the trader; one per account."""

    store: Store
    offer: Callable[[Iterable[Transaction]], None]  # the one door
    saw_last: Callable[[int], None] = lambda _: None  # the door hears that newer ones exist
    audit: AuditLog | None = None
    keymap: KeyMap = KEYMAP
    unread: Unread | None = None
    now: Callable[[], float] = monotonic
    wall_ns: Callable[[], int] = time_ns
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    _records: dict[str, InFlight] = field(default_factory=dict)  # by intent id, while it is sent

    async def send(self, asked: Asked, sending: Awaitable[Outcome]) -> Outcome:
        """Wait for the outcome, pass on what it made, and say what became of it."""
        key = f"command-{next(self._numbers)}"
        record = InFlight(key, asked.instrument, asked.kind, "sent", asked.words)
        self.store.set_in_flight(record)
        SENDING_NOW.set(record)
        began = self.now()
        try:
            outcome = await sending
        finally:
            self.store.settle(key)
        took = (self.now() - began) * 1000
        asked = replace(asked, milliseconds=took, again=self.keymap.name(asked.again))
        said = said_of(outcome, asked)
        if isinstance(outcome, Done):
            self._pass_on(outcome)
            said = await self._with_protection(said, outcome)
        elif isinstance(outcome, Ambiguous):
            self._pass_on(outcome)
        self.record("outcome", f"{outcome.intent.id} {said.words}")
        self.tell_outcome(outcome, said)
        return outcome

    def tell_outcome(self, outcome: Outcome, said: Said) -> None:
        """Show the trader what became of an order."""
        self.tell(said.level, said.words)
        if self.unread is not None:
            self.unread.shown(outcome.intent.id)

    def progress(self, progress: Progress) -> None:
        """Follow the states between sending and outcome; the sender's `on_progress`."""
        intent = progress.intent
        match progress:
            case Sending(not_journalled=trouble):
                record = record_of(intent, self.store)
                self._records[intent.id] = _sent_now(record)
                self.record("sending", f"{intent.id} {record.words}")
                if trouble:
                    words = f"{record.words}: sent, but NOT JOURNALLED ({clean(trouble)})"
                    self.tell("warn", words)
            case Unknown(look_ups=count):
                record = self._record_of(intent)
                self.store.set_in_flight(replace(record, state="unknown", look_ups=count))
                self.record("unknown", f"{intent.id} {progress.message}")
            case Unconfirmed():
                record = replace(self._record_of(intent), id=intent.id, state="unconfirmed")
                self._records.pop(intent.id, None)
                self.store.set_in_flight(record)
            case Done() | Rejected() | NotSent() | Ambiguous():
                words = self._record_of(intent).words
                self._records.pop(intent.id, None)
                self.store.settle(intent.id)
                if self.unread is not None:  # before anything that leaving could interrupt
                    said = said_of(progress, Asked(words, LOOK_FIRST))
                    self.unread.keep(intent.id, said.level, said.words)

    def _record_of(self, intent: Intent) -> InFlight:
        """Return the record of the command that was sent, else one from the journal and the account."""
        sent = self._records.get(intent.id) or self.store.in_flight.get(intent.id)
        return sent or record_of(intent, self.store)

    def alarm(self, outcome: Done | Rejected | Ambiguous) -> None:
        """Tell of a request that shows up after it was given up; the sender's `alarm`."""
        words = record_of(outcome.intent, self.store).words
        self.record("showed up", f"{outcome.intent.id} {words}")
        if self.unread is not None:
            self.unread.shown(outcome.intent.id)
        if isinstance(outcome, Rejected):
            self.tell("info", f"{words}: the broker had rejected it after all")
            return
        self._pass_on(outcome)
        if isinstance(outcome, Ambiguous):
            self.tell("bad", f"IT SHOWED UP: {one_of_words(outcome, Asked(words, ''))}")
            return
        self.tell(
            "bad",
            f"IT SHOWED UP: {words} was {outcome.became.value} after all. "
            f"{self.keymap.name('close')} closes, {self.keymap.name('cancel')} cancels",
        )

    def tell(self, level: Level, words: str) -> None:
        """Show the trader one line."""
        asks = level in {"warn", "bad"}  # of an order's outcome both want a hand
        self.store.notify(Notice(level, safe(words), self.wall_ns(), asks=asks))

    def record(self, what: str, words: str) -> None:
        """Write into the audit log, where there is one, and tell when that begins to fail."""
        if self.audit is None:
            return
        failed_before = self.audit.failed
        self.audit.write(what, words)
        if self.audit.failed and not failed_before:
            self.tell(
                "warn",
                f"The audit log is not kept: {clean(self.audit.failed)}. Orders go on without.",
            )

    def _pass_on(self, done: Done | Ambiguous) -> None:
        self.offer(done.transactions)
        self.saw_last(done.last_transaction_id)

    async def _with_protection(self, said: Said, done: Done) -> Said:
        """Add what protects a trade just opened, once it is known; say it loudly when nothing does."""
        fill = fill_of(done.transactions)
        if fill is None or fill.trade_opened is None:
            return said
        trade = await self._seen(fill.trade_opened.trade_id, done)
        if trade is None:
            return said
        words = protection_words(trade)
        if words:
            return Said(said.level, f"{said.words} {words}")
        return Said("warn", f"{said.words} NO STOP: {self.keymap.name('protect')} protects")

    async def _seen(self, trade_id: str, done: Done) -> TradeRow | None:
        """Wait a moment for the orders that the fill made; they come by the stream."""
        last = max((int(id_) for id_ in done.related_transaction_ids), default=0)
        until = self.now() + SEEN_WITHIN
        while self.now() < until:
            account = self.store.account
            if account is not None and account.last_transaction_id >= last:
                break
            await self.pause(LOOK)
        return self.store.trades.get(trade_id)


def _sent_now(record: InFlight) -> InFlight:
    """Return the record of the command that this task sends, completed by what the intent tells."""
    sending = SENDING_NOW.get()
    if sending is None:
        return record
    return replace(sending, instrument=sending.instrument or record.instrument, kind=record.kind)
