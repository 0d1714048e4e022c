"""Looking up a request whose answer was lost: asking the account's history until it tells, or time is up."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain, repeat
from typing import Final, TypeAlias

from keydesk_client.client import Client
from keydesk_client.errors import (
    Answered,
    ClientClosed,
    KeydeskClientError,
    NotFound,
    RateLimited,
)
from keydesk_client.models.orders import Order
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.orders.intent import Intent
from keydesk_client.orders.matching import Context, concerns, unclear_cancels, verdict
from keydesk_client.orders.outcome import Ambiguous, Done, Rejected, Unconfirmed, Unknown
from keydesk_client.orders.sent_once import REQUEST_TIMEOUT
from keydesk_client.orders.shared_reads import SharedReads

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
