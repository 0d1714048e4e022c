"""A client process that sends orders until somebody kills it: `python ordering_process.py` with its settings as JSON.

At the start it resolves what an earlier one left open, as every client of the order protocol does.
"""

import asyncio
import json
import random
import sys

from keydesk_client.client import Client
from keydesk_client.journal import FileJournal
from keydesk_client.limiter import Limiter
from keydesk_client.sending import Sender
from support.order_flow import QUICK_PAUSES, Beliefs, trade


async def send_until_killed(settings: dict[str, str]) -> None:
    """Recover, say so, and send."""
    dice, beliefs = random.Random(int(settings["seed"])), Beliefs()
    async with Client(
        token=settings["token"],
        rest_url=settings["rest_url"],
        stream_url=settings["rest_url"],
        account_id=settings["account_id"],
        limiter=Limiter(rate=10_000),
    ) as client:
        journal = FileJournal(settings["journal"], most_settled=1_000_000)
        summary = await client.accounts.summary()
        beliefs.last_transaction_id = int(summary.last_transaction_id)
        sender = Sender(client, journal, lambda: beliefs.last_transaction_id, pauses=QUICK_PAUSES)
        await sender.recover()
        sys.stdout.write("recovered\n")
        sys.stdout.flush()
        if settings["mode"] == "recover":
            return
        while True:
            await asyncio.gather(*(trade(sender, beliefs, dice) for _ in range(3)))


if __name__ == "__main__":
    asyncio.run(send_until_killed(json.loads(sys.stdin.readline())))
