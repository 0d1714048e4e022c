"""The lines of `keydesk orders`, `trades`, `positions` and `transactions`, compared with the JSON of the same rows."""

import asyncio
import json
from decimal import Decimal
from typing import Any

import pytest

from keydesk.cli.reading.order_lines import order_line
from keydesk.text.format import units
from keydesk_client.models import Order
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models.responses import OrderResponse
from support.broker import PracticeServer
from support.shell import Run

EUR = {"instrument": "EUR_USD", "units": "10000"}
ON_FILL = {
    "stopLossOnFill": {"distance": "0.0100"},
    "takeProfitOnFill": {"price": "3.00000"},
    "trailingStopLossOnFill": {"distance": "0.0200"},
}
WORDS = {
    "STOP_LOSS": "stop",
    "TAKE_PROFIT": "target",
    "TRAILING_STOP_LOSS": "trailing stop",
    "GUARANTEED_STOP_LOSS": "guaranteed stop",
}


@pytest.fixture(scope="module")
def traded(shell_broker: PracticeServer) -> PracticeServer:
    """Two trades with all their orders, one of them closed, and entry orders of each type."""

    async def send(order: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        answer = await shell_broker.send("POST", "{a}/orders", {"order": order})
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def trade() -> None:
        short = {"instrument": "USD_JPY", "units": "-2000", "stopLossOnFill": {"distance": "1"}}
        opened = await send({"type": "MARKET", **short})
        trade_id = opened["orderFillTransaction"]["tradeOpened"]["tradeID"]
        await shell_broker.send("PUT", f"{{a}}/trades/{trade_id}/close", {"units": "ALL"})
        await send({"type": "MARKET", **EUR, **ON_FILL})
        for kind, price in (("LIMIT", "0.5"), ("STOP", "2.5"), ("MARKET_IF_TOUCHED", "0.6")):
            await send({"type": kind, **EUR, "price": price})
        await shell_broker.http.aclose()
        shell_broker._http = None

    asyncio.run(trade())
    return shell_broker


def expected(order: dict[str, Any], trades: dict[str, dict[str, Any]]) -> str:
    """The line of an order, from its JSON and that of the trades."""
    ended = "" if order["state"] == "PENDING" else f"  {order['state']}"
    price = order.get("trailingStopValue") or order.get("price")
    if price is not None:
        at = f"@ {price}"
    else:
        at = "at market" if order["type"] == "MARKET" else f"{order['distance']} behind"
    size, name = Decimal(order.get("units", 0)), order.get("instrument", "")
    what = f"{order['type']} {'BUY' if size > 0 else 'SELL'}"
    if order["type"] in WORDS:
        trade = trades[order["tradeID"]]
        size = Decimal(trade["currentUnits"]) or Decimal(trade["initialUnits"])
        side, name = ("LONG" if size > 0 else "SHORT"), trade["instrument"]
        what = f"{WORDS[order['type']]} of #{order['tradeID']} {side}"
    return f"#{order['id']} {what} {units(abs(size))} {name.replace('_', '/')} {at}{ended}"


@pytest.mark.parametrize("state", ["PENDING", "ALL"])
def test_the_line_of_each_order_says_what_its_json_says(
    traded: PracticeServer, run: Run, state: str
) -> None:
    assert traded
    trades = {each["id"]: each for each in run("trades", "--state", "ALL", "--json").json["trades"]}
    orders = run("orders", "--state", state, "--json").json["orders"]
    kinds = {order["type"] for order in orders}
    assert kinds >= {*WORDS, "LIMIT", "STOP", "MARKET_IF_TOUCHED"} - {"GUARANTEED_STOP_LOSS"}
    assert ("MARKET" in kinds) == (state == "ALL")
    printed = run("orders", "--state", state).out.splitlines()[:-1]
    assert printed == [expected(order, trades) for order in orders]
    assert any(" stop of #" in line and " LONG 10,000 EUR/USD @ " in line for line in printed)


@pytest.mark.parametrize("command", ["orders", "trades", "positions", "transactions", "accounts"])
def test_no_list_has_the_sign_of_what_cannot_be_shown(
    traded: PracticeServer, run: Run, command: str
) -> None:
    assert traded
    for more in ((), ("--state", "ALL")) if command in {"orders", "trades"} else ((),):
        assert "\ufffd" not in run(command, *more).out
    assert "\ufffd" not in run("status").out


def read(members: dict[str, Any]) -> Order:
    """An order as an answer has it."""
    common = {"id": "7", "createTime": "2026-11-20T10:00:00.000000000Z", "state": "PENDING"}
    answer = {"order": {**common, **members}, "lastTransactionID": "9"}
    return Reader(OrderResponse).read(json.dumps(answer)).order


@pytest.mark.parametrize(
    ("members", "line"),
    [
        (
            {"type": "GUARANTEED_STOP_LOSS", "tradeID": "5", "price": "1.1"},
            "#7 guaranteed stop of #5 @ 1.1",
        ),
        (
            {"type": "TRAILING_STOP_LOSS", "tradeID": "5", "distance": "0.002"},
            "#7 trailing stop of #5 0.002 behind",
        ),
        ({"type": "STOP_LOSS"}, "#7 stop of #? @ –"),
        ({"type": "ICEBERG"}, "#7 ICEBERG @ –"),
        (
            {"type": "ICEBERG", "instrument": "EUR_USD", "units": "-5", "price": "1.1"},
            "#7 ICEBERG SELL 5 EUR/USD @ 1.1",
        ),
        (
            {"type": "FIXED_PRICE", **EUR, "price": "1.1", "state": "FILLED"},
            "#7 FIXED_PRICE BUY 10,000 EUR/USD @ 1.1  FILLED",
        ),
    ],
)
def test_of_an_order_that_is_partly_known_the_rest_is_left_out(
    members: dict[str, Any], line: str
) -> None:
    assert order_line(read(members), {}) == line
