"""Answers that are seldom given: what ends at once, what fills at once, what is refused with its own transaction."""

from support.checked import CheckedBroker
from support.data.checked_orders import away, limit, market

TOO_LONG = {"clientExtensions": {"id": "x" * 129}}


async def test_an_order_that_must_act_now_and_cannot_is_cancelled(broker: CheckedBroker) -> None:
    made = await broker.ask("create_order", 201, body=await limit(broker, timeInForce="FOK"))
    assert made["orderCancelTransaction"]["reason"] == "TIME_IN_FORCE_EXPIRED"


async def test_a_replacement_may_fill_at_once(broker: CheckedBroker) -> None:
    made = await broker.ask("create_order", 201, body=await limit(broker))
    replaced = await broker.ask(
        "replace_order",
        201,
        body=await limit(broker, 5),
        orderSpecifier=made["orderCreateTransaction"]["id"],
    )
    assert replaced["orderFillTransaction"]["reason"] == "LIMIT_ORDER"
    assert "replacingOrderCancelTransaction" not in replaced


async def test_a_replacement_may_be_cancelled_at_once(broker: CheckedBroker) -> None:
    made = await broker.ask("create_order", 201, body=await limit(broker))
    replaced = await broker.ask(
        "replace_order",
        201,
        body=await limit(broker, timeInForce="IOC"),
        orderSpecifier=made["orderCreateTransaction"]["id"],
    )
    ended = replaced["replacingOrderCancelTransaction"]
    assert ended["orderID"] == replaced["orderCreateTransaction"]["id"]
    assert replaced["orderCancelTransaction"]["reason"] == "CLIENT_REQUEST_REPLACED"


async def test_a_replacement_that_breaks_a_rule_leaves_the_order_alone(
    broker: CheckedBroker,
) -> None:
    made = await broker.ask("create_order", 201, body=await limit(broker))
    order = made["orderCreateTransaction"]["id"]
    wrong = await limit(broker, price="1.123456789")
    refused = await broker.ask("replace_order", 400, body=wrong, orderSpecifier=order)
    assert refused["errorCode"] == "PRICE_PRECISION_EXCEEDED"
    assert refused["orderRejectTransaction"]["intendedReplacesOrderID"] == order
    assert (await broker.ask("get_order", orderSpecifier=order))["order"]["state"] == "PENDING"


async def test_labels_that_are_too_long_are_refused(broker: CheckedBroker) -> None:
    made = await broker.ask("create_order", 201, body=await limit(broker))
    order = made["orderCreateTransaction"]["id"]
    refused = await broker.ask(
        "set_order_client_extensions", 400, body=TOO_LONG, orderSpecifier=order
    )
    assert refused["errorCode"] == "CLIENT_ORDER_ID_INVALID"
    opened = await broker.ask("create_order", 201, body=market())
    trade = opened["orderFillTransaction"]["id"]
    refused = await broker.ask(
        "set_trade_client_extensions", 400, body=TOO_LONG, tradeSpecifier=trade
    )
    assert refused["errorCode"] == "CLIENT_TRADE_ID_INVALID"


async def test_a_take_profit_or_stop_on_the_wrong_side_fills_at_once(
    broker: CheckedBroker,
) -> None:
    for member, percent in (("takeProfit", -1), ("stopLoss", 1)):
        opened = await broker.ask("create_order", 201, body=market())
        answer = await broker.ask(
            "set_trade_dependent_orders",
            body={member: {"price": await away(broker, percent)}},
            tradeSpecifier=opened["orderFillTransaction"]["id"],
        )
        closed = answer[f"{member}OrderFillTransaction"]["tradesClosed"]
        assert closed[0]["tradeID"] == opened["orderFillTransaction"]["id"]


async def test_trailing_and_guaranteed_stops_come_and_go(broker: CheckedBroker) -> None:
    opened = await broker.ask("create_order", 201, body=market())
    trade = opened["orderFillTransaction"]["id"]
    for member, details in (
        ("trailingStopLoss", {"distance": "0.05000"}),
        ("guaranteedStopLoss", {"price": await away(broker, -5)}),
    ):
        made = await broker.ask(
            "set_trade_dependent_orders", body={member: details}, tradeSpecifier=trade
        )
        created = made[f"{member}OrderTransaction"]["id"]
        gone = await broker.ask(
            "set_trade_dependent_orders", body={member: None}, tradeSpecifier=trade
        )
        assert gone[f"{member}OrderCancelTransaction"]["orderID"] == created


async def test_each_kind_of_dependent_order_is_refused_with_its_own_transaction(
    broker: CheckedBroker,
) -> None:
    opened = await broker.ask("create_order", 201, body=market())
    trade = opened["orderFillTransaction"]["id"]
    for member, details, reason in (
        ("takeProfit", {"price": "1.123456789"}, "PRICE_PRECISION_EXCEEDED"),
        ("stopLoss", {"distance": "0.123456789"}, "PRICE_DISTANCE_PRECISION_EXCEEDED"),
        ("trailingStopLoss", {"distance": "0.00001"}, "PRICE_DISTANCE_MINIMUM_NOT_MET"),
        ("guaranteedStopLoss", {"price": "1.123456789"}, "PRICE_PRECISION_EXCEEDED"),
    ):
        refused = await broker.ask(
            "set_trade_dependent_orders", 400, body={member: details}, tradeSpecifier=trade
        )
        assert refused["errorCode"] == reason
        assert refused[f"{member}OrderRejectTransaction"]["rejectReason"] == reason


async def test_a_short_side_is_closed_and_refused_like_a_long_one(broker: CheckedBroker) -> None:
    await broker.ask("create_order", 201, body=market("-1000"))
    too_many = await broker.ask(
        "close_position", 400, body={"shortUnits": "5000"}, instrument="EUR_USD"
    )
    assert too_many["errorCode"] == "CLOSEOUT_POSITION_UNITS_EXCEED_POSITION_SIZE"
    assert "shortOrderRejectTransaction" in too_many
    closed = await broker.ask("close_position", body={"shortUnits": "ALL"}, instrument="EUR_USD")
    assert closed["shortOrderFillTransaction"]["units"] == "1000"
    assert closed["shortOrderCreateTransaction"]["shortPositionCloseout"]["units"] == "ALL"
