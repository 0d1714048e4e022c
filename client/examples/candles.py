"""Read candles: the latest, a day of them, and every minute of a week over several pages.

keydesk practice serve > practice.json &
python candles.py < practice.json
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
        hours = await client.candles.get("EUR_USD", granularity="H1", price="BA", count=24)
        for candle in hours.candles:
            if candle.bid is not None and candle.ask is not None:
                print(candle.time, candle.bid.c, candle.ask.c)

        latest = await client.candles.latest(["EUR_USD:M1:M", "USD_JPY:D:M"])
        for series in latest.latest_candles:
            print(series.instrument, series.granularity, series.candles[-1].mid)

        week = client.candles.iterate(
            "EUR_USD", granularity="M1", from_="2024-03-04T00:00:00Z", to="2024-03-11T00:00:00Z"
        )
        closes = [candle.mid.c async for candle in week if candle.mid is not None]
        print(f"{len(closes)} minutes between {min(closes)} and {max(closes)}")


asyncio.run(main())
