"""The same tasks with fivetwenty 0.5.1; `connect` returns a runner, since everything is a coroutine."""

# ruff: noqa: ANN401, PLW0603, PLC0415, RET503 - other clients have no types, and scripts are as short as can be

import asyncio
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from fivetwenty.exceptions import FiveTwentyError

ACCOUNT = ""


class Runner:
    """Calls the coroutines below in one event loop."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.runner = asyncio.Runner()


def connect(url: str, token: str, account: str) -> Any:
    global ACCOUNT
    import httpx
    from fivetwenty import AsyncClient

    class Place:
        base_url = stream_url = f"{url}/v3"

    ACCOUNT = account
    headers = {"Authorization": f"Bearer {token}"}
    http = httpx.AsyncClient(base_url=Place.base_url, headers=headers, trust_env=False)
    client: Any = AsyncClient(token=token, account_id=account, transport=http)
    client._environment = Place
    return Runner(client)


async def nav(client: Any) -> Any:
    return (await client.accounts.get_account_summary(ACCOUNT))["account"].nav


async def bracket(client: Any, stop: str, target: str) -> Any:
    stops = {"stop_loss": Decimal(stop), "take_profit": Decimal(target)}
    answer = await client.orders.post_market_order(ACCOUNT, "EUR_USD", 1000, **stops)
    return answer["orderFillTransaction"].id


async def year_of_hours(client: Any) -> Any:
    found: list[Any] = []
    start, end = datetime(2023, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)
    get = client.instruments.get_instrument_candles
    while True:
        answer = await get("EUR_USD", granularity="H1", count=5000, from_time=start)
        page = [each for each in answer["candles"] if each.time < end]
        page = page[1:] if found else page
        found += page
        if len(page) < 4999:
            return found
        start = page[-1].time


async def ten_prices(client: Any) -> Any:
    found = []
    async for item in client.pricing.get_pricing_stream(ACCOUNT, ["EUR_USD"]):
        found.append(item)
        if len(found) == 10:
            return [each.bids[0].price for each in found if each.type == "PRICE"]


async def no_transaction_lost(client: Any, since: str) -> Any:
    seen = int(since)
    async for item in client.transactions.get_transactions_stream(ACCOUNT):
        last = int(getattr(item, "id", None) or item.last_transaction_id)
        if last > seen:
            answer = await client.transactions.get_transactions_since_id(ACCOUNT, str(seen))
            return [each.id for each in answer["transactions"]][:3]


async def all_transactions(client: Any) -> Any:
    found: list[Any] = []
    last = 0
    while True:
        answer = await client.transactions.get_transactions_since_id(ACCOUNT, str(last))
        found += answer["transactions"]
        if not answer["transactions"]:
            return found
        last = int(found[-1].id)


async def close_all(client: Any) -> Any:
    closed = []
    for position in (await client.positions.get_open_positions(ACCOUNT))["positions"]:
        sides = {"long_units": position.long.units, "short_units": position.short.units}
        sides = {side: "ALL" for side, units in sides.items() if units}
        name = position.instrument
        closed.append(await client.positions.close_position(ACCOUNT, name, **sides))
    return closed


async def reject_reason(client: Any) -> Any:
    try:
        await client.orders.post_market_order(ACCOUNT, "EUR_USD", 10_000_000_000)
    except FiveTwentyError as error:
        return error.code
