"""Looking up a request whose answer was lost: asking the account's history until it tells, or time is up."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain, repeat
from typing import Final, TypeAlias

from keydesk_client.client import Client
from keydesk_client.errors import Answered, ClientClosed, KeydeskClientError, RateLimited
from keydesk_client.intent import Intent
from keydesk_client.matching import concerns, unclear_cancels, verdict
from keydesk_client.models.orders import Order
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.outcome import Done, Rejected, Unconfirmed, Unknown

PAUSES_S: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0)
"""Before each look-up."""

Found: TypeAlias = Done | Rejected | None


class LookUps:
    """Asks about requests whose answers were lost."""

    def __init__(
        self,
        client: Client,
        claimed: set[str],
        tell: Callable[[Unknown], object],
        pauses: tuple[float, ...] = PAUSES_S,
    ) -> None:
        self._client, self._claimed, self._tell = client, claimed, tell
        self._pauses = pauses
        self._waiting: dict[str, tuple[Intent, asyncio.Event]] = {}

    def watch(self, transaction: Transaction) -> None:
        """Look up at once when the stream shows what is being waited for."""
        for intent, woken in tuple(self._waiting.values()):
            if concerns(intent, transaction):
                woken.set()

    async def settle(
        self, unknown: Unknown, *, at_once: bool = False, only_once: bool = False
    ) -> Done | Rejected | Unconfirmed:
        """What became of it. Unconfirmed only after a look-up at the end that was answered: a failed one is no no."""
        pauses = self._schedule(at_once=at_once, only_once=only_once)
        intent, woken = unknown.intent, asyncio.Event()
        self._waiting[intent.id] = intent, woken
        try:
            for turn, pause in enumerate(chain(pauses, repeat(self._pauses[-1])), start=1):
                self._tell(unknown)
                await _wait(woken, pause)
                found = await self._asked(intent)
                if isinstance(found, Done | Rejected):
                    return found
                if _is_final(found):
                    return Unconfirmed(intent, str(found))
                if found is None:
                    unknown = replace(unknown, look_ups=unknown.look_ups + 1)
                    if turn >= len(pauses):
                        break
            return Unconfirmed(intent, unknown.message)
        finally:
            del self._waiting[intent.id]

    def _schedule(self, *, at_once: bool, only_once: bool) -> tuple[float, ...]:
        if only_once:
            return (0.0,)
        return (0.0, *self._pauses) if at_once else self._pauses

    async def _asked(self, intent: Intent) -> Found | KeydeskClientError:
        try:
            since = self._client.transactions.iterate_since(
                intent.since, account_id=intent.account_id
            )
            transactions = [each async for each in since]
            endings = await self._endings(intent, transactions)
        except KeydeskClientError as error:
            return error
        return verdict(intent, transactions, self._claimed, endings)

    async def _endings(
        self, intent: Intent, transactions: list[Transaction]
    ) -> Mapping[str, Order]:
        ended = {}
        for order_id in unclear_cancels(intent, transactions):
            answer = await self._client.orders.get(order_id, account_id=intent.account_id)
            ended[order_id] = answer.order
        return ended


async def _wait(woken: asyncio.Event, pause: float) -> None:
    woken.clear()
    with suppress(TimeoutError):
        async with asyncio.timeout(pause):
            await woken.wait()


def _is_final(found: Found | KeydeskClientError) -> bool:
    """Whether asking again can not help: the client is closed, the token refused, the history another one."""
    if isinstance(found, ClientClosed):
        return True
    is_refusal = isinstance(found, Answered) and 400 <= found.status < 500  # noqa: PLR2004 - 4xx
    return is_refusal and not isinstance(found, RateLimited)
