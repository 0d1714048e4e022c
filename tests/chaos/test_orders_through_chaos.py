"""Orders through a bad network to the real practice broker: none doubled, none believed to be what it is not."""

import asyncio
import random
from pathlib import Path

import pytest

from keydesk_client.client import Client
from keydesk_client.journal import FileJournal
from keydesk_client.limiter import Limiter
from keydesk_client.outcome import Done, Rejected
from keydesk_client.retries import Retries
from keydesk_client.sending import Sender
from keydesk_client.transport import Timeouts
from support.broker import PracticeServer
from support.chaos_proxy import Fate, chaos_proxy
from support.order_flow import (
    QUICK_PAUSES,
    Beliefs,
    doubled,
    ledger_of,
    trade,
    wrong_beliefs,
)

AT_ONCE = 6
IMPATIENT = Timeouts(connect=2.0, read=0.25, whole=3.0)
PERSISTENT = Retries(most=2, first_s=0.02, longest_s=0.1)


def client_of(practice: PracticeServer, rest_url: str) -> Client:
    return Client(
        token=practice.token,
        rest_url=rest_url,
        stream_url=practice.stream_url,
        account_id=practice.account_id,
        timeouts=IMPATIENT,
        retries=PERSISTENT,
        limiter=Limiter(rate=10_000),
    )


async def orders_through_chaos(
    practice: PracticeServer, folder: Path, orders: int, seed: int
) -> tuple[Beliefs, dict[Fate, int]]:
    """Send that many orders and some undoings; fail where belief and ledger differ."""
    dice, beliefs = random.Random(seed), Beliefs()
    alarms: list[Done | Rejected] = []
    left = iter(range(orders))
    async with (
        chaos_proxy(practice.rest_url, seed=seed, faulty=0.4) as proxy,
        client_of(practice, proxy.url) as client,
        client_of(practice, practice.rest_url) as direct,
    ):
        journal = FileJournal(folder / "journal" / "orders.jsonl")
        sender = Sender(
            client,
            journal,
            lambda: beliefs.last_transaction_id,
            alarm=alarms.append,
            pauses=QUICK_PAUSES,
        )

        async def work() -> None:
            for _ in left:
                await trade(sender, beliefs, dice)

        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
        ledger = await ledger_of(direct)
        for transaction in ledger:
            sender.watch(transaction)
    told = {late.intent.id for late in alarms}
    final = [each for each in beliefs.outcomes if each.intent.id not in told] + alarms
    assert doubled(ledger) == []
    assert wrong_beliefs(final, ledger) == []
    return beliefs, dict(proxy.fates)


async def test_orders_through_a_bad_network_are_neither_doubled_nor_misjudged(
    practice: PracticeServer, tmp_path: Path
) -> None:
    beliefs, fates = await orders_through_chaos(practice, tmp_path, orders=60, seed=11)
    assert beliefs.counts()["Done"] > 30
    assert sum(1 for each in beliefs.outcomes if isinstance(each, Done) and each.looked_up) > 3
    assert sum(times for fate, times in fates.items() if fate is not Fate.FINE) > 20


@pytest.mark.soak
async def test_ten_thousand_orders_through_a_bad_network(
    practice: PracticeServer, tmp_path: Path
) -> None:
    beliefs, fates = await orders_through_chaos(practice, tmp_path, orders=10_000, seed=12)
    faulted = sum(times for fate, times in fates.items() if fate is not Fate.FINE)
    assert faulted / sum(fates.values()) == pytest.approx(0.4, abs=0.03)
    assert len(beliefs.outcomes) >= 10_000
