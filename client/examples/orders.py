"""Create, replace and cancel a resting order; see an invalid one refused before it is sent.

keydesk practice serve > practice.json &
python orders.py < practice.json
"""

import asyncio
import json
import sys
from decimal import Decimal

from keydesk_client import Client
from keydesk_client.errors import InvalidRequest, NotFound
from keydesk_client.models import LimitOrderRequest, StopLossDetails

line = json.loads(sys.stdin.readline())
account_id = line["accounts"][0]["id"]
place = {name: line[name] for name in ("rest_url", "stream_url", "token")}


async def main() -> None:
    async with Client(**place, account_id=account_id) as client:
        (euro,) = (await client.accounts.instruments(["EUR_USD"])).instruments
        (price,) = (await client.pricing.get(["EUR_USD"])).prices
        far = euro.round_price(price.bid * Decimal("0.9"))

        order = LimitOrderRequest(
            instrument="EUR_USD",
            units=1000,
            price=far,
            stop_loss_on_fill=StopLossDetails(distance="0.0100"),
        )
        created = await client.orders.create(order, instrument=euro)
        number = created.order_create_transaction.id
        print(f"order {number} waits at {far}")

        lower = order.with_(price=far - 10 * euro.pip)
        replaced = await client.orders.replace(number, lower, instrument=euro)
        number = replaced.order_create_transaction.id
        async for waiting in client.orders.iterate():
            print(waiting)

        await client.orders.cancel(number)
        print(f"order {number} is cancelled")

        try:
            await client.orders.cancel("99999999")
        except NotFound as error:
            print(f"{error.status}: {error.reject_reason}, request {error.request_id}")
        try:
            fine = LimitOrderRequest(instrument="EUR_USD", units=1000, price="1.123456")
            await client.orders.create(fine, instrument=euro)
        except InvalidRequest as error:
            print(f"not sent, because of {error.field}: {error}")


asyncio.run(main())
