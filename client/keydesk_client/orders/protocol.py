"""The order protocol: a request that changes the account is sent once, and its outcome is known or said to be unknown.

1. An intent is written to the journal and synced. Where that fails (a full disk) only exits leave, and say so.
2. The request leaves once, with the intent's id as client id (new orders) and as ClientRequestID.
3. A good answer is Done, an explained refusal Rejected; 429 and a failed connection are NotSent. All else is Unknown.
4. Unknown is looked up in the transactions since the id that was noted before.
5. Not found is Unconfirmed. It is never sent again: its transactions are watched for, and raise the alarm; and so do
   the account's changes that `reconcile` is handed from time to time.
6. `recover` looks up what an earlier process left open, before anything new is sent; `resolve` any one of them again.

Requests that carry no id which the transactions repeat (a close, a cancel, an edit) take turns when they are alike, also
those of other processes with the same journal: while one is under way, the next waits, for at most `TURN_PATIENCE_S`.
Then it leaves all the same: an exit is not held back. What became of two that overlap and lose their answers may not be
told apart any more; then the outcome is Ambiguous.

A blind repeat would double a third of such orders: a client id is only checked against orders that are still pending.

Whoever stops waiting (a cancelled task, an interrupt, a callback that raises) stops nothing that has left: the intent
stays open in the journal, is watched for like every Unconfirmed one, and `recover` finds it.
"""

import asyncio
import json
from collections import ChainMap
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Final, TypeAlias

from keydesk_client.client import Client
from keydesk_client.errors import MissingMember, UnsafeFile
from keydesk_client.http.pacing import SteadyTime
from keydesk_client.models.accounts import AccountChanges
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.orders.classify import WriteResponse, sent_once
from keydesk_client.orders.journal import AMBIGUOUS, Journal, Release
from keydesk_client.orders.matching import Claimed, Context, names_itself, unclear_cancels, verdict
from keydesk_client.orders.outcome import (
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
from keydesk_client.orders.reconciler import GivenUp, LookUps, shows_effect

LATE_NS = 120 * 1_000_000_000
"""A request that a process left behind this long ago has arrived by now, or never will.

Only a monotonic clock proves it. The wall clock, which may be set or jump after sleep, decides no more than how often
an intent of another boot or machine is looked up.
"""

TURN_PATIENCE_S: Final = 1.0
"""How long a request waits for a like one: a good answer comes sooner, and so does the first look-up of a lost one."""
TURN_LOOK_S: Final = 0.005

LOOKS_AFTER_S: Final = (0.0, 1.0, 5.0)
"""Before each look at the history that the stream calls for: what answers may lag behind the stream."""

Alarm: TypeAlias = Callable[[Done | Rejected | Ambiguous], object]
Send: TypeAlias = Callable[[], Awaitable[WriteResponse]]
JOURNAL_TROUBLE = (OSError, UnsafeFile)


class OrderProtocol:
    """Takes intents from the journal to their outcomes."""

    def __init__(
        self,
        client: Client,
        journal: Journal,
        tell: Callable[[Progress], object],
        alarm: Alarm,
        *,
        wall_ns: Callable[[], int],
        steady: Callable[[], SteadyTime],
        pauses: tuple[float, ...],
    ) -> None:
        self._journal, self._tell, self._alarm = journal, tell, alarm
        self._wall_ns, self._steady = wall_ns, steady
        self._own_claims: dict[str, str] = {}
        self._own_shared: dict[str, frozenset[str]] = {}
        self._unattributed: dict[str, Intent] = {}
        self._under_way: dict[str, Intent] = {}
        self._request_ids: dict[str, str] = {}
        self._given_up = GivenUp(self._context)
        self._look_ups = LookUps(client, self._context, tell, pauses)
        self._looking: dict[str, asyncio.Task[None]] = {}
        self._to_look_at: set[str] = set()

    async def carried_out(self, intent: Intent, send: Send) -> Outcome:
        """Write it down, send it once, and find out what became of it."""
        async with self._turn(intent):
            return await self._carried_out(intent, send)

    async def _carried_out(self, intent: Intent, send: Send) -> Outcome:
        trouble = self._journalled(intent)
        if trouble and not intent.is_exit:
            return self._told(NotSent(intent, f"the order journal can not be written: {trouble}"))
        self._under_way[intent.id] = intent
        try:
            self._tell(Sending(intent, trouble))
            outcome = await self._answered(intent, send)
        except BaseException as stopped:
            self._given_up.add(intent)
            if isinstance(stopped, asyncio.CancelledError):
                self._tell(Unconfirmed(intent, "nobody waited for its answer any more"))
            raise
        finally:
            del self._under_way[intent.id]
        return self._settled(outcome)

    async def recover(self) -> tuple[Outcome, ...]:
        """Look up every intent that an earlier process left open. Enable trading when this returns."""
        held = self._journal.open_intents()
        left_open = [intent for intent in held if intent.id not in self._under_way]
        return tuple(await asyncio.gather(*(self._recovered(intent) for intent in left_open)))

    async def resolve(self, intent: Intent) -> Outcome:
        """Look up once more, now, what became of an intent."""
        unknown = Unknown(intent, "looked up again, and not found")
        was_given_up = intent in self._given_up
        outcome = await self._look_ups.settle(unknown, only_once=True)
        if was_given_up and intent not in self._given_up:  # it showed up meanwhile: now it is there
            outcome = await self._look_ups.settle(unknown, only_once=True)
        return self._settled(outcome)

    def watch(self, transaction: Transaction) -> None:
        """See whether it is the one that is being waited for."""
        self._look_ups.watch(transaction)
        for found in self._given_up.shown_by(transaction):
            self._showed_up(found)
        for intent in self._given_up.perhaps_shown_by(transaction):
            self._to_look_at.add(intent.id)
            if intent.id not in self._looking:
                self._looking[intent.id] = asyncio.create_task(self._looked_at(intent))

    def unconfirmed(self) -> tuple[Intent, ...]:
        """Return the intents that ended as Unconfirmed, and are watched for."""
        return self._given_up.intents

    async def reconcile(self, changes: AccountChanges, since: int) -> None:
        """Compare what is Unconfirmed with what the account changed after `since`; what shows up raises the alarm.

        Transactions decide. An order or a trade that shows an effect whose transaction is not among them has the
        history read again: it may have come from a copy that lags behind.
        """
        for intent in self._given_up.intents:
            if intent.since >= since and intent in self._given_up:
                found = await self._reconciled(intent, changes)
                if found is not None and intent in self._given_up:
                    self._showed_up(found)

    async def _reconciled(
        self, intent: Intent, changes: AccountChanges
    ) -> Done | Rejected | Ambiguous | None:
        try:
            found = verdict(intent, changes.transactions, self._context(intent))
            is_suspect = shows_effect(intent, changes) or unclear_cancels(
                intent, changes.transactions
            )
        except (
            MissingMember
        ):  # a record that can not be read tells nothing; the next check asks again
            return None
        if found is None and is_suspect:
            return await self._look_ups.look_once(intent)
        return None if isinstance(found, Ambiguous) and not found.is_complete else found

    async def _answered(
        self, intent: Intent, send: Send
    ) -> Done | Rejected | NotSent | Ambiguous | Unconfirmed:
        answered = await sent_once(intent, send)
        if isinstance(answered, Unknown):
            self._request_ids[intent.id] = answered.request_id
            return await self._look_ups.settle(answered)
        return answered

    async def _recovered(self, intent: Intent) -> Outcome:
        unknown = Unknown(intent, "an earlier session ended before the answer came")
        now = self._steady()
        age = now.since(intent.steady)
        is_old = (self._wall_ns() - intent.at_ns if age is None else age) > LATE_NS
        outcome = await self._look_ups.settle(unknown, at_once=True, only_once=is_old)
        self._settled(outcome)
        if isinstance(outcome, Unconfirmed):
            with suppress(*JOURNAL_TROUBLE):  # it is looked up once more at the next start
                if age is None:
                    self._date_from(intent, now)
                elif is_old:
                    self._close_unconfirmed(outcome)
        return outcome

    def _date_from(self, intent: Intent, seen: SteadyTime) -> None:
        """Let a later start prove the age of an intent whose own clock reading cannot be compared."""
        if any(each.id == intent.id for each in self._journal.open_intents()):
            self._journal.write(replace(intent, steady=seen))

    def _close_unconfirmed(self, outcome: Unconfirmed) -> None:
        """Settle it, unless a like request is under way: a process that was stopped may send this one later."""
        intent = outcome.intent
        shared = outcome.one_of.related_transaction_ids if outcome.one_of is not None else ()
        release = None if names_itself(intent) else self._journal.claim_target(_key(intent))
        if release is None and not names_itself(intent):
            return
        try:
            self._journal.settle(intent, "unconfirmed", shared=shared)
        finally:
            if release is not None:
                release()

    async def _looked_at(self, intent: Intent) -> None:
        """Look up what may have shown up, as often as something new says so."""
        try:
            while intent.id in self._to_look_at and intent in self._given_up:
                self._to_look_at.discard(intent.id)
                found = None
                for pause in LOOKS_AFTER_S:
                    await asyncio.sleep(pause)
                    found = await self._look_ups.look(intent)
                    if found is not None or intent.id in self._to_look_at:
                        break
                if found is not None and intent in self._given_up:
                    self._showed_up(found)
        finally:
            del self._looking[intent.id]

    def _showed_up(self, found: Done | Rejected | Ambiguous) -> None:
        self._settled(found)
        self._alarm(found)

    @asynccontextmanager
    async def _turn(self, intent: Intent) -> AsyncGenerator[None]:
        """Hold the turn of requests like this one, or go without when another holds it for too long."""
        release = None if names_itself(intent) else await self._taken_turn(_key(intent))
        try:
            yield
        finally:
            if release is not None:
                release()

    async def _taken_turn(self, key: str) -> Release | None:
        clock = asyncio.get_running_loop().time
        until = clock() + TURN_PATIENCE_S
        with suppress(*JOURNAL_TROUBLE):  # no turns on a full disk: it leaves all the same
            while clock() < until:
                if (release := self._journal.claim_target(key)) is not None:
                    return release
                await asyncio.sleep(TURN_LOOK_S)
        return None

    def _context(self, intent: Intent) -> Context:
        """What is known beside the transactions; the open intents first, for one may be settled meanwhile."""
        rivals = self._under_way | self._unattributed
        rivals |= {each.id: each for each in self._given_up.intents}
        shared = dict(self._own_shared)
        with suppress(*JOURNAL_TROUBLE):
            rivals |= {each.id: each for each in self._journal.open_intents()}
            rivals |= {each.id: each for each in self._journal.unattributed()}
            shared |= self._journal.shared()
        rivals.pop(intent.id, None)
        request_id = self._request_ids.get(intent.id, "")
        return Context(self._claimed(), tuple(rivals.values()), shared, request_id)

    def _claimed(self) -> Claimed:
        """What is known to be made by an intent: of ours, and of every process that shares the journal."""
        with suppress(*JOURNAL_TROUBLE):
            return ChainMap(self._own_claims, dict(self._journal.claimed()))
        return self._own_claims

    def _journalled(self, intent: Intent) -> str:
        """Write the intent down; returns why that failed, empty when it is on disk."""
        try:
            self._journal.write(intent)
        except JOURNAL_TROUBLE as error:
            return str(error)
        return ""

    def _noted(self, intent: Intent, verdict: str, claims: Iterable[str] = ()) -> None:
        with suppress(*JOURNAL_TROUBLE):  # a full disk: it is looked up once more at the next start
            self._journal.settle(intent, verdict, claims)

    def _shares(self, ambiguous: Ambiguous) -> None:
        """Note that it is settled, and that its transactions may be those of like requests as well."""
        intent = ambiguous.intent
        ids = ambiguous.related_transaction_ids if ambiguous.are_all_found else ()
        if ids:
            self._own_shared[intent.id] = frozenset(ids)
        else:
            self._unattributed[intent.id] = intent
        with suppress(*JOURNAL_TROUBLE):
            self._journal.settle(intent, AMBIGUOUS, shared=ids)

    def _settled(self, outcome: Outcome) -> Outcome:
        intent = outcome.intent
        if isinstance(outcome, Unconfirmed):
            self._given_up.add(intent)
            return self._told(outcome)
        self._request_ids.pop(intent.id, None)
        if isinstance(outcome, Ambiguous):
            self._given_up.drop(intent)
            self._shares(outcome)
        else:
            claims = () if isinstance(outcome, NotSent) else outcome.related_transaction_ids
            self._given_up.drop(intent)
            self._own_claims.update(dict.fromkeys(claims, intent.id))
            self._noted(intent, type(outcome).__name__.lower(), claims)
        return self._told(outcome)

    def _told(self, outcome: Outcome) -> Outcome:
        self._tell(outcome)
        return outcome


def _key(intent: Intent) -> str:
    """What requests have in common that nothing tells apart."""
    return json.dumps(
        [intent.account_id, intent.action.value, intent.target, dict(intent.body)], sort_keys=True
    )
