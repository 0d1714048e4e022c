"""The transaction stream of the real practice broker, cut again and again: the ledger, in order, once."""

import asyncio

from keydesk_client.client import Client
from keydesk_client.limiter import Limiter
from keydesk_client.models import LimitOrderRequest, TransactionHeartbeat
from keydesk_client.streams.health import HistoryLost, Reconnected
from keydesk_client.streams.settings import StreamSettings
from keydesk_client.timing import Timing
from support.broker import PracticeServer
from support.chaos_proxy import Fate, chaos_proxy
from support.order_flow import ledger_of

CUTS = (Fate.CUT_LATER, Fate.RESET_HALF, Fate.CLOSED_HALF, Fate.RESET_UNANSWERED)
HASTE = StreamSettings(stall_s=5.0, first_pause_s=0.02, longest_pause_s=0.05)


async def nap(seconds: float) -> None:
    """The pace of two connections a second is tested elsewhere; here it would only take long."""
    await asyncio.sleep(min(seconds, 0.02))


async def delivered_through_cuts(practice: PracticeServer, orders: int, seed: int) -> int:
    """Place orders while the stream is cut; returns how often it was."""
    async with (
        chaos_proxy(practice.stream_url, seed=seed, faulty=1.0, faults=CUTS) as proxy,
        client_of(practice, proxy.url) as client,
    ):
        delivered: list[str] = []

        async def listen() -> None:
            stream = client.transactions.stream(since=0, settings=HASTE, timing=Timing(sleep=nap))
            async with stream as transactions:
                async for item in transactions:
                    assert not isinstance(item, HistoryLost)
                    if isinstance(item, TransactionHeartbeat | Reconnected):
                        continue
                    delivered.append(item.id)
                    if len(delivered) >= orders + 3:
                        return

        listening = asyncio.create_task(listen())
        order = LimitOrderRequest(instrument="EUR_USD", units=1, price="0.50000")
        for _ in range(orders):
            await client.orders.create(order)
        await listening
        ledger = [each.id for each in await ledger_of(practice)]
        assert delivered == ledger[: len(delivered)]
        return sum(times for fate, times in proxy.fates.items() if fate is not Fate.FINE)


def client_of(practice: PracticeServer, stream_url: str) -> Client:
    return Client(
        token=practice.token,
        rest_url=practice.rest_url,
        stream_url=stream_url,
        account_id=practice.account_id,
        limiter=Limiter(rate=10_000),
    )


async def test_a_stream_that_is_cut_again_and_again_delivers_the_ledger_once(
    practice: PracticeServer,
) -> None:
    assert await delivered_through_cuts(practice, orders=150, seed=3) > 3
