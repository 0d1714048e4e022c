"""Read current prices with their depth and the factors that convert to the home currency.

keydesk practice serve > practice.json &
python pricing.py < practice.json
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
        now = await client.pricing.get(["EUR_USD", "USD_JPY"], include_home_conversions=True)
        for price in now.prices:
            print(f"{price.instrument}: {price.closeout_bid} / {price.closeout_ask}")
            for level in price.bids:
                print(f"    {level.liquidity} at {level.price}")
        for conversion in now.home_conversions or ():
            print(f"1 {conversion.currency} of gain is {conversion.account_gain} at home")


asyncio.run(main())
