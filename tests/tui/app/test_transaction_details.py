"""The relations of transactions, both ways, read from the practice broker and from one that refuses."""

from decimal import Decimal

from keydesk.app.pages.transaction_details import read_details, read_orders
from keydesk.parse.pages import OrdersIn
from keydesk.store.store import Store
from keydesk.store.transactions.account_orders import OrderList
from keydesk.store.transactions.details import TransactionDetails
from keydesk_client.client import Client
from keydesk_client.models import (
    MarketOrderRequest,
    StopLossDetails,
    StopLossOrderRequest,
    TakeProfitDetails,
)
from support.broker import PracticeServer
from support.data.account_history import fresh_store, transaction
from support.fakes.scripted_broker import ScriptedBroker, link_to


async def details(client: Client, store: Store, id_: str) -> TransactionDetails:
    """Return what is known in the end."""
    taken: list[TransactionDetails] = []
    await read_details(client, store, id_, taken.append)
    assert all(each.loading for each in taken[:-1])
    return taken[-1]


async def listed(client: Client, state: OrdersIn, before_id: str = "") -> OrderList:
    taken: list[OrderList] = []
    await read_orders(client, Store(), state, before_id, taken.append)
    [page] = taken
    return page


def related(known: TransactionDetails) -> dict[str, str]:
    return {each.id: each.how for each in known.related}


async def test_from_the_order_to_the_close_and_back_each_transaction_is_reached(
    desk_of_my_own: PracticeServer,
) -> None:
    server, store = desk_of_my_own, Store()
    async with Client(
        token=server.token,
        rest_url=server.rest_url,
        stream_url=server.stream_url,
        account_id=server.account_id,
    ) as client:
        opened = await client.orders.create(
            MarketOrderRequest(
                instrument="EUR_USD",
                units=Decimal(1000),
                stop_loss_on_fill=StopLossDetails(distance=Decimal("0.05000")),
                take_profit_on_fill=TakeProfitDetails(distance=Decimal("0.05000")),
            )
        )
        fill = opened.order_fill_transaction
        assert fill is not None
        assert fill.trade_opened is not None
        trade = (await client.trades.get(fill.trade_opened.trade_id)).trade
        stop = trade.stop_loss_order
        assert stop is not None
        assert stop.price is not None
        moved = await client.orders.replace(
            stop.id, StopLossOrderRequest(trade_id=trade.id, price=stop.price + Decimal("0.01000"))
        )
        new_stop = moved.order_create_transaction.id
        closed = await client.trades.close(trade.id)
        assert closed.order_fill_transaction is not None
        close = closed.order_fill_transaction.id

        filled = (await listed(client, "FILLED")).orders
        texts = [each.text for each in filled]
        closing, opening_order = f"closed #{trade.id}", f"opened #{trade.id}"
        assert (closing in texts[0], opening_order in texts[1]) == (True, True)
        assert texts[1].startswith("BUY 1,000 EUR/USD market #")
        cancelled = {each.id: each.text for each in (await listed(client, "CANCELLED")).orders}
        assert f"replaced by #{new_stop}" in cancelled[stop.id]
        newest = (await listed(client, "ALL")).orders[0]
        older = await listed(client, "ALL", str(int(newest.id) - 1))
        assert newest.id not in {each.id for each in older.orders}

        order = await details(client, store, fill.order_id)
        assert related(order)[fill.id] == "filled by"
        assert "Market buy 1,000" in dict(order.rows)["what"]
        opening = await details(client, store, fill.id)
        assert related(opening)[fill.order_id] == "order"
        assert related(opening)[close] == f"closed trade #{trade.id}"
        assert related(opening)[stop.id] == "same request"
        first_stop = await details(client, store, stop.id)
        assert related(first_stop)[new_stop] == "replaced by order"
        assert related(first_stop)[trade.id] == "made by the fill"
        second = await details(client, store, new_stop)
        assert related(second)[stop.id] == "replaces order"
        assert "cancelled by" in related(second).values()
        ending = await details(client, store, close)
        assert related(ending)[trade.id] == "opened the trade that it closed"
        lines = [each.line for each in ending.related]
        assert all(line is not None and line.text for line in lines)
        assert not ending.troubles
        assert not ending.loading
        assert dict(ending.raw)["tradesClosed[0].tradeID"] == trade.id


async def test_a_broker_that_refuses_is_named_and_what_can_be_read_is_shown() -> None:
    broker = ScriptedBroker(last_id=9, statuses={"/orders/8": 404, "/trades/7": 403})
    fills = transaction(
        9, "STOP_LOSS_ORDER", tradeID="7", price="1.08", timeInForce="GTC", reason="CLIENT_ORDER",
        triggerCondition="DEFAULT", replacesOrderID="8",
    )  # fmt: skip
    broker.answers = {
        "/transactions/9": {"transaction": fills.to_wire(), "lastTransactionID": "9"},
        "/idrange": {"transactions": [fills.to_wire()], "lastTransactionID": "9"},
    }
    broker.statuses |= {"/orders/9": 500, "/transactions/8": 404, "/transactions/7": 404}
    feed = link_to(broker)
    known = await details(feed.client, fresh_store(), "9")
    await feed.client.close()
    assert related(known) == {"8": "replaces order", "7": "opened the trade"}
    assert "Stop 1.08 for #7" in dict(known.rows)["what"]
    assert [each.partition(" cannot")[0] for each in known.troubles] == [
        "its order", "its trade", "#8", "#7"
    ]  # fmt: skip
    assert not known.loading


async def test_a_transaction_that_is_refused_says_so() -> None:
    feed = link_to(ScriptedBroker(statuses={"/transactions/5": 404}))
    known = await details(feed.client, fresh_store(), "5")
    await feed.client.close()
    assert known.troubles[0].startswith("the transaction cannot be read")
    assert known.related == ()
