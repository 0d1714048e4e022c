"""Measure one v20 client in a process of its own: CPU milliseconds, CPU microseconds a line, megabytes.

    python -m support.client_under_bench NAME http://127.0.0.1:PORT

It prints one JSON object. The other clients are installed by the extra `bench`; exit code 3 means that this one is not.
"""

# ruff: noqa: PLC0415 - a client is imported in the process that measures it, and only there

import asyncio
import json
import sys
import time
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from importlib.util import find_spec
from statistics import median
from typing import Any, Protocol

from support.data.bench_bodies import candles_body, trades_body

NOT_INSTALLED = 3
CALLS, LARGE_CALLS, READINGS, LINES, WARM_LINES = 150, 12, 40, 30_000, 2_000
DIFFERENT_BODIES = 20
ORDER = {
    "type": "MARKET",
    "instrument": "EUR_USD",
    "units": "100",
    "timeInForce": "FOK",
    "positionFill": "DEFAULT",
}


class UnderBench(Protocol):
    """The operations that are measured."""

    async def summary(self) -> object: ...
    async def order(self) -> object: ...
    async def candles(self) -> object: ...
    async def trades(self) -> object: ...
    def read_candles(self, body: bytes) -> object: ...
    def read_trades(self, body: bytes) -> object: ...
    def prices(self) -> AsyncIterator[object]: ...


class Keydesk:
    """keydesk_client."""

    def __init__(self, url: str) -> None:
        from keydesk_client import Client, Limiter
        from keydesk_client.models import MarketOrderRequest
        from keydesk_client.resources.candles import CANDLES
        from keydesk_client.resources.trades import TRADES

        unbounded = Limiter(rate=10**6, window_s=0.001)
        self._client = Client(
            token="t", rest_url=url, stream_url=url, account_id="1", limiter=unbounded
        )
        self.read_candles: Callable[[bytes], object] = CANDLES.read
        self.read_trades: Callable[[bytes], object] = TRADES.read
        self._request = MarketOrderRequest

    async def summary(self) -> object:
        return await self._client.accounts.summary()

    async def order(self) -> object:
        return await self._client.orders.create(self._request(instrument="EUR_USD", units=100))

    async def candles(self) -> object:
        return await self._client.candles.get("EUR_USD", granularity="M1", count=5000)

    async def trades(self) -> object:
        return await self._client.trades.list(count=500)

    async def prices(self) -> AsyncIterator[object]:
        async with self._client.pricing.stream(["EUR_USD"]) as prices:
            async for item in prices:
                yield item


class FiveTwenty:
    """fivetwenty: typed, on pydantic; its hosts are fixed, so its transport is replaced."""

    def __init__(self, url: str) -> None:
        import httpx
        from fivetwenty import AsyncClient
        from fivetwenty.models import Candlestick, MarketOrderRequest, Trade

        class Place:
            base_url = stream_url = f"{url}/v3"

        http = httpx.AsyncClient(base_url=Place.base_url, trust_env=False)
        client: Any = AsyncClient(token="t", account_id="1", transport=http)
        client._environment = Place
        self._client = client
        self._kinds: Any = Candlestick, Trade, MarketOrderRequest

    async def summary(self) -> object:
        return await self._client.accounts.get_account_summary("1")

    async def order(self) -> object:
        request = self._kinds[2](instrument="EUR_USD", units=100)
        return await self._client.orders.post_order("1", request)

    async def candles(self) -> object:
        return await self._client.instruments.get_instrument_candles(
            "EUR_USD", granularity="M1", count=5000
        )

    async def trades(self) -> object:
        return await self._client.trades.get_trades("1", count=500)

    def read_candles(self, body: bytes) -> object:
        return [self._kinds[0].model_validate(each) for each in json.loads(body)["candles"]]

    def read_trades(self, body: bytes) -> object:
        return [self._kinds[1].model_validate(each) for each in json.loads(body)["trades"]]

    async def prices(self) -> AsyncIterator[object]:
        async for item in self._client.pricing.get_pricing_stream("1", ["EUR_USD"]):
            yield item


class OandapyV20:
    """oandapyV20: synchronous, plain dictionaries."""

    def __init__(self, url: str) -> None:
        from oandapyV20 import API, oandapyV20
        from oandapyV20.endpoints import accounts, instruments, orders, pricing, trades

        oandapyV20.TRADING_ENVIRONMENTS["bench"] = {"api": url, "stream": url}
        self._api: Any = API(access_token="t", environment="bench")
        self._asked: Any = accounts, orders, instruments, trades, pricing

    async def summary(self) -> object:
        result: object = self._api.request(self._asked[0].AccountSummary("1"))
        return result

    async def order(self) -> object:
        result: object = self._api.request(self._asked[1].OrderCreate("1", data={"order": ORDER}))
        return result

    async def candles(self) -> object:
        wanted = {"granularity": "M1", "count": 5000}
        result: object = self._api.request(self._asked[2].InstrumentsCandles("EUR_USD", wanted))
        return result

    async def trades(self) -> object:
        result: object = self._api.request(self._asked[3].TradesList("1", params={"count": 500}))
        return result

    def read_candles(self, body: bytes) -> object:
        return json.loads(body.decode())

    def read_trades(self, body: bytes) -> object:
        return json.loads(body.decode())

    async def prices(self) -> AsyncIterator[object]:
        stream = self._asked[4].PricingStream("1", params={"instruments": "EUR_USD"})
        lines: Iterator[object] = self._api.request(stream)
        for item in lines:
            yield item


class V20:
    """v20 3.0.25: synchronous, every record an object, every number a float."""

    def __init__(self, url: str) -> None:
        from urllib.parse import urlsplit

        import v20

        address = urlsplit(url)
        self._api: Any = v20.Context(address.hostname, address.port, ssl=False, token="t")

    async def summary(self) -> object:
        result: object = self._api.account.summary("1").get("account", 200)
        return result

    async def order(self) -> object:
        result: object = self._api.order.create("1", order=ORDER)
        return result

    async def candles(self) -> object:
        answer = self._api.instrument.candles("EUR_USD", granularity="M1", count=5000)
        result: object = answer.get("candles", 200)
        return result

    async def trades(self) -> object:
        result: object = self._api.trade.list("1", count=500).get("trades", 200)
        return result

    def read_candles(self, body: bytes) -> object:
        build = self._api.instrument.Candlestick.from_dict
        return [build(each, self._api) for each in json.loads(body.decode())["candles"]]

    def read_trades(self, body: bytes) -> object:
        build = self._api.trade.Trade.from_dict
        return [build(each, self._api) for each in json.loads(body.decode())["trades"]]

    async def prices(self) -> AsyncIterator[object]:
        for _, item in self._api.pricing.stream("1", instruments="EUR_USD").parts():
            yield item


class BareHttpx:
    """httpx and json.loads: a script without a client."""

    def __init__(self, url: str) -> None:
        import httpx

        headers = {"Authorization": "Bearer t"}
        self._http = httpx.AsyncClient(base_url=f"{url}/v3", headers=headers, trust_env=False)

    async def summary(self) -> object:
        return json.loads((await self._http.get("/accounts/1/summary")).content)

    async def order(self) -> object:
        return json.loads(
            (await self._http.post("/accounts/1/orders", json={"order": ORDER})).content
        )

    async def candles(self) -> object:
        wanted: dict[str, str | int] = {"granularity": "M1", "count": 5000}
        return json.loads(
            (await self._http.get("/instruments/EUR_USD/candles", params=wanted)).content
        )

    async def trades(self) -> object:
        return json.loads(
            (await self._http.get("/accounts/1/trades", params={"count": 500})).content
        )

    def read_candles(self, body: bytes) -> object:
        return json.loads(body)

    def read_trades(self, body: bytes) -> object:
        return json.loads(body)

    async def prices(self) -> AsyncIterator[object]:
        async with self._http.stream("GET", "/accounts/1/pricing/stream") as answer:
            async for line in answer.aiter_lines():
                yield json.loads(line)


CLIENTS: dict[str, tuple[str, Callable[[str], UnderBench]]] = {
    "keydesk_client": ("keydesk_client", Keydesk),
    "fivetwenty": ("fivetwenty", FiveTwenty),
    "oandapyV20": ("oandapyV20", OandapyV20),
    "v20": ("v20", V20),
    "bare httpx": ("httpx", BareHttpx),
}
"""By name: the package that must be installed, and the class that uses it."""


async def costs(client: UnderBench) -> dict[str, float]:
    """Return the cost of each operation."""
    candles = [candles_body(seed=seed) for seed in range(DIFFERENT_BODIES)]
    trades = [trades_body(seed=seed) for seed in range(DIFFERENT_BODIES)]
    return {
        "summary ms": await _a_call(client.summary, CALLS),
        "order ms": await _a_call(client.order, CALLS),
        "5,000 candles asked for ms": await _a_call(client.candles, LARGE_CALLS),
        "500 trades asked for ms": await _a_call(client.trades, LARGE_CALLS),
        "5,000 candles read ms": _a_reading(client.read_candles, candles),
        "500 trades read ms": _a_reading(client.read_trades, trades),
        "5,000 candles held MB": _held(client.read_candles, candles[0]),
        "stream us a line": await _a_line(client),
    }


async def _a_call(call: Callable[[], Any], times: int) -> float:
    """Return the CPU milliseconds of a call; the first one, which loads modules, is not counted."""
    await call()
    began = time.process_time()
    for _ in range(times):
        await call()
    return (time.process_time() - began) / times * 1e3


def _a_reading(read: Callable[[bytes], object], bodies: list[bytes]) -> float:
    """Return the CPU milliseconds of the median read, without releasing the result.

    Each body differs from the one before: of the same body, a client that caches values would only read the cache.
    """
    return median(_spent(read, bodies[turn % len(bodies)]) for turn in range(READINGS))


def _spent(read: Callable[[bytes], object], body: bytes) -> float:
    began = time.process_time()
    held = read(body)
    spent = time.process_time() - began
    del held
    return spent * 1e3


def _held(read: Callable[[bytes], object], body: bytes) -> float:
    """Return the megabytes that the result occupies."""
    tracemalloc.start()
    held = read(body)
    megabytes = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    del held
    return megabytes


async def _a_line(client: UnderBench) -> float:
    """Return the CPU microseconds of a line of the price stream."""
    prices = client.prices()
    for _ in range(WARM_LINES):
        await anext(prices)
    began = time.process_time()
    for _ in range(LINES):
        await anext(prices)
    return (time.process_time() - began) / LINES * 1e6


def main(name: str, url: str) -> int:
    """Measure and print the figures; return the exit code."""
    package, build = CLIENTS[name]
    if find_spec(package) is None:
        return NOT_INSTALLED
    sys.stdout.write(json.dumps(asyncio.run(costs(build(url)))) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
