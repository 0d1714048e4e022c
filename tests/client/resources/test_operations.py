from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from keydesk_client import UNSET, Client
from keydesk_client.errors import InvalidRequest
from keydesk_client.models import (
    ClientExtensions,
    GuaranteedStopLossDetails,
    LimitOrderRequest,
    MarketOrderRequest,
    StopLossDetails,
    TakeProfitDetails,
    TrailingStopLossDetails,
)
from keydesk_client.models._core.record import Response
from support.data.wire_samples import specification
from support.fakes.wire_server import WireServer

ACCOUNT = "101-004-1-001"
NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)
NOON_TEXT = "2025-03-01T12:00:00.000000000Z"
LIMIT = LimitOrderRequest(instrument="EUR_USD", units=-1000, price="1.1050")

Call = Callable[[Client], Awaitable[Response]]

CALLS: dict[str, tuple[Call, dict[str, str], Any]] = {
    "list_accounts": (lambda c: c.accounts.list(), {}, None),
    "get_account": (lambda c: c.accounts.get(), {}, None),
    "get_account_summary": (lambda c: c.accounts.summary(), {}, None),
    "list_instruments": (
        lambda c: c.accounts.instruments(["EUR_USD", "USD_JPY"]),
        {"instruments": "EUR_USD,USD_JPY"},
        None,
    ),
    "configure_account": (
        lambda c: c.accounts.configure(alias="Mine", margin_rate=Decimal("0.050")),
        {},
        {"alias": "Mine", "marginRate": "0.050"},
    ),
    "poll_changes": (lambda c: c.accounts.changes("77"), {"sinceTransactionID": "77"}, None),
    "instrument_candles": (
        lambda c: c.candles.get(
            "EUR_USD",
            granularity="H4",
            price="BA",
            from_=NOON,
            count=10,
            include_first=False,
            smooth=True,
            daily_alignment=0,
            alignment_timezone="Europe/Berlin",
            weekly_alignment="Monday",
        ),
        {
            "granularity": "H4",
            "price": "BA",
            "from": NOON_TEXT,
            "count": "10",
            "includeFirst": "false",
            "smooth": "true",
            "dailyAlignment": "0",
            "alignmentTimezone": "Europe/Berlin",
            "weeklyAlignment": "Monday",
        },
        None,
    ),
    "account_instrument_candles": (
        lambda c: c.candles.get_for_account("EUR_USD", units="10000", to="1512446222.248676455"),
        {"units": "10000", "to": "2017-12-05T03:57:02.248676455Z"},
        None,
    ),
    "latest_candles": (
        lambda c: c.candles.latest(["EUR_USD:M1:BM", "USD_JPY:D:M"], units=5, smooth=False),
        {"candleSpecifications": "EUR_USD:M1:BM,USD_JPY:D:M", "units": "5", "smooth": "false"},
        None,
    ),
    "get_pricing": (
        lambda c: c.pricing.get(
            ["EUR_USD"], since=NOON, include_home_conversions=True, include_units_available=False
        ),
        {
            "instruments": "EUR_USD",
            "since": NOON_TEXT,
            "includeHomeConversions": "true",
            "includeUnitsAvailable": "false",
        },
        None,
    ),
    "create_order": (
        lambda c: c.orders.create(
            MarketOrderRequest(
                instrument="EUR_USD",
                units="100.50",
                client_extensions=ClientExtensions(id="mine-1", tag="t"),
                take_profit_on_fill=TakeProfitDetails(price="1.2"),
                stop_loss_on_fill=StopLossDetails(distance="0.0050"),
            ),
            client_request_id="abc",
        ),
        {},
        {
            "order": {
                "type": "MARKET",
                "instrument": "EUR_USD",
                "units": "100.50",
                "timeInForce": "FOK",
                "positionFill": "DEFAULT",
                "clientExtensions": {"id": "mine-1", "tag": "t"},
                "takeProfitOnFill": {"price": "1.2", "timeInForce": "GTC"},
                "stopLossOnFill": {"distance": "0.0050", "timeInForce": "GTC"},
            }
        },
    ),
    "list_orders": (
        lambda c: c.orders.list(
            ids=["5", "6"], state="ALL", instrument="EUR_USD", count=500, before_id="9"
        ),
        {"ids": "5,6", "state": "ALL", "instrument": "EUR_USD", "count": "500", "beforeID": "9"},
        None,
    ),
    "list_pending_orders": (lambda c: c.orders.pending(), {}, None),
    "get_order": (lambda c: c.orders.get("@mine/1?x#2"), {}, None),
    "replace_order": (
        lambda c: c.orders.replace("12", LIMIT),
        {},
        {
            "order": {
                "type": "LIMIT",
                "instrument": "EUR_USD",
                "units": "-1000",
                "price": "1.1050",
                "timeInForce": "GTC",
                "positionFill": "DEFAULT",
                "triggerCondition": "DEFAULT",
            }
        },
    ),
    "cancel_order": (lambda c: c.orders.cancel("12", client_request_id="abc"), {}, None),
    "set_order_client_extensions": (
        lambda c: c.orders.set_client_extensions(
            "12",
            client_extensions=ClientExtensions(comment="c"),
            trade_client_extensions=ClientExtensions(id="t"),
        ),
        {},
        {"clientExtensions": {"comment": "c"}, "tradeClientExtensions": {"id": "t"}},
    ),
    "list_trades": (
        lambda c: c.trades.list(
            ids=["5"], state="CLOSED", instrument="EUR_USD", count=1, before_id="9"
        ),
        {"ids": "5", "state": "CLOSED", "instrument": "EUR_USD", "count": "1", "beforeID": "9"},
        None,
    ),
    "list_open_trades": (lambda c: c.trades.open(), {}, None),
    "get_trade": (lambda c: c.trades.get("7"), {}, None),
    "close_trade": (lambda c: c.trades.close("7", units=Decimal(50)), {}, {"units": "50"}),
    "set_trade_client_extensions": (
        lambda c: c.trades.set_client_extensions("7", ClientExtensions(id="x")),
        {},
        {"clientExtensions": {"id": "x"}},
    ),
    "set_trade_dependent_orders": (
        lambda c: c.trades.set_dependent_orders(
            "7",
            take_profit=None,
            stop_loss=StopLossDetails(price="1.05"),
            trailing_stop_loss=UNSET,
            guaranteed_stop_loss=GuaranteedStopLossDetails(time_in_force="GFD"),
        ),
        {},
        {
            "takeProfit": None,
            "stopLoss": {"price": "1.05"},
            "guaranteedStopLoss": {"timeInForce": "GFD"},
        },
    ),
    "list_positions": (lambda c: c.positions.list(), {}, None),
    "list_open_positions": (lambda c: c.positions.open(), {}, None),
    "get_position": (lambda c: c.positions.get("EUR_USD"), {}, None),
    "close_position": (
        lambda c: c.positions.close(
            "EUR_USD",
            long_units="ALL",
            short_units="NONE",
            long_client_extensions=ClientExtensions(tag="l"),
            short_client_extensions=ClientExtensions(tag="s"),
        ),
        {},
        {
            "longUnits": "ALL",
            "shortUnits": "NONE",
            "longClientExtensions": {"tag": "l"},
            "shortClientExtensions": {"tag": "s"},
        },
    ),
    "list_transactions": (
        lambda c: c.transactions.list(
            from_=NOON, to=NOON, page_size=1000, type_=["ORDER_FILL", "ADMIN"]
        ),
        {"from": NOON_TEXT, "to": NOON_TEXT, "pageSize": "1000", "type": "ORDER_FILL,ADMIN"},
        None,
    ),
    "get_transaction": (lambda c: c.transactions.get(7), {}, None),
    "transactions_since": (
        lambda c: c.transactions.since("7", type_=["ORDER"]),
        {"id": "7", "type": "ORDER"},
        None,
    ),
    "transactions_range": (
        lambda c: c.transactions.range(9, 10, type_=["ORDER"]),
        {"from": "9", "to": "10", "type": "ORDER"},
        None,
    ),
    "get_order_book": (lambda c: c.books.order("EUR_USD", time=NOON), {"time": NOON_TEXT}, None),
    "get_position_book": (lambda c: c.books.position("EUR_USD"), {}, None),
}

STREAMS = {"stream_pricing", "stream_transactions"}


def client_of(server: WireServer) -> Client:
    return Client(
        token="planted-token",
        rest_url="https://rest.test",
        stream_url="https://stream.test",
        account_id=ACCOUNT,
        transport=server,
    )


def test_the_table_holds_every_operation_of_the_interface() -> None:
    assert set(CALLS) | STREAMS == set(specification()["endpoints"])


@pytest.mark.parametrize("operation", CALLS)
async def test_an_operation_sends_what_was_asked_and_reads_all_that_came(operation: str) -> None:
    call, query, body = CALLS[operation]
    server = WireServer()
    async with client_of(server) as client:
        answer = await call(client)
    (asked,) = server.seen
    assert asked.operation == operation
    assert asked.query == query
    assert asked.body == body
    assert asked.headers["authorization"] == "Bearer planted-token"
    assert asked.path.get("accountID", ACCOUNT) == ACCOUNT
    assert answer.to_wire() == server.sent
    assert answer.unknown == {}
    assert answer.request_id == "42"
    assert answer.location == "https://rest.test/v3/somewhere"


@pytest.mark.parametrize(
    ("edit", "sent"),
    [
        ({"gtd_time": NOON}, {"gtdTime": NOON_TEXT}),
        ({"time_in_force": "GTD"}, {"timeInForce": "GTD"}),
        ({"time_in_force": "GTC"}, {"timeInForce": "GTC"}),
        ({"price": "1.05", "gtd_time": None}, {"price": "1.05"}),
    ],
)
async def test_an_edit_is_judged_by_what_it_mentions(
    edit: dict[str, Any], sent: dict[str, Any]
) -> None:
    server = WireServer()
    async with client_of(server) as client:
        await client.trades.set_dependent_orders("7", take_profit=TakeProfitDetails(**edit))
    assert server.seen[0].body == {"takeProfit": sent}


@pytest.mark.parametrize(
    ("edit", "field"),
    [
        ({"time_in_force": "FOK"}, "take_profit.time_in_force"),
        ({"time_in_force": "GTC", "gtd_time": NOON}, "take_profit.gtd_time"),
        ({"time_in_force": "GFD", "gtd_time": NOON}, "take_profit.gtd_time"),
    ],
)
async def test_an_edit_that_contradicts_itself_is_not_sent(
    edit: dict[str, Any], field: str
) -> None:
    server = WireServer()
    async with client_of(server) as client:
        with pytest.raises(InvalidRequest) as refused:
            await client.trades.set_dependent_orders("7", take_profit=TakeProfitDetails(**edit))
    assert refused.value.field == field
    assert server.seen == []


async def test_another_account_can_be_named_in_a_call() -> None:
    server = WireServer()
    async with client_of(server) as client:
        await client.accounts.summary(account_id="101-004-2-002")
    assert server.seen[0].path == {"accountID": "101-004-2-002"}


async def test_a_client_id_with_slashes_stays_one_specifier() -> None:
    server = WireServer()
    async with client_of(server) as client:
        await client.orders.cancel("@a/../../../../accounts")
        await client.orders.get("@my/strategy?x#1%41")
    assert [asked.path["orderSpecifier"] for asked in server.seen] == [
        "@a/../../../../accounts",
        "@my/strategy?x#1%41",
    ]


async def test_unix_times_are_asked_for_and_sent_alike() -> None:
    server = WireServer()
    client = Client(
        token="t",
        rest_url="https://rest.test",
        stream_url="https://stream.test",
        account_id=ACCOUNT,
        datetime_format="UNIX",
        transport=server,
    )
    await client.candles.get("EUR_USD", from_=NOON)
    order = LimitOrderRequest(
        instrument="EUR_USD",
        units=1,
        price=1,
        time_in_force="GTD",
        gtd_time=NOON,
        trailing_stop_loss_on_fill=TrailingStopLossDetails(
            distance=1, time_in_force="GTD", gtd_time=NOON
        ),
        client_extensions=ClientExtensions(id="mine"),
    )
    await client.orders.create(order)
    candles, created = server.seen
    assert candles.headers["accept-datetime-format"] == "UNIX"
    assert candles.query["from"] == "1740830400.000000000"
    assert created.body["order"]["gtdTime"] == "1740830400.000000000"
    assert created.body["order"]["trailingStopLossOnFill"]["gtdTime"] == "1740830400.000000000"


@pytest.mark.parametrize(
    "ask",
    [
        lambda c: c.candles.get("EUR_USD", granuarity="H1"),
        lambda c: c.candles.get_for_account("EUR_USD", granuarity="H1"),
        lambda c: c.candles.latest(["EUR_USD:M1:M"], granuarity="H1"),
        lambda c: c.orders.list(granuarity="H1"),
        lambda c: c.trades.list(granuarity="H1"),
    ],
)
async def test_a_misspelt_option_is_refused_and_the_right_ones_are_named(ask: Call) -> None:
    server = WireServer()
    with pytest.raises(InvalidRequest, match="granuarity: unknown option: use one of ") as refused:
        await ask(client_of(server))
    assert refused.value.field == "granuarity"
    assert not server.seen
