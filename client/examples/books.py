"""Read the order and position books: how the broker's clients are positioned, not executable depth.

keydesk practice serve > practice.json &
python books.py < practice.json
"""

import asyncio
import json
import sys

from keydesk_client import Client

line = json.loads(sys.stdin.readline())
account_id = line["accounts"][0]["id"]
place = {name: line[name] for name in ("rest_url", "stream_url", "token")}


async def main() -> None:
    async with Client(**place, account_id=account_id) as client:
        orders = (await client.books.order("EUR_USD")).order_book
        positions = (await client.books.position("EUR_USD")).position_book
        print(f"orders at {orders.time}, price {orders.price}, width {orders.bucket_width}")
        crowded = sorted(orders.buckets, key=lambda bucket: bucket.long_count_percent)[-3:]
        for bucket in crowded:
            print(f"    {bucket.long_count_percent} % of the buyers wait at {bucket.price}")
        longs = sum(bucket.long_count_percent for bucket in positions.buckets)
        print(f"{longs} % of the positions are long")


asyncio.run(main())
