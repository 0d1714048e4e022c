"""Orders through a bad network to the real practice broker: no order is doubled and every outcome is true.

Each order whose answer was lost is settled by the look-ups of its pauses: fewer than there are pauses leave it open, and
nothing is waited for after the one that was answered last. Seconds are printed and not judged: they are those of the
machine. That the pauses come to 30.5 s is held on a clock of its own in `tests/client/orders/test_reconciler.py`.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from keydesk_client.client import Client
from keydesk_client.http.retry import Retries
from keydesk_client.http.timing import Timeouts
from keydesk_client.orders.journal import FileJournal
from keydesk_client.orders.outcome import Ambiguous, Done, Outcome, Rejected
from keydesk_client.orders.reconciler import PAUSES_S
from keydesk_client.orders.sender import Sender
from support.broker import PracticeServer, SharedPractice
from support.data.ledgers import ledger_of
from support.order_flow import QUICK_PAUSES, Beliefs, doubled, trade, wrong_beliefs
from support.proxies.chaos_proxy import ChaosProxy, Fate, chaos_proxy
from support.timelines import NotedRequests, Timelines, summary

SENDERS = 4
"""Orders of one client that are under way at once."""
ALARMS_WITHIN_S = 120.0
"""What was believed absent and is in the ledger is looked up through the bad network, with pauses and retries."""


@dataclass(frozen=True)
class Patience:
    """The times that a client waits."""

    pauses: tuple[float, ...]
    timeouts: Timeouts
    retries: Retries


AS_IT_COMES = Patience(PAUSES_S, Timeouts(), Retries())
"""The defaults of a client."""
IMPATIENT = Patience(
    QUICK_PAUSES,
    Timeouts(connect=2.0, read=0.25, whole=3.0),
    Retries(max_retries=2, first_backoff_s=0.02, max_backoff_s=0.1),
)


@dataclass
class Run:
    """Clients that send a number of orders through a bad network, and their outcomes."""

    proxy: ChaosProxy
    patience: Patience
    left: Iterator[int]
    orders: Timelines = field(default_factory=Timelines)
    counts: Counter[str] = field(default_factory=Counter)
    alarms: int = 0

    def faulted(self) -> float:
        """Share of the requests that met a fault."""
        return 1 - self.proxy.fates[Fate.FINE] / self.proxy.fates.total()

    def settled_late(self) -> list[str]:
        """Return the orders that the look-ups of all pauses left open, or that waited once more after the last answered one."""
        return [
            str(each)
            for each in self.orders.looked_up()
            if each.look_ups >= len(self.patience.pauses) or each.waited_after_answer
        ]

    async def take_part(self, desk: PracticeServer, folder: Path, seed: int) -> None:
        """Send with a client of its own until no orders are left; fail when an outcome and the ledger differ."""
        dice, beliefs = random.Random(seed), Beliefs()
        alarms: list[Done | Rejected | Ambiguous] = []
        async with self.client(desk) as client:
            sender = Sender(
                client,
                FileJournal(folder / "orders.jsonl"),
                lambda: beliefs.last_transaction_id,
                self.orders.hear,
                alarms.append,
                pauses=self.patience.pauses,
            )
            await asyncio.gather(*(self.send(sender, beliefs, dice) for _ in range(SENDERS)))
            await self.proxy.everything_arrived()
            ledger = await ledger_of(desk)
            for transaction in ledger:
                sender.watch(transaction)

            def final() -> list[Outcome]:
                told = {late.intent.id for late in alarms}
                return [each for each in beliefs.outcomes if each.intent.id not in told] + alarms

            with suppress(TimeoutError):
                async with asyncio.timeout(ALARMS_WITHIN_S):
                    # What carries no id of its own is looked up before the alarm.
                    while wrong_beliefs(final(), ledger):  # noqa: ASYNC110  an alarm wakes nobody
                        await asyncio.sleep(
                            0.2
                        )  # comparing a ledger is work that look-ups wait for
        assert doubled(ledger) == []
        assert wrong_beliefs(final(), ledger) == []
        self.counts += beliefs.counts()
        self.alarms += len(alarms)

    async def send(self, sender: Sender, beliefs: Beliefs, dice: random.Random) -> None:
        for _ in self.left:
            await trade(sender, beliefs, dice)

    def client(self, desk: PracticeServer) -> Client:
        return Client(
            token=desk.token,
            rest_url=self.proxy.url,
            stream_url=self.proxy.url,
            account_id=desk.account_id,
            timeouts=self.patience.timeouts,
            retries=self.patience.retries,
            transport=NotedRequests(self.proxy.url, self.orders.saw),
        )


async def orders_through_chaos(
    desks: list[PracticeServer], folder: Path, orders: int, seed: int, patience: Patience
) -> Run:
    """Send this many orders and the requests that follow them, with a client for each desk."""
    latest = 1.5 * sum(patience.pauses)
    async with chaos_proxy(desks[0].rest_url, seed=seed, latest_s=latest) as proxy:
        run = Run(proxy, patience, iter(range(orders)))
        parts = (
            run.take_part(desk, folder / str(number), seed + number)
            for number, desk in enumerate(desks)
        )
        await asyncio.gather(*parts)
    return run


async def test_orders_through_a_bad_network_are_neither_doubled_nor_misjudged_nor_settled_late(
    shared_practice: SharedPractice, tmp_path: Path
) -> None:
    desks = [shared_practice.open_desk() for _ in range(3)]
    run = await orders_through_chaos(desks, tmp_path, 60, 11, IMPATIENT)
    assert run.counts["Done"] > 30
    assert sum(isinstance(each.outcome, Done) for each in run.orders.looked_up()) > 3
    assert run.faulted() > 0.2
    assert run.orders.server_failures() == []
    assert run.settled_late() == []


@pytest.mark.soak
async def test_ten_thousand_orders_through_a_bad_network_are_settled_by_the_look_ups_of_their_pauses(
    shared_practice: SharedPractice, tmp_path: Path
) -> None:
    desks = [shared_practice.open_desk() for _ in range(50)]
    run = await orders_through_chaos(desks, tmp_path, 10_000, 12, AS_IT_COMES)
    print(f"\n{summary(run.orders)}\n{run.counts}, {run.alarms} shown up late\n{run.proxy.fates}")  # noqa: T201
    assert run.faulted() == pytest.approx(0.4, abs=0.03)
    assert run.counts.total() >= 10_000
    assert run.orders.server_failures() == []
    assert run.settled_late() == []
