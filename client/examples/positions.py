"""A position: built of two trades, looked at, closed at once.

keydesk practice serve > practice.json &
python positions.py < practice.json
"""

import asyncio
import json
import sys

from keydesk_client import Client
from keydesk_client.models import MarketOrderRequest

line = json.loads(sys.stdin.readline())
account_id = line["accounts"][0]["id"]
place = {name: line[name] for name in ("rest_url", "stream_url", "token")}


async def main() -> None:
    async with Client(**place, account_id=account_id) as client:
        for units in (-1000, -2000):
            await client.orders.create(MarketOrderRequest(instrument="USD_JPY", units=units))

        for position in (await client.positions.open()).positions:
            print(
                f"{position.instrument}: {position.short.units} at {position.short.average_price}"
            )

        closed = await client.positions.close("USD_JPY", short_units="ALL")
        fill = closed.short_order_fill_transaction
        print(f"closed for {fill.pl}" if fill is not None else "not closed")


asyncio.run(main())
