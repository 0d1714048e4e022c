"""The order protocol: a request that changes the account is sent once, and its outcome is known or reported as unknown.

1. The intent is written to the journal and synced. When that fails (a full disk), only exits are sent, and say so.
2. The request is sent once, with the intent's id as client id (new orders) and as ClientRequestID.
3. A success is Done and a refusal Rejected, if the answer is this request's: its transactions are newer than the id
   that was noted before sending, and name this client id, order, trade or instrument; a refusal without transactions
   has the service's id of the request (`KeydeskClientError.settled`). A 429 of the service and a failed connection are
   NotSent. All else is Unknown.
4. Unknown is looked up in the transactions after the id that was noted before sending.
5. Not found is Unconfirmed. It is never sent again; when a later transaction, or the changes that `reconcile` is given,
   show that it took effect, the alarm is raised.
6. `recover` looks up what an earlier process left open, before anything new is sent; `resolve` looks up one intent, and
   `dismiss` settles one by hand.

The account's transactions do not repeat an id of a close, a cancel or an edit. Such requests are therefore sent one
after the other when they are alike (same account, action, target and body), also across processes that share the
journal: while one is being sent, the next waits for a lock file, at most `LOCK_PATIENCE_S`. Then it is sent without the
lock: an exit is never held back. When two overlap and lose their answers, the outcome may be Ambiguous.

A request is never repeated blindly: the broker checks a client id only against pending orders, so that a third of
repeated orders would be executed twice.

Cancelling the caller's task, an interrupt or a callback that raises does not stop a request that was sent: its intent
stays open in the journal, is watched like an Unconfirmed one, and `recover` finds it.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final, TypeAlias

from keydesk_client.arithmetic.constants import MINUTE
from keydesk_client.errors import (
    InvalidRequest,
    KeydeskClientError,
    MissingMember,
    UnsafeFile,
)
from keydesk_client.models.accounts import AccountChanges
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.orders.classify import (
    WriteResponse,
    outcome_of_answer,
    outcome_of_error,
)
from keydesk_client.orders.journal import AMBIGUOUS, DISMISSED, Journal, Release
from keydesk_client.orders.matching import (
    Context,
    find_outcome,
    is_answer_to,
    unclear_cancels,
)
from keydesk_client.orders.outcome import (
    Ambiguous,
    Done,
    Intent,
    MonotonicTime,
    NotSent,
    Outcome,
    Progress,
    Rejected,
    Sending,
    Unconfirmed,
    Unknown,
)
from keydesk_client.orders.reconciler import OutcomeLookUps
from keydesk_client.orders.unconfirmed import (
    UnconfirmedIntents,
    is_read_whole,
    may_concern,
    shows_effect,
)
from keydesk_client.resources.answers import text
from keydesk_client.resources.resource_client import ResourceClient

LATE_NS: Final = 2 * MINUTE
"""A request that is older than this has arrived by now, or never will.

Only a monotonic clock proves the age. The wall clock, which may be set or jump after sleep, only decides how often an
intent of another boot or machine is looked up.
"""
LOCK_PATIENCE_S: Final = 1.0
"""How long a request waits for an identical one: both a good answer and the first look-up of a lost one take less."""
LOCK_RETRY_S: Final = 0.005
LOOK_UP_PAUSES_S: Final = (0.0, 1.0, 5.0)
"""Before each look-up that a transaction of the stream calls for: the REST service may lag behind the stream."""
JOURNAL_ERRORS: Final = (OSError, UnsafeFile)

_Claim: TypeAlias = tuple[str, str]
"""A transaction's id, and the id of the settled intent that made it."""
Alarm: TypeAlias = Callable[[Done | Rejected | Ambiguous], object]
Send: TypeAlias = Callable[[], Awaitable[WriteResponse]]


class OrderProtocol:
    """Take intents from the journal to their outcomes.

    Args:
        client: Looks up lost answers.
        journal: Holds each intent before it is sent.
        on_progress: Called with each step and each outcome.
        alarm: Called with the outcome of a request that took effect after it ended as Unconfirmed.
        wall_ns: Returns nanoseconds since 1970.
        steady: Reads a monotonic clock.
        pauses: Seconds before each look-up of a lost answer.
        give_up_after: Seconds after which a request is Unconfirmed although its look-ups fail; None for never.
    """

    def __init__(
        self,
        client: ResourceClient,
        journal: Journal,
        on_progress: Callable[[Progress], object],
        alarm: Alarm,
        *,
        wall_ns: Callable[[], int],
        monotonic: Callable[[], MonotonicTime],
        pauses: tuple[float, ...],
        give_up_after: float | None = None,
    ) -> None:
        self.unconfirmed: UnconfirmedIntents = UnconfirmedIntents(self._context)
        """Intents that ended as Unconfirmed and of which no transaction has been seen since."""
        self._journal, self._on_progress, self._alarm = journal, on_progress, alarm
        self._wall_ns, self._steady = wall_ns, monotonic
        self._own_claims: dict[str, str] = {}
        self._is_of_the_service = client.is_of_the_service
        self._newest_seen = 0
        self._of_this_history: set[_Claim] = set()
        self._of_another_history: set[_Claim] = set()
        self._own_shared: dict[str, frozenset[str]] = {}
        self._unattributed: dict[str, Intent] = {}
        self._in_flight: dict[str, Intent] = {}
        self._request_ids: dict[str, str] = {}
        self._look_ups = OutcomeLookUps(client, self._context, on_progress, pauses, give_up_after)
        self._look_up_tasks: dict[str, asyncio.Task[None]] = {}
        self._look_ups_due: set[str] = set()

    async def execute(self, intent: Intent, send: Send) -> Outcome:
        """Journal the intent, send its request once, and return the outcome.

        A request waits for those like it; when another holds the lock for too long, it goes on without.
        """
        release = None if intent.has_own_id else await self._lock(_identical_request_key(intent))
        try:
            if not intent.has_own_id:
                await self._tell_histories_apart(intent)
            error = self._write_to_journal(intent)
            if error and not intent.is_exit:
                return self.report(NotSent(intent, f"the order journal cannot be written: {error}"))
            return self._settle(await self._send(intent, send, Sending(intent, error)))
        finally:
            if release is not None:
                release()

    def report(self, outcome: Outcome) -> Outcome:
        """Pass an outcome to `on_progress` and return it."""
        self._on_progress(outcome)
        return outcome

    async def recover(
        self, on_outcome: Callable[[Outcome], object] | None = None
    ) -> tuple[Outcome, ...]:
        """Look up every intent that an earlier process left open. Enable trading when this returns.

        Each outcome is passed to `on_outcome` as soon as it is known: one look-up may last long after another.
        """

        async def recover_one(intent: Intent) -> Outcome:
            outcome = await self._recover(intent)
            if on_outcome is not None:
                on_outcome(outcome)
            return outcome

        open_intents = self._journal.open_intents()
        left_open = [intent for intent in open_intents if intent.id not in self._in_flight]
        return tuple(await asyncio.gather(*(recover_one(intent) for intent in left_open)))

    async def resolve(self, intent: Intent) -> Outcome:
        """Look up the outcome of an intent once more, now."""
        unknown = Unknown(intent, "looked up again, and not found")
        was_unconfirmed = intent in self.unconfirmed
        outcome = await self._look_ups.settle(unknown, only_once=True)
        if was_unconfirmed and intent not in self.unconfirmed:  # it showed up during the look-up
            outcome = await self._look_ups.settle(unknown, only_once=True)
        return self._settle(outcome)

    def dismiss(self, intent: Intent) -> None:
        """Settle an intent by hand; it is still watched by this process. Raise InvalidRequest while it is being sent."""
        if intent.id in self._in_flight:
            raise InvalidRequest(
                f"intent: {intent.id} is being sent or looked up: wait for its outcome",
                field="intent",
            )
        self._journal.settle(intent, DISMISSED)
        self.unconfirmed.dismiss(intent)

    def watch(self, transaction: Transaction) -> None:
        """Check a transaction against the intents whose outcome is not known."""
        if (id_ := text(transaction, "id") or "").isdecimal():
            self._newest_seen = max(self._newest_seen, int(id_))
        self._look_ups.watch(transaction)
        for outcome in self.unconfirmed.shown_by(transaction):
            self._raise_alarm(outcome)
        for intent in self.unconfirmed.perhaps_shown_by(transaction):
            self._look_ups_due.add(intent.id)
            if intent.id not in self._look_up_tasks:
                self._look_up_tasks[intent.id] = asyncio.create_task(self._look_up_late(intent))

    async def reconcile(self, changes: AccountChanges, since: int) -> tuple[Intent, ...]:
        """Compare Unconfirmed intents with the account's changes after `since`; raise the alarm for those that took effect.

        Transactions decide. When only an order or a trade shows an effect, the history is read again: the answer may
        have come from a replica that lags behind. It is read as well when the changes begin later than the intent, for
        what is before them may decide what they mean.

        Return the intents that none of the changes concerns; changes that could not be read whole may concern any.
        """
        is_whole = is_read_whole(changes)
        not_concerned: list[Intent] = []
        for intent in self.unconfirmed.intents:
            if intent not in self.unconfirmed:  # it showed up during the look-up of another
                continue
            if is_whole and not may_concern(intent, changes):
                not_concerned.append(intent)
            outcome = await self._reconcile_one(intent, changes, since)
            if outcome is not None and intent in self.unconfirmed:
                self._raise_alarm(outcome)
        return tuple(not_concerned)

    async def _reconcile_one(
        self, intent: Intent, changes: AccountChanges, since: int
    ) -> Done | Rejected | Ambiguous | None:
        outcome, begins_later = None, intent.since < since
        try:
            if begins_later:
                is_suspect = may_concern(intent, changes)
            else:
                outcome = find_outcome(intent, changes.transactions, self._context(intent))
                is_suspect = shows_effect(intent, changes) or bool(
                    unclear_cancels(intent, changes.transactions)
                )
        except MissingMember:  # an unreadable record shows nothing; the next check looks again
            return None
        if outcome is None and is_suspect:
            return await self._look_ups.look_up_once(intent)
        return None if isinstance(outcome, Ambiguous) and not outcome.is_complete else outcome

    async def _send(
        self, intent: Intent, send: Send, sending: Sending
    ) -> Done | Rejected | NotSent | Ambiguous | Unconfirmed:
        """Send the request; when its answer is lost, look up what became of it."""
        self._in_flight[intent.id] = intent
        try:
            self._on_progress(sending)
            outcome = await self._send_once(intent, send)
            if isinstance(outcome, Unknown):
                self._request_ids[intent.id] = outcome.request_id
                return await self._look_ups.settle(outcome)
        except BaseException as stop:
            self.unconfirmed.add(intent)
            if isinstance(stop, asyncio.CancelledError):
                self._on_progress(
                    Unconfirmed(intent, "the call was cancelled before the answer came")
                )
            raise
        finally:
            del self._in_flight[intent.id]
        return outcome

    async def _send_once(self, intent: Intent, send: Send) -> Done | Rejected | NotSent | Unknown:
        """Send the request; an answer that may be another request's leaves the outcome Unknown."""
        outcome: Done | Rejected | NotSent | Unknown
        try:
            outcome = outcome_of_answer(intent, await send())
        except KeydeskClientError as error:
            outcome = outcome_of_error(intent, error)
        if isinstance(outcome, Done | Rejected) and not await self._is_own_answer(outcome):
            return Unknown(intent, "the answer is not to this request")
        return outcome

    async def _is_own_answer(self, outcome: Done | Rejected) -> bool:
        intent = outcome.intent
        try:
            cancelled = await self._look_ups.read_cancelled(intent, outcome.transactions)
            claimed: Mapping[str, str] = {} if intent.has_own_id else self._claimed()
            return is_answer_to(intent, outcome, claimed, cancelled)
        except KeydeskClientError:  # also for an unreadable record
            return False

    async def _recover(self, intent: Intent) -> Outcome:
        unknown = Unknown(intent, "an earlier session ended before the answer came")
        now = self._steady()
        age = now.since(intent.monotonic)
        is_old = (self._wall_ns() - intent.at_ns if age is None else age) > LATE_NS
        outcome = await self._look_ups.settle(unknown, at_once=True, only_once=is_old)
        self._settle(outcome)
        if isinstance(outcome, Unconfirmed) and not outcome.gave_up:
            with suppress(*JOURNAL_ERRORS):  # it is looked up once more at the next start
                if age is None:
                    self._date_from(intent, now)
                elif is_old:
                    self._close_unconfirmed(outcome)
        return outcome

    def _date_from(self, intent: Intent, seen: MonotonicTime) -> None:
        """Store a clock reading with an intent whose own cannot be compared, so that a later start can prove its age."""
        if any(each.id == intent.id for each in self._journal.open_intents()):
            self._journal.write(replace(intent, monotonic=seen))

    def _close_unconfirmed(self, outcome: Unconfirmed) -> None:
        """Settle it, unless an identical request is being sent: a suspended process may still send this one later."""
        intent = outcome.intent
        shared = outcome.one_of.related_transaction_ids if outcome.one_of is not None else ()
        release = (
            None
            if intent.has_own_id
            else self._journal.claim_target(_identical_request_key(intent))
        )
        if release is None and not intent.has_own_id:
            return
        try:
            self._journal.settle(intent, "unconfirmed", shared=shared)
        finally:
            if release is not None:
                release()

    async def _look_up_late(self, intent: Intent) -> None:
        """Look up an Unconfirmed intent that may have taken effect, again for each transaction that suggests it."""
        try:
            while intent.id in self._look_ups_due and intent in self.unconfirmed:
                self._look_ups_due.discard(intent.id)
                outcome = None
                for pause in LOOK_UP_PAUSES_S:
                    await asyncio.sleep(pause)
                    outcome = await self._look_ups.look_up(intent)
                    if outcome is not None or intent.id in self._look_ups_due:
                        break
                if outcome is not None and intent in self.unconfirmed:
                    self._raise_alarm(outcome)
        finally:
            del self._look_up_tasks[intent.id]

    def _raise_alarm(self, outcome: Done | Rejected | Ambiguous) -> None:
        self._settle(outcome)
        self._alarm(outcome)

    async def _lock(self, key: str) -> Release | None:
        clock = asyncio.get_running_loop().time
        until = clock() + LOCK_PATIENCE_S
        with suppress(*JOURNAL_ERRORS):  # no lock file on a full disk: the request is sent without
            while clock() < until:
                if (release := self._journal.claim_target(key)) is not None:
                    return release
                await asyncio.sleep(LOCK_RETRY_S)
        return None

    def _context(self, intent: Intent) -> Context:
        """Collect what else decides which transactions are this intent's.

        Open intents are read before settled ones, because one may be settled in between.
        """
        competing_intents = self._in_flight | self._unattributed
        competing_intents |= {each.id: each for each in self.unconfirmed.watched}
        shared = dict(self._own_shared)
        with suppress(*JOURNAL_ERRORS):
            competing_intents |= {each.id: each for each in self._journal.open_intents()}
            competing_intents |= {each.id: each for each in self._journal.unattributed()}
            shared |= self._journal.shared()
        competing_intents.pop(intent.id, None)
        request_id = self._request_ids.get(intent.id, "")
        return Context(self._claimed(), tuple(competing_intents.values()), shared, request_id)

    def _claimed(self) -> Mapping[str, str]:
        """Return the transactions of settled intents, each with its intent's id; not those of another history."""
        claimed = dict(self._own_claims)
        with suppress(*JOURNAL_ERRORS):
            claimed = dict(self._journal.claimed()) | claimed
        return dict(claimed.items() - self._of_another_history)

    async def _tell_histories_apart(self, intent: Intent) -> None:
        """Find the claims that are of another history of the account, whose ids come once more.

        Another replay of a practice market, and the return from it, begins such a history. A claim above the id that is
        noted with the intent is of another one, or that id is old because a feed lags. The account's newest transaction,
        read before the request is sent, tells which: in one history it is not below a claim. The service's own accounts
        have one history, and its replicas, which may lag, would prove nothing.
        """
        if self._is_of_the_service:
            return
        if intent.since < self._newest_seen:
            self._of_this_history.clear()
        self._newest_seen = intent.since
        claims = self._claimed().items() - self._of_this_history
        doubtful = {claim for claim in claims if int(claim[0]) > intent.since}
        if not doubtful:
            return
        newest = await self._look_ups.newest_transaction(intent.account_id, LOCK_PATIENCE_S)
        if newest is not None:
            replaced = {claim for claim in doubtful if int(claim[0]) > newest}
            self._of_another_history |= replaced
            self._of_this_history |= doubtful - replaced

    def _write_to_journal(self, intent: Intent) -> str:
        """Write the intent to the journal; return the error message, empty when it is on disk."""
        try:
            self._journal.write(intent)
        except JOURNAL_ERRORS as error:
            return str(error)
        return ""

    def _settle(self, outcome: Outcome) -> Outcome:
        """Note the outcome of an intent in the journal and report it; one that is Unconfirmed stays open."""
        intent = outcome.intent
        if isinstance(outcome, Unconfirmed):
            self.unconfirmed.add(intent)
            return self.report(outcome)
        self.unconfirmed.by_id.pop(intent.id, None)
        self._request_ids.pop(intent.id, None)
        if isinstance(outcome, Ambiguous):
            self._settle_ambiguous(outcome)
        else:
            claims = () if isinstance(outcome, NotSent) else outcome.related_transaction_ids
            self._own_claims.update(dict.fromkeys(claims, intent.id))
            self._of_this_history.update((each, intent.id) for each in claims)
            self._note_in_journal(intent, type(outcome).__name__.lower(), claims)
        return self.report(outcome)

    def _settle_ambiguous(self, ambiguous: Ambiguous) -> None:
        """Settle the intent; its transactions may also belong to identical requests."""
        intent = ambiguous.intent
        ids = ambiguous.related_transaction_ids if ambiguous.are_all_found else ()
        if ids:
            self._own_shared[intent.id] = frozenset(ids)
        else:
            self._unattributed[intent.id] = intent
        self._note_in_journal(intent, AMBIGUOUS, shared=ids)

    def _note_in_journal(
        self,
        intent: Intent,
        verdict: str,
        claims: Iterable[str] = (),
        *,
        shared: Iterable[str] = (),
    ) -> None:
        with suppress(*JOURNAL_ERRORS):  # a full disk: it is looked up again at the next start
            self._journal.settle(intent, verdict, claims, shared=shared)


def _identical_request_key(intent: Intent) -> str:
    """Return a key that is the same for requests which the account's transactions do not tell apart."""
    return json.dumps(
        [intent.account_id, intent.action.value, intent.target, dict(intent.body)], sort_keys=True
    )
