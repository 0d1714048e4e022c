"""Read the transactions of an account by id, by time and by type.

keydesk practice serve > practice.json &
python transactions.py < practice.json
"""

import asyncio
import json
import sys
from collections import Counter

from keydesk_client import Client
from keydesk_client.models import MarketOrderRequest, OrderFillTransaction, UnknownTransaction

line = json.loads(sys.stdin.readline())
account_id = line["accounts"][0]["id"]
place = {name: line[name] for name in ("rest_url", "stream_url", "token")}


async def main() -> None:
    async with Client(**place, account_id=account_id) as client:
        await client.orders.create(MarketOrderRequest(instrument="EUR_USD", units=100))

        kinds = Counter([each.type async for each in client.transactions.iterate()])
        print(dict(kinds))

        async for each in client.transactions.iterate_since(1):
            match each:
                case OrderFillTransaction():
                    print(f"{each.id}: {each.units} {each.instrument} at {each.price}")
                case UnknownTransaction():
                    print(f"{each.id}: {each.type}, newer than this library: {each.unknown}")
                case _:
                    print(f"{each.id}: {each.type}")

        newest = (await client.transactions.recent(1)).transactions[0]
        print((await client.transactions.get(newest.id)).transaction == newest)


asyncio.run(main())
