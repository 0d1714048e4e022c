"""Open a trade with a stop-loss, replace that by a take-profit, and close the trade in two parts.

keydesk practice serve > practice.json &
python trades.py < practice.json
"""

import asyncio
import json
import sys
from decimal import Decimal

from keydesk_client import Client
from keydesk_client.models import MarketOrderRequest, StopLossDetails, TakeProfitDetails

line = json.loads(sys.stdin.readline())
account_id = line["accounts"][0]["id"]
place = {name: line[name] for name in ("rest_url", "stream_url", "token")}


async def main() -> None:
    async with Client(**place, account_id=account_id) as client:
        order = MarketOrderRequest(
            instrument="EUR_USD",
            units=10_000,
            stop_loss_on_fill=StopLossDetails(distance="0.0050"),
        )
        fill = (await client.orders.create(order)).order_fill_transaction
        if fill is None or fill.trade_opened is None:
            print("not filled")
            return
        trade_id, paid = fill.trade_opened.trade_id, fill.trade_opened.price
        print(f"trade {trade_id}: {fill.trade_opened.units} at {paid}")

        # None cancels the stop-loss, details create a take-profit, orders left out are unchanged
        target = TakeProfitDetails(price=(paid + Decimal("0.0200")).quantize(Decimal("0.00001")))
        await client.trades.set_dependent_orders(trade_id, take_profit=target, stop_loss=None)
        trade = (await client.trades.get(trade_id)).trade
        print(f"take-profit {trade.take_profit_order}, stop-loss {trade.stop_loss_order}")

        await client.trades.close(trade_id, units=4000)
        await client.trades.close(trade_id)
        async for each in client.trades.iterate(state="CLOSED"):
            print(f"trade {each.id} earned {each.realized_pl}")


asyncio.run(main())
