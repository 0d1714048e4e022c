"""Accounts under control: further ones, fresh ones, copies, money in and out, further tokens."""

from pathlib import Path

import pytest

from support.controlled_broker import ACCOUNT, controlled_broker

FIRST = ACCOUNT.rpartition("/")[2]


async def test_an_account_is_added_with_terms_of_its_own(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        made = await market.control(
            "POST", "/accounts", currency="GBP", hedging=True, balance="2500.5", marginRate="0.1"
        )
        assert (made["id"], made["currency"], made["balance"]) == (
            "101-001-1000001-003", "GBP", "2500.5000")  # fmt: skip
        found = (await market.v20("GET", f"/v3/accounts/{made['id']}/summary"))["account"]
        assert (found["hedgingEnabled"], found["marginRate"]) == (True, "0.1")
        listed = (await market.v20("GET", "/v3/accounts"))["accounts"]
        assert made["id"] in {one["id"] for one in listed}
    async with controlled_broker(tmp_path, "") as market:
        assert made in (await market.control("GET", "/state"))["accounts"]


async def test_a_reset_account_begins_anew_and_the_others_stay(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        await market.buy("EUR_USD")
        other = market.ledger_lines("101-001-1000001-002")
        made = await market.control(
            "POST", f"/accounts/{FIRST}/reset", balance="500", currency="EUR", marginRate="0.05"
        )
        assert (made["currency"], made["balance"], made["openTrades"]) == ("EUR", "500.0000", 0)
        assert (await market.v20("GET", "{a}"))["account"]["lastTransactionID"] == "3"
        assert market.ledger_lines("101-001-1000001-002") == other
    async with controlled_broker(tmp_path, "") as market:
        assert (await market.v20("GET", "{a}"))["account"]["balance"] == "500.0000"


async def test_a_clone_has_the_same_trades_and_lives_on_alone(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        await market.buy("EUR_USD", trailingStopLossOnFill={"distance": "0.0050"})
        await market.control("POST", "/clock/step", granularity="M15")
        original = await market.control("GET", "/state")
        made = await market.control("POST", f"/accounts/{FIRST}/clone")
        assert {**made, "id": FIRST} == original["accounts"][0]
        trades = [
            (await market.v20("GET", f"/v3/accounts/{id_}/openTrades"))["trades"]
            for id_ in (FIRST, made["id"])
        ]
        assert trades[0] == trades[1]
        await market.v20("PUT", "{a}/positions/EUR_USD/close", {"longUnits": "ALL"})
        state = await market.control("GET", "/state")
    assert [one["openTrades"] for one in state["accounts"]] == [0, 0, 1]


async def test_money_comes_and_goes_as_transactions(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        more = await market.control("POST", f"/accounts/{FIRST}/transfer", amount="1000")
        less = await market.control("POST", f"/accounts/{FIRST}/transfer", amount=-500.25)
        assert (more["balance"], less["balance"]) == ("101000.0000", "100499.7500")
        refused = await market.control("POST", f"/accounts/{FIRST}/transfer", 409, amount="-1e7")
        assert refused["errorCode"] == "INSUFFICIENT_FUNDS"
        found = await market.v20("GET", "{a}/transactions/sinceid", id="3", type="FUNDING")
        assert [one["type"] for one in found["transactions"]] == [
            "TRANSFER_FUNDS", "TRANSFER_FUNDS", "TRANSFER_FUNDS_REJECT"]  # fmt: skip


async def test_the_margin_rate_is_set_or_refused(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        await market.control("POST", f"/accounts/{FIRST}/margin", marginRate="0.25")
        assert (await market.v20("GET", "{a}"))["account"]["marginRate"] == "0.25"
        await market.control("POST", f"/accounts/{FIRST}/margin", 409, marginRate="7")


async def test_a_further_token_opens_its_own_accounts_also_after_a_replay(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        made = await market.control("POST", "/tokens", token="the-new-pupil")
        assert "the-new-pupil" not in str(market.broker.ledger.facts("token"))
        await market.control("POST", "/tokens", 409, token="the-new-pupil")
        await market.control("POST", "/replay", scenario="brexit")
        async with market.client("the-new-pupil") as http:
            listed = (await http.get("/v3/accounts")).json()["accounts"]
            assert [one["id"] for one in listed] == made["accounts"]
            assert (await http.get(ACCOUNT)).status_code == 403


async def test_an_unknown_account_is_named_with_the_known_ones(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        refused = await market.control("POST", "/accounts/101-001-9-001/clone", 404)
        assert FIRST in refused["errorMessage"]


@pytest.mark.parametrize(
    ("currency", "balance"), [("JPY", "10000000.0000"), ("USD", "100000.0000")]
)
async def test_an_account_begins_with_about_as_much_in_every_currency(
    tmp_path: Path, currency: str, balance: str
) -> None:
    async with controlled_broker(tmp_path) as market:
        added = await market.control("POST", "/accounts", currency=currency)
        reset = await market.control("POST", f"/accounts/{added['id']}/reset")
    assert (added["balance"], reset["balance"]) == (balance, balance)
