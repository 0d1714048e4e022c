"""Every answer of the practice broker is what the wire reference says, member by member."""

import pytest

from support.checked import CheckedBroker
from support.data.checked_orders import Order, away, limit, market


async def test_accounts_are_listed_and_read(broker: CheckedBroker) -> None:
    listed = await broker.ask("list_accounts")
    assert [one["id"] for one in listed["accounts"]] == [one.id for one in broker.server.accounts]
    details = await broker.ask("get_account")
    assert details["account"]["balance"] == "100000.0000"
    summary = await broker.ask("get_account_summary")
    assert summary["account"].keys() == details["account"].keys() - {
        "trades",
        "positions",
        "orders",
    }
    assert summary["lastTransactionID"] == "3"


async def test_both_accounts_have_their_currency(broker: CheckedBroker) -> None:
    one = await broker.ask("get_account_summary", accountID=broker.server.hedging_id)
    assert one["account"]["currency"] == "EUR"
    assert one["account"]["hedgingEnabled"] is True


async def test_instruments_are_listed_all_or_those_asked_for(broker: CheckedBroker) -> None:
    everything = await broker.ask("list_instruments")
    assert len(everything["instruments"]) >= 60
    two = await broker.ask("list_instruments", query={"instruments": "USD_JPY,EUR_USD"})
    assert [one["name"] for one in two["instruments"]] == ["USD_JPY", "EUR_USD"]
    await broker.ask("list_instruments", 400, query={"instruments": "EUR_XXX"})


async def test_the_margin_rate_is_there_from_the_start(broker: CheckedBroker) -> None:
    for operation in ("get_account", "get_account_summary"):
        assert (await broker.ask(operation))["account"]["marginRate"] == "0.02"


async def test_settings_change_and_are_refused(broker: CheckedBroker) -> None:
    await broker.ask("configure_account", body={"alias": "Mine", "marginRate": "0.05"})
    summary = await broker.ask("get_account_summary")
    assert (summary["account"]["alias"], summary["account"]["marginRate"]) == ("Mine", "0.05")
    await broker.ask("configure_account", 400, body={"marginRate": "7"})
    await broker.ask("configure_account", 400, body={})
    for body, reason in (
        ({"marginRate": "half"}, "MARGIN_RATE_INVALID"),
        ({"marginRate": [1]}, "MARGIN_RATE_INVALID"),
        ({"marginRate": "1e999999"}, "MARGIN_RATE_INVALID"),
        ({"alias": 5}, "ALIAS_INVALID"),
        ({"alias": "x" * 9_000, "marginRate": True}, "ALIAS_INVALID"),
        ({"alias": None, "marginRate": None}, "CLIENT_CONFIGURE_DATA_MISSING"),
        (None, "CLIENT_CONFIGURE_DATA_MISSING"),
    ):
        refused = await broker.ask("configure_account", 400, body=body)
        reject = refused["clientConfigureRejectTransaction"]
        assert (reject["rejectReason"], refused["errorCode"]) == (reason, reason)
        assert refused["lastTransactionID"] == reject["id"]
    unchanged = (await broker.ask("get_account_summary"))["account"]
    assert (unchanged["alias"], unchanged["marginRate"]) == ("Mine", "0.05")


async def test_a_market_order_fills_and_changes_tell_of_it(broker: CheckedBroker) -> None:
    level, target = await away(broker, -5), await away(broker, 5)
    body = market(takeProfitOnFill={"price": target}, stopLossOnFill={"price": level})
    made = await broker.ask("create_order", 201, body=body)
    assert broker.last is not None
    order_id = made["orderCreateTransaction"]["id"]
    assert broker.last.headers["Location"].endswith(f"/orders/{order_id}")
    assert made["orderFillTransaction"]["requestID"] == broker.last.headers["RequestID"]
    assert made["relatedTransactionIDs"] == ["4", "5", "6", "7"]
    polled = await broker.ask("poll_changes", query={"sinceTransactionID": "3"})
    assert [one["id"] for one in polled["changes"]["tradesOpened"]] == ["5"]
    assert len(polled["changes"]["ordersCreated"]) == 3
    nothing = await broker.ask("poll_changes", query={"sinceTransactionID": "7"})
    assert nothing["changes"]["transactions"] == []
    assert len(nothing["state"]["trades"]) == 1


async def test_changes_refuse_ids_that_make_no_sense(broker: CheckedBroker) -> None:
    await broker.ask("poll_changes", 416, query={"sinceTransactionID": "99"})
    for text in ("0", "-1", "x", ""):
        await broker.ask("poll_changes", 400, query={"sinceTransactionID": text})
    await broker.ask("poll_changes", 400)


async def test_an_order_that_breaks_a_rule_is_rejected_with_a_transaction(
    broker: CheckedBroker,
) -> None:
    refused = await broker.ask("create_order", 400, body=market(timeInForce="GTC"))
    assert refused["errorCode"] == "TIME_IN_FORCE_INVALID"
    assert refused["lastTransactionID"] == "4"
    far = await broker.ask("create_order", 400, body=market(units="1000000000000"))
    assert far["errorCode"] == "UNITS_LIMIT_EXCEEDED"
    close = {"order": {"type": "STOP_LOSS", "tradeID": "99", "price": "1.0"}}
    absent = await broker.ask("create_order", 404, body=close)
    assert absent["errorCode"] == "TRADE_DOESNT_EXIST"


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (market(instrument="EUR_XXX"), "order.instrument"),
        (market(units="many"), "order.units"),
        (market(timeInForce="SOON"), "order.timeInForce"),
        (market(stopLossOnFill={"price": "low"}), "order.stopLossOnFill.price"),
        (market(clientExtensions=7), "order.clientExtensions"),
        ({"order": {"type": "MAGIC"}}, "order.type"),
        ({}, "order"),
    ],
)
async def test_a_malformed_order_is_refused_by_name_without_a_transaction(
    broker: CheckedBroker, body: Order, named: str
) -> None:
    refused = await broker.ask("create_order", 400, body=body)
    assert f"'{named}'" in refused["errorMessage"]
    summary = await broker.ask("get_account_summary")
    assert summary["lastTransactionID"] == "3"


async def test_a_pending_order_lives_its_life(broker: CheckedBroker) -> None:
    body = await limit(broker, clientExtensions={"id": "mine/1", "tag": "t"})
    made = await broker.ask("create_order", 201, body=body)
    order_id = made["orderCreateTransaction"]["id"]
    assert (await broker.ask("list_orders"))["orders"][0]["id"] == order_id
    assert (await broker.ask("list_pending_orders"))["orders"][0]["state"] == "PENDING"
    one = await broker.ask("get_order", orderSpecifier="@mine/1")
    assert one["order"]["id"] == order_id
    labels = {"clientExtensions": {"comment": "watch"}, "tradeClientExtensions": {"id": "t1"}}
    await broker.ask("set_order_client_extensions", body=labels, orderSpecifier=order_id)
    replaced = await broker.ask(
        "replace_order", 201, body=await limit(broker, units="2000"), orderSpecifier=order_id
    )
    new_id = replaced["orderCreateTransaction"]["id"]
    assert replaced["orderCancelTransaction"]["replacedByOrderID"] == new_id
    await broker.ask("cancel_order", orderSpecifier=new_id)
    ended = await broker.ask("get_order", orderSpecifier=new_id)
    assert ended["order"]["state"] == "CANCELLED"


async def test_orders_that_are_not_there_are_said_so(broker: CheckedBroker) -> None:
    await broker.ask("get_order", 404, orderSpecifier="99")
    await broker.ask("get_order", 404, orderSpecifier="@nobody")
    await broker.ask("cancel_order", 404, orderSpecifier="99")
    await broker.ask("replace_order", 404, body=await limit(broker), orderSpecifier="99")
    labels = {"clientExtensions": {"tag": "x"}}
    await broker.ask("set_order_client_extensions", 404, body=labels, orderSpecifier="99")


async def test_an_ended_order_cannot_be_cancelled_again(broker: CheckedBroker) -> None:
    made = await broker.ask("create_order", 201, body=await limit(broker))
    order_id = made["orderCreateTransaction"]["id"]
    await broker.ask("cancel_order", orderSpecifier=order_id)
    refused = await broker.ask("cancel_order", 400, orderSpecifier=order_id)
    assert refused["errorCode"] == "ORDER_DOESNT_EXIST"


async def test_lists_come_in_pages(broker: CheckedBroker) -> None:
    for _ in range(5):
        await broker.ask("create_order", 201, body=await limit(broker))
    first = await broker.ask("list_orders", query={"count": "2", "instrument": "EUR_USD"})
    assert broker.last is not None
    link = broker.last.links["next"]["url"]
    rest = (
        await broker.server.http.get(link.partition("/v3")[1] + link.partition("/v3")[2])
    ).json()
    ids = [one["id"] for one in (*first["orders"], *rest["orders"])]
    assert ids == ["8", "7", "6", "5"]
    for text in ("0", "501", "x"):
        await broker.ask("list_orders", 400, query={"count": text})
    await broker.ask("list_orders", 400, query={"state": "LOST"})
    await broker.ask("list_trades", 400, query={"count": "501"})


async def test_a_trade_lives_its_life(broker: CheckedBroker) -> None:
    body = market(tradeClientExtensions={"id": "my trade"})
    made = await broker.ask("create_order", 201, body=body)
    trade_id = made["orderFillTransaction"]["tradeOpened"]["tradeID"]
    assert (await broker.ask("list_trades"))["trades"][0]["id"] == trade_id
    assert len((await broker.ask("list_open_trades"))["trades"]) == 1
    await broker.ask("get_trade", tradeSpecifier="@my trade")
    level, target = await away(broker, -5), await away(broker, 5)
    both = {"takeProfit": {"price": target}, "stopLoss": {"price": level}}
    for nothing in ({}, {"takeProfit": None}, {"unknown": 1}):
        same = await broker.ask("set_trade_dependent_orders", body=nothing, tradeSpecifier=trade_id)
        assert same == {"relatedTransactionIDs": [], "lastTransactionID": trade_id}
    await broker.ask("set_trade_dependent_orders", body=both, tradeSpecifier=trade_id)
    changed = await broker.ask(
        "set_trade_dependent_orders",
        body={"takeProfit": None, "stopLoss": {"price": await away(broker, -6)}},
        tradeSpecifier=trade_id,
    )
    assert "takeProfitOrderCancelTransaction" in changed
    assert "stopLossOrderCancelTransaction" in changed
    assert "stopLossOrderTransaction" in changed
    labels = {"clientExtensions": {"comment": "hold"}}
    await broker.ask("set_trade_client_extensions", body=labels, tradeSpecifier=trade_id)
    await broker.ask("close_trade", body={"units": "400"}, tradeSpecifier=trade_id)
    closed = await broker.ask("close_trade", body={}, tradeSpecifier=trade_id)
    assert closed["orderFillTransaction"]["tradesClosed"][0]["units"] == "-600"
    trade = await broker.ask("get_trade", tradeSpecifier=trade_id)
    assert trade["trade"]["state"] == "CLOSED"
    await broker.ask("list_trades", query={"state": "ALL"})


async def test_trades_that_are_not_there_are_said_so(broker: CheckedBroker) -> None:
    await broker.ask("get_trade", 404, tradeSpecifier="99")
    await broker.ask("close_trade", 404, body={"units": "ALL"}, tradeSpecifier="99")
    labels = {"clientExtensions": {"tag": "x"}}
    await broker.ask("set_trade_client_extensions", 404, body=labels, tradeSpecifier="99")
    await broker.ask(
        "set_trade_dependent_orders", 404, body={"stopLoss": None}, tradeSpecifier="99"
    )


async def test_bad_closes_are_refused(broker: CheckedBroker) -> None:
    await broker.ask("create_order", 201, body=market())
    too_much = await broker.ask("close_trade", 400, body={"units": "5000"}, tradeSpecifier="5")
    assert too_much["errorCode"] == "CLOSE_TRADE_UNITS_EXCEED_TRADE_SIZE"
    wrong: list[object] = ["0", "-5", "some", None, "", [], {}, True, "all"]
    for units in wrong:
        refused = await broker.ask("close_trade", 400, body={"units": units}, tradeSpecifier="5")
        assert refused == {"errorMessage": "Invalid value specified for 'units'"}


async def test_bad_dependents_leave_everything_as_it_was(broker: CheckedBroker) -> None:
    await broker.ask("create_order", 201, body=market())
    refused = await broker.ask(
        "set_trade_dependent_orders",
        400,
        body={"takeProfit": {"price": await away(broker, 5)}, "stopLoss": {"price": "1.123456789"}},
        tradeSpecifier="5",
    )
    assert "stopLossOrderRejectTransaction" in refused
    trade = await broker.ask("get_trade", tradeSpecifier="5")
    assert "takeProfitOrder" not in trade["trade"]


async def test_positions_are_read_and_closed(broker: CheckedBroker) -> None:
    await broker.ask("get_position", 404, instrument="EUR_USD")
    await broker.ask("get_position", 404, instrument="EUR_XXX")
    await broker.ask("create_order", 201, body=market())
    assert len((await broker.ask("list_open_positions"))["positions"]) == 1
    one = await broker.ask("get_position", instrument="EUR_USD")
    assert one["position"]["long"]["units"] == "1000"
    half = await broker.ask("close_position", body={"longUnits": "500"}, instrument="EUR_USD")
    assert half["longOrderFillTransaction"]["units"] == "-500"
    both = await broker.ask(
        "close_position", 404, body={"longUnits": "ALL", "shortUnits": "ALL"}, instrument="EUR_USD"
    )
    assert both["errorCode"] == "CLOSEOUT_POSITION_DOESNT_EXIST"
    await broker.ask("close_position", body={"longUnits": "ALL"}, instrument="EUR_USD")
    assert (await broker.ask("list_open_positions"))["positions"] == []
    assert len((await broker.ask("list_positions"))["positions"]) == 1
    await broker.ask("close_position", 404, body={"longUnits": "ALL"}, instrument="EUR_USD")
    await broker.ask("close_position", 400, body={}, instrument="EUR_USD")
    await broker.ask("close_position", 404, body={"longUnits": "ALL"}, instrument="EUR_XYZ")
    await broker.ask("close_position", 400, body={"longUnits": "ALL"}, instrument="EURUSD")


async def test_transactions_are_paged_ranged_and_filtered(broker: CheckedBroker) -> None:
    await broker.ask("create_order", 201, body=market())
    pages = await broker.ask("list_transactions", query={"pageSize": "2"})
    assert pages["count"] == 5
    assert [page.partition("?")[2] for page in pages["pages"]] == [
        "from=1&to=2",
        "from=3&to=4",
        "from=5&to=5",
    ]
    filtered = await broker.ask("list_transactions", query={"type": "ORDER_FILL,FUNDING"})
    assert (filtered["count"], filtered["type"]) == (2, ["ORDER_FILL", "FUNDING"])
    ranged = await broker.ask("transactions_range", query={"from": "1", "to": "5"})
    assert [one["id"] for one in ranged["transactions"]] == ["1", "2", "3", "4", "5"]
    fills = await broker.ask("transactions_range", query={"from": "1", "to": "5", "type": "ORDER"})
    assert [one["type"] for one in fills["transactions"]] == ["MARKET_ORDER", "ORDER_FILL"]
    since = await broker.ask("transactions_since", query={"id": "3"})
    assert [one["id"] for one in since["transactions"]] == ["4", "5"]
    one = await broker.ask("get_transaction", transactionID="5")
    assert one["transaction"]["type"] == "ORDER_FILL"


async def test_transactions_that_are_not_there_are_said_so(broker: CheckedBroker) -> None:
    await broker.ask("get_transaction", 404, transactionID="99")
    await broker.ask("get_transaction", 400, transactionID="five")
    await broker.ask("transactions_range", 404, query={"from": "1", "to": "99"})
    await broker.ask("transactions_range", 400, query={"from": "3", "to": "1"})
    await broker.ask("transactions_range", 400, query={"from": "3"})
    await broker.ask("transactions_since", 404, query={"id": "99"})
    await broker.ask("list_transactions", 400, query={"pageSize": "1001"})
    await broker.ask("list_transactions", 400, query={"type": "MAGIC"})
    await broker.ask("list_transactions", 400, query={"from": "yesterday"})


async def test_prices_are_those_in_force(broker: CheckedBroker) -> None:
    asked = {"instruments": "EUR_USD,USD_JPY", "includeHomeConversions": "true"}
    found = await broker.ask("get_pricing", query=asked)
    assert [one["instrument"] for one in found["prices"]] == ["EUR_USD", "USD_JPY"]
    assert {one["currency"] for one in found["homeConversions"]} == {"EUR", "USD", "JPY"}
    nothing = await broker.ask(
        "get_pricing", query={"instruments": "EUR_USD", "since": "2100-01-01T00:00:00Z"}
    )
    assert nothing["prices"] == []
    await broker.ask("get_pricing", 400)
    await broker.ask("get_pricing", 400, query={"instruments": "EUR_XXX"})
    await broker.ask("get_pricing", 400, query={"instruments": "EUR_USD", "since": "now"})


async def test_times_come_in_unix_form_when_asked_for(broker: CheckedBroker) -> None:
    await broker.ask("create_order", 201, body=await limit(broker))
    broker.wire.unix_times = True
    unix = {"Accept-Datetime-Format": "UNIX"}
    await broker.ask("create_order", 201, body=market(), headers=unix)
    await broker.ask("get_account", headers=unix)
    await broker.ask("get_pricing", headers=unix, query={"instruments": "EUR_USD"})
    await broker.ask("list_orders", headers=unix)
    await broker.ask("list_trades", headers=unix)
    await broker.ask("poll_changes", headers=unix, query={"sinceTransactionID": "1"})
    await broker.ask("list_transactions", headers=unix)
    await broker.ask("transactions_range", headers=unix, query={"from": "1", "to": "6"})
    await broker.ask("get_transaction", headers=unix, transactionID="3")


async def test_candles_are_answered_at_both_levels(broker: CheckedBroker) -> None:
    asked = {"granularity": "M1", "count": "10", "price": "MBA"}
    plain = await broker.ask("instrument_candles", instrument="EUR_USD", query=asked)
    assert len(plain["candles"]) == 10
    sized = {**asked, "units": "1000000"}
    await broker.ask("account_instrument_candles", instrument="EUR_USD", query=sized)
    latest = {"candleSpecifications": "EUR_USD:M1:BM,USD_JPY:S5:M"}
    found = await broker.ask("latest_candles", query=latest)
    assert [one["instrument"] for one in found["latestCandles"]] == ["EUR_USD", "USD_JPY"]


@pytest.mark.parametrize(
    "query",
    [
        {"granularity": "M7"},
        {"price": "X"},
        {"count": "5001"},
        {"count": "0"},
        {"from": "2020-01-01T00:00:00Z", "to": "2020-02-01T00:00:00Z", "count": "5"},
        {"from": "2020-01-01T00:00:00Z", "to": "2020-02-01T00:00:00Z", "granularity": "S5"},
        {"to": "2100-01-01T00:00:00Z"},
        {"from": "2100-01-01T00:00:00Z"},
        {"dailyAlignment": "24"},
        {"alignmentTimezone": "Mars/Olympus"},
        {"alignmentTimezone": "../../../etc/passwd"},
        {"weeklyAlignment": "Someday"},
        {"smooth": "maybe"},
    ],
)
async def test_bad_candle_requests_are_refused(
    broker: CheckedBroker, query: dict[str, str]
) -> None:
    await broker.ask("instrument_candles", 400, instrument="EUR_USD", query=query)
    assert broker.last is not None
    assert broker.last.json().keys() == {"errorMessage"}


@pytest.mark.parametrize("operation", ["instrument_candles", "account_instrument_candles"])
async def test_there_are_no_candles_of_an_unknown_instrument(
    broker: CheckedBroker, operation: str
) -> None:
    refused = await broker.ask(operation, 404, instrument="EUR_XXX")
    assert refused == {"errorMessage": "The instrument specified does not exist"}


@pytest.mark.parametrize("operation", ["instrument_candles", "account_instrument_candles"])
@pytest.mark.parametrize("name", ["EURUSD", "eur_usd", "EUR_", "EUR/USD", "EUR_USD_X", " EUR_USD"])
async def test_a_malformed_instrument_is_named_as_invalid(
    broker: CheckedBroker, operation: str, name: str
) -> None:
    refused = await broker.ask(operation, 400, instrument=name)
    assert refused == {"errorMessage": "Invalid value specified for 'instrument'"}


async def test_candle_specifications_that_are_none_are_refused(broker: CheckedBroker) -> None:
    await broker.ask("latest_candles", 400, query={"candleSpecifications": "EUR_XXX:M1:M"})
    await broker.ask("latest_candles", 400, query={"candleSpecifications": "EUR_USD:M1"})
    await broker.ask("latest_candles", 400)


async def test_books_are_snapshots_with_their_neighbours(broker: CheckedBroker) -> None:
    for operation, member in (
        ("get_order_book", "orderBook"),
        ("get_position_book", "positionBook"),
    ):
        found = await broker.ask(operation, instrument="EUR_USD")
        assert broker.last is not None
        assert broker.last.headers["Content-Encoding"] == "gzip"
        assert "prev" in broker.last.links
        time = found[member]["time"]
        again = await broker.ask(operation, instrument="EUR_USD", query={"time": time})
        assert again == found
        between = time.replace(":00.0", ":01.0")
        await broker.ask(operation, 404, instrument="EUR_USD", query={"time": between})
        await broker.ask(operation, 400, instrument="EUR_USD", query={"time": "noon"})
