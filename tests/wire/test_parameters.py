"""Every parameter of every operation does what it says; those of candles are also tested in the market's own tests."""

from datetime import datetime
from decimal import Decimal

import pytest

from support.checked import CheckedBroker
from support.data.checked_orders import limit, market

UNIX = {"Accept-Datetime-Format": "UNIX"}
SPAN = {"from": "2024-03-01T00:00:00Z", "to": "2024-03-20T00:00:00Z"}
CANDLES = ("instrument_candles", "account_instrument_candles")
BOOKS = ("get_order_book", "get_position_book")


@pytest.mark.parametrize("operation", CANDLES)
async def test_daily_candles_begin_at_the_hour_asked_for(
    broker: CheckedBroker, operation: str
) -> None:
    asked = {**SPAN, "granularity": "D", "dailyAlignment": "5", "alignmentTimezone": "Asia/Tokyo"}
    found = await broker.ask(operation, instrument="EUR_USD", query=asked)
    assert {one["time"][11:] for one in found["candles"]} == {"20:00:00.000000000Z"}


@pytest.mark.parametrize("operation", CANDLES)
async def test_weekly_candles_begin_on_the_day_asked_for(
    broker: CheckedBroker, operation: str
) -> None:
    asked = {**SPAN, "granularity": "W", "weeklyAlignment": "Monday", "alignmentTimezone": "UTC"}
    found = await broker.ask(operation, instrument="EUR_USD", query=asked)
    days = [datetime.fromisoformat(one["time"][:19]).strftime("%A") for one in found["candles"]]
    assert set(days) == {"Monday"}


@pytest.mark.parametrize("operation", CANDLES)
async def test_the_candle_that_covers_the_beginning_may_be_left_out(
    broker: CheckedBroker, operation: str
) -> None:
    asked = {**SPAN, "from": "2024-03-05T12:00:00Z", "granularity": "D"}
    every = await broker.ask(operation, instrument="EUR_USD", query=asked)
    later = await broker.ask(
        operation, instrument="EUR_USD", query={**asked, "includeFirst": "false"}
    )
    assert later["candles"] == every["candles"][1:]


@pytest.mark.parametrize("operation", CANDLES)
async def test_smooth_candles_open_where_the_last_one_closed(
    broker: CheckedBroker, operation: str
) -> None:
    asked = {**SPAN, "granularity": "D", "smooth": "true"}
    candles = (await broker.ask(operation, instrument="EUR_USD", query=asked))["candles"]
    opens = [one["mid"]["o"] for one in candles[1:]]
    assert opens == [one["mid"]["c"] for one in candles[:-1]]


async def test_a_large_size_widens_bid_and_ask_of_candles(broker: CheckedBroker) -> None:
    asked = {"count": "5", "granularity": "M1", "price": "BA"}
    small, large = [
        (
            await broker.ask(
                "account_instrument_candles",
                instrument="EUR_USD",
                query={**asked, "to": "2024-03-05T12:00:00Z", "units": units},
            )
        )["candles"]
        for units in ("1", "5000000")
    ]
    for one, other in zip(small, large, strict=True):
        assert Decimal(other["ask"]["c"]) > Decimal(one["ask"]["c"])
        assert Decimal(other["bid"]["c"]) < Decimal(one["bid"]["c"])


async def test_the_latest_candles_are_shaped_alike(broker: CheckedBroker) -> None:
    asked = {
        "candleSpecifications": "EUR_USD:D:BA,EUR_USD:W:M",
        "units": "1000000",
        "smooth": "true",
        "dailyAlignment": "5",
        "alignmentTimezone": "UTC",
        "weeklyAlignment": "Monday",
    }
    daily, weekly = (await broker.ask("latest_candles", query=asked))["latestCandles"]
    assert {one["time"][11:16] for one in daily["candles"]} == {"05:00"}
    days = {datetime.fromisoformat(one["time"][:19]).strftime("%A") for one in weekly["candles"]}
    assert days == {"Monday"}


async def test_orders_are_found_by_id_state_and_highest_id(broker: CheckedBroker) -> None:
    ids = []
    for _ in range(3):
        made = await broker.ask("create_order", 201, body=await limit(broker))
        ids.append(made["orderCreateTransaction"]["id"])
    await broker.ask("cancel_order", orderSpecifier=ids[0])

    async def found(**query: str) -> list[str]:
        return [one["id"] for one in (await broker.ask("list_orders", query=query))["orders"]]

    assert await found(ids=f"{ids[0]},{ids[1]}") == [ids[1]]
    assert await found(ids=f"{ids[0]},{ids[1]}", state="ALL") == [ids[1], ids[0]]
    assert await found(state="CANCELLED") == [ids[0]]
    assert await found(beforeID=ids[1]) == [ids[1]]
    assert await found(instrument="USD_JPY") == []


async def test_trades_are_found_by_id_instrument_and_highest_id(broker: CheckedBroker) -> None:
    ids = []
    for _ in range(3):
        made = await broker.ask("create_order", 201, body=market())
        ids.append(made["orderFillTransaction"]["id"])
    first = await broker.ask("list_trades", query={"count": "2", "instrument": "EUR_USD"})
    assert broker.last is not None
    assert f"beforeID={ids[0]}" in broker.last.links["next"]["url"]
    assert [one["id"] for one in first["trades"]] == [ids[2], ids[1]]
    rest = await broker.ask("list_trades", query={"beforeID": ids[0]})
    assert [one["id"] for one in rest["trades"]] == [ids[0]]
    named = await broker.ask("list_trades", query={"ids": f"{ids[2]},99"})
    assert [one["id"] for one in named["trades"]] == [ids[2]]


async def test_prices_come_without_the_units_available(broker: CheckedBroker) -> None:
    asked = {"instruments": "EUR_USD", "includeUnitsAvailable": "false"}
    found = await broker.ask("get_pricing", query=asked)
    assert "unitsAvailable" not in found["prices"][0]


async def test_transactions_are_found_by_time_and_type(broker: CheckedBroker) -> None:
    await broker.ask("create_order", 201, body=market())
    everything = {"from": "2000-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"}
    assert (await broker.ask("list_transactions", query=everything))["count"] == 5
    early = {"from": "2000-01-01T00:00:00Z", "to": "2000-01-02T00:00:00Z"}
    assert (await broker.ask("list_transactions", query=early))["count"] == 0
    fills = await broker.ask("transactions_since", query={"id": "1", "type": "ORDER_FILL"})
    assert [one["id"] for one in fills["transactions"]] == ["5"]


@pytest.mark.parametrize("operation", [*CANDLES, *BOOKS])
async def test_market_data_has_unix_times_when_asked_for(
    broker: CheckedBroker, operation: str
) -> None:
    broker.wire.unix_times = True
    await broker.ask(operation, instrument="EUR_USD", headers=UNIX)


async def test_every_order_operation_has_unix_times_when_asked_for(broker: CheckedBroker) -> None:
    made = await broker.ask("create_order", 201, body=await limit(broker))
    broker.wire.unix_times = True
    named = {**UNIX, "ClientRequestID": "mine-1"}
    order = made["orderCreateTransaction"]["id"]
    await broker.ask("get_order", headers=UNIX, orderSpecifier=order)
    await broker.ask("list_pending_orders", headers=UNIX)
    labels = {"clientExtensions": {"tag": "x"}}
    await broker.ask("set_order_client_extensions", headers=UNIX, body=labels, orderSpecifier=order)
    body = {"order": {**(await at_half(broker)), "timeInForce": "GTD", "gtdTime": "4102444800"}}
    replaced = await broker.ask("replace_order", 201, None, body, named, orderSpecifier=order)
    assert replaced["orderCreateTransaction"]["gtdTime"] == "4102444800.000000000"
    order = replaced["orderCreateTransaction"]["id"]
    await broker.ask("cancel_order", headers=named, orderSpecifier=order)
    latest = {"candleSpecifications": "EUR_USD:M1:M"}
    await broker.ask("latest_candles", headers=UNIX, query=latest)


async def at_half(broker: CheckedBroker) -> dict[str, object]:
    broker.wire.unix_times = False
    order = (await limit(broker, -50))["order"]
    broker.wire.unix_times = True
    return dict(order)


async def test_every_trade_operation_has_unix_times_when_asked_for(broker: CheckedBroker) -> None:
    broker.wire.unix_times = True
    named = {**UNIX, "ClientRequestID": "mine-2"}
    made = await broker.ask("create_order", 201, body=market(), headers=named)
    trade = made["orderFillTransaction"]["id"]
    await broker.ask("get_trade", headers=UNIX, tradeSpecifier=trade)
    await broker.ask("list_open_trades", headers=UNIX)
    labels = {"clientExtensions": {"tag": "x"}}
    await broker.ask("set_trade_client_extensions", headers=UNIX, body=labels, tradeSpecifier=trade)
    stop = {"stopLoss": {"distance": "0.05000"}}
    await broker.ask("set_trade_dependent_orders", headers=UNIX, body=stop, tradeSpecifier=trade)
    await broker.ask("close_trade", headers=named, body={"units": "100"}, tradeSpecifier=trade)
    everything = {"longUnits": "ALL"}
    await broker.ask("close_position", headers=UNIX, body=everything, instrument="EUR_USD")
    await broker.ask("transactions_since", headers=UNIX, query={"id": "1"})
    await broker.ask("get_account_summary", headers=UNIX)
    await broker.ask("configure_account", headers=UNIX, body={"alias": "Unix"})


async def test_a_date_and_a_time_without_a_zone_are_utc(broker: CheckedBroker) -> None:
    span = {"to": "2024-03-05", "granularity": "H4"}
    first = await broker.ask(
        "instrument_candles", instrument="EUR_USD", query={**span, "from": "2024-03-04"}
    )
    second = await broker.ask(
        "instrument_candles", instrument="EUR_USD", query={**span, "from": "2024-03-04T00:00:00"}
    )
    assert first == second
    assert first["candles"][0]["time"] == "2024-03-03T22:00:00.000000000Z"
    refused = await broker.ask(
        "instrument_candles", 400, instrument="EUR_USD", query={**span, "from": "20240304"}
    )
    assert "'from'" in refused["errorMessage"]


async def test_a_close_without_a_body_closes_the_whole_trade(broker: CheckedBroker) -> None:
    made = await broker.ask("create_order", 201, body=market(units="10"))
    trade = made["orderFillTransaction"]["id"]
    closed = await broker.ask("close_trade", 200, tradeSpecifier=trade)
    assert closed["orderFillTransaction"]["units"] == "-10"
