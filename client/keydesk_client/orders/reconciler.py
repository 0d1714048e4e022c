"""Look up the outcome of requests whose answers were lost."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from typing import Final, TypeAlias

from keydesk_client.errors import (
    ClientClosed,
    HttpStatusError,
    KeydeskClientError,
    NotFound,
    RateLimited,
)
from keydesk_client.http.limits import LOOK_UPS_AT_ONCE
from keydesk_client.models.orders import Order
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.orders.classify import REQUEST_TIMEOUT
from keydesk_client.orders.matching import Context, concerns, find_outcome, unclear_cancels
from keydesk_client.orders.outcome import (
    Ambiguous,
    Done,
    Intent,
    Rejected,
    Unconfirmed,
    Unknown,
)
from keydesk_client.orders.unconfirmed import Finding
from keydesk_client.resources.resource_client import ResourceClient

PAUSES_S: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0)
"""Before each look-up of a lost answer."""
TASK_NAME: Final = "look-up of "
"""The name of a reading task: this, then the ids of its intents."""
MAX_SPREAD: Final = 1000
"""The largest difference between the first ids of look-ups that share a read: a page of the service."""

ReadAfter: TypeAlias = Callable[[int, str | None], Awaitable[list[Transaction]]]
"""Returns all transactions of an account after an id."""


class OutcomeLookUps:
    """Look up intents whose answers were lost in the account's transactions.

    Args:
        client: Reads the transactions.
        context: Returns what else decides which transactions are an intent's.
        on_progress: Called with the Unknown before each look-up.
        pauses: Seconds before each look-up.
        give_up_after: Seconds after which an intent is Unconfirmed although its look-ups fail; None for never.
    """

    def __init__(
        self,
        client: ResourceClient,
        context: Callable[[Intent], Context],
        on_progress: Callable[[Unknown], object],
        pauses: tuple[float, ...] = PAUSES_S,
        give_up_after: float | None = None,
    ) -> None:
        self._give_up_after = give_up_after
        self._client = client.for_look_ups()
        self._context, self._on_progress = context, on_progress
        self._pauses = pauses
        self._reads = SharedReads(self._read_after)
        self._waiting: dict[asyncio.Event, Intent] = {}
        self._cancelled: dict[tuple[str | None, str], Order] = {}

    def watch(self, transaction: Transaction) -> None:
        """Start the look-up of each intent that this transaction of the stream concerns."""
        for wake_up, intent in self._waiting.items():
            if concerns(intent, transaction) or unclear_cancels(intent, (transaction,)):
                wake_up.set()

    async def settle(
        self, unknown: Unknown, *, at_once: bool = False, only_once: bool = False
    ) -> Done | Rejected | Ambiguous | Unconfirmed:
        """Look up an intent at each of `pauses` until its outcome is found, or until `give_up_after`.

        Unconfirmed needs an answered look-up after the last pause: a failed one does not prove that the order is absent.
        The times of the look-ups are fixed at the start, so that slow answers do not add up; a failed look-up delays
        those that follow. Look-ups that the stream triggers are additional. Ambiguous needs a second look-up, or the last
        one: an identical request may be about to get its answer, which decides.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(self._give_up_after):
                pauses = self._schedule(at_once=at_once, only_once=only_once)
                return await self._settle(unknown, pauses)
        return Unconfirmed(
            unknown.intent,
            f"{unknown.message}; gave up after {self._give_up_after:g} s of look-ups",
            gave_up=True,
        )

    async def _settle(
        self, unknown: Unknown, pauses: tuple[float, ...]
    ) -> Done | Rejected | Ambiguous | Unconfirmed:
        intent, wake_up = unknown.intent, asyncio.Event()
        self._waiting[wake_up] = intent
        clock = asyncio.get_running_loop().time
        due = clock()
        try:
            for turn, pause in enumerate(chain(pauses, repeat(self._pauses[-1])), start=1):
                due += pause
                finding, unknown = await self._look_up_until(due, unknown, wake_up)
                is_last = turn >= len(pauses)
                if isinstance(finding, Done | Rejected):
                    return finding
                if isinstance(finding, Ambiguous) and finding.is_complete and (is_last or turn > 1):
                    return finding
                if _is_permanent(finding):
                    return Unconfirmed(intent, str(finding))
                if isinstance(finding, KeydeskClientError):
                    due = max(due, clock())
                elif is_last:
                    return Unconfirmed(intent, unknown.message, finding)
            raise AssertionError("the last pause repeats without end")
        finally:
            del self._waiting[wake_up]

    async def look_up(self, intent: Intent) -> Finding:
        """Look up an intent now, without reporting progress; repeat a look-up that fails."""
        for pause in chain((0.0,), repeat(self._pauses[-1])):
            await asyncio.sleep(pause)
            finding = await self._look_up(intent)
            if isinstance(finding, Ambiguous) and not finding.is_complete:
                return None
            if not isinstance(finding, KeydeskClientError):
                return finding
            if _is_permanent(finding):
                break
        return None

    async def look_up_once(self, intent: Intent) -> Finding:
        """Look up an intent now; return None when the look-up fails, too."""
        finding = await self._look_up(intent)
        is_unclear = isinstance(finding, Ambiguous) and not finding.is_complete
        return None if is_unclear or isinstance(finding, KeydeskClientError) else finding

    async def _look_up_until(
        self, due: float, unknown: Unknown, wake_up: asyncio.Event
    ) -> tuple[Finding | KeydeskClientError, Unknown]:
        """Look up at `due`, and before at each wake-up; return the last finding, or an earlier one that is final."""
        while True:
            self._on_progress(unknown)
            is_early = await _wait_until(due, wake_up)
            finding = await self._look_up(unknown.intent)
            if not isinstance(finding, KeydeskClientError):
                unknown = replace(unknown, look_ups=unknown.look_ups + 1)
            if not is_early or isinstance(finding, Done | Rejected) or _is_permanent(finding):
                return finding, unknown

    def _schedule(self, *, at_once: bool, only_once: bool) -> tuple[float, ...]:
        if only_once:
            return (0.0,)
        return (0.0, *self._pauses) if at_once else self._pauses

    async def _look_up(self, intent: Intent) -> Finding | KeydeskClientError:
        try:
            transactions = await self._reads.after(intent.since, intent.account_id, intent.id)
            cancelled = await self.read_cancelled(intent, transactions)
            return find_outcome(intent, transactions, self._context(intent), cancelled)
        except KeydeskClientError as error:  # also for an unreadable record
            return error

    async def _read_after(self, after: int, account_id: str | None) -> list[Transaction]:
        since = self._client.transactions.iterate_since(after, account_id=account_id)
        return [each async for each in since]

    async def newest_transaction(self, account_id: str | None, patience_s: float) -> int | None:
        """Return the id of the account's newest transaction; None when it cannot be read within that time."""
        with suppress(KeydeskClientError, TimeoutError):
            async with asyncio.timeout(patience_s):
                answer = await self._client.accounts.summary(account_id=account_id)
                return int(answer.last_transaction_id)
        return None

    async def read_cancelled(
        self, intent: Intent, transactions: Sequence[Transaction]
    ) -> Mapping[str, Order]:
        """Read the cancelled orders that `matching` needs, each once: an order that has ended does not change."""
        orders: dict[str, Order] = {}
        for order_id in unclear_cancels(intent, transactions):
            key = intent.account_id, order_id
            with suppress(NotFound):  # it is not readable yet
                if key not in self._cancelled:
                    answer = await self._client.orders.get(order_id, account_id=intent.account_id)
                    self._cancelled[key] = answer.order
                orders[order_id] = self._cancelled[key]
        return orders


class SharedReads:
    """Reads of an account's transactions that several look-ups share.

    Many answers that are lost together ask for nearly the same transactions at nearly the same time, and look-ups have
    few connections. While all are in use, the look-ups that come next wait together and one read answers them all. A
    read that has begun is not joined: its answer may be older than what the look-up asks about.
    """

    def __init__(self, read: ReadAfter, at_once: int = LOOK_UPS_AT_ONCE) -> None:
        self._read = read
        self._free = at_once
        self._waiting: list[_Batch] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def after(
        self, transaction_id: int, account_id: str | None, name: str
    ) -> list[Transaction]:
        """Return all transactions after an id, not older than this call; the reading task's name contains `name`."""
        batch = self._join(transaction_id, account_id)
        batch.names.append(name)
        self._start()
        transactions = await asyncio.shield(batch.answer)
        return [each for each in transactions if int(each.id) > transaction_id]

    def _join(self, transaction_id: int, account_id: str | None) -> "_Batch":
        for batch in self._waiting:
            if batch.accepts(account_id, transaction_id):
                batch.lowest = min(batch.lowest, transaction_id)
                batch.highest = max(batch.highest, transaction_id)
                return batch
        self._waiting.append(_Batch(account_id, transaction_id, transaction_id, []))
        return self._waiting[-1]

    def _start(self) -> None:
        while self._free and self._waiting:
            self._free -= 1
            batch = self._waiting.pop(0)
            name = f"{TASK_NAME}{' '.join(batch.names)}"
            task = asyncio.create_task(self._answer(batch), name=name)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, batch: "_Batch") -> None:
        try:
            batch.answer.set_result(await self._read(batch.lowest, batch.account_id))
        except BaseException as error:
            batch.answer.set_exception(error)
            batch.answer.exception()  # mark it as retrieved: every waiting look-up may have been cancelled
            if not isinstance(error, Exception):
                raise
        finally:
            self._free += 1
            self._start()


@dataclass(slots=True)
class _Batch:
    """Look-ups that wait for the same read."""

    account_id: str | None
    lowest: int
    highest: int
    names: list[str]
    answer: "asyncio.Future[list[Transaction]]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    def accepts(self, account_id: str | None, after: int) -> bool:
        """Whether an id is near enough to the others to share a read with them."""
        lowest, highest = min(self.lowest, after), max(self.highest, after)
        return account_id == self.account_id and highest - lowest <= MAX_SPREAD


async def _wait_until(due: float, wake_up: asyncio.Event) -> bool:
    """Wait until the loop's clock shows `due`; return whether `wake_up` was set before, and clear it."""
    with suppress(TimeoutError):
        async with asyncio.timeout_at(due):
            await wake_up.wait()
    is_early = wake_up.is_set()
    wake_up.clear()
    return is_early


def _is_permanent(finding: Finding | KeydeskClientError) -> bool:
    """Whether a look-up failed permanently: the client is closed, the token refused, the history replaced."""
    if isinstance(finding, ClientClosed):
        return True
    if not isinstance(finding, HttpStatusError) or isinstance(finding, RateLimited):
        return False
    is_refusal = 400 <= finding.status < 500 and finding.status != REQUEST_TIMEOUT  # noqa: PLR2004 - the 4xx class
    return is_refusal and finding.explained  # a proxy's error page explains nothing
