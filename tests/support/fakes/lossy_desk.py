"""A sender at a lossy broker, and all that it said; waiting takes no time.

async def body(desk: Desk) -> None:
    outcome = await desk.sender.create(buy())
at_desk(tmp_path, LossyBroker(Fate.LOST_ANSWER), body)
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path

from keydesk_client.client import Client
from keydesk_client.models import MarketOrderRequest, OrderRequest, Transaction
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models.responses import TransactionsResponse
from keydesk_client.orders.journal import FileJournal
from keydesk_client.orders.outcome import (
    Ambiguous,
    Done,
    MonotonicTime,
    Outcome,
    Progress,
    Rejected,
    Sending,
    Unknown,
)
from keydesk_client.orders.sender import Sender
from support.fakes.lossy_broker import LossyBroker
from support.fakes.virtual_time import run

TOLD = Reader(TransactionsResponse)


CLOCK = "the loop's"
"""Name of the monotonic clock that a desk's sender reads."""


class Desk:
    """A sender and what it told; `since` stands for a feed that lags behind, `hears` for a listener of one's own."""

    def __init__(
        self,
        broker: LossyBroker,
        client: Client,
        journal: FileJournal,
        *,
        client_ids: bool = True,
        names: str = "kd-",
    ) -> None:
        self.broker, self.client, self.journal = broker, client, journal
        self.progress: list[Progress] = []
        self.alarms: list[Done | Rejected | Ambiguous] = []
        self.since: int | None = None
        self.hears: Callable[[Progress], object] = self.progress.append
        numbers = count(1)
        self.sender = Sender(
            client,
            journal,
            lambda: broker.last_id if self.since is None else self.since,
            self._heard,
            self.alarms.append,
            client_ids=client_ids,
            new_id=lambda: f"{names}{next(numbers)}",
            wall_ns=lambda: int(asyncio.get_running_loop().time() * 1e9),
            monotonic=lambda: MonotonicTime(CLOCK, int(asyncio.get_running_loop().time() * 1e9)),
        )

    def _heard(self, progress: Progress) -> None:
        self.hears(progress)

    def steps(self) -> list[str]:
        """The names of the steps so far."""
        return [type(step).__name__ for step in self.progress]

    def watch_all(self) -> None:
        """Hand over everything that is in the ledger, as a stream would."""
        for transaction in transactions_of(self.broker):
            self.sender.watch(transaction)


def at_desk(
    folder: Path,
    broker: LossyBroker,
    body: Callable[[Desk], Awaitable[None]],
    *,
    client_ids: bool = True,
    names: str = "kd-",
) -> None:
    """Run a body at a desk."""

    async def whole() -> None:
        async with broker.client() as client:
            journal = FileJournal(folder / "j" / "orders.jsonl")
            await body(Desk(broker, client, journal, client_ids=client_ids, names=names))

    run(whole())


def sent(folder: Path, broker: LossyBroker, *acts: Callable[[Sender], Awaitable[Outcome]]) -> Desk:
    """Carry out several acts, one after the other; the outcomes are the last of the steps."""
    desks: list[Desk] = []

    async def body(desk: Desk) -> None:
        desks.append(desk)
        for act in acts:
            await act(desk.sender)

    at_desk(folder, broker, body)
    return desks[0]


def outcome_of(
    folder: Path, broker: LossyBroker, act: Callable[[Sender], Awaitable[Outcome]]
) -> Outcome:
    """What one act came to."""
    last = sent(folder, broker, act).progress[-1]
    assert not isinstance(last, Sending | Unknown)
    return last


def buy() -> OrderRequest:
    """An order that fills."""
    return MarketOrderRequest(instrument="EUR_USD", units=100)


def transactions_of(broker: LossyBroker) -> tuple[Transaction, ...]:
    """What is in the ledger, as records."""
    answer = {"transactions": broker.ledger, "lastTransactionID": str(broker.last_id)}
    return TOLD.read(json.dumps(answer)).transactions
