"""Read both streams at once: a few prices, and the transactions of an order that is sent meanwhile.

keydesk practice serve > practice.json &
python streams.py < practice.json
"""

import asyncio
import json
import sys

from keydesk_client import Client, Gap, OverflowPolicy, StreamSettings
from keydesk_client.models import (
    ClientPrice,
    MarketOrderRequest,
    OrderFillTransaction,
    PricingHeartbeat,
)

line = json.loads(sys.stdin.readline())
account_id = line["accounts"][0]["id"]
place = {name: line[name] for name in ("rest_url", "stream_url", "token")}
newest_only = StreamSettings(when_full=OverflowPolicy.KEEP_LAST)


async def show_prices(client: Client, wanted: int) -> None:
    pairs = ["EUR_USD", "USD_JPY"]
    async with client.pricing.stream(pairs, settings=newest_only) as prices:
        async for item in prices:
            match item:
                case ClientPrice():
                    print(f"{item.instrument}: {item.bid} / {item.ask}")
                    wanted -= 1
                case Gap():
                    print(f"{item.seconds:.1f} s of prices are lost: {item.reason}")
                case PricingHeartbeat():
                    print(f"quiet, and connected at {item.time}")
            if wanted == 0:
                return


async def await_fill(client: Client) -> None:
    since = (await client.accounts.summary()).last_transaction_id
    async with client.transactions.stream(since=since) as transactions:
        await client.orders.create(MarketOrderRequest(instrument="EUR_USD", units=100))
        async for item in transactions:
            if isinstance(item, OrderFillTransaction):
                print(f"filled: {item.units} at {item.price}")
                return


async def main() -> None:
    async with Client(**place, account_id=account_id) as client:
        await asyncio.gather(show_prices(client, wanted=6), await_fill(client))


asyncio.run(main())
