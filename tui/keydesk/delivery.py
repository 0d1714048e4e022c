"""The way of a command out to the broker and back: shown while it is under way, told when it is settled.

Every transaction of an answer goes through the one door, so that the stream's copy of it changes nothing.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from time import monotonic, time_ns

from keydesk.audit import AuditLog
from keydesk.clean import clean
from keydesk.instruction_words import intent_words
from keydesk.keys.keymap import KEYMAP, KeyMap
from keydesk.outcome_words import Asked, Level, Said, fill_of, protection_words, said_of
from keydesk.store.state import Notice, TradeRow
from keydesk.store.store import Store
from keydesk.text.sanitize import safe
from keydesk_client.models import Transaction
from keydesk_client.outcome import (
    Done,
    NotSent,
    Outcome,
    Progress,
    Rejected,
    Sending,
    Unconfirmed,
    Unknown,
)

SEEN_WITHIN = 1.0  # seconds to see the on-fill orders of a fill come through the door
LOOK = 0.02  # seconds between looks
UNCONFIRMED = "UNCONFIRMED"
# The line of the command that this task is sending: the sender tells the intent's id only afterwards.
SENDING_NOW: ContextVar[tuple[str, str] | None] = ContextVar("sending_now", default=None)


@dataclass(slots=True)
class Delivery:
    """Sends, shows, and tells the trader; one per account."""

    store: Store
    offer: Callable[[Iterable[Transaction]], None]  # the one door
    saw_last: Callable[[int], None] = lambda _: None  # the door hears that newer ones exist
    audit: AuditLog | None = None
    keymap: KeyMap = KEYMAP
    now: Callable[[], float] = monotonic
    wall_ns: Callable[[], int] = time_ns
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    _lines: dict[str, tuple[str, str]] = field(default_factory=dict)  # intent id -> key, words

    async def send(self, asked: Asked, sending: Awaitable[Outcome]) -> Outcome:
        """Wait for the outcome, pass on what it made, and say what became of it."""
        key = f"command-{next(self._numbers)}"
        self.store.set_in_flight(key, f"{asked.words}: sent")
        SENDING_NOW.set((key, asked.words))
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
        self.record("outcome", f"{outcome.intent.id} {said.words}")
        self.tell(said.level, said.words)
        return outcome

    def progress(self, progress: Progress) -> None:
        """Follow the states between sending and outcome; the sender's `on_progress`."""
        intent = progress.intent
        key, words = self._lines.get(intent.id, (intent.id, intent_words(intent)))
        match progress:
            case Sending(not_journalled=trouble):
                self._lines[intent.id] = SENDING_NOW.get() or (key, words)
                self.record("sending", f"{intent.id} {words}")
                if trouble:
                    self.tell("warn", f"{words}: sent, but NOT JOURNALLED ({clean(trouble)})")
            case Unknown(look_ups=count):
                line = f"UNKNOWN {words}: the answer was lost, looking it up"
                self.store.set_in_flight(key, f"{line} (look {count})" if count else line)
                self.record("unknown", f"{intent.id} {progress.message}")
            case Unconfirmed():
                self._lines.pop(intent.id, None)
                self.store.set_in_flight(intent.id, f"{UNCONFIRMED} {words}")
            case Done() | Rejected() | NotSent():
                self._lines.pop(intent.id, None)
                self.store.settle(intent.id)

    def alarm(self, outcome: Done | Rejected) -> None:
        """Tell of a request that shows up after it was given up; the sender's `alarm`."""
        words = intent_words(outcome.intent)
        self.record("showed up", f"{outcome.intent.id} {words}")
        if isinstance(outcome, Rejected):
            self.tell("info", f"{words}: the broker had rejected it after all")
            return
        self._pass_on(outcome)
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

    def _pass_on(self, done: Done) -> None:
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
