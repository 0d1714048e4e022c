"""Pages of candles by the thousand: a transport for httpx that makes them in this process, and what reading them costs.

    python -m support.candle_history {async,sync,v20} 200000

It prints the CPU seconds and the seconds that the reading took.
"""

import asyncio
import json
import sys
import time
from datetime import UTC, datetime, timedelta

import httpx

from keydesk_client import Client, DateTime, sync
from support.data.bench_bodies import candles_body

PAGE = 5000
START = datetime(2020, 1, 1, tzinfo=UTC)
MINUTE_NS = 60_000_000_000


class CandleHistory:
    """A service with `count` candles of one minute; its pages are made before they are asked for."""

    def __init__(self, count: int) -> None:
        candles = json.loads(candles_body(PAGE))["candles"]
        self.pages: list[bytes] = []
        for first in range(0, count, PAGE):
            for minute, candle in enumerate(candles, first):
                at = START + timedelta(minutes=minute)
                candle["time"] = f"{at:%Y-%m-%dT%H:%M:%S}.000000000Z"
            page = candles[: count - first]
            self.pages.append(
                json.dumps({"instrument": "EUR_USD", "granularity": "M1", "candles": page}).encode()
            )
        self.empty = b'{"instrument":"EUR_USD","granularity":"M1","candles":[]}'

    def answer(self, request: httpx.Request) -> httpx.Response:
        """Return the page after the time that is asked for."""
        asked = DateTime(request.url.params["from"]).ns - DateTime.of(START).ns
        number = -(-(asked // MINUTE_NS) // PAGE)
        body = self.pages[number] if number < len(self.pages) else self.empty
        return httpx.Response(200, content=body)

    def client(self) -> Client:
        """Return a client of this service."""
        return Client(
            token="t0ken",
            rest_url="https://rest.test",
            stream_url="https://stream.test",
            transport=httpx.MockTransport(self.answer),
        )


async def read_async(history: CandleHistory) -> int:
    """Return how many candles were read, one by one."""
    count = 0
    async with history.client() as client:
        async for _ in client.candles.iterate("EUR_USD", from_=START, granularity="M1"):
            count += 1
    return count


def read_sync(history: CandleHistory) -> int:
    """Return how many candles were read, one by one, without async."""
    with sync.Client(history.client()) as client:
        return sum(1 for _ in client.candles.iterate("EUR_USD", from_=START, granularity="M1"))


def read_v20(history: CandleHistory) -> int:
    """Return how many candles v20 made of the same bodies, without a request: every number a float."""
    import v20  # noqa: PLC0415 - compared only where it is installed

    context = v20.Context("127.0.0.1", 1, ssl=False, token="t")
    build = context.instrument.Candlestick.from_dict
    count = 0
    for body in history.pages:
        candles = [build(each, context) for each in json.loads(body.decode())["candles"]]
        count += len(candles)
    return count


def main(way: str, count: int) -> None:
    """Read all candles; print the CPU seconds and the seconds."""
    history = CandleHistory(count)
    began, cpu = time.perf_counter(), time.process_time()
    if way == "async":
        read = asyncio.run(read_async(history))
    else:
        read = {"sync": read_sync, "v20": read_v20}[way](history)
    spent = time.process_time() - cpu, time.perf_counter() - began
    if read != count:
        raise SystemExit(f"{read} candles instead of {count}")
    sys.stdout.write(json.dumps(spent) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
