"""While the market is closed orders may be made and changed, but nothing trades."""

from pathlib import Path

import pytest

from support.broker import PracticeServer, practice_server
from support.checked import CheckedBroker
from support.wire_record import WireRecord

pytestmark = pytest.mark.e2e

FRIDAY = ("--hours", "fx", "--start", "2024-01-05T15:00Z")
SATURDAY = ("--hours", "fx", "--start", "2024-01-06T12:00Z")


async def buy(practice: PracticeServer, instrument: str, units: str) -> str:
    order = {"type": "MARKET", "instrument": instrument, "units": units}
    made = (await practice.send("POST", "{a}/orders", {"order": order})).json()
    return str(made["orderFillTransaction"]["id"])


async def test_a_guaranteed_stop_stays_over_the_weekend(
    practice_folder: Path, wire_record: WireRecord
) -> None:
    async with practice_server(practice_folder, *FRIDAY) as practice:
        trade = await buy(practice, "EUR_USD", "1000")
        stop = {"guaranteedStopLoss": {"price": "1.05000"}}
        await practice.send("PUT", f"{{a}}/trades/{trade}/orders", stop)
    async with practice_server(practice_folder, *SATURDAY) as practice:
        broker = await CheckedBroker(practice, wire_record).learn()
        refused = await broker.ask(
            "set_trade_dependent_orders",
            400,
            body={"guaranteedStopLoss": None},
            tradeSpecifier=trade,
        )
        reject = refused["guaranteedStopLossOrderCancelRejectTransaction"]
        assert reject["rejectReason"] == "GUARANTEED_STOP_LOSS_ORDER_HALTED_NOT_CANCELABLE"


async def test_nothing_is_closed_at_the_weekend(
    practice_folder: Path, wire_record: WireRecord
) -> None:
    async with practice_server(practice_folder, *FRIDAY) as practice:
        trade = await buy(practice, "EUR_USD", "1000")
        await buy(practice, "USD_JPY", "-1000")
    async with practice_server(practice_folder, *SATURDAY) as practice:
        broker = await CheckedBroker(practice, wire_record).learn()
        halted = await broker.ask("close_trade", body={"units": "ALL"}, tradeSpecifier=trade)
        assert halted["orderCancelTransaction"]["reason"] == "MARKET_HALTED"
        for instrument, side in (("EUR_USD", "long"), ("USD_JPY", "short")):
            halted = await broker.ask(
                "close_position", body={f"{side}Units": "ALL"}, instrument=instrument
            )
            assert halted[f"{side}OrderCancelTransaction"]["reason"] == "MARKET_HALTED"
        assert len((await broker.ask("list_open_trades"))["trades"]) == 2
        price = (await broker.ask("get_pricing", query={"instruments": "EUR_USD"}))["prices"][0]
        assert (price["tradeable"], price["status"]) == (False, "non-tradeable")
        rests = {"type": "LIMIT", "instrument": "EUR_USD", "units": "1", "price": "2.00000"}
        made = await broker.ask("create_order", 201, body={"order": rests})
        assert "orderFillTransaction" not in made
