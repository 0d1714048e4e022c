"""Reads of an account's history that several look-ups share.

Twenty-five lost answers ask for nearly the same transactions at nearly the same moment, on the two connections that
look-ups have. While both are in use, those that come next wait together, and one read answers all of them. A read that
has begun is joined by nobody: it may have been answered before what the newcomer asks about had happened.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from keydesk_client.http.limiter import LOOK_UPS_AT_ONCE
from keydesk_client.models.transactions.unions import Transaction

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
