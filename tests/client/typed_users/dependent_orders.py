"""Edits of what protects a trade: left as it is, taken away, or changed are three things, and three types."""

import asyncio
import sys
from typing import Literal, assert_type

from keydesk_client import UNSET, Client
from keydesk_client.models import MarketOrderRequest, StopLossDetails, TakeProfitDetails
from keydesk_client.unset import Unset

Edit = StopLossDetails | Unset | None


def words(edit: Edit) -> str:
    if edit is UNSET:
        assert_type(edit, Literal[Unset.UNSET])
        return "stays"
    if edit is None:
        return "goes"
    assert_type(edit, StopLossDetails)
    return f"moves to {edit.price}"


async def main() -> None:
    rest_url, stream_url, token, account_id = sys.stdin.read().split()
    async with Client(
        rest_url=rest_url, stream_url=stream_url, token=token, account_id=account_id
    ) as client:
        order = MarketOrderRequest(
            instrument="EUR_USD", units=10, take_profit_on_fill=TakeProfitDetails(price=2)
        )
        fill = (await client.orders.create(order)).order_fill_transaction
        assert fill is not None
        edits: list[Edit] = [StopLossDetails(price="0.5"), UNSET, None]
        for edit in edits:
            changed = await client.trades.set_dependent_orders(
                fill.id,
                stop_loss=edit,
                take_profit=TakeProfitDetails(price="2.1"),
                trailing_stop_loss=UNSET,
            )
            assert changed.take_profit_order_transaction is not None
            assert (changed.stop_loss_order_transaction is None) == (words(edit)[:5] != "moves")
            trade = (await client.trades.get(fill.id)).trade
            assert (trade.stop_loss_order is None) == (words(edit) == "goes")


asyncio.run(main())
