"""Every line of both streams is what the wire reference says."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from support.checked import CheckedBroker
from support.data.checked_orders import market

STREAMS = {
    "stream_pricing": ("pricing/stream", "PricingStreamItem"),
    "stream_transactions": ("transactions/stream", "TransactionStreamItem"),
}


async def lines(
    broker: CheckedBroker,
    operation: str,
    count: int,
    query: Mapping[str, str],
    headers: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Return the first lines of a stream, each held against the reference."""
    path, union = STREAMS[operation]
    address = f"/v3/accounts/{broker.server.account_id}/{path}"
    found: list[dict[str, Any]] = []
    async with broker.server.http.stream("GET", address, params=query, headers=headers) as answer:
        assert answer.status_code == 200
        async for line in answer.aiter_lines():
            found.append(json.loads(line))
            if len(found) == count:
                break
        for item in found:
            assert broker.wire.item_problems(union, item) == []
            broker.record.note(operation, 200, item, answer.headers, [*query, *headers])
    return found


@pytest.mark.parametrize("form", ["RFC3339", "UNIX"])
async def test_price_lines_carry_what_was_asked_for(broker: CheckedBroker, form: str) -> None:
    broker.wire.unix_times = form == "UNIX"
    query = {"instruments": "EUR_USD,USD_JPY", "snapshot": "true", "includeHomeConversions": "true"}
    headers = {"Accept-Datetime-Format": form}
    found = await lines(broker, "stream_pricing", 2, query, headers)
    assert {one["instrument"] for one in found[:2]} == {"EUR_USD", "USD_JPY"}
    assert all("homeConversions" in one for one in found)


async def test_transaction_lines_are_those_of_the_ledger(broker: CheckedBroker) -> None:
    listening = asyncio.create_task(lines(broker, "stream_transactions", 3, {}, {}))
    while not listening.done():
        await broker.ask("create_order", 201, body=market("10"))
    beat, *made = listening.result()
    assert beat["type"] == "HEARTBEAT"
    for one in made:
        known = await broker.ask("get_transaction", transactionID=one["id"])
        assert known["transaction"] == one
