"""Whether the orders and trades of an account show what a request asked for, whoever asked for it.

They do not tell who did it, so that no outcome is made of them: they are a reason to read the transactions again.

Reads of an account's history that several look-ups share.

Twenty-five lost answers ask for nearly the same transactions at nearly the same moment, on the two connections that
look-ups have. While both are in use, those that come next wait together, and one read answers all of them. A read that
has begun is joined by nobody: it may have been answered before what the newcomer asks about had happened.
Requests that ended as Unconfirmed: their transactions are watched for, because they can still show up.
Looking up a request whose answer was lost: asking the account's history until it tells, or time is up.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from typing import Final, TypeAlias

from keydesk_client.client import Client
from keydesk_client.errors import (
    Answered,
    ClientClosed,
    KeydeskClientError,
    MissingMember,
    NotFound,
    RateLimited,
)
from keydesk_client.http.connections import LOOK_UPS_AT_ONCE
from keydesk_client.models.accounts import AccountChanges
from keydesk_client.models.orders import Order
from keydesk_client.models.trades import TradeSummary
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.orders.classify import REQUEST_TIMEOUT, names, text
from keydesk_client.orders.matching import Context, concerns, names_itself, unclear_cancels, verdict
from keydesk_client.orders.outcome import (
    Action,
    Ambiguous,
    Done,
    Intent,
    Rejected,
    Unconfirmed,
    Unknown,
)

Read: TypeAlias = Callable[[int, str | None], Awaitable[list[Transaction]]]
"""All transactions after an id, of an account."""

TASK_NAME: Final = "look-up of "
"""What the name of a reading task begins with; the intents follow."""
NEAR: Final = 1000
"""Ids that may lie between the beginnings of what one read answers: a page of the service."""


@dataclass(slots=True)
class _Batch:
    account_id: str | None
    lowest: int
    highest: int
    names: list[str]
    answer: "asyncio.Future[list[Transaction]]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    def takes(self, account_id: str | None, after: int) -> bool:
        """Whether an id is near enough to the others to be read with them."""
        lowest, highest = min(self.lowest, after), max(self.highest, after)
        return account_id == self.account_id and highest - lowest <= NEAR


class SharedReads:
    """Transactions after an id; those who wait for a connection are answered by one read."""

    def __init__(self, read: Read, at_once: int = LOOK_UPS_AT_ONCE) -> None:
        self._read = read
        self._free = at_once
        self._waiting: list[_Batch] = []
        self._reading: set[asyncio.Task[None]] = set()

    async def after(
        self, transaction_id: int, account_id: str | None, name: str
    ) -> list[Transaction]:
        """All transactions after this id, as of a moment that is not before now; the task that reads bears the name."""
        batch = self._joined(transaction_id, account_id)
        batch.names.append(name)
        self._begin()
        found = await asyncio.shield(batch.answer)
        return [each for each in found if int(each.id) > transaction_id]

    def _joined(self, transaction_id: int, account_id: str | None) -> _Batch:
        for batch in self._waiting:
            if batch.takes(account_id, transaction_id):
                batch.lowest = min(batch.lowest, transaction_id)
                batch.highest = max(batch.highest, transaction_id)
                return batch
        self._waiting.append(_Batch(account_id, transaction_id, transaction_id, []))
        return self._waiting[-1]

    def _begin(self) -> None:
        while self._free and self._waiting:
            self._free -= 1
            batch = self._waiting.pop(0)
            name = f"{TASK_NAME}{' '.join(batch.names)}"
            task = asyncio.create_task(self._answered(batch), name=name)
            self._reading.add(task)
            task.add_done_callback(self._reading.discard)

    async def _answered(self, batch: _Batch) -> None:
        try:
            batch.answer.set_result(await self._read(batch.lowest, batch.account_id))
        except BaseException as error:
            batch.answer.set_exception(error)
            batch.answer.exception()  # those who asked may have given up: then nobody retrieves it
            if not isinstance(error, Exception):
                raise
        finally:
            self._free += 1
            self._begin()


SEEN_AT_MOST = 200
"""Transactions held for a request that shows up: more than any batch."""


@dataclass(slots=True)
class _Awaited:
    intent: Intent
    seen: deque[Transaction] = field(default_factory=lambda: deque(maxlen=SEEN_AT_MOST))
    bearing: set[str] = field(default_factory=set[str])
    """Ids of batches and orders that said something about it."""


class GivenUp:
    """Intents that nothing was found of."""

    def __init__(self, context: Callable[[Intent], Context]) -> None:
        self._context = context
        self._awaited: dict[str, _Awaited] = {}

    def __contains__(self, intent: Intent) -> bool:
        return intent.id in self._awaited

    @property
    def intents(self) -> tuple[Intent, ...]:
        """Those that are watched for."""
        return tuple(each.intent for each in self._awaited.values())

    def add(self, intent: Intent) -> None:
        """Watch for it."""
        self._awaited[intent.id] = _Awaited(intent)

    def drop(self, intent: Intent) -> None:
        """It is known what became of it."""
        self._awaited.pop(intent.id, None)

    def shown_by(self, transaction: Transaction) -> tuple[Done | Rejected | Ambiguous, ...]:
        """What this transaction, with those before it, shows to have happened after all, by ids of requests' own."""
        named = (each for each in self._awaited.values() if names_itself(each.intent))
        found = (self._shown(each, transaction) for each in named)
        return tuple(each for each in found if each is not None)

    def perhaps_shown_by(self, transaction: Transaction) -> tuple[Intent, ...]:
        """Intents that must be looked up to know.

        What came before they were given up was not seen here, and without an id of the request's own it decides what
        the rest means: the trade that is closed now may have been reduced by this request before. And a cancel does
        not tell whose protection it took away.
        """
        return tuple(
            each.intent
            for each in self._awaited.values()
            if not names_itself(each.intent) and _bears_on(each, transaction)
        )

    def _shown(
        self, each: _Awaited, transaction: Transaction
    ) -> Done | Rejected | Ambiguous | None:
        if not each.seen and not concerns(each.intent, transaction):
            return None
        each.seen.append(transaction)
        try:
            return verdict(each.intent, each.seen, self._context(each.intent))
        except MissingMember:  # a record that can not be read shows nothing
            return None


def _bears_on(each: _Awaited, transaction: Transaction) -> bool:
    """Whether it says something about the request, or goes on with what did."""
    batch = text(transaction, "batch_id") or transaction.id
    if concerns(each.intent, transaction) or unclear_cancels(each.intent, (transaction,)):
        each.bearing |= {batch, text(transaction, "replaced_by_order_id") or batch}
        return True
    return not each.bearing.isdisjoint(
        {batch, transaction.id, text(transaction, "order_id") or batch}
    )


PAUSES_S: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0)
"""Before each look-up."""

Found: TypeAlias = Done | Rejected | Ambiguous | None


class LookUps:
    """Asks about requests whose answers were lost."""

    def __init__(
        self,
        client: Client,
        context: Callable[[Intent], Context],
        tell: Callable[[Unknown], object],
        pauses: tuple[float, ...] = PAUSES_S,
    ) -> None:
        self._client, self._context, self._tell = client.for_look_ups(), context, tell
        self._pauses = pauses
        self._reads = SharedReads(self._all_after)
        self._waiting: dict[asyncio.Event, Intent] = {}
        self._ended: dict[tuple[str | None, str], Order] = {}

    def watch(self, transaction: Transaction) -> None:
        """Look up at once when the stream shows what is being waited for."""
        for woken, intent in self._waiting.items():
            if concerns(intent, transaction) or unclear_cancels(intent, (transaction,)):
                woken.set()

    async def settle(
        self, unknown: Unknown, *, at_once: bool = False, only_once: bool = False
    ) -> Done | Rejected | Ambiguous | Unconfirmed:
        """What became of it. Unconfirmed only after a look-up at the end that was answered: a failed one is no no.

        Look-ups start at fixed moments, so that slow answers do not add up; a failed one puts off those that follow.
        One that the stream calls for comes on top: what it does not find is still asked for until time is up.
        Ambiguous not by the first of several look-ups: a like request may be about to get its answer, which decides.
        """
        pauses = self._schedule(at_once=at_once, only_once=only_once)
        intent, woken = unknown.intent, asyncio.Event()
        self._waiting[woken] = intent
        clock = asyncio.get_running_loop().time
        due = clock()
        try:
            for turn, pause in enumerate(chain(pauses, repeat(self._pauses[-1])), start=1):
                due += pause
                found, unknown = await self._found_by(due, unknown, woken)
                is_last = turn >= len(pauses)
                if isinstance(found, Done | Rejected):
                    return found
                if isinstance(found, Ambiguous) and found.is_complete and (is_last or turn > 1):
                    return found
                if _is_final(found):
                    return Unconfirmed(intent, str(found))
                if isinstance(found, KeydeskClientError):
                    due = max(due, clock())
                elif is_last:
                    return Unconfirmed(intent, unknown.message, found)
            raise AssertionError("the last pause repeats without end")
        finally:
            del self._waiting[woken]

    async def _found_by(
        self, due: float, unknown: Unknown, woken: asyncio.Event
    ) -> tuple[Found | KeydeskClientError, Unknown]:
        """What the look-up at `due` found, or an earlier one that the stream called for."""
        while True:
            self._tell(unknown)
            is_early = await _woken(woken, due)
            found = await self._asked(unknown.intent)
            if not isinstance(found, KeydeskClientError):
                unknown = replace(unknown, look_ups=unknown.look_ups + 1)
            if not is_early or isinstance(found, Done | Rejected) or _is_final(found):
                return found, unknown

    async def look(self, intent: Intent) -> Found:
        """What became of it by now, without a word on the way; a look-up that fails is made again."""
        for pause in chain((0.0,), repeat(self._pauses[-1])):
            await asyncio.sleep(pause)
            found = await self._asked(intent)
            if isinstance(found, Ambiguous) and not found.is_complete:
                return None
            if not isinstance(found, KeydeskClientError):
                return found
            if _is_final(found):
                break
        return None

    async def look_once(self, intent: Intent) -> Found:
        """What became of it by now; None when the look-up fails, too."""
        found = await self._asked(intent)
        is_unclear = isinstance(found, Ambiguous) and not found.is_complete
        return None if is_unclear or isinstance(found, KeydeskClientError) else found

    def _schedule(self, *, at_once: bool, only_once: bool) -> tuple[float, ...]:
        if only_once:
            return (0.0,)
        return (0.0, *self._pauses) if at_once else self._pauses

    async def _asked(self, intent: Intent) -> Found | KeydeskClientError:
        try:
            transactions = await self._reads.after(intent.since, intent.account_id, intent.id)
            endings = await self._endings(intent, transactions)
            return verdict(intent, transactions, self._context(intent), endings)
        except KeydeskClientError as error:  # of a record that can not be read, too
            return error

    async def _all_after(self, after: int, account_id: str | None) -> list[Transaction]:
        since = self._client.transactions.iterate_since(after, account_id=account_id)
        return [each async for each in since]

    async def _endings(
        self, intent: Intent, transactions: list[Transaction]
    ) -> Mapping[str, Order]:
        ended: dict[str, Order] = {}
        for order_id in unclear_cancels(intent, transactions):
            with suppress(NotFound):  # not readable yet: that is no answer
                ended[order_id] = await self._ending(order_id, intent.account_id)
        return ended

    async def _ending(self, order_id: str, account_id: str | None) -> Order:
        """The order, read once: it has ended, and stays as it is."""
        key = account_id, order_id
        if key not in self._ended:
            answer = await self._client.orders.get(order_id, account_id=account_id)
            self._ended[key] = answer.order
        return self._ended[key]


async def _woken(woken: asyncio.Event, due: float) -> bool:
    """Wait until it is time; True when something woke it earlier."""
    with suppress(TimeoutError):
        async with asyncio.timeout_at(due):
            await woken.wait()
    is_early = woken.is_set()
    woken.clear()
    return is_early


def _is_final(found: Found | KeydeskClientError) -> bool:
    """Whether asking again can not help: the client is closed, the token refused, the history another one."""
    if isinstance(found, ClientClosed):
        return True
    if not isinstance(found, Answered) or isinstance(found, RateLimited):
        return False
    is_refusal = 400 <= found.status < 500 and found.status != REQUEST_TIMEOUT  # noqa: PLR2004 - 4xx
    return is_refusal and found.explained  # a page of something in between says nothing


def shows_effect(intent: Intent, changes: AccountChanges) -> bool:
    """Whether what the account changed may be the effect of an intent; MissingMember where it cannot be read."""
    match intent.action:
        case Action.CREATE:
            return any(_has_client_id(each, intent.client_id) for each in _orders(changes))
        case Action.REPLACE | Action.CANCEL:
            ended = (*changes.orders_cancelled, *changes.orders_filled)
            return any(_is_named(each, intent.target) for each in ended)
        case Action.CLOSE_TRADE:
            return any(_is_named(each, intent.target) for each in _closed(changes))
        case Action.CLOSE_POSITION:
            return any(text(each, "instrument") == intent.target for each in _closed(changes))
        case Action.SET_DEPENDENT_ORDERS:
            return any(
                names(intent.target, each, "trade_id", "client_trade_id")
                for each in _orders(changes)
            )


def _orders(changes: AccountChanges) -> Iterable[Order]:
    return (
        *changes.orders_created,
        *changes.orders_cancelled,
        *changes.orders_filled,
        *changes.orders_triggered,
    )


def _closed(changes: AccountChanges) -> Iterable[TradeSummary]:
    return (*changes.trades_reduced, *changes.trades_closed)


def _has_client_id(order: Order, client_id: str | None) -> bool:
    return text(getattr(order, "client_extensions", None), "id") == client_id


def _is_named(record: Order | TradeSummary, target: str) -> bool:
    if target.startswith("@"):
        return text(getattr(record, "client_extensions", None), "id") == target[1:]
    return text(record, "id") == target
