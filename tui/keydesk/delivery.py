"""The way of a command out to the broker and back: shown while it is under way, told when it is settled.

Every transaction of an answer goes through the one door, so that the stream's copy of it changes nothing.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from time import monotonic, time_ns

from keydesk.audit import AuditLog
from keydesk.outcome_words import Asked, Level, Said, fill_of, protection_words, said_of
from keydesk.store.state import Notice, TradeRow
from keydesk.store.store import Store
from keydesk_client.models import Transaction
from keydesk_client.outcome import (
    Became,
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


@dataclass(slots=True)
class Delivery:
    """Sends, shows, and tells the trader; one per account."""

    store: Store
    offer: Callable[[Iterable[Transaction]], None]  # the one door
    saw_last: Callable[[int], None] = lambda _: None  # the door hears that newer ones exist
    audit: AuditLog | None = None
    now: Callable[[], float] = monotonic
    wall_ns: Callable[[], int] = time_ns
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    _words: dict[str, str] = field(default_factory=dict)  # intent id -> what it was, in words

    async def send(self, asked: Asked, sending: Awaitable[Outcome]) -> Outcome:
        """Wait for the outcome, pass on what it made, and say what became of it."""
        key = f"command-{next(self._numbers)}"
        self.store.set_in_flight(key, f"{asked.words}: sent")
        began = self.now()
        try:
            outcome = await sending
        finally:
            self.store.settle(key)
        asked = replace(asked, milliseconds=(self.now() - began) * 1000)
        self._words[outcome.intent.id] = asked.words
        if isinstance(outcome, Unconfirmed):
            self.store.set_in_flight(outcome.intent.id, f"{UNCONFIRMED} {asked.words}")
        said = said_of(outcome, asked)
        if isinstance(outcome, Done):
            self._pass_on(outcome)
            said = await self._with_protection(said, outcome)
        self.record("outcome", f"{outcome.intent.id} {said.words}")
        self.tell(said.level, said.words)
        return outcome

    def progress(self, progress: Progress) -> None:
        """Follow the states between sending and outcome; the sender calls it."""
        intent = progress.intent
        words = (
            self._words.get(intent.id)
            or f"{intent.action.value.replace('_', ' ')} {intent.target}".strip()
        )
        match progress:
            case Unknown(look_ups=count):
                looked = f" ({count} looks)" if count else ""
                self.store.set_in_flight(
                    intent.id, f"UNKNOWN {words}: the answer was lost, looking it up{looked}"
                )
                self.record("unknown", f"{intent.id} {progress.message}")
            case Done() | Rejected() | NotSent():
                self._settled(intent.id, words, progress)
            case Sending() | Unconfirmed():
                pass

    def _settled(self, intent_id: str, words: str, outcome: Done | Rejected | NotSent) -> None:
        was_unconfirmed = self.store.in_flight.get(intent_id, "").startswith(UNCONFIRMED)
        self.store.settle(intent_id)
        if not was_unconfirmed:
            return
        if isinstance(outcome, Done):
            self._pass_on(outcome)
            state = "filled" if outcome.became is Became.FILLED else outcome.became.value
            self.tell("bad", f"IT SHOWED UP: {words} was {state} after all. C closes, D cancels")
        self.record("showed up", f"{intent_id} {words}")

    def tell(self, level: Level, words: str) -> None:
        """Show the trader one line."""
        self.store.notify(Notice(level, words, self.store.clock_ns or self.wall_ns()))

    def record(self, what: str, words: str) -> None:
        """Write into the audit log, where there is one."""
        if self.audit is not None:
            self.audit.write(what, words)

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
        return Said("warn", f"{said.words} NO STOP: P protects")

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
